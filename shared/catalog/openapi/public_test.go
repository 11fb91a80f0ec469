package openapi_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quotary/shared/catalog"
	"quotary/shared/catalog/openapi"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// examples reads the golden answers of the functions' tests with their requests.
func examples(t *testing.T) map[string][]openapi.Example {
	t.Helper()
	out := map[string][]openapi.Example{}
	must.Do(t, filepath.WalkDir(filepath.Join(testenv.Root, "functions"), func(path string, d fs.DirEntry, err error) error {
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
	}))
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
	must.Do(t, encoder.Encode(openapi.Public(examples(t))))
	path := filepath.Join(testenv.Root, "openapi.json")
	if *update {
		must.Do(t, os.WriteFile(path, want.Bytes(), 0o644))
	}
	if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, want.Bytes()) {
		t.Errorf("openapi.json is not what catalog and golden answers say: run make generate (%v)", err)
	}
}

// published is the public document as a reader of its JSON sees it.
func published(t *testing.T) map[string]any {
	t.Helper()
	text := must.Get(json.Marshal(openapi.Public(nil)))(t)
	var d map[string]any
	must.Do(t, json.Unmarshal(text, &d))
	return d
}

// resolved is a schema, or what a reference leads to.
func resolved(t *testing.T, d map[string]any, schema any) map[string]any {
	t.Helper()
	if to, ok := schema.(map[string]any)["$ref"].(string); ok {
		schema = at(t, d, strings.Split(strings.TrimPrefix(to, "#/"), "/")...)
	}
	return schema.(map[string]any)
}

// bodies are the schemas of what an operation takes as its body.
func bodies(t *testing.T, d, op map[string]any) (list []map[string]any) {
	t.Helper()
	if op["requestBody"] == nil {
		return nil
	}
	body := at(t, op, "requestBody", "content", "application/json", "schema").(map[string]any)
	if body["oneOf"] == nil {
		return []map[string]any{body}
	}
	for _, one := range body["oneOf"].([]any) {
		list = append(list, resolved(t, d, one))
	}
	return list
}

// No word of the document is lost: every operation, parameter and member says what
// it is.
func TestEverythingInThePublicDocumentIsDescribed(t *testing.T) {
	t.Parallel()
	d := published(t)
	described := func(of, name string, schema any) {
		t.Helper()
		if text, _ := resolved(t, d, schema)["description"].(string); text == "" && schema.(map[string]any)["description"] == nil {
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
			for _, body := range bodies(t, d, op) {
				for name, member := range at(t, body, "properties").(map[string]any) {
					described(method+" "+path, name, member)
				}
			}
		}
	}
	for name, schema := range at(t, d, "components", "schemas").(map[string]any) {
		members, _ := schema.(map[string]any)["properties"].(map[string]any)
		for member, schema := range members {
			described(name, member, schema)
		}
	}
}

// Whoever signs in the body of a POST finds the four parameters there, also where the
// request has no other.
func TestABodyOfAPOSTTakesTheSignature(t *testing.T) {
	t.Parallel()
	d := published(t)
	for _, e := range catalog.All() {
		if e.Method == catalog.MethodWS || e.Planned {
			continue
		}
		op := at(t, d, "paths", e.Documented(), strings.ToLower(e.Method)).(map[string]any)
		signed := 0
		for _, body := range bodies(t, d, op) {
			for _, name := range catalog.SignatureParameters {
				if at(t, body, "properties").(map[string]any)[name] != nil {
					signed++
				}
			}
		}
		if want := len(catalog.SignatureParameters) * max(1, len(bodies(t, d, op))); e.Method == http.MethodPost && e.Authorized() && signed != want {
			t.Errorf("%s describes %d of %d signature parameters", e, signed, want)
		} else if (e.Method != http.MethodPost || !e.Authorized()) && signed != 0 {
			t.Errorf("%s describes a signature in its body", e)
		}
	}
}

// Each type of question has a body of its own, of the members that it reads.
func TestEachTypeOfQuestionHasABody(t *testing.T) {
	t.Parallel()
	d := published(t)
	op := at(t, d, "paths", catalog.Info.Path, "post").(map[string]any)
	schema := at(t, op, "requestBody", "content", "application/json", "schema").(map[string]any)
	choices := 0
	for _, kind := range catalog.InfoTypes {
		choices++
		body := resolved(t, d, map[string]any{"$ref": at(t, schema, "discriminator", "mapping", kind.Name)})
		if body["description"] == "" || body["description"] == nil {
			t.Errorf("%s does not say what it answers", kind.Name)
		}
		members := at(t, body, "properties").(map[string]any)
		if values := at(t, members, "type", "enum").([]any); len(values) != 1 || values[0] != kind.Name {
			t.Errorf("the type of %s is %v", kind.Name, values)
		}
		required := body["required"].([]any)
		for _, name := range kind.Needs {
			if text, _ := json.Marshal(members[name]); !slices.Contains(required, any(name)) || strings.Contains(string(text), `"null"`) {
				t.Errorf("%s does not require %s: %s", kind.Name, name, text)
			}
		}
		if want := 1 + len(kind.Needs) + len(kind.Takes) + len(catalog.SignatureParameters); len(members) != want {
			t.Errorf("%s has %d members, want %d", kind.Name, len(members), want)
		}
	}
	if have := len(schema["oneOf"].([]any)); have != choices || op["requestBody"].(map[string]any)["required"] != true {
		t.Errorf("%d bodies for %d types, in a body that is required: %v", have, choices, op["requestBody"].(map[string]any)["required"])
	}
}
