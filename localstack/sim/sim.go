// Package sim labels what the simulated upstreams below this folder answer: a venue, exchanges
// and publishers that speak the protocols of genuine ones on this machine. They are made to be
// read: what they serve follows from a seed and the clock, by arithmetic of their own that
// answers of the product are compared with.
package sim

import "net/http"

// Label has every answer say that it is simulated.
func Label(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Simulated", "true")
		h.ServeHTTP(w, r)
	})
}
