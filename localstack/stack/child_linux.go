package stack

import "syscall"

// childAttributes has the system end a child when the stack dies, and keeps
// the terminal's Ctrl-C from it: the stack ends its children in order.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
