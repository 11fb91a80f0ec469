//go:build unix

package testenv

import (
	"os"
	"syscall"
)

// lock waits for a file that one process has at a time: the tests of two packages
// may want the programs at once.
func lock(path string) (unlock func() error, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		file.Close()
		return nil, err
	}
	return file.Close, nil
}
