package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quotary/shared/testing/must"
)

// TestAFolderOfAnotherLayoutIsRefused starts a stack on folders that other
// versions may have left.
func TestAFolderOfAnotherLayoutIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		found string // layout that the error names, "" where the folder is accepted
	}{
		"an empty folder":            {},
		"this layout":                {files: map[string]string{LayoutFile: fmt.Sprintln(Layout), "dynamodb.sqlite": "x"}},
		"data without a layout":      {files: map[string]string{"dynamodb.sqlite": "x"}, found: "unknown"},
		"data of an older layout":    {files: map[string]string{LayoutFile: "1\n", "dynamodb.sqlite": "x"}, found: `"1"`},
		"data of a later layout":     {files: map[string]string{LayoutFile: fmt.Sprintln(Layout + 1), "s3.bolt": "x"}, found: fmt.Sprintf("%q", fmt.Sprint(Layout+1))},
		"a layout that is no number": {files: map[string]string{LayoutFile: "new"}, found: `"new"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			for file, text := range c.files {
				must.Do(t, os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600))
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // it gets no further than its folder
			_, err := Start(ctx, Config{Data: folder, DynamoDB: "http://127.0.0.1:1", Upstream: "none"})
			if err == nil {
				t.Fatal("a stack without a database started")
			}
			if c.found == "" {
				if strings.Contains(err.Error(), "layout") {
					t.Errorf("refused: %v", err)
				}
				if text, err := os.ReadFile(filepath.Join(folder, LayoutFile)); err != nil || string(text) != fmt.Sprintln(Layout) {
					t.Errorf("the folder is marked %q, %v", text, err)
				}
				return
			}
			want := fmt.Sprintf("the layout of %s is %s and that of this version is %d: remove the folder with make clean, or set QUOTARY_DATA to another one", folder, c.found, Layout)
			if err.Error() != want {
				t.Errorf("refused with\n%v, want\n%s", err, want)
			}
			entries := must.Get(os.ReadDir(folder))(t)
			for _, entry := range entries {
				if _, ok := c.files[entry.Name()]; !ok && entry.Name() != lockFile {
					t.Errorf("a refused folder has got a file %s", entry.Name())
				}
			}
		})
	}
}
