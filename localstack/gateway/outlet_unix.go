//go:build unix

package gateway

import "syscall"

const canWriteNow = true

// writeNow writes what the system takes without waiting. An error shows again at
// the next write that does wait.
func writeNow(fd uintptr, p []byte) int {
	for {
		n, err := syscall.Write(int(fd), p)
		if err == syscall.EINTR {
			continue
		}
		return max(n, 0)
	}
}
