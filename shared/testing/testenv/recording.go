package testenv

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Recording reads the lines of a file below the folder of genuine recordings that
// QUOTARY_TESTDATA names, a compressed one (.gz) too. Without the folder the test is
// skipped.
func Recording(t testing.TB, path string) *bufio.Scanner {
	t.Helper()
	dir := os.Getenv("QUOTARY_TESTDATA")
	if dir == "" {
		t.Skip("QUOTARY_TESTDATA names no folder of recordings")
	}
	file, err := os.Open(filepath.Join(dir, path)) //nolint:gosec // a developer names the folder
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	var r io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	return lines
}
