package market

import "time"

// TakerRun is a run of trades of a pair in which takers of one side traded one after another: no
// trade of the other side was between them, no two were further apart than [RunPause], and none is
// missing. Sizes are base units.
type TakerRun struct {
	ID    int64 // of its first trade
	Side  Side  // of the takers
	Start int64 // when its first trade was, ms
	End   int64 // when its newest trade was, ms
	Last  int64 // id of that trade

	StartPx Decimal // of its first trade
	FarPx   Decimal // the worst price that was paid: the highest of buyers, the lowest of sellers
	Largest Decimal // size of its largest trade
	Size    Decimal // of all trades
	Value   Decimal // of all trades, quote units
	Count   int64   // trades
}

const (
	// RunPause is how far apart two trades of a run are at most.
	RunPause = 500 * time.Millisecond

	// RunFor is how long a run is at most, so that one in which nobody of the other side trades
	// ends.
	RunFor = time.Minute
)

// RunOf is the run that a trade begins.
func RunOf(t *PairTrade) TakerRun {
	return TakerRun{ID: t.ID, Side: t.Side, Start: t.Time, End: t.Time, Last: t.ID, StartPx: t.Px, FarPx: t.Px, Largest: t.Sz, Size: t.Sz, Value: t.Value(), Count: 1}
}

// Add takes the trade that follows, and reports whether it is of the run.
func (r *TakerRun) Add(t *PairTrade) bool {
	if t.Side != r.Side || t.Prev != 0 && t.Prev != r.Last || t.Time-r.End > RunPause.Milliseconds() || t.Time-r.Start > RunFor.Milliseconds() {
		return false
	}
	r.End, r.Last = max(r.End, t.Time), t.ID
	if further := t.Px.Cmp(r.FarPx); r.Side == Buy && further > 0 || r.Side == Sell && further < 0 {
		r.FarPx = t.Px
	}
	if t.Sz.Cmp(r.Largest) > 0 {
		r.Largest = t.Sz
	}
	r.Size, r.Value = r.Size.Add(t.Sz), r.Value.Add(t.Value())
	r.Count++
	return true
}

// Slippage is by how much the worst price is worse than the first.
func (r *TakerRun) Slippage() Decimal { return r.FarPx.Sub(r.StartPx).Abs() }
