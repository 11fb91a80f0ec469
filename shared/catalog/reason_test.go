package catalog_test

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

// sources are the files of the rooms that answer clients, tests left out, by their path
// from the root.
func sources(t *testing.T) map[string]string {
	t.Helper()
	const root = "../.."
	all := make(map[string]string)
	for _, room := range []string{"functions", "shared"} {
		must.Do(t, filepath.WalkDir(filepath.Join(root, room), func(path string, entry fs.DirEntry, err error) error {
			name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
			switch {
			case err != nil:
				return err
			case name == "functions/ingester", name == "functions/datakey", name == "shared/testing":
				return filepath.SkipDir // they answer no client
			case filepath.Ext(name) != ".go", strings.HasSuffix(name, "_test.go"):
				return nil
			}
			text, err := os.ReadFile(path)
			all[name] = string(text)
			return err
		}))
	}
	return all
}

func TestEveryReasonIsDescribedAndUsed(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`(?m)^\t(Reason\w+) +Reason = "(\w+)"$`)
	files := sources(t)
	constants := named.FindAllStringSubmatch(files["shared/catalog/reason.go"], -1)
	if len(constants) != len(catalog.Reasons()) {
		t.Errorf("%d reasons are named, and the table has %d", len(constants), len(catalog.Reasons()))
	}
	for _, c := range constants {
		used, word := false, regexp.MustCompile(`\b`+c[1]+`\b`)
		for name, text := range files {
			used = used || name != "shared/catalog/reason.go" && word.MatchString(text)
		}
		r := catalog.Reason(c[2]).Refusal()
		if !used || http.StatusText(r.Status) == "" || r.Status < 400 || !strings.HasSuffix(r.Advice, ".") {
			t.Errorf("%s: used %t, %+v: a reason is answered somewhere, has the status of an error and says in a sentence what the client does", c[1], used, r)
		}
	}
}

// Everything else returns an error with a reason.
func TestOnlyTheRendererWritesErrors(t *testing.T) {
	t.Parallel()
	for what, rule := range map[string]struct {
		pattern string
		allowed []string
	}{
		"the body of an error":       {`\bNewErrorBody\(|\bErrorBody\{`, []string{"shared/api/respond.go", "shared/catalog/responses.go", "shared/catalog/openapi/public.go", "shared/api/apitest/answer.go"}},
		"an error without its maker": {`\bapi\.Error\{`, nil},
		"the status of an error":     {`\bhttp\.Status[A-Z]\w*|\b(?i:status)(code)?: *[45]\d\d\b|WriteHeader\([45]`, []string{"shared/catalog/reason.go"}},
	} {
		pattern := regexp.MustCompile(rule.pattern)
		for name, text := range sources(t) {
			if strings.HasPrefix(name, "shared/store/") { // reads those of S3
				continue
			}
			for _, found := range pattern.FindAllString(text, -1) {
				compared := strings.Contains(text, "== "+found) || strings.Contains(text, "!= "+found)
				if found != "http.StatusOK" && !compared && !slices.Contains(rule.allowed, name) {
					t.Errorf("%s: %q: %s belongs to the renderer and the table of reasons", name, found, what)
				}
			}
		}
	}
}
