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
	lines := bufio.NewScanner(recording(t, path))
	lines.Buffer(nil, 16<<20)
	return lines
}

// RecordingText is all of such a file.
func RecordingText(t testing.TB, path string) string {
	t.Helper()
	text, err := io.ReadAll(recording(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func recording(t testing.TB, path string) io.Reader {
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
	if !strings.HasSuffix(path, ".gz") {
		return file
	}
	r, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
