// Package sim labels what the simulated upstreams below this folder answer: a venue, exchanges
// and publishers that speak the protocols of genuine ones on this machine. They are made to be
// read: what they serve follows from a seed and the clock, by arithmetic of their own that
// answers of the product are compared with.
package sim

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"time"
)

// Config is what a publisher shows, all of which follows from a seed and the clock. The zero
// value is seed 1 now, at the pace of the publisher.
type Config struct {
	Seed   uint64
	Period time.Duration    // between two changes of what is shown
	Now    func() time.Time // nil means time.Now
}

// WithDefaults returns the config with what was left out, the pace of the publisher among it.
func (c Config) WithDefaults(period time.Duration) Config {
	c.Seed, c.Period = cmp.Or(c.Seed, 1), cmp.Or(c.Period, period)
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Page is a page of a list, the first is 1: empty behind the end.
func Page[T any](list []T, number, size int) []T {
	from := min((number-1)*size, len(list))
	return list[from:min(from+size, len(list))]
}

// JSON answers a value.
func JSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // a client that went away needs no answer
}

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
