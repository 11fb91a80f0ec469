//go:build unix && !linux

package lambdahost

import "syscall"

// ownGroup gives a child its own process group. Should the owner be killed, the
// child's wait on the Runtime API breaks and its runtime ends it.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
