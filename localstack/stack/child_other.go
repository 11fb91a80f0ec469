//go:build !linux

package stack

import "syscall"

// childAttributes leaves a child as it is: only Linux ends a child with its
// parent.
func childAttributes() *syscall.SysProcAttr { return nil }
