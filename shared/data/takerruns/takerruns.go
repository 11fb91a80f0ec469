// Package takerruns is the view of the newest large runs of takers of every followed pair of the
// centralised exchanges.
package takerruns

import (
	"cmp"
	"slices"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view.
const Name = "takerruns"

// Most is how many runs there are of a pair.
const Most = 100

// View is the state of all pairs.
type View struct {
	Time  int64  `json:"time"`  // of the newest trade in it, ms
	Pairs []Pair `json:"pairs"` // by key
}

// Pair is the runs of a pair.
type Pair struct {
	Key  string `json:"key"`
	Last int64  `json:"last"`           // id of the newest trade
	Open *Run   `json:"open,omitempty"` // the run that goes on, large or not
	Runs []Run  `json:"runs"`           // large ones that are over, oldest first
}

// Run is how a [market.TakerRun] is stored.
type Run struct {
	ID      int64          `json:"id"`
	Sold    bool           `json:"sold,omitzero"`
	Start   int64          `json:"start"`
	End     int64          `json:"end"`
	Last    int64          `json:"last"`
	StartPx market.Decimal `json:"px"`
	FarPx   market.Decimal `json:"far"`
	Largest market.Decimal `json:"largest"`
	Size    market.Decimal `json:"sz"`
	Value   market.Decimal `json:"value"`
	Count   int64          `json:"n"`
}

// NewRun is a run as it is stored.
func NewRun(r *market.TakerRun) Run {
	return Run{r.ID, r.Side == market.Sell, r.Start, r.End, r.Last, r.StartPx, r.FarPx, r.Largest, r.Size, r.Value, r.Count}
}

// Of is the run.
func (s *Run) Of() market.TakerRun {
	r := market.TakerRun{
		ID: s.ID, Side: market.Buy, Start: s.Start, End: s.End, Last: s.Last, StartPx: s.StartPx, FarPx: s.FarPx, Largest: s.Largest, Size: s.Size, Value: s.Value, Count: s.Count,
	}
	if s.Sold {
		r.Side = market.Sell
	}
	return r
}

// Runs are the runs of a pair, oldest first, the one that goes on included where it is worth so
// much already; none of a pair that is not known.
func (v View) Runs(pair string, from market.Decimal) (list []market.TakerRun) {
	p, _ := dataset.Find(v.Pairs, pair, func(p *Pair) string { return p.Key })
	for i := range p.Runs {
		list = append(list, p.Runs[i].Of())
	}
	if p.Open != nil && p.Open.Value.Cmp(from) >= 0 {
		list = append(list, p.Open.Of())
	}
	return list
}

// Published is how the view is stored.
var Published = store.ViewType[View]{Name: Name, Period: 10 * time.Second, Before: func(v *View) {
	slices.SortFunc(v.Pairs, func(a, b Pair) int { return cmp.Compare(a.Key, b.Key) })
}}
