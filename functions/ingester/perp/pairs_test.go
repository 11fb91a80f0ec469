package perp

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairliquidations"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

var equalDecimals = cmp.Comparer(func(a, b market.Decimal) bool { return a.Equal(b) })

// drawLiquidations makes fills of which some liquidated one of the two accounts, or neither.
func drawLiquidations(t *rapid.T) []*Batch {
	all := drawFills(t)
	for _, b := range all {
		if user := b.Fills[0].Tid % 3; user < 2 {
			for i := range b.Fills {
				b.Fills[i].Liquidation = &market.Liquidation{LiquidatedUser: b.Fills[user].Address, MarkPx: "1.0", Method: "market"}
			}
		}
	}
	return all
}

// folded is what a projection makes of batches without stored rows.
func folded(t *testing.T, p Projection, now time.Time, batches ...*Batch) engine.Changes {
	t.Helper()
	for _, b := range batches {
		r := engine.NewReads()
		p.Prefetch(b, r)
		r.Fill(nil, map[store.SeriesAt]store.Point{})
		must.Do(t, p.Apply(b, r, now))
	}
	return p.Changes(now, true)
}

// Of the two fills of a trade only that of the account that was liquidated is one.
func TestLiquidationsByPairAreThoseOfTheLiquidatedAccountOnce(t *testing.T) {
	t.Parallel()
	const hour = base / 3_600_000 * 3_600_000
	fill := func(address, coin string, side market.Side, sz string, tid int64) market.Fill {
		return market.Fill{Address: address, Coin: coin, Px: "2.5", Sz: sz, Side: side, Time: hour + 5, Tid: tid, StartPosition: "0.0", ClosedPnl: "0.0", Liquidation: &market.Liquidation{LiquidatedUser: "0x1", MarkPx: "2.4", Method: "market"}}
	}
	part := func(sz string, tid int64, oid int64) market.Fill {
		f := fill("0x1", "BTC", market.Sell, sz, tid)
		f.Oid = oid
		return f
	}
	ordinary := fill("0x1", "BTC", market.Sell, "7.0", 9)
	ordinary.Liquidation = nil
	b := &Batch{Events: market.Events{Fills: []market.Fill{
		fill("0x1", "BTC", market.Sell, "4.0", 1), fill("0x2", "BTC", market.Buy, "4.0", 1), // a long
		fill("0x1", "BTC", market.Sell, "4.0", 2),                    // as large, in the same millisecond: its second part
		fill("0x1", "BTC", market.Buy, "100.0", 3),                   // a short
		part("60.0", 6, 77), part("50.0", 7, 77), part("1.0", 8, 78), // parts of a long that is larger than the short, and another
		fill("0x1", "@107", market.Sell, "1.0", 4), fill("0x1", "xyz:GOLD", market.Sell, "1.0", 5), ordinary,
	}}}
	c := folded(t, newPairLiquidations(new(atomic.Int64)), time.UnixMilli(hour), b, b)
	px := func(s string) market.Decimal { d, _ := market.ParseDecimal(s); return d }
	want := market.Liquidated{Time: hour, Long: px("297.5"), Short: px("250"), Count: 4, Largest: px("275")}
	for _, tier := range pairseries.Tiers {
		found := false
		for _, row := range c.Fine {
			if (store.SeriesAt{SeriesKey: row.SeriesKey, Time: row.Time}) != pairseries.Liquidations.At("btcswapusdc:hyperliquid", tier, hour) {
				continue
			}
			pack := must.Get(pairseries.Liquidations.Decode(row.Body))(t)
			found = true
			if diff := cmp.Diff(pairseries.Pack[market.Liquidated]{hour: want}, pack, equalDecimals); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
		if !found {
			t.Errorf("no row of %s", tier.Row)
		}
	}
	if len(c.Views) != 1 || len(c.Coarse) != 1 || c.Held {
		t.Fatalf("%d views, %d rows of orders, held %t", len(c.Views), len(c.Coarse), c.Held)
	}
	v := must.Get(pairliquidations.Published.Decode(c.Views[0].Body))(t)
	viewed := pairliquidations.View{Time: hour + 5, Pairs: []pairliquidations.Pair{{Key: "btcswapusdc:hyperliquid", Coin: "btc", Platform: "hyperliquid", Minutes: []pairliquidations.Minute{pairliquidations.NewMinute(want)}}}}
	if diff := cmp.Diff(viewed, v, equalDecimals); diff != "" {
		t.Errorf("the view (-want +got):\n%s", diff)
	}
}

// A checkpoint must not move before the liquidations of a file are written and in the view,
// from which the next life takes them.
func TestLiquidationsAreHeldUntilTheyAreWritten(t *testing.T) {
	t.Parallel()
	p := newPairLiquidations(new(atomic.Int64))
	now := time.UnixMilli(base)
	apply := func(tid int64) {
		t.Helper()
		f := market.Fill{Address: "0x1", Coin: "BTC", Px: "2.5", Sz: "1.0", Side: market.Sell, Time: base, Tid: tid, StartPosition: "0.0", ClosedPnl: "0.0", Liquidation: &market.Liquidation{LiquidatedUser: "0x1"}}
		b := &Batch{Events: market.Events{Fills: []market.Fill{f}}}
		r := engine.NewReads()
		p.Prefetch(b, r)
		r.Fill(nil, map[store.SeriesAt]store.Point{})
		must.Do(t, p.Apply(b, r, now))
	}
	want := func(after time.Duration, settle, held, rows, view bool) {
		t.Helper()
		c := p.Changes(now.Add(after), settle)
		if c.Held != held || len(c.Fine) > 0 != rows || len(c.Views) > 0 != view {
			t.Errorf("after %s: held %t, %d rows, %d views", after, c.Held, len(c.Fine), len(c.Views))
		}
	}
	folded(t, p, now)
	apply(1)
	want(0, true, false, true, true)
	apply(2)
	want(time.Second, false, true, false, false)
	want(6*time.Second, false, true, true, false) // the view is written less often
	want(11*time.Second, false, false, false, true)
	apply(3)
	want(12*time.Second, true, false, true, true)
}

func TestFiguresByPairAreThoseOfTheMainVenuesPerpetuals(t *testing.T) {
	t.Parallel()
	px := func(s string) market.Decimal { d, _ := market.ParseDecimal(s); return d }
	of := func(at int64, coins ...market.Context) market.Contexts {
		return market.Contexts{Time: at, Coins: coins}
	}
	const minute = base / 60_000 * 60_000
	dex := of(minute, market.Context{Coin: "xyz:GOLD", Mark: px("9"), Interest: px("9"), Funding: "0.1"})
	dex.Dex = "xyz"
	spot := of(minute, market.Context{Coin: "PURR/USDC", Mark: px("9"), Interest: px("9"), Funding: "0.1"})
	spot.Spot = true
	for _, tt := range []struct {
		p         *pairContexts
		series    pairseries.Series[market.Bar]
		high, low string
		keys      []string // open interest is that of the coin too
	}{
		{newPairInterests(), pairseries.Interest, "5", "3", []string{"kpepeswapusdc:hyperliquid", "pepeswapusdc:hyperliquid"}},
		{newPairFundings(), pairseries.Funding, "0.0000125", "-0.00003", []string{"kpepeswapusdc:hyperliquid"}},
	} {
		c := folded(t, tt.p, time.UnixMilli(base), &Batch{Events: market.Events{Contexts: []market.Contexts{
			of(minute+1, market.Context{Coin: "kPEPE", Mark: px("0.5"), Interest: px("10"), Funding: "0.0000125"}, market.Context{Coin: "OLD", Mark: px("1")}), dex, spot,
			of(minute+2, market.Context{Coin: "kPEPE", Mark: px("0.5"), Interest: px("6"), Funding: "-0.00003"}),
		}}})
		if len(c.Fine) != len(tt.keys)*len(pairseries.Tiers) {
			t.Fatalf("%s: %d rows", tt.series.Name(), len(c.Fine))
		}
		for i := range c.Fine {
			key, tier := tt.keys[i%len(tt.keys)], pairseries.Tiers[i/len(tt.keys)]
			at := tt.series.At(key, tier, minute)
			n := slices.IndexFunc(c.Fine, func(row store.SeriesRow) bool { return row.SeriesKey == at.SeriesKey })
			if n < 0 {
				t.Fatalf("%s: no row of tier %d of %s", tt.series.Name(), i, key)
			}
			pack, err := tt.series.Decode(c.Fine[n].Body)
			start := tier.Part.StartMs(minute)
			want := market.Bar{Time: start, Open: px(tt.high), High: px(tt.high), Low: px(tt.low), Close: px(tt.low), First: minute + 1, Last: minute + 2}
			if diff := cmp.Diff(pairseries.Pack[market.Bar]{start: want}, pack, equalDecimals); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", tt.series.Name(), err, diff)
			}
		}
	}
}
