package gateway

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
)

// resource is one path of the route table with its methods.
type resource struct {
	path    string // as configured: /fills/{address}
	id      string // stands in for AWS's resource id
	allow   string // its methods, for the Allow header
	methods map[string]Route
}

// param is one path parameter of a request, decoded.
type param struct{ name, value string }

// tree finds the resource of a path, segment by segment. Where a segment fits
// both a fixed name and a parameter, the fixed name wins if the rest fits too.
type tree struct {
	fixed     map[string]*tree
	parameter *tree
	name      string    // of the parameter
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
	for _, segment := range split(r.Path) {
		name, isParameter, err := parameterName(segment)
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
			t.parameter, t.name = new(tree), name
		case t.name != name:
			return fmt.Errorf("parameter {%s} stands where another route has {%s}: a resource has one", name, t.name)
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

func parameterName(segment string) (name string, isParameter bool, err error) {
	if segment == "" {
		return "", false, fmt.Errorf("has an empty segment")
	}
	if !strings.ContainsAny(segment, "{}") {
		return "", false, nil
	}
	name, opened := strings.CutPrefix(segment, "{")
	name, closed := strings.CutSuffix(name, "}")
	if !opened || !closed || name == "" || strings.ContainsAny(name, "{}+") {
		return "", false, fmt.Errorf("segment %q: a parameter is a whole segment, such as {coin}", segment)
	}
	return name, true, nil
}

// resourceID is stable over restarts, six characters long as on AWS.
func resourceID(path string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(path)) // never fails
	return strconv.FormatUint(h.Sum64()|1<<63, 36)[:6]
}

// find returns the resource of a path of decoded segments, and its parameters in
// the order of the path. Parameters are never empty.
func (t *tree) find(segments []string, params []param) (*resource, []param) {
	if len(segments) == 0 {
		if t.resource == nil {
			return nil, nil
		}
		return t.resource, params
	}
	head, rest := segments[0], segments[1:]
	if next := t.fixed[head]; next != nil {
		if found, all := next.find(rest, params); found != nil {
			return found, all
		}
	}
	if t.parameter == nil || head == "" {
		return nil, nil
	}
	return t.parameter.find(rest, append(params, param{t.name, head}))
}
