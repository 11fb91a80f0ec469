package exchange

import (
	"context"
	"fmt"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairpast"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// Of as many pairs as clients ever want only those are kept that something still comes of.
func TestPairsOfWhichNothingComesAreForgotten(t *testing.T) {
	t.Parallel()
	p := newKlines(time.Second)
	today := noon.Truncate(day)
	run := func(pair string, from, to time.Time) Run {
		c := market.Candle{OpenTime: from.UnixMilli(), Trades: 1, Size: dec(1), Amount: dec(1), Open: dec(1), High: dec(1), Low: dec(1), Close: dec(1)}
		return Run{CandleRun: market.CandleRun{Pair: pair, Interval: market.Minute1, From: from.UnixMilli(), To: to.UnixMilli(), Candles: []market.Candle{c}}}
	}
	rows := func(now time.Time, runs ...Run) int {
		t.Helper()
		must.Do(t, p.Apply(&Batch{Runs: runs}, nil, now))
		return len(p.Changes(now, true).Coarse)
	}
	for n := range 100 {
		rows(noon, run(fmt.Sprint("pair", n), today, noon))
	}
	rows(noon.Add(pairFor-time.Hour), run("pair7", noon, noon.Add(time.Minute)))
	rows(noon.Add(pairFor+time.Minute), run("pair8", noon, noon.Add(time.Minute)))
	if len(p.pairs) != 2 || p.pairs["pair7"] == nil || p.pairs["pair8"] == nil {
		t.Fatalf("%d pairs are kept", len(p.pairs))
	}
	// One that is wanted again begins again, at the opening of a day.
	later := today.Add(2 * day)
	if n := rows(later, run("pair9", today.Add(2*day), later.Add(time.Minute))); n != len(market.PairTiers) {
		t.Errorf("%d rows of one that comes again", n)
	}
}

// Who reads while the past is written finds its newest part.
func TestTheNewestRowsAreWrittenFirst(t *testing.T) {
	t.Parallel()
	p := newKlines(time.Second)
	past := market.CandleRun{Pair: "a:x", Interval: market.Hour1, From: midnight, To: midnight + day.Milliseconds()}
	for open := past.From; open < past.To; open += time.Hour.Milliseconds() {
		past.Candles = append(past.Candles, market.Candle{OpenTime: open, Trades: 1, Size: dec(1), Amount: dec(1), Open: dec(1), High: dec(1), Low: dec(1), Close: dec(1)})
	}
	must.Do(t, p.Apply(&Batch{Past: []market.CandleRun{past}}, nil, noon))
	last := map[string]time.Time{}
	rows := p.Changes(noon, false).Coarse
	for _, row := range rows {
		key := row.SeriesKey.String()
		if before, ok := last[key]; ok && !row.Time.Before(before) {
			t.Fatalf("%s comes behind %s", row.Time, before)
		}
		last[key] = row.Time
	}
	if len(rows) < 24+6+1 {
		t.Errorf("%d rows", len(rows))
	}
}

// Minutes of a pair that did not come for a day come again from the opening of the day on in
// which they ended: what was folded of it may be forgotten.
func TestMinutesThatWereAwayForADayBeginWithADay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for away, want := range map[time.Duration]time.Time{23 * time.Hour: noon.Truncate(time.Minute), 25 * time.Hour: noon.Truncate(day)} {
		h := w.history(t)
		from := int64(0)
		h.filled, h.folded = map[string]progress{}, map[string]int64{}
		h.sink = func(_ context.Context, d engine.Delivery[*Batch]) error {
			if from == 0 {
				from = d.Batch.Runs[0].From
			}
			return nil
		}
		pair := market.Pair{Key: "btcswapusdt:binance", Symbol: "BTCUSDT", Swap: true}
		now := noon
		h.now = func() time.Time { return now }
		must.Do(t, h.confirm(t.Context(), pair))
		from, now = 0, now.Add(away)
		must.Do(t, h.confirm(t.Context(), pair))
		if from != want.UnixMilli() {
			t.Errorf("after %s they begin at %s", away, time.UnixMilli(from).UTC())
		}
	}
}

// TestHowMuchIsStoredIsWrittenBehindTheRows, of open buckets too, and at once where somebody
// waits for it.
func TestHowMuchIsStoredIsWrittenBehindTheRows(t *testing.T) {
	t.Parallel()
	p := newKlines(time.Hour)
	p.Changes(noon, false)
	midnight := market.Day1.StartMs(noon.UnixMilli())
	minute := midnight
	apply := func(awaited bool) {
		t.Helper()
		run := market.CandleRun{Pair: "btcusdt:binance", Interval: market.Minute1, From: minute, To: minute + 60_000, Candles: []market.Candle{candleAt(minute)}}
		minute += 60_000
		stored := Stored{Pair: run.Pair, What: pairpast.Klines, Past: pairpast.AllStored, Awaited: awaited}
		must.Do(t, p.Apply(&Batch{Runs: []Run{{CandleRun: run}}, Stored: []Stored{stored}}, nil, noon))
	}
	apply(false)
	if c := p.Changes(noon.Add(time.Minute), false); p.Urgent() || len(c.Coarse) == 0 || len(c.Fine) != 0 {
		t.Errorf("urgent %t: %d rows, and %d of what is stored", p.Urgent(), len(c.Coarse), len(c.Fine))
	}
	apply(true)
	if !p.Urgent() {
		t.Error("nobody is told that somebody waits")
	}
	if c := p.Changes(noon.Add(time.Minute), false); p.Urgent() || len(c.Coarse) < len(market.PairTiers)-1 || len(c.Fine) != 2 {
		t.Errorf("urgent %t: %d rows, and %d of what is stored", p.Urgent(), len(c.Coarse), len(c.Fine))
	}
}

func candleAt(open int64) market.Candle {
	c := market.Candle{OpenTime: open}
	c.Add(&market.Trade{Side: market.Buy, Time: open, Tid: 1, Px: market.DecimalFromInt(100), Sz: market.DecimalFromInt(1)})
	return c
}
