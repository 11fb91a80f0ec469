// Package sim labels what the simulated upstreams below this folder answer: a venue, exchanges
// and publishers that speak the protocols of genuine ones on this machine. They are made to be
// read: what they serve follows from a seed and the clock, by arithmetic of their own that
// answers of the product are compared with.
package sim

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// Label has every answer say that it is simulated.
func Label(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Simulated", "true")
		h.ServeHTTP(w, r)
	})
}

// Lines writes values as the lines of a drop, NDJSON. It panics on what JSON cannot hold: lines
// are structs of texts, numbers and booleans.
func Lines[T any](values []T) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	for i := range values {
		if err := encoder.Encode(&values[i]); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}
