package stack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Layout numbers what the programs store and where. Whoever changes the shape of
// anything stored raises it: there are no migrations before the first release, so
// a folder of another layout is refused.
const Layout = 12

// LayoutFile is the name of the file in a stack's folder that holds its layout.
const LayoutFile = "layout"

// checkLayout refuses a folder that holds data of another layout, and marks an
// empty one with this layout. The caller has the folder's lock.
func checkLayout(folder string) error {
	path := filepath.Join(folder, LayoutFile)
	text, err := os.ReadFile(path)
	switch {
	case err == nil:
		found := strings.TrimSpace(string(text))
		if found == strconv.Itoa(Layout) {
			return nil
		}
		return otherLayout(folder, strconv.Quote(found))
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != lockFile }) {
		return otherLayout(folder, "unknown")
	}
	return os.WriteFile(path, []byte(strconv.Itoa(Layout)+"\n"), 0o600)
}

func otherLayout(folder, found string) error {
	return fmt.Errorf("the layout of %s is %s and that of this version is %d: remove the folder with make clean, or set QUOTARY_DATA to another one", folder, found, Layout)
}
