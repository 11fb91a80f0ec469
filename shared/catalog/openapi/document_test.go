package openapi_test

import (
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"quotary/shared/catalog"
	"quotary/shared/catalog/openapi"
	"quotary/shared/testing/must"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// decoded is the document as a reader of its JSON sees it.
func decoded(t *testing.T) map[string]any {
	t.Helper()
	text := must.Get(json.Marshal(openapi.Document()))(t)
	var d map[string]any
	must.Do(t, json.Unmarshal(text, &d))
	return d
}

func at(t *testing.T, v any, path ...string) any {
	t.Helper()
	for _, name := range path {
		member, ok := v.(map[string]any)[name]
		if !ok {
			t.Fatalf("the document has no %s of %s", name, strings.Join(path, " "))
		}
		v = member
	}
	return v
}

func TestEveryHTTPSEndpointIsAnOperation(t *testing.T) {
	t.Parallel()
	d := decoded(t)
	operations, ids := 0, map[string]bool{}
	for _, item := range at(t, d, "paths").(map[string]any) {
		operations += len(item.(map[string]any))
	}
	for _, e := range catalog.All() {
		if e.Method == catalog.MethodWS {
			continue
		}
		operations--
		op := at(t, d, "paths", e.Documented(), strings.ToLower(e.Method)).(map[string]any)
		if op["x-quotary-function"] != e.Function() || op["x-quotary-access"] != e.Access.String() {
			t.Errorf("%s: %v for %v", e, op["x-quotary-function"], op["x-quotary-access"])
		}
		if signed := len(op["security"].([]any)) > 0; signed != e.Authorized() {
			t.Errorf("%s: signed %v", e, signed)
		}
		if _, marked := op["x-quotary-planned"]; marked != e.Planned {
			t.Errorf("%s: marked as planned %v", e, marked)
		}
		id := op["operationId"].(string)
		if ids[id] || !regexp.MustCompile(`^[a-z][A-Za-z0-9]+$`).MatchString(id) {
			t.Errorf("%s: operation id %q is taken or malformed", e, id)
		}
		ids[id] = true
	}
	if operations != 0 {
		t.Errorf("the document has %d operations more than the catalog", operations)
	}
}

func TestEveryPathParameterIsDescribed(t *testing.T) {
	t.Parallel()
	d := decoded(t)
	for _, e := range catalog.All() {
		if e.Method == catalog.MethodWS {
			continue
		}
		op := at(t, d, "paths", e.Documented(), strings.ToLower(e.Method)).(map[string]any)
		described := 0
		parameters, _ := op["parameters"].([]any)
		for _, p := range parameters {
			p := p.(map[string]any)
			if p["in"] == "path" && strings.Contains(e.Documented(), "{"+p["name"].(string)+"}") && p["required"] == true {
				described++
			}
		}
		if want := strings.Count(e.Documented(), "{"); described != want {
			t.Errorf("%s: %d of %d path parameters", e, described, want)
		}
	}
}

func TestEveryReferenceLeadsSomewhere(t *testing.T) {
	t.Parallel()
	text := must.Get(json.Marshal(openapi.Document()))(t)
	schemas := at(t, decoded(t), "components", "schemas").(map[string]any)
	references := regexp.MustCompile(`"\$ref":"#/components/schemas/([^"]*)"`).FindAllStringSubmatch(string(text), -1)
	if len(references) == 0 {
		t.Fatal("no reference was found")
	}
	for _, r := range references {
		if schema, ok := schemas[r[1]].(map[string]any); !ok || len(schema) == 0 {
			t.Errorf("schema %s is missing or empty", r[1])
		}
	}
}

// Two endpoints in full: one with every kind of parameter, one with a body.
func TestOperationsAreDescribedInFull(t *testing.T) {
	t.Parallel()
	d := decoded(t)
	shown := map[string]any{
		"klines":  at(t, d, "paths", catalog.TakerKlines.Documented(), "get"),
		"sub-key": at(t, d, "paths", catalog.CreateSubKey.Path, "post"),
		"Fill":    at(t, d, "components", "schemas", "Fill"),
		"detail":  at(t, d, "components", "schemas", "SubKeyDetail"),
	}
	got := must.Get(json.MarshalIndent(shown, "", "  "))(t)
	const golden = "testdata/operations.json"
	if *update {
		must.Do(t, os.WriteFile(golden, append(got, '\n'), 0o644))
	}
	want := must.Get(os.ReadFile(golden))(t)
	if string(got)+"\n" != string(want) {
		t.Errorf("the operations differ from %s: run make generate\n%s", golden, got)
	}
}
