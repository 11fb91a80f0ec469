//go:build !unix

package testenv

// lock does nothing: this system has no locks that end with their process.
func lock(string) (unlock func() error, err error) { return func() error { return nil }, nil }
