package exchange

import (
	"slices"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairchanges"
	"quotary/shared/data/pairs"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

// changeRun is minutes of a pair from one on, of a day that rises by a thousandth in every minute
// from its tenth hour on.
func changeRun(pair string, from, to int) market.CandleRun {
	midnight := market.Day1.StartMs(noon.UnixMilli())
	run := market.CandleRun{Pair: pair, Interval: market.Minute1, From: midnight + int64(from)*60_000, To: midnight + int64(to)*60_000}
	for n := from; n < to; n++ {
		px := dec(int64(100_000 + 100*max(0, n-600)))
		run.Candles = append(run.Candles, market.Candle{
			OpenTime: midnight + int64(n)*60_000, Trades: 4, Size: dec(1), Amount: dec(100), AmountBuyer: dec(50), Open: px, High: px, Low: px, Close: px,
		})
	}
	return run
}

func changeRows(t *testing.T, p Projection, b *Batch) []store.Row {
	t.Helper()
	must.Do(t, p.Apply(b, nil, noon))
	var rows []store.Row
	for _, log := range p.Changes(noon, false).Log {
		if log.Dataset == pairchanges.Name {
			rows = append(rows, log.Rows...)
		}
	}
	return rows
}

func changeListing(swap, inverse, followed bool) Listing {
	pair := market.Pair{Key: "aaausdt:x", Platform: "x", Base: "AAA", Quote: "USDT", Swap: swap, Inverse: inverse}
	return Listing{Platform: "x", Swap: swap, Inverse: inverse, Pairs: []market.Pair{pair}, Followed: map[string]bool{pair.Key: followed}}
}

// A process that ends is told again of the day's minutes: those that are stored say nothing, and
// those whose rows were not written say what they said.
func TestAChangeIsSaidOnceHoweverOftenTheProcessEnds(t *testing.T) {
	t.Parallel()
	const pair = "aaausdt:x"
	listing := changeListing(true, false, true)
	all := changeRows(t, newChanges(new(leftOut)), &Batch{Listings: []Listing{listing}, Runs: []Run{{CandleRun: changeRun(pair, 0, 720)}}})
	ids := func(rows []store.Row) (list []string) {
		for _, r := range rows {
			list = append(list, r.Time.Format(time.TimeOnly)+" "+r.ID)
		}
		return list
	}
	want := []string{"10:02:00 aaausdt:x#7#", "10:51:00 aaausdt:x#3#", "11:01:00 aaausdt:x#7#"}
	if got := ids(all); !slices.Equal(got, want) {
		t.Fatalf("at once %v, want %v", got, want)
	}
	listed := engine.ViewOf(pairs.Published, pairs.View{Pairs: []pairs.Pair{{Pair: listing.Pairs[0], Followed: true}}})
	var got []store.Row
	for stored := 0; stored < 720; stored += 90 {
		p := newChanges(new(leftOut))
		must.Do(t, p.Restore(map[string][]byte{pairs.Name: listed.Body}))
		got = append(got, changeRows(t, p, &Batch{Runs: []Run{{CandleRun: changeRun(pair, 0, stored), Stored: true}, {CandleRun: changeRun(pair, stored, stored+90)}, {CandleRun: changeRun(pair, stored, stored+90)}}})...)
	}
	if !slices.Equal(ids(got), want) {
		t.Errorf("over restarts %v, want %v", ids(got), want)
	}
}

func TestChangesAreOfFollowedPairsThatAreNotInverse(t *testing.T) {
	t.Parallel()
	for name, listings := range map[string][]Listing{"wanted": {changeListing(false, false, false)}, "inverse": {changeListing(true, true, true)}, "unknown": nil} {
		if rows := changeRows(t, newChanges(new(leftOut)), &Batch{Listings: listings, Runs: []Run{{CandleRun: changeRun("aaausdt:x", 0, 720)}}}); len(rows) != 0 {
			t.Errorf("%s: %d are said", name, len(rows))
		}
	}
}

func TestLargeLiquidationsAndRunsOfTakersAreChanges(t *testing.T) {
	t.Parallel()
	listing := changeListing(true, false, true)
	liquidation := func(pair string, value int64) market.PairLiquidation {
		return market.PairLiquidation{Pair: pair, Time: noon.UnixMilli(), Long: true, Px: dec(10), Sz: dec(value / 10), Value: dec(value)}
	}
	rows := changeRows(t, newChanges(new(leftOut)), &Batch{Listings: []Listing{listing}, PairEvents: market.PairEvents{Liquidations: []market.PairLiquidation{
		liquidation("aaausdt:x", 49_990), liquidation("aaausdt:x", 50_000), liquidation("bbbusdt:x", 50_000),
	}}})
	if len(rows) != 1 || rows[0].ID != "aaausdt:x#23#10 5000" {
		t.Errorf("of liquidations %+v", rows)
	}
	trade := func(id int64, side market.Side, size int64) market.PairTrade {
		return market.PairTrade{Pair: "aaausdt:x", ID: id, Prev: id - 1, Time: noon.UnixMilli() + id, Side: side, Px: dec(10), Sz: dec(size)}
	}
	rows = changeRows(t, newTakerRuns(new(leftOut)), &Batch{Listings: []Listing{listing}, PairEvents: market.PairEvents{Trades: []market.PairTrade{
		trade(1, market.Buy, 4_999), trade(2, market.Sell, 2_000), trade(3, market.Sell, 3_000), trade(4, market.Buy, 1), trade(5, market.Sell, 1),
	}}})
	if len(rows) != 1 || rows[0].ID != "aaausdt:x#12#2" {
		t.Errorf("of runs %+v", rows)
	}
}

// An exchange that says nothing but large runs, or large liquidations, fills no log: so many of a pair
// are said in a minute, and what is beyond is counted.
func TestSoManyChangesOfAPairAreSaidInAMinute(t *testing.T) {
	t.Parallel()
	const beyond = 7
	listing := changeListing(true, false, true)
	trades, liquidations := NewBatch(), NewBatch()
	trades.Listings, liquidations.Listings = []Listing{listing}, []Listing{listing}
	for n := range int64(mostChanges + beyond) {
		side := market.Buy
		if n%2 == 0 {
			side = market.Sell
		}
		trades.Trades = append(trades.Trades, market.PairTrade{Pair: "aaausdt:x", ID: n + 1, Prev: n, Time: noon.UnixMilli(), Side: side, Px: dec(10), Sz: dec(5_000)})
		liquidations.Liquidations = append(liquidations.Liquidations, market.PairLiquidation{Pair: "aaausdt:x", ID: n + 1, Time: noon.UnixMilli(), Px: dec(10), Sz: dec(5_000), Value: dec(50_000)})
	}
	trades.Trades = append(trades.Trades, market.PairTrade{Pair: "aaausdt:x", ID: mostChanges + beyond + 1, Prev: mostChanges + beyond, Time: noon.UnixMilli(), Side: market.Buy, Px: dec(10), Sz: dec(1)})
	for name, tt := range map[string]struct {
		of func(*leftOut) Projection
		b  *Batch
	}{"runs": {func(left *leftOut) Projection { return newTakerRuns(left) }, trades}, "liquidations": {newChanges, liquidations}} {
		left := new(leftOut)
		p := tt.of(left)
		if rows := changeRows(t, p, tt.b); len(rows) != mostChanges || left.changes.Load() != beyond {
			t.Errorf("%s: %d are said, %d left out", name, len(rows), left.changes.Load())
		}
	}
}
