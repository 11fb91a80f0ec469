package gateway

import (
	"fmt"
	"hash/fnv"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// resource is one path of the route table with its methods.
type resource struct {
	path    string // as configured: /fills/{address}
	id      string // stands in for AWS's resource id
	allow   string // its methods, for the Allow header
	methods map[string]Route
}

// param is one path parameter of a request, percent-encoded as the client sent it.
type param struct{ name, value string }

// tree finds the resource of a path, segment by segment. Where a segment fits
// both a fixed name and a parameter, the fixed name wins if the rest fits too.
type tree struct {
	fixed     map[string]*tree // by decoded name
	parameter *tree
	name      string    // of the parameter
	greedy    bool      // the parameter takes all segments that remain
	resource  *resource // that ends here; nil for none
}

func newTree(routes []Route) (*tree, error) {
	root := new(tree)
	for _, r := range routes {
		if err := root.add(r); err != nil {
			return nil, fmt.Errorf("route %s %s: %w", r.Method, r.Path, err)
		}
	}
	return root, nil
}

func (t *tree) add(r Route) error {
	if !strings.HasPrefix(r.Path, "/") || r.Method == "" || r.Function == "" {
		return fmt.Errorf("want a method, a function, and a path that begins with a slash")
	}
	var names []string
	greedy := false
	for _, segment := range split(r.Path) {
		if greedy {
			return fmt.Errorf("only the last segment can be a greedy parameter")
		}
		var name string
		var isParameter bool
		var err error
		name, isParameter, greedy, err = parseParameter(segment)
		switch {
		case err != nil:
			return err
		case slices.Contains(names, name):
			return fmt.Errorf("parameter {%s} occurs twice", name)
		case !isParameter:
			if t.fixed == nil {
				t.fixed = make(map[string]*tree)
			}
			if t.fixed[segment] == nil {
				t.fixed[segment] = new(tree)
			}
			t = t.fixed[segment]
			continue
		case t.parameter == nil:
			t.parameter, t.name, t.greedy = new(tree), name, greedy
		case t.name != name || t.greedy != greedy:
			return fmt.Errorf("parameter %s stands where another route has another one: a resource has at most one child that is a parameter", segment)
		}
		names = append(names, name)
		t = t.parameter
	}
	if t.resource == nil {
		t.resource = &resource{path: r.Path, id: resourceID(r.Path), methods: make(map[string]Route)}
	}
	if _, taken := t.resource.methods[r.Method]; taken {
		return fmt.Errorf("is there twice")
	}
	t.resource.methods[r.Method] = r
	methods := make([]string, 0, len(t.resource.methods))
	for method := range t.resource.methods {
		methods = append(methods, method)
	}
	slices.Sort(methods)
	t.resource.allow = strings.Join(methods, ", ")
	return nil
}

// split takes a path apart, still encoded. One slash at its end is ignored, as on
// AWS; the root has no segments.
func split(path string) []string {
	path = strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

func parseParameter(segment string) (name string, isParameter, greedy bool, err error) {
	if segment == "" {
		return "", false, false, fmt.Errorf("has an empty segment")
	}
	if !strings.ContainsAny(segment, "{}") {
		return "", false, false, nil
	}
	name, opened := strings.CutPrefix(segment, "{")
	name, closed := strings.CutSuffix(name, "}")
	name, greedy = strings.CutSuffix(name, "+")
	if !opened || !closed || name == "" || strings.ContainsAny(name, "{}+") {
		return "", false, false, fmt.Errorf("segment %q: a parameter is a whole segment, such as {coin} or {coin+}", segment)
	}
	return name, true, greedy, nil
}

// resourceID is stable over restarts, six characters long as on AWS.
func resourceID(path string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(path)) // never fails
	return strconv.FormatUint(h.Sum64()|1<<63, 36)[:6]
}

// segment is one part of a request's path between slashes.
type segment struct{ encoded, decoded string }

// parseSegments takes a path apart. %2F is part of a segment, not the end of one.
func parseSegments(path string) ([]segment, error) {
	encoded := split(path)
	segments := make([]segment, len(encoded))
	for i, text := range encoded {
		decoded, err := url.PathUnescape(text)
		if err != nil || !utf8.ValidString(decoded) {
			return nil, fmt.Errorf("segment %q is not percent-encoded UTF-8", text)
		}
		segments[i] = segment{text, decoded}
	}
	return segments, nil
}

// find returns the resource of a path, and its parameters in the order of the
// path. Parameters are never empty.
func (t *tree) find(path []segment, params []param) (*resource, []param) {
	if len(path) == 0 {
		if t.resource == nil {
			return nil, nil
		}
		return t.resource, params
	}
	head, rest := path[0], path[1:]
	if next := t.fixed[head.decoded]; next != nil {
		if found, all := next.find(rest, params); found != nil {
			return found, all
		}
	}
	if t.parameter == nil || head.encoded == "" {
		return nil, nil
	}
	if t.greedy {
		return t.parameter.resource, append(params, param{t.name, join(path)})
	}
	return t.parameter.find(rest, append(params, param{t.name, head.encoded}))
}

func join(path []segment) string {
	parts := make([]string, len(path))
	for i, s := range path {
		parts[i] = s.encoded
	}
	return strings.Join(parts, "/")
}
