package sec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"quotary/shared/market"
	"quotary/shared/text/jsonscan"
	"quotary/shared/upstream"
)

// newest is the newest value of a fact that is filed by any of some concepts: of the same day
// that of the first concept, and of that the one that was filed last, of the shortest period.
func (a *answer) newest(concepts []string, unit string) (newest market.Fact, malformed int, err error) {
	var start string
	for _, concept := range concepts {
		taxonomy, name, _ := strings.Cut(concept, ":")
		text, ok := a.Facts[taxonomy][name]
		if !ok {
			continue
		}
		err := eachValue(text, func(of string) bool { return of == unit }, func(one json.RawMessage) error {
			if a.values++; a.values > bounds.Rows {
				return fmt.Errorf("%w: it has more than %d values", upstream.ErrBounds, bounds.Rows)
			}
			f, ok := report(one, a.last)
			if !ok {
				malformed++
				return nil
			}
			if !f.periodic() {
				return nil
			}
			order := cmp.Compare(f.End, newest.AsOf)
			if order == 0 && concept == newest.Concept {
				order = cmp.Or(cmp.Compare(f.Filed, newest.Filed), cmp.Compare(f.Start, start))
			}
			if order > 0 {
				newest, start = market.Fact{Value: f.Value.String(), AsOf: f.End, Filed: f.Filed, Form: f.Form, Concept: concept}, f.Start
			}
			return nil
		})
		switch {
		case errors.Is(err, upstream.ErrBounds):
			return newest, malformed, err
		case err != nil:
			malformed++
		}
	}
	return newest, malformed, nil
}

var errNoConcept = errors.New("it is no concept")

// eachValue calls value with each value that a concept has in units that are read, one after
// another: those in other units are only skipped.
func eachValue(text json.RawMessage, reads func(unit string) bool, value func(json.RawMessage) error) (err error) {
	p := jsonscan.New(string(text))
	one := func() bool {
		text, ok := p.Raw()
		if ok {
			err = value(json.RawMessage(text))
		}
		return ok && err == nil
	}
	ok := p.Object(func(key string) bool {
		if key != "units" {
			return p.Skip()
		}
		return p.Object(func(key string) bool {
			if !reads(key) {
				return p.Skip()
			}
			return p.Array(one)
		})
	})
	if !ok && err == nil {
		return errNoConcept
	}
	return err
}

// report reads a value that was filed on a last day or before; ok is false for what is none.
func report(text json.RawMessage, last string) (f filed, ok bool) {
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
	return f, err == nil && !value.IsNeg() && f.End <= f.Filed && f.Filed <= last
}

// periodic reports whether it is of a quarterly or an annual report, or of what mends one.
func (f *filed) periodic() bool {
	form := strings.TrimSuffix(f.Form, "/A")
	return form == "10-Q" || form == "10-K"
}
