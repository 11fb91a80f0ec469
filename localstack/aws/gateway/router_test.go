package gateway

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/testing/must"
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
	tree := must.Get(newTree(get("/", "/fills/top", "/fills/{address}", "/fills/{address}/latest", "/fills/top/{n}/x", "/{a}/{b}/{c}",
		"/tickers/{coin+}", "/tickers/all", "/tickers/all/{n}")))(t)
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
		"fills/t%6Fp":         {"/fills/top", ""},
		"fills/a%2Fb":         {"/fills/{address}", "address=a%2Fb"},

		"tickers/all":               {"/tickers/all", ""},
		"tickers/BTC":               {"/tickers/{coin+}", "coin=BTC"},
		"tickers/PURR/USDC":         {"/tickers/{coin+}", "coin=PURR/USDC"},
		"tickers/PURR%2FUSDC":       {"/tickers/{coin+}", "coin=PURR%2FUSDC"},
		"tickers/all/1":             {"/tickers/all/{n}", "n=1"},
		"tickers/all/1/2":           {"/tickers/{coin+}", "coin=all/1/2"},
		"tickers/a//b/":             {"/tickers/{coin+}", "coin=a//b"},
		"tickers/100%25/%3F/%C3%A9": {"/tickers/{coin+}", "coin=100%25/%3F/%C3%A9"},
		"tickers":                   {"", ""},
		"tickers/":                  {"", ""},
		"tickers//a":                {"", ""},
	}
	for path, want := range tests {
		segments := must.Get(parseSegments(path))(t)
		found, params := tree.find(segments, nil)
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
		"a greedy one in between":  get("/{proxy+}/x"),
		"a greedy one beside one":  get("/fills/{coin}", "/fills/{coin+}"),
		"one beside a greedy one":  get("/fills/{coin+}", "/fills/{address}/x"),
		"a plus in between":        get("/{a+b}"),
		"a plus with no name":      get("/{+}"),
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

// A request that fits a route finds a resource that it fits, with the request's own
// segments as parameters; one that fits none finds none.
func TestARequestFindsARouteThatItFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"a", "b", "c", "{p}", "{p+}"})
		var paths []string
		for _, path := range rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string {
			segments := rapid.SliceOfN(word, 1, 4).Draw(t, "segments")
			for i, s := range segments { // one name for each depth, each name once, greedy only at the end
				depth := string(rune('0' + i))
				switch {
				case s == "{p+}" && i == len(segments)-1:
					segments[i] = "{p" + depth + "+}"
				case s[0] == '{':
					segments[i] = "{p" + depth + "}"
				}
			}
			return "/" + strings.Join(segments, "/")
		}), 1, 12, rapid.ID).Draw(t, "paths") {
			if _, err := newTree(get(append(paths, path)...)); err == nil { // not {p} and {p+} in one place
				paths = append(paths, path)
			}
		}
		tree := must.Get(newTree(get(paths...)))(t)
		sent := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e%2Ff"}), 1, 5).Draw(t, "request")
		request := must.Get(parseSegments("/" + strings.Join(sent, "/")))(t)
		found, params := tree.find(request, nil)
		if found == nil {
			for _, path := range paths {
				if _, ok := match(path, sent); ok {
					t.Fatalf("%q fits %s, and nothing was found", sent, path)
				}
			}
			return
		}
		want, ok := match(found.path, sent)
		if !ok || !slices.Equal(params, want) {
			t.Fatalf("%q was found to be %s with %v, want %v", sent, found.path, params, want)
		}
	})
}

// match says whether a request's segments fit a route's path, and what its
// parameters are then.
func match(path string, sent []string) (params []param, ok bool) {
	for i, want := range strings.Split(path[1:], "/") {
		switch {
		case i >= len(sent):
			return nil, false
		case strings.HasSuffix(want, "+}"):
			return append(params, param{want[1 : len(want)-2], strings.Join(sent[i:], "/")}), true
		case want[0] == '{':
			params = append(params, param{want[1 : len(want)-1], sent[i]})
		case want != sent[i]:
			return nil, false
		}
	}
	return params, len(sent) == strings.Count(path, "/")
}
