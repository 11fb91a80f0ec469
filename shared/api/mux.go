package api

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"quotary/shared/catalog"
)

// newMux routes a request to the handler of its endpoint, and every other one to
// notFound.
//
// It decides as the gateway does: from left to right a literal segment beats a
// parameter, and a parameter beats the rest of a path. A ServeMux refuses two
// patterns of which neither is more specific, as /orders/{address}/latest and
// /orders/oid/{oid} are, which the gateway takes. So the endpoints are sorted by
// the gateway's preference and fill a mux until one conflicts, which opens the
// next mux; what a mux does not know it passes on to that. Each mux holds only what
// the gateway prefers to all that the next one holds, so the first match is the
// gateway's. Most families need one mux.
func newMux(endpoints []*catalog.Endpoint, handler func(*catalog.Endpoint) http.Handler, notFound http.Handler) http.Handler {
	sorted := slices.Clone(endpoints)
	slices.SortFunc(sorted, func(a, b *catalog.Endpoint) int {
		return cmp.Or(slices.Compare(preference(a.Path), preference(b.Path)), strings.Compare(a.Method, b.Method))
	})
	muxes := []*http.ServeMux{http.NewServeMux()}
	for _, e := range sorted {
		pattern, h := e.Method+" "+pattern(e), handler(e)
		if register(muxes[len(muxes)-1], pattern, h) {
			continue
		}
		next := http.NewServeMux()
		next.Handle(pattern, h) // a pattern that is wrong by itself panics here
		muxes = append(muxes, next)
	}
	for i, mux := range muxes {
		if i+1 < len(muxes) {
			mux.Handle("/", muxes[i+1])
		} else {
			mux.Handle("/", notFound)
		}
	}
	return muxes[0]
}

// pattern is the path of an endpoint as a ServeMux takes it.
func pattern(e *catalog.Endpoint) string {
	if rest, greedy := strings.CutSuffix(e.Path, "+}"); greedy && strings.Count(e.Path, "/") == strings.Count(e.Documented(), "/") {
		return rest + "...}"
	}
	return e.Documented()
}

// register reports whether the mux took the pattern. A ServeMux has no other way
// to say that one conflicts than to panic, before it changes.
func register(mux *http.ServeMux, pattern string, h http.Handler) (ok bool) {
	defer func() { ok = recover() == nil }()
	mux.Handle(pattern, h)
	return true
}

// preference sorts paths: the segments of those that the gateway prefers come
// first.
func preference(path string) []string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		switch _, greedy, ok := catalog.PathParameter(segment); {
		case !ok:
			segments[i] = "0" + segment
		case !greedy:
			segments[i] = "1"
		default:
			segments[i] = "2"
		}
	}
	return segments
}
