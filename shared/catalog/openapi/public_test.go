package openapi_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quotary/internal/testenv"
	"quotary/shared/catalog"
	"quotary/shared/catalog/openapi"
)

// examples reads the golden answers of the functions' tests with their requests.
func examples(t *testing.T) map[string][]openapi.Example {
	t.Helper()
	out := map[string][]openapi.Example{}
	err := filepath.WalkDir(filepath.Join(testenv.Root, "functions"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "requests.json" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		requests := map[string]struct {
			Endpoint string
			Path     map[string]string
			Query    map[string][]string
			Body     json.RawMessage
		}{}
		if err := json.Unmarshal(text, &requests); err != nil {
			return err
		}
		for name, r := range requests {
			answer, err := os.ReadFile(filepath.Join(filepath.Dir(path), name+".golden.json"))
			if err != nil {
				return err
			}
			out[r.Endpoint] = append(out[r.Endpoint], openapi.Example{Name: name, Path: r.Path, Query: r.Query, Body: r.Body, Answer: answer})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b openapi.Example) int { return strings.Compare(a.Name, b.Name) })
	}
	return out
}

func TestEveryBuiltEndpointHasAGoldenAnswer(t *testing.T) {
	t.Parallel()
	shown := examples(t)
	for _, e := range catalog.All() {
		if !e.Planned && e.Method != catalog.MethodWS && len(shown[e.String()]) == 0 {
			t.Errorf("no test of %s compares its answer with a golden file (apitest.Answer.Golden)", e)
		}
	}
}

// The document for people is kept in the repository, so that a change of what
// clients see is seen.
func TestThePublicDocumentIsCurrent(t *testing.T) {
	t.Parallel()
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(openapi.Public(examples(t))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(testenv.Root, "openapi.json")
	if *update {
		if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, want.Bytes()) {
		t.Errorf("openapi.json is not what catalog and golden answers say: run make openapi (%v)", err)
	}
}

// No word of the document is lost: every operation, parameter and member says what
// it is.
func TestEverythingInThePublicDocumentIsDescribed(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(openapi.Public(nil))
	if err != nil {
		t.Fatal(err)
	}
	var d map[string]any
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	described := func(of, name string, schema any) {
		t.Helper()
		if text, _ := schema.(map[string]any)["description"].(string); text == "" {
			t.Errorf("%s: %s has no description", of, name)
		}
	}
	for path, item := range at(t, d, "paths").(map[string]any) {
		for method, op := range item.(map[string]any) {
			op := op.(map[string]any)
			if summary, _ := op["summary"].(string); summary == "" {
				t.Errorf("%s %s has no summary", method, path)
			}
			if op["x-quotary-planned"] == true {
				continue
			}
			parameters, _ := op["parameters"].([]any)
			for _, p := range parameters {
				p := p.(map[string]any)
				described(method+" "+path, p["name"].(string), p["schema"])
			}
			if op["requestBody"] != nil {
				for name, member := range at(t, op, "requestBody", "content", "application/json", "schema", "properties").(map[string]any) {
					described(method+" "+path, name, member)
				}
			}
		}
	}
	for name, schema := range at(t, d, "components", "schemas").(map[string]any) {
		for member, schema := range at(t, schema, "properties").(map[string]any) {
			described(name, member, schema)
		}
	}
}
