package perp

import (
	"fmt"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/datatest"
	"quotary/shared/data/openpositions"
	"quotary/shared/data/whales"
	"quotary/shared/market"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

// watched is a set of projections at work whose markets and marks are known.
type watched struct {
	*set
	at time.Time
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	w := &watched{newSet(), time.UnixMilli(1_790_000_000_000)}
	b := NewBatch()
	described := datatest.TwoPerps(w.at.UnixMilli(), 40, 25)
	b.Meta = &market.Meta{Time: described.Time, Perps: described.Perps, Spot: described.Spot}
	b.Contexts = []market.Contexts{{Time: w.at.UnixMilli(), Coins: []market.Context{{Coin: "BTC", Mark: market.DecimalFromInt(30000)}, {Coin: "ETH", Mark: market.DecimalFromInt(2000)}}}}
	w.next(t, b)
	return w
}

// next applies a batch and returns what changed, ten seconds later than before.
func (w *watched) next(t *testing.T, b *Batch) engine.Changes {
	t.Helper()
	w.at = w.at.Add(10 * time.Second)
	must.Get(w.apply(b, w.at, nil))(t)
	return w.changes(w.at, false)
}

// whaleFill is a fill of account n in the block of a time.
func whaleFill(n int, coin string, block, seq int64, start, sz string, side market.Side) market.Fill {
	return market.Fill{Address: fmt.Sprintf("0x%040x", n), Coin: coin, Px: "30000.0", Sz: sz, Side: side, Time: block, Seq: seq, Tid: seq, Oid: seq,
		StartPosition: start, Dir: "Open Long", ClosedPnl: "0.0", Fee: "0.0", FeeToken: "USDC"}
}

// eventsIn are the whale events of what changed, oldest first; ok is false where they were not
// published.
func eventsIn(t *testing.T, c engine.Changes) (lines []string, ok bool) {
	t.Helper()
	for _, view := range c.Views {
		if view.Name != whales.EventsName {
			continue
		}
		for _, e := range must.Get(whales.PublishedEvents.Decode(view.Body))(t).Events {
			lines = append(lines, fmt.Sprint(e.Time, " ", e.User[41:], " ", e.Coin, " ", e.Action, " ", market.Text(e.Size), " ", market.Text(e.Value)))
		}
		return lines, true
	}
	return nil, false
}

func TestWhatWhalesDoIsOneEventABlock(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	block := w.at.UnixMilli() + 1
	fills := func(list ...market.Fill) *Batch {
		b := NewBatch()
		b.Fills = list
		return b
	}
	type step struct {
		does  string
		fills []market.Fill
		want  []string // nil for no view
	}
	var events []string
	for _, s := range []step{
		{"somebody small opens", []market.Fill{whaleFill(1, "BTC", block, 1, "0.0", "33.0", market.Buy)}, nil},
		{"it becomes a whale with many fills in one block, as the whale on their other side opens", []market.Fill{
			whaleFill(1, "BTC", block+1, 2, "33.0", "0.5", market.Buy), whaleFill(1, "BTC", block+1, 3, "33.5", "0.5", market.Buy),
			whaleFill(2, "BTC", block+1, 4, "0.0", "40.0", market.Sell),
		}, []string{fmt.Sprint(block+1, " 1 BTC 3 34.0 1020000.0"), fmt.Sprint(block+1, " 2 BTC 1 -40.0 1200000.0")}},
		{"a whale opens something small in another coin", []market.Fill{whaleFill(2, "ETH", block+2, 5, "0.0", "1.0", market.Buy)}, []string{fmt.Sprint(block+2, " 2 ETH 1 1.0 2000.0")}},
		{"one reduces and is none any more, one turns around", []market.Fill{
			whaleFill(1, "BTC", block+3, 6, "34.0", "30.0", market.Sell), whaleFill(2, "BTC", block+3, 7, "-40.0", "90.0", market.Buy),
		}, []string{fmt.Sprint(block+3, " 1 BTC 4 4.0 120000.0"), fmt.Sprint(block+3, " 2 BTC 5 50.0 1500000.0")}},
		{"who was a whale closes the rest, which is nothing to tell", []market.Fill{whaleFill(1, "BTC", block+4, 8, "4.0", "4.0", market.Sell)}, nil},
		{"a whale closes all, and what it closed is told", []market.Fill{whaleFill(2, "BTC", block+5, 9, "50.0", "50.0", market.Sell)}, []string{fmt.Sprint(block+5, " 2 BTC 2 50.0 1500000.0")}},
		{"the same comes again", []market.Fill{whaleFill(2, "BTC", block+5, 9, "50.0", "50.0", market.Sell)}, nil},
		{"spot is no position", []market.Fill{whaleFill(3, "@107", block+6, 10, "0.0", "90000.0", market.Buy)}, nil},
	} {
		got, published := eventsIn(t, w.next(t, fills(s.fills...)))
		if published != (s.want != nil) {
			t.Errorf("%s: published %t: %v", s.does, published, got)
		}
		if published {
			events = append(events, s.want...)
			check.Equal(t, events, got)
		}
	}
}

// The view of the open positions has what the states of accounts say as soon as these are folded.
func TestTheViewOfOpenPositionsHasWhatAccountsSay(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	b := NewBatch()
	b.Fills = []market.Fill{whaleFill(1, "BTC", w.at.UnixMilli()+1, 1, "0.0", "2.0", market.Buy)}
	for _, view := range w.next(t, b).Views {
		if view.Name != openpositions.Name {
			continue
		}
		table := must.Get(openpositions.Published.Decode(view.Body))(t)
		if len(table.Rows) != 1 || table.Rows[0].Flags&market.OpenCostKnown == 0 || table.Rows[0].Cost != 60_000_000_000 {
			t.Errorf("it has %+v", table.Rows)
		}
		return
	}
	t.Error("it is not published")
}

// Samples are taken once in each bucket of each interval: by the clock, or by the times of the fills of an hour that
// the venue published later.
func TestTheSidesOfWhalesAreSampled(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]time.Duration{"as it happens": 0, "with the hour": 90 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWatched(t)
			taken, value := map[string]int{}, map[string]bool{}
			for i := range int64(130) {
				w.at = w.at.Add(50 * time.Second)
				b := NewBatch()
				b.Hourly = late > 0
				b.Fills = []market.Fill{whaleFill(2, "BTC", w.at.Add(-late).UnixMilli(), 100+i, fmt.Sprintf("%d.0", -40-i), "1.0", market.Sell)}
				for _, row := range w.next(t, b).Fine {
					if row.Name == whales.SidesName {
						taken[row.Interval]++
						value[string(row.Body)] = true
					}
				}
			}
			want := map[string]int{"10m": 14, "1h": 3, "4h": 2, "1d": 1}
			if late > 0 { // the first fill begins a minute of which there is no sample
				want = map[string]int{"10m": 14, "1h": 3, "4h": 1, "1d": 1}
			}
			check.Equal(t, want, taken)
			if len(value) != want["10m"] {
				t.Errorf("%d samples of %d are different", len(value), want["10m"])
			}
		})
	}
}
