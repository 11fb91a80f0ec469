//go:build unix

package lambdahost

import (
	"os"
	"syscall"
)

// Errors are of no interest here: the group is gone, which is what was wanted.

func terminateGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
