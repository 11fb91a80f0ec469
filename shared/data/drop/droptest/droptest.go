// Package droptest keeps the schema files of drops what their Go types say.
package droptest

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/data/drop"
	"quotary/shared/testing/must"
)

// Schema compares a schema file in the folder of the test with what the type of a
// drop and the comments of its struct say; go test -update writes it.
func Schema[T any](t *testing.T, of *drop.Type[T], dataset, file string) {
	t.Helper()
	comments := comments(t, reflect.TypeFor[T]().Name())
	for i := range reflect.TypeFor[T]().NumField() {
		if name := reflect.TypeFor[T]().Field(i).Name; comments[name] == "" {
			t.Errorf("the field %s has no comment: operators read it in the schema", name)
		}
	}
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	must.Do(t, encoder.Encode(of.Schema("A line of a drop of "+dataset, comments)))
	if *apitest.Update {
		must.Do(t, os.WriteFile(file, want.Bytes(), 0o600))
		return
	}
	if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, want.Bytes()) {
		t.Errorf("%s is not what the Go type says (%v): run make generate", file, err)
	}
}

// comments are those of a struct, under "", and of its fields, in the Go files of
// this folder.
func comments(t *testing.T, name string) map[string]string {
	t.Helper()
	files := must.Get(filepath.Glob("*.go"))(t)
	found := map[string]string{}
	for _, path := range files {
		file := must.Get(parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			declaration, ok := n.(*ast.GenDecl)
			if !ok || declaration.Tok != token.TYPE {
				return true
			}
			for _, spec := range declaration.Specs {
				spec := spec.(*ast.TypeSpec)
				structure, ok := spec.Type.(*ast.StructType)
				if !ok || spec.Name.Name != name {
					continue
				}
				found[""] = text(spec.Doc, declaration.Doc)
				for _, field := range structure.Fields.List {
					for _, id := range field.Names {
						found[id.Name] = text(field.Doc, field.Comment)
					}
				}
			}
			return true
		})
	}
	return found
}

// text is the first comment that there is, on one line.
func text(groups ...*ast.CommentGroup) string {
	for _, group := range groups {
		if words := strings.Fields(group.Text()); len(words) > 0 {
			return strings.Join(words, " ")
		}
	}
	return ""
}
