package perp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/datatest"
	"quotary/shared/data/liquidations"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// liquidationsOf are all rows of what batches liquidated.
func liquidationsOf(batches []*Batch) map[store.SeriesAt]store.Point {
	rows := map[store.SeriesAt]store.Point{}
	for _, row := range datatest.LiquidationRows(fillsOf(batches)) {
		rows[store.SeriesAt{SeriesKey: row.SeriesKey, Time: row.Time}] = row.Point
	}
	return rows
}

// liquidation is the pair of fills by which an order of a liquidated account met another.
func liquidation(address, coin string, oid, tid, ms int64, sz, start string) (pair []market.Fill) {
	f := market.Fill{
		Address: address, Coin: coin, Px: "2.5", Sz: sz, Side: market.Sell, Time: ms, StartPosition: start, ClosedPnl: "-1.5", Dir: "Close Long",
		Hash: "0x0", Oid: oid, Tid: tid, Fee: "0.1", FeeToken: "USDC", Crossed: true,
		Liquidation: &market.Liquidation{LiquidatedUser: address, MarkPx: "2.4", Method: "market"},
	}
	g := f
	g.Address, g.Side, g.Crossed, g.Oid, g.Dir, g.StartPosition, g.ClosedPnl = fmt.Sprintf("0x%040d", 900+tid), market.Buy, false, oid+1_000_000, "Open Long", "0.0", "0.0"
	return []market.Fill{f, g}
}

// storedRows writes the rows of a projection that has applied batches one by one.
func storedRows(t *testing.T, p Projection, batches ...*Batch) *store.Series {
	t.Helper()
	c := folded(t, p, time.UnixMilli(base), batches...)
	if c.Held {
		t.Error("something is held though everything is written")
	}
	series := storetest.Open(t).Series
	storetest.PutSeries(t, series, append(c.Coarse, c.Fine...)...)
	return series
}

// What is shown of a pair of the perpetual exchange, as of any exchange's, is what is shown of its
// coin: who was liquidated is told by one rule.
func TestSumsByPairAgreeWithThoseByCoin(t *testing.T) {
	t.Parallel()
	var fills []market.Fill
	for i := range int64(40) {
		fills = append(fills, liquidation(fmt.Sprintf("0x%040d", i%5), []string{"BTC", "ETH", "xyz:GOLD", "@107"}[i%4], 100+i/3, i+1, base+i*7_000, "4.0", "20.0")...)
	}
	b := &Batch{Events: market.Events{Fills: fills}}
	series := storedRows(t, newLiquidationEvents(new(liquidationCounts)), b)
	pairSeries := storedRows(t, newPairLiquidations(&new(liquidationCounts).leftOut), b)
	from := time.UnixMilli(base).Add(-time.Hour)
	coins := must.Get(liquidations.ByCoin(t.Context(), series, from))(t)
	if len(coins) != 3 { // a spot pair has no positions
		t.Fatalf("%d coins", len(coins))
	}
	for _, coin := range coins {
		key, ok := map[string]string{"BTC": "btcswapusdc:hyperliquid", "ETH": "ethswapusdc:hyperliquid"}[coin.Coin]
		if !ok {
			continue
		}
		var sum market.Liquidated
		for _, part := range must.Get(pairseries.Liquidations.Read(t.Context(), pairSeries, key, time.Hour, pairseries.Window{Limit: 100}))(t) {
			sum.Merge(&part)
		}
		if !sum.Long.Equal(coin.LongValue) || !sum.Short.Equal(coin.ShortValue) || sum.Count != coin.Liquidations() || sum.Count == 0 {
			t.Errorf("%s: pair %+v, coin %+v", coin.Coin, sum, coin.LiquidationStats)
		}
	}
}

func TestAnOrderThatMeetsManyIsOneLiquidation(t *testing.T) {
	t.Parallel()
	const alice, bob = "0x00000000000000000000000000000000000000a1", "0x00000000000000000000000000000000000000b0"
	fills := append(liquidation(alice, "BTC", 7, 1, base, "4.0", "10.0"), liquidation(alice, "BTC", 7, 2, base, "2.0", "6.0")...)
	fills = append(fills, liquidation(alice, "BTC", 8, 3, base, "1.0", "4.0")...)
	fills = append(fills, liquidation(bob, "BTC", 7, 4, base, "1.0", "4.0")...)
	unknown := liquidation(bob, "BTC", 9, 5, base, "1.0", "0.0") // opened a position
	for i := range unknown {
		unknown[i].Liquidation = &market.Liquidation{Method: "market"}
	}
	var counts liquidationCounts
	b := &Batch{Events: market.Events{Fills: append(fills, unknown...)}}
	series := storedRows(t, newLiquidationEvents(&counts), b, b)
	sum := must.Get(liquidations.Window(t.Context(), series, "BTC", time.UnixMilli(base)))(t)
	if sum.Longs != 3 || sum.Shorts != 0 || len(sum.Addresses) != 2 || market.Text(sum.LongValue) != "20.0" || market.Text(sum.LongPnl) != "-6.0" {
		t.Errorf("%+v", sum)
	}
	top := must.Get(liquidations.Top(t.Context(), series, "BTC", time.UnixMilli(base), 1))(t)
	want := []string{"15.0", "6.0", "10.0", "4.0", "-3.0", "2.5"}
	e := top[0]
	if diff := cmp.Diff(want, []string{market.Text(e.Value), market.Text(e.Sz), market.Text(e.Start), market.Text(e.End), market.Text(e.Pnl), market.Text(e.Px())}); diff != "" || e.Oid != 7 || e.Address != alice {
		t.Errorf("%+v\n%s", e, diff)
	}
	if counts.unknown.Load() != 2 || counts.leftOut.Load() != 0 {
		t.Errorf("%d of nobody, %d left out", counts.unknown.Load(), counts.leftOut.Load())
	}
}

// A second of which more is told than a row takes does not stop the domain.
func TestTheLiquidationsOfASecondFitIntoARow(t *testing.T) {
	t.Parallel()
	var fills []market.Fill
	const many = 2000
	for i := range int64(many) {
		fills = append(fills, liquidation(fmt.Sprintf("0x%040d", i), "BTC", i+1, i+1, base, "1.0", "4.0")[0])
	}
	var counts liquidationCounts
	c := folded(t, newLiquidationEvents(&counts), time.UnixMilli(base), &Batch{Events: market.Events{Fills: fills}})
	kept := len(must.Get(liquidations.DecodeEvents(c.Coarse[0].Body))(t))
	if len(c.Coarse) != 1 || len(c.Coarse[0].Body) > liquidations.MostBytes || kept < 700 || counts.leftOut.Load() != int64(many-kept) {
		t.Errorf("%d rows, %d bytes, %d kept, %d left out", len(c.Coarse), len(c.Coarse[0].Body), kept, counts.leftOut.Load())
	}
}

// What the venue may name and count, it may at any length: the rows of a second, and the sums of all
// coins, can be stored.
func TestRowsOfTheLongestLiquidationsCanBeStored(t *testing.T) {
	t.Parallel()
	most := strings.Repeat("9", 48)
	p := newLiquidationEvents(new(liquidationCounts))
	s := &set{all: []Projection{p}}
	at := noon.UnixMilli()
	var c engine.Changes
	for second := range int64(20) {
		var e market.Events
		for n := range int64(600) {
			address, id := fmt.Sprintf("0x%040x", n), 600*second+n
			f := market.Fill{
				Address: address, Coin: strings.Repeat("<", 58) + fmt.Sprint(100_000+id), Px: most, Sz: most, Side: market.Buy, Time: at + 1000*second, StartPosition: "-" + most[1:], ClosedPnl: "-" + most[1:], Fee: "0.0",
				Oid: id, Tid: id, Liquidation: &market.Liquidation{LiquidatedUser: address, MarkPx: most, Method: strings.Repeat("<", 256)},
			}
			must.Do(t, f.Check())
			e.Fills = append(e.Fills, f)
		}
		must.Get(s.apply(&Batch{Events: e}, noon, nil))(t)
		next := p.Changes(noon, true)
		c.Coarse, c.Fine = append(c.Coarse, next.Coarse...), append(c.Fine, next.Fine...)
	}
	rows := append(c.Coarse, c.Fine...)
	for _, r := range rows {
		if len(r.Body) > liquidations.MostBytes+1024 {
			t.Errorf("%s of %s has %d bytes", r.SeriesKey, r.Time, len(r.Body))
		}
	}
	if left := p.counts.leftOut.Load(); left == 0 || len(c.Coarse) != 20 {
		t.Errorf("%d are left out of %d rows: the test proves nothing", left, len(c.Coarse))
	}
}
