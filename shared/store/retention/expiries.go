package retention

import (
	"maps"
	"slices"
	"time"
)

// Expiry says that rows of the days before one may have been given so many days of
// retention.
type Expiry struct {
	Days   int       `json:"days"`
	Before time.Time `json:"before"` // the first moment of a day, UTC
}

// Expiries are the retentions under which rows were archived, by dataset: what was
// given to rows they keep, also when the [Setting] is changed to a longer one, or to
// none. Those of a dataset are sorted by their days, which grow with Before.
type Expiries map[string][]Expiry

// With returns the expiries with one more. Of a dataset only those stay that say
// something: of two, the shorter one covers the other if it reaches as far.
func (e Expiries) With(dataset string, more Expiry) Expiries {
	covers := func(a, b Expiry) bool { return a.Days <= b.Days && !a.Before.Before(b.Before) }
	list := e[dataset]
	if slices.ContainsFunc(list, func(one Expiry) bool { return covers(one, more) }) {
		return e
	}
	list = slices.DeleteFunc(slices.Clone(list), func(one Expiry) bool { return covers(more, one) })
	list = append(list, more)
	slices.SortFunc(list, func(a, b Expiry) int { return a.Days - b.Days })
	with := maps.Clone(e)
	if with == nil {
		with = Expiries{}
	}
	with[dataset] = list
	return with
}

// Since is the first moment of which all archived rows of a dataset are still stored,
// zero where nothing has expired by now.
func (e Expiries) Since(dataset string, now time.Time) (since time.Time) {
	for _, one := range e[dataset] {
		gone := Setting{dataset: one.Days}.Since(dataset, now)
		if one.Before.Before(gone) {
			gone = one.Before
		}
		if gone.After(since) {
			since = gone
		}
	}
	return since
}
