//go:build !unix

package lambdahost

import (
	"os"
	"syscall"
)

// Without process groups and a polite signal there is one way to end a child.
// Should the owner be killed, the child's wait on the Runtime API breaks and its
// runtime ends it.

func ownGroup() *syscall.SysProcAttr { return nil }

func terminateGroup(p *os.Process) { _ = p.Kill() }

func killGroup(p *os.Process) { _ = p.Kill() }
