package openapi_test

import (
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

// texts are the comments of the catalog: of endpoints by their names
// ("GET /v2/market"), of types and fields ("Fill", "Fill.Px") by theirs.
type texts struct{ endpoints, types map[string]string }

// read parses the source of the catalog.
func read(t *testing.T) texts {
	t.Helper()
	out := texts{map[string]string{}, map[string]string{}}
	files := must.Get(filepath.Glob("../*.go"))(t)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := must.Get(parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments))(t)
		for _, d := range file.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					out.endpoint(spec)
				case *ast.TypeSpec:
					about := spec.Doc
					if about == nil {
						about = decl.Doc
					}
					out.structure(spec, about)
				}
			}
		}
	}
	return out
}

// endpoint keeps the comment of a declared endpoint.
func (x texts) endpoint(spec *ast.ValueSpec) {
	if len(spec.Values) != 1 {
		return
	}
	call, ok := spec.Values[0].(*ast.CallExpr)
	for ok { // behind what is added to a declaration, as in route(...).needs(...)
		added, is := call.Fun.(*ast.SelectorExpr)
		if !is {
			break
		}
		call, ok = added.X.(*ast.CallExpr)
	}
	if !ok || len(call.Args) < 2 {
		return
	}
	var words []string
	if name, ok := call.Fun.(*ast.Ident); ok && name.Name == "feed" {
		words = []string{catalog.MethodWS}
	}
	for _, argument := range call.Args[:2-len(words)] {
		if literal, ok := argument.(*ast.BasicLit); ok {
			if word, err := strconv.Unquote(literal.Value); err == nil {
				words = append(words, strings.ReplaceAll(word, "+}", "}"))
			}
		}
	}
	if len(words) == 2 && spec.Doc != nil {
		x.endpoints[words[0]+" "+words[1]] = oneLine(spec.Doc)
	}
}

// structure keeps the comments of a type and its fields.
func (x texts) structure(spec *ast.TypeSpec, about *ast.CommentGroup) {
	if about != nil {
		x.types[spec.Name.Name] = ofType(spec.Name.Name, oneLine(about))
	}
	fields, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, field := range fields.Fields.List {
		group := field.Doc
		if group == nil {
			group = field.Comment
		}
		for _, name := range field.Names {
			if group != nil {
				x.types[spec.Name.Name+"."+name.Name] = oneLine(group)
			}
		}
	}
}

// oneLine is the first paragraph of a comment without its markup. What callers need not
// know stands in further ones.
func oneLine(group *ast.CommentGroup) string {
	var p comment.Parser
	parsed := p.Parse(group.Text())
	if len(parsed.Content) > 1 {
		parsed.Content = parsed.Content[:1]
	}
	printer := comment.Printer{TextWidth: -1}
	return strings.Join(strings.Fields(string(printer.Text(parsed))), " ")
}

// ofType is the comment of a type without its name, which no caller knows: "Fill is one
// side" is "One side", and "FillsIn selects fills" is "The request selects fills".
func ofType(name, text string) string {
	rest, ok := strings.CutPrefix(text, name+" ")
	if !ok {
		return text
	}
	if strings.HasSuffix(name, "In") {
		return "The request " + rest
	}
	for _, verb := range []string{"is ", "are "} {
		rest = strings.TrimPrefix(rest, verb)
	}
	return strings.ToUpper(rest[:1]) + rest[1:]
}

// described are the texts that the document needs, by their names; what has none is
// reported.
func (x texts) described(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, e := range catalog.All() {
		summary := x.endpoints[e.String()]
		if summary == "" {
			t.Errorf("%s has no comment", e)
		}
		if strings.Contains(strings.TrimSuffix(summary, "."), ". ") || !strings.HasSuffix(summary, ".") {
			t.Errorf("%s: the comment is not one sentence: %q", e, summary)
		}
		out[e.String()] = summary
		if e.Planned {
			continue
		}
		for _, side := range []reflect.Type{e.In, e.Out} {
			if side != nil {
				x.collect(t, side, out)
			}
		}
	}
	x.collect(t, reflect.TypeFor[catalog.ErrorBody](), out)
	return out
}

// collect adds the texts of a type's fields, and of the types of those.
func (x texts) collect(t *testing.T, of reflect.Type, out map[string]string) {
	t.Helper()
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		x.collect(t, of.Elem(), out)
		return
	case reflect.Struct:
	default:
		return
	}
	if of.PkgPath() != reflect.TypeFor[catalog.Endpoint]().PkgPath() {
		return
	}
	name, _, _ := strings.Cut(of.Name(), "[")
	if _, seen := out[name]; seen || name == "" {
		return
	}
	out[name] = x.types[name]
	for i := range of.NumField() {
		field := of.Field(i)
		if field.Anonymous {
			x.collect(t, field.Type, out)
			continue
		}
		if !field.IsExported() {
			continue
		}
		key := name + "." + field.Name
		text := x.types[key]
		if text == "" {
			text = x.types["glossary."+field.Name]
		}
		if text == "" {
			text = x.types[named(field.Type)]
		}
		if text == "" && named(field.Type) == "" && key != "Paged.Data" {
			t.Errorf("%s has no comment, and the glossary has no %s", key, field.Name)
		}
		if text == "ms" {
			text = "milliseconds since 1970 UTC"
		}
		out[key] = text
		x.collect(t, field.Type, out)
	}
}

// named is the name of a type of the catalog, that of the entries of a list.
func named(t reflect.Type) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.PkgPath() != reflect.TypeFor[catalog.Endpoint]().PkgPath() {
		return ""
	}
	return t.Name()
}

// Who reads of a number of rows reads how many may be asked for.
func TestTheCommentOfALimitNamesItsMaximum(t *testing.T) {
	t.Parallel()
	described := read(t).described(t)
	for _, e := range catalog.All() {
		for _, p := range catalog.Parameters(e.In) {
			most := p.Field.Tag.Get("max")
			if most == "" || !slices.Contains([]string{"limit", "size", "pagesize"}, strings.ToLower(strings.ReplaceAll(p.Names[0], "_", ""))) {
				continue
			}
			if text := described[e.In.Name()+"."+p.Field.Name]; !strings.Contains(strings.ReplaceAll(text, ",", ""), most+" at most") {
				t.Errorf("%s: %s is at most %s, and its comment does not say so: %q", e, p.Names[0], most, text)
			}
		}
	}
}

// internal are words that mean nothing to callers, and markup.
var internal = regexp.MustCompile(`(?i)\b(handlers?|ingester|lambda|dynamodb|packages?|goroutines?|shards?|fold(s|ed)?|structs?|tags? min|zero value|on the wire|nil)\b|the store\b|\[[A-Z]\w+\]`)

// Callers read the comments, who know neither the program nor its names.
func TestDescriptionsAreForCallers(t *testing.T) {
	t.Parallel()
	source := read(t)
	for name, text := range source.described(t) {
		if found := internal.FindString(text); found != "" {
			t.Errorf("%s says %q, which callers do not know: %s", name, found, text)
		}
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if _, ok := source.types[word]; ok && strings.ToLower(word[1:]) != word[1:] {
				t.Errorf("%s names the type %s: %s", name, word, text)
			}
		}
	}
}

// The texts are kept in the package, so that the document needs no source.
func TestTheDescriptionsAreTheCommentsOfTheCatalog(t *testing.T) {
	t.Parallel()
	described := read(t).described(t)
	var want strings.Builder
	for _, name := range slices.Sorted(maps.Keys(described)) {
		if described[name] != "" {
			fmt.Fprintf(&want, "%s\t%s\n", name, described[name])
		}
	}
	const path = "descriptions.txt"
	if *update {
		must.Do(t, os.WriteFile(path, []byte(want.String()), 0o644))
	}
	if have, err := os.ReadFile(path); err != nil || string(have) != want.String() {
		t.Errorf("%s is not what the catalog's comments say: run make generate (%v)", path, err)
	}
}
