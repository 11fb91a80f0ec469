package sec

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"quotary/shared/market"
)

// newest is the newest value of a fact that is filed by any of some concepts: of the same day
// that of the first concept, and of that the one that was filed last, of the shortest period.
func (a *answer) newest(concepts []string, unit string) (newest market.Fact, malformed int) {
	var start string
	for _, concept := range concepts {
		taxonomy, name, _ := strings.Cut(concept, ":")
		text, ok := a.Facts[taxonomy][name]
		if !ok {
			continue
		}
		var values struct {
			Units map[string][]json.RawMessage `json:"units"`
		}
		if json.Unmarshal(text, &values) != nil {
			malformed++
			continue
		}
		for _, one := range values.Units[unit] {
			f, ok := report(one)
			if !ok {
				malformed++
				continue
			}
			if !f.periodic() {
				continue
			}
			order := cmp.Compare(f.End, newest.AsOf)
			if order == 0 && concept == newest.Concept {
				order = cmp.Or(cmp.Compare(f.Filed, newest.Filed), cmp.Compare(f.Start, start))
			}
			if order > 0 {
				newest, start = market.Fact{Value: f.Value.String(), AsOf: f.End, Filed: f.Filed, Form: f.Form, Concept: concept}, f.Start
			}
		}
	}
	return newest, malformed
}

// report reads a value; ok is false for what is none.
func report(text json.RawMessage) (f filed, ok bool) {
	if json.Unmarshal(text, &f) != nil {
		return f, false
	}
	for _, day := range []string{f.End, f.Filed} {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return f, false
		}
	}
	// What is told of a time after its filing is none.
	value, err := market.ParseDecimal(f.Value.String())
	return f, err == nil && !value.IsNeg() && f.End <= f.Filed
}

// periodic reports whether it is of a quarterly or an annual report, or of what mends one.
func (f *filed) periodic() bool {
	form := strings.TrimSuffix(f.Form, "/A")
	return form == "10-Q" || form == "10-K"
}
