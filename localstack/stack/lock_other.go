//go:build !unix

package stack

import "os"

// lock takes a file for this process by creating it alone. Where the system
// has no locks that end with their process, a killed stack leaves it behind.
func lock(path string) (unlock func() error, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return func() error {
		file.Close()
		return os.Remove(path)
	}, nil
}
