package stacks_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"quotary/infra/stacks"
	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// full is a deployment with everything that can be asked for, synthesized once
// for all tests.
var full *deployment

// deployment is what a synthesis wrote.
type deployment struct {
	dir   string
	parts map[string]*template // data, api, feeds, ingester, watch, athena
}

type template struct {
	text       []byte
	Resources  map[string]*resource
	Outputs    map[string]map[string]any
	Parameters map[string]map[string]any
}

type resource struct {
	Type           string
	Properties     map[string]any
	DeletionPolicy string
	Metadata       map[string]any
	DependsOn      any
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	defer jsii.Close()
	// The strict validation of every call is for the synthesis before a
	// deployment; here it would take most of the time.
	os.Setenv("CDK_VALIDATION", "false")
	os.Setenv("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "1")
	dir, err := os.MkdirTemp("", "quotary-synth")
	if err == nil {
		defer os.RemoveAll(dir)
		full, err = synthesize(filepath.Join(dir, "full"), everything(dir), true)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// everything is the context of the full deployment.
func everything(dir string) map[string]any {
	assets := filepath.Join(dir, "bin")
	if err := programs(assets, catalog.AllFunctions()...); err != nil {
		panic(err)
	}
	return map[string]any{
		"env": "prod", "assets": assets, "wafRate": "12000", "alarmEmail": "operator@example.com", "budgetUSD": "500", "retention": "fills=90d,orders=30d", "athena": "true",
		"apiDomain": "api.example.com", "feedsDomain": "feeds.example.com", "zoneID": "Z123", "zoneName": "example.com",
	}
}

// programs lays stand-ins where make package puts programs: a synthesis reads
// nothing of them but their bytes.
func programs(assets string, names ...string) error {
	for _, name := range names {
		if err := write(filepath.Join(assets, "lambda", name, "bootstrap"), name); err != nil {
			return err
		}
	}
	return write(filepath.Join(assets, "image", "ingester", "Dockerfile"), "FROM scratch\n")
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o755)
}

// build makes the app as the CDK command does, from cdk.json and a context.
func build(dir string, context map[string]any, nag bool) (awscdk.App, error) {
	text, err := os.ReadFile("../cdk.json")
	if err != nil {
		return nil, err
	}
	var file struct{ Context map[string]any }
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("cdk.json: %w", err)
	}
	maps.Copy(file.Context, map[string]any{"aws:cdk:enable-path-metadata": true, "aws:cdk:enable-asset-metadata": true})
	maps.Copy(file.Context, context)
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(dir), Context: &file.Context, AnalyticsReporting: jsii.Bool(false)})
	settings, err := stacks.Read(app.Node())
	if err != nil {
		return nil, err
	}
	if err := stacks.Build(app, settings); err != nil {
		return nil, err
	}
	if nag {
		stacks.Check(app)
	}
	return app, nil
}

func synthesize(dir string, context map[string]any, nag bool) (*deployment, error) {
	app, err := build(dir, context, nag)
	if err != nil {
		return nil, err
	}
	app.Synth(nil)
	d := &deployment{dir: dir, parts: map[string]*template{}}
	files, err := filepath.Glob(filepath.Join(dir, "*.template.json"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		t := &template{text: text}
		if err := json.Unmarshal(text, t); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".template.json")
		d.parts[name[strings.LastIndexByte(name, '-')+1:]] = t
	}
	return d, nil
}

// all are the resources of a type, by logical id, with the ids in order.
func (t *template) all(kind string) ([]string, map[string]*resource) {
	found := map[string]*resource{}
	for id, r := range t.Resources {
		if r.Type == kind {
			found[id] = r
		}
	}
	return slices.Sorted(maps.Keys(found)), found
}

// only is the one resource of a type.
func (t *template) only(tb testing.TB, kind string) *resource {
	tb.Helper()
	ids, found := t.all(kind)
	if len(ids) != 1 {
		tb.Fatalf("the template has %d resources %s, want one", len(ids), kind)
	}
	return found[ids[0]]
}

// at follows names and indexes through what JSON decodes to; nil when there is
// no such.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

// plain renders an intrinsic as the text it stands for: references become
// ${id} and ${id.attribute}.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case map[string]any:
		if ref, ok := v["Ref"]; ok {
			return "${" + ref.(string) + "}"
		}
		if get, ok := v["Fn::GetAtt"].([]any); ok {
			return "${" + plain(get[0]) + "." + plain(get[1]) + "}"
		}
		if from, ok := v["Fn::ImportValue"]; ok {
			return "${" + plain(from) + "}"
		}
		if parts, ok := v["Fn::Join"].([]any); ok {
			var texts []string
			for _, part := range parts[1].([]any) {
				texts = append(texts, plain(part))
			}
			return strings.Join(texts, parts[0].(string))
		}
		switch sub := v["Fn::Sub"].(type) {
		case string:
			return sub
		case []any:
			text := sub[0].(string)
			for name, value := range sub[1].(map[string]any) {
				text = strings.ReplaceAll(text, "${"+name+"}", plain(value))
			}
			return text
		}
	}
	text, _ := json.Marshal(v)
	return string(text)
}

// listed is a value that a template writes as one thing or as a list of them.
func listed(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	if v == nil {
		return nil
	}
	return []any{v}
}

// golden compares text with a file under testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		must.Do(t, write(file, got))
	}
	want := must.Get(os.ReadFile(file))(t)
	if got != string(want) {
		t.Errorf("the deployment differs from %s; if that is meant: make generate\n%s", file, difference(string(want), got))
	}
}

func difference(want, got string) string {
	var b strings.Builder
	old, now := strings.Split(want, "\n"), strings.Split(got, "\n")
	for _, line := range old {
		if !slices.Contains(now, line) {
			b.WriteString("- " + line + "\n")
		}
	}
	for _, line := range now {
		if !slices.Contains(old, line) {
			b.WriteString("+ " + line + "\n")
		}
	}
	return b.String()
}
