package perp

import (
	"math/rand/v2"
	"testing"
	"time"

	"quotary/shared/data/klines"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// TestCoinsThatTradeNoMoreAreDropped from memory, and go on where they were when they trade again.
func TestCoinsThatTradeNoMoreAreDropped(t *testing.T) {
	t.Parallel()
	const rest = 24 * time.Hour
	for name, c := range map[string]struct {
		others time.Duration // when the others trade, after the coin
		rounds int
		kept   bool
	}{
		"a day later":           {rest + 2*time.Second, 2 * keepRounds, false},
		"a day later, a moment": {rest + 2*time.Second, keepRounds - 1, true},
		"on the same day":       {rest - 2*time.Second, 2 * keepRounds, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDisk()
			p := must.Get(begin(d, only(klines.Name), rand.New(rand.NewPCG(1, 1)), time.UnixMilli(base).UTC()))(t)
			tid := int64(0)
			trade := func(coin string, at time.Duration, px string) {
				t.Helper()
				tid++
				f := market.Fill{Address: "0x1", Coin: coin, Px: px, Sz: "1.0", Side: market.Buy, Time: base + at.Milliseconds(), StartPosition: "0.0", ClosedPnl: "0.0", Fee: "0.0", Oid: tid, Tid: tid, Crossed: true}
				must.Do(t, p.apply(&Batch{Events: market.Events{Fills: []market.Fill{f}}}))
				must.Do(t, p.flush(int(tid), false))
			}
			trade("RESTS", 0, "2.5")
			for range c.rounds {
				trade("OTHER", c.others, "1.0")
			}
			_, kept := p.set.all[0].(*Klines).Newest("RESTS")
			if kept != c.kept {
				t.Errorf("it is in memory: %t", kept)
			}
			trade("RESTS", time.Millisecond, "3.5") // late, in the second of the first
			trade("RESTS", c.others, "4.5")
			row, ok := d.rows[klines.At("RESTS", market.Week1, market.Week1.StartMs(base))]
			candle, err := klines.Decode(row.Body)
			if !ok || err != nil || candle.Trades != 3 || candle.Open.String() != "2.5" || candle.Close.String() != "4.5" {
				t.Errorf("its week is %+v, %v", candle, err)
			}
		})
	}
}

// The week of the first days of 1970 begins before them.
func TestEveryCandleHasATimeThatAKeyHas(t *testing.T) {
	t.Parallel()
	d := newDisk()
	p := must.Get(begin(d, only(klines.Name), rand.New(rand.NewPCG(1, 1)), time.UnixMilli(base).UTC()))(t)
	for i, at := range []int64{1, 345_599_999, 345_600_000, base} {
		f := market.Fill{Address: "0x1", Coin: "BTC", Px: "1.0", Sz: "1.0", Side: market.Buy, Time: at, StartPosition: "0.0", ClosedPnl: "0.0", Fee: "0.0", Oid: 1, Tid: int64(i + 1), Crossed: true}
		must.Do(t, p.apply(&Batch{Events: market.Events{Fills: []market.Fill{f}}}))
		must.Do(t, p.flush(i+1, true))
	}
	for at := range d.rows {
		if at.Time.UnixMilli() < 0 {
			t.Errorf("%s is of %s", at.SeriesKey, at.Time)
		}
	}
	for _, week := range []int64{345_600_000, market.Week1.StartMs(base)} {
		if _, ok := d.rows[klines.At("BTC", market.Week1, week)]; !ok {
			t.Errorf("the week of %d is not there", week)
		}
	}
	if n := p.set.all[0].(*Klines).leftOut.Load(); n != 2 {
		t.Errorf("%d trades are left out", n)
	}
}

// A second in which a venue tells of more trades than a row has room for is stored with those that
// fit: more than a few rows that no store takes would stop the domain.
func TestTheTradesOfASecondFitIntoARow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		px          string
		many, least int
	}{
		"short ones": {"12345.6", 25_000, 9_900},
		"long ones":  {"77777777777777.77777", 12_000, klines.FewTrades},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			px := must.Get(market.ParseDecimal(c.px))(t)
			d := newDisk()
			trades := func(from, to int) *Batch {
				b := NewBatch()
				for tid := from; tid < to; tid++ {
					b.Trades = append(b.Trades, market.Trade{Coin: "BTC", Px: px, Sz: px, Side: market.Buy, Time: base, Tid: int64(tid + 1), Seq: int64(tid + 1)})
				}
				return b
			}
			for life := range 2 { // the second finds them stored
				p := must.Get(begin(d, only(klines.Name), rand.New(rand.NewPCG(1, 1)), time.UnixMilli(base).UTC()))(t)
				for from := 0; from < c.many; from += 1000 {
					must.Do(t, p.apply(trades(from, from+1000)))
				}
				must.Do(t, p.flush(life, false))
				row := d.rows[klines.At("BTC", market.Second1, base/1000*1000)]
				set := must.Get(klines.DecodeTrades(row.Extra, base/1000*1000))(t)
				kept := set.Len()
				if kept < c.least || len(row.Extra) > klines.MostTrades {
					t.Errorf("%d trades are stored in %d bytes", kept, len(row.Extra))
				}
				if n := p.set.all[0].(*Klines).leftOut.Load(); n != int64(c.many-kept) {
					t.Errorf("%d of %d are stored, and %d left out", kept, c.many, n)
				}
			}
		})
	}
}
