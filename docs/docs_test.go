// Package docs holds what people read, and tests that it leads where it says.
package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quotary/shared/testing/must"
)

const root = ".."

// page is a document, by its path from the root.
type page struct{ path, text string }

var read = func() (pages []page) {
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (name == "node_modules" || name == "bin" || strings.HasPrefix(name, ".") && name != ".."):
			return filepath.SkipDir
		case filepath.Ext(name) == ".md":
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			pages = append(pages, page{strings.TrimPrefix(path, root+"/"), string(text)})
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	return pages
}()

var (
	fenced   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	inline   = regexp.MustCompile("`[^`\n]+`")
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	anchored = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
	made     = regexp.MustCompile(`\bmake ((?:-C infra )?[a-z][a-z-]+)\b`)
	rule     = regexp.MustCompile(`(?m)^((?:[a-z][a-z-]* ?)+):`)
	inside   = regexp.MustCompile(`^(?:shared|functions|localstack|infra|events|docs|internal|tools)/[A-Za-z0-9_./*-]+$`)
)

// anchors are those of a page's headings, as GitHub makes them.
func anchors(text string) (all []string) {
	times := map[string]int{}
	for _, h := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		anchor := strings.ReplaceAll(anchored.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")
		times[anchor]++
		if n := times[anchor]; n > 1 {
			anchor = fmt.Sprintf("%s-%d", anchor, n-1)
		}
		all = append(all, anchor)
	}
	return all
}

func TestEveryLinkLeadsToAFileAndAHeading(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, p := range read {
		for _, m := range link.FindAllStringSubmatch(inline.ReplaceAllString(fenced.ReplaceAllString(p.text, ""), ""), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") { // an address elsewhere
				continue
			}
			checked++
			path := p.path
			if target != "" {
				path = filepath.Join(filepath.Dir(p.path), target)
			}
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s: %s is not there", p.path, m[1])
				continue
			}
			if anchor == "" {
				continue
			}
			i := slices.IndexFunc(read, func(other page) bool { return other.path == path })
			if i < 0 || !slices.Contains(anchors(read[i].text), anchor) {
				t.Errorf("%s: %s has no heading %s", p.path, path, anchor)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d links were checked", checked)
	}
}

// Guides name what is to be run.
func TestEveryTargetOfMakeIsOne(t *testing.T) {
	t.Parallel()
	targets := map[string]bool{}
	for prefix, path := range map[string]string{"": "Makefile", "-C infra ": "infra/Makefile"} {
		text := must.Get(os.ReadFile(filepath.Join(root, path)))(t)
		for _, m := range rule.FindAllStringSubmatch(string(text), -1) {
			for target := range strings.FieldsSeq(m[1]) {
				targets[prefix+target] = true
			}
		}
	}
	for _, p := range read {
		for _, code := range slices.Concat(fenced.FindAllString(p.text, -1), inline.FindAllString(fenced.ReplaceAllString(p.text, ""), -1)) {
			for _, m := range made.FindAllStringSubmatch(code, -1) {
				if !targets[m[1]] {
					t.Errorf("%s: make %s is no target", p.path, m[1])
				}
			}
		}
	}
}

// A page that names a file or a folder is changed with what moves it.
func TestEveryFileThatIsNamedIsThere(t *testing.T) {
	t.Parallel()
	named := 0
	for _, p := range read {
		for _, code := range inline.FindAllString(fenced.ReplaceAllString(p.text, ""), -1) {
			path := strings.Trim(code, "`")
			if !inside.MatchString(path) {
				continue
			}
			named++
			if found, err := filepath.Glob(filepath.Join(root, path)); err != nil || len(found) == 0 {
				t.Errorf("%s: %s is not there", p.path, path)
			}
		}
	}
	if named < 50 {
		t.Errorf("only %d paths were checked", named)
	}
}

func TestPagesAreShort(t *testing.T) {
	t.Parallel()
	for _, p := range read {
		most := map[string]int{"README.md": 200}[p.path]
		if strings.HasPrefix(p.path, "docs/decisions/") {
			most = 30
		}
		if lines := strings.Count(p.text, "\n"); most > 0 && lines > most {
			t.Errorf("%s has %d lines, more than %d", p.path, lines, most)
		}
	}
}
