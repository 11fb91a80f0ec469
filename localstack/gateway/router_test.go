package gateway

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func get(paths ...string) []Route {
	var routes []Route
	for _, path := range paths {
		routes = append(routes, Route{Method: "GET", Path: path, Function: "f"})
	}
	return routes
}

func TestAFixedSegmentBeatsAParameterUnlessTheRestFitsOnlyTheParameter(t *testing.T) {
	t.Parallel()
	tree, err := newTree(get("/", "/fills/top", "/fills/{address}", "/fills/{address}/latest", "/fills/top/{n}/x", "/{a}/{b}/{c}"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ resource, params string }{
		"":                    {"/", ""},
		"fills/top":           {"/fills/top", ""},
		"fills/0x1":           {"/fills/{address}", "address=0x1"},
		"fills/0x1/latest":    {"/fills/{address}/latest", "address=0x1"},
		"fills/top/latest":    {"/fills/{address}/latest", "address=top"},
		"fills/top/5/x":       {"/fills/top/{n}/x", "n=5"},
		"fills/top/5":         {"/{a}/{b}/{c}", "a=fills b=top c=5"},
		"fills/PURR/USDC/1/2": {"", ""},
		"fills//latest":       {"", ""},
		"fills":               {"", ""},
		"FILLS/top":           {"", ""},
		"fills/{address}":     {"/fills/{address}", "address={address}"},
	}
	for path, want := range tests {
		found, params := tree.find(split(path), nil)
		var all []string
		for _, p := range params {
			all = append(all, p.name+"="+p.value)
		}
		if found.name() != want.resource || strings.Join(all, " ") != want.params {
			t.Errorf("%q is %q with %q, want %q with %q", path, found.name(), all, want.resource, want.params)
		}
	}
}

func TestARouteTableThatAWSWouldRefuseIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string][]Route{
		"two names in one place":   get("/fills/{address}", "/fills/{coin}/x"),
		"a route twice":            get("/fills", "/fills"),
		"one name twice":           get("/{a}/{a}"),
		"half a segment":           get("/fills/v{n}"),
		"a greedy parameter":       get("/{proxy+}"),
		"a parameter not closed":   get("/{a"),
		"an empty segment":         get("/a//b"),
		"no slash":                 get("fills"),
		"no function":              {{Method: "GET", Path: "/x"}},
		"no method":                {{Function: "f", Path: "/x"}},
		"a parameter with no name": get("/{}"),
	}
	for name, routes := range tests {
		if _, err := newTree(routes); err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
}

// A request made from any route by filling its parameters finds a resource that
// fits, and finds exactly the parameters that were filled in.
func TestWhatARouteSpellsItFinds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"a", "b", "c", "{p}"})
		paths := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string {
			segments := rapid.SliceOfN(word, 1, 4).Draw(t, "segments")
			for i, s := range segments {
				if s == "{p}" { // one name for each depth, each name once
					segments[i] = "{p" + string(rune('0'+i)) + "}"
				}
			}
			return "/" + strings.Join(segments, "/")
		}), 1, 12, rapid.ID).Draw(t, "paths")
		tree, err := newTree(get(paths...))
		if err != nil {
			t.Fatal(err)
		}
		segments := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e/f"}), 1, 4).Draw(t, "request")
		found, params := tree.find(segments, nil)
		fits := func(path string) bool {
			want := strings.Split(path[1:], "/")
			return slices.EqualFunc(want, segments, func(w, s string) bool { return w[0] == '{' || w == s })
		}
		if found == nil {
			if i := slices.IndexFunc(paths, fits); i >= 0 {
				t.Fatalf("%q fits %s, and nothing was found", segments, paths[i])
			}
			return
		}
		if !fits(found.path) {
			t.Fatalf("%q was found to be %s", segments, found.path)
		}
		for i, s := range strings.Split(found.path[1:], "/") {
			if s[0] != '{' {
				continue
			}
			if len(params) == 0 || "{"+params[0].name+"}" != s || params[0].value != segments[i] {
				t.Fatalf("%q as %s gives %v", segments, found.path, params)
			}
			params = params[1:]
		}
		if len(params) > 0 {
			t.Fatalf("parameters left over: %v", params)
		}
	})
}
