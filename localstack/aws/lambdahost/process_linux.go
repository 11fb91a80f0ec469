package lambdahost

import "syscall"

// ownGroup gives a child its own process group, and its death when the owner
// dies, however that happens.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
