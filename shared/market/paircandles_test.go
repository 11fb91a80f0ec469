package market

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const pairKey = "btcusdt:binance"

// midnight is 2026-03-10 00:00 UTC.
var midnight = time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC).UnixMilli()

func drawPairTrades(t *rapid.T, from int64, span time.Duration) []PairTrade {
	var times []int64
	for range rapid.IntRange(2, 60).Draw(t, "trades") {
		times = append(times, from+rapid.Int64Range(0, span.Milliseconds()-1).Draw(t, "ms"))
	}
	slices.Sort(times)
	trades := make([]PairTrade, len(times))
	for i, ms := range times {
		trades[i] = PairTrade{Pair: pairKey, Time: ms, ID: 7_000 + 10*int64(i), Prev: 6_990 + 10*int64(i), Count: rapid.Int64Range(1, 3).Draw(t, "count"),
			Side: rapid.SampledFrom([]Side{Buy, Sell}).Draw(t, "side"),
			Px:   mustDecimal(fmt.Sprintf("%d.%02d", rapid.IntRange(90, 110).Draw(t, "px"), rapid.IntRange(0, 99).Draw(t, "cents"))),
			Sz:   mustDecimal(fmt.Sprintf("0.%03d", rapid.IntRange(1, 999).Draw(t, "sz")))}
	}
	return trades
}

// foldPair is the fold of the trades of a bucket, the first n of them: those that are
// shown as one count as one.
func foldPair(trades []PairTrade, i Interval, open int64, n int) (c Candle, shown int) {
	c.OpenTime = open
	for k := range trades {
		if i.StartMs(trades[k].Time) == open && shown < n {
			one := trades[k].candle(open)
			c.Merge(&one)
			shown++
		}
	}
	return c, shown
}

func minutesOf(trades []PairTrade, from, to int64) CandleRun {
	run := CandleRun{Pair: pairKey, Interval: Minute1, From: from, To: to}
	for open := from; open < to; open += 60_000 {
		c, n := foldPair(trades, Minute1, open, len(trades))
		if n > 0 {
			c.First, c.Last = Order{Time: open}, Order{Time: open} // all that an exchange says of it
			run.Candles = append(run.Candles, c)
		}
	}
	return run
}

// Whatever is lost, late or repeated among the trades, a row never misses a trade
// that came before one it holds, and is the exchange's own in the end.
func TestCandlesOfAPairAreNeverShortOfATradeInTheirMiddle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		// From the evening before a day's opening until the morning after.
		from := midnight + rapid.SampledFrom([]int64{0, -2 * hourMs}).Draw(t, "from")
		trades := drawPairTrades(t, from, 5*time.Hour)
		var p PairCandles
		type at struct {
			tier int
			open int64
		}
		rows := map[at]Candle{}
		take := func(changed [len(PairTiers)][]Candle) {
			for tier, candles := range changed {
				for _, c := range candles {
					rows[at{tier, c.OpenTime}] = c
					for n := 1; ; n++ {
						want, shown := foldPair(trades, PairTiers[tier], c.OpenTime, n)
						if want.Equal(&c) {
							break
						}
						if shown < n {
							t.Fatalf("%s from %d: %+v is no beginning of its trades", PairTiers[tier], c.OpenTime, c)
						}
					}
				}
			}
		}
		opening := Day1.StartMs(from)
		confirmed := opening
		confirm := func(until int64) {
			begin := confirmed
			if rapid.IntRange(0, 4).Draw(t, "again") == 0 {
				begin = opening // as after a restart
			}
			if until > begin {
				run := minutesOf(trades, begin, until)
				if n := rapid.IntRange(0, 10).Draw(t, "open"); n > 0 { // as far as it was then
					run.Open, _ = foldPair(trades, Minute1, until, n)
				}
				take(p.Confirm(&run))
				confirmed = until
			}
		}
		for i := range trades {
			switch rapid.IntRange(0, 9).Draw(t, "fate") {
			case 0: // lost
			case 1:
				p.Add(&trades[i])
				p.Add(&trades[rapid.IntRange(0, i).Draw(t, "late")])
			default:
				p.Add(&trades[i])
			}
			if rapid.IntRange(0, 3).Draw(t, "flush") == 0 {
				take(p.Changed())
			}
			if rapid.IntRange(0, 3).Draw(t, "confirm") == 0 {
				confirm(Minute1.StartMs(trades[i].Time))
			}
			if rapid.IntRange(0, 19).Draw(t, "restart") == 0 {
				p, confirmed = PairCandles{}, opening
			}
		}
		end := Minute1.NextMs(trades[len(trades)-1].Time)
		run := minutesOf(trades, opening, end)
		if p.Until() > opening {
			run = minutesOf(trades, p.Until(), end)
		}
		take(p.Confirm(&run))
		take(p.Changed())
		for tier, i := range PairTiers {
			for k := range trades {
				open := i.StartMs(trades[k].Time)
				if open < opening {
					continue
				}
				want, _ := foldPair(trades, i, open, len(trades))
				if got := rows[at{tier, open}]; !got.Equal(&want) {
					t.Fatalf("%s from %d is\n%+v, want\n%+v", i, open, got, want)
				}
			}
		}
	})
}

// bought is a trade ms after midnight.
func bought(id, ms int64) *PairTrade {
	return &PairTrade{Pair: pairKey, ID: id, Prev: id - 1, Time: midnight + ms, Count: 1, Side: Buy, Px: mustDecimal("100"), Sz: mustDecimal("1")}
}

func TestTheOpenMinuteIsTheExchangesUntilTradesAreJoined(t *testing.T) {
	t.Parallel()
	said := func(trades int64) Candle {
		c := bought(1, 60_000).candle(midnight + 60_000)
		c.Trades = trades
		return c
	}
	var p PairCandles
	run := CandleRun{Pair: pairKey, Interval: Minute1, From: midnight, To: midnight + 60_000, Candles: []Candle{bought(1, 0).candle(midnight)}, Open: said(3)}
	got := p.Confirm(&run)
	if len(got[0]) != 2 || got[0][1].Trades != 3 || len(got[1]) != 1 || got[1][0].Trades != 4 {
		t.Errorf("with a minute and the open one: %+v", got)
	}
	p.Add(bought(9, 90_000)) // those before it are not known
	got = p.Confirm(&CandleRun{Pair: pairKey, Interval: Minute1, From: run.To, To: run.To, Open: said(7)})
	if len(got[0]) != 1 || got[0][0].Trades != 7 || len(got[1]) != 1 || got[1][0].Trades != 8 {
		t.Errorf("asked again: %+v", got)
	}
	p.Add(bought(10, 125_000))
	ended := CandleRun{Pair: pairKey, Interval: Minute1, From: run.To, To: midnight + 120_000, Candles: []Candle{said(8)}, Open: bought(10, 0).candle(midnight + 120_000)}
	got = p.Confirm(&ended)
	if len(got[1]) != 1 || got[1][0].Trades != 10 {
		t.Errorf("when trades are joined: %+v", got)
	}
}

func TestTradesJoinAtTheFirstMinuteThatIsSeenFromItsBeginning(t *testing.T) {
	t.Parallel()
	var p PairCandles
	p.Confirm(&CandleRun{Pair: pairKey, Interval: Minute1, From: midnight, To: midnight + 60_000})
	p.Add(bought(5, 70_000)) // may not be the first of its minute
	p.Add(bought(6, 130_000))
	if got := p.Changed(); got[0] != nil {
		t.Errorf("before they are joined: %+v", got[0])
	}
	p.Confirm(&CandleRun{Pair: pairKey, Interval: Minute1, From: midnight + 60_000, To: midnight + 120_000, Candles: []Candle{bought(5, 70_000).candle(midnight + 60_000)}})
	if got := p.Changed(); len(got[0]) != 1 || got[0][0].OpenTime != midnight+120_000 || len(got[1]) != 1 || got[1][0].Trades != 2 {
		t.Errorf("joined: %+v", got)
	}
	p.Add(bought(8, 140_000)) // number 7 is missing
	p.Add(bought(9, 190_000))
	if got := p.Changed(); got[0] != nil {
		t.Errorf("after a gap: %+v", got[0])
	}
}

// TestTradesJoinAgainWhereTheirNumbersBeginAgain: a first trade of an id that is none hides
// those behind it for no longer than a gap does.
func TestTradesJoinAgainWhereTheirNumbersBeginAgain(t *testing.T) {
	t.Parallel()
	var p PairCandles
	p.Confirm(&CandleRun{Pair: pairKey, Interval: Minute1, From: midnight, To: midnight + 60_000})
	p.Add(bought(9_000_000_000_000, 65_000))
	p.Add(bought(5, 70_000))
	p.Add(bought(6, 130_000))
	p.Add(bought(5, 131_000)) // comes twice
	p.Confirm(&CandleRun{Pair: pairKey, Interval: Minute1, From: midnight + 60_000, To: midnight + 120_000, Candles: []Candle{bought(5, 70_000).candle(midnight + 60_000)}})
	if got := p.Changed(); len(got[0]) != 1 || got[0][0].OpenTime != midnight+120_000 || got[0][0].Trades != 1 {
		t.Errorf("joined: %+v", got)
	}
}

func TestTakersAreKeptWhereTheExchangeDoesNotTellThem(t *testing.T) {
	t.Parallel()
	trade := func(id, ms int64, side Side) *PairTrade {
		return &PairTrade{Pair: pairKey, ID: id, Prev: id - 1, Time: midnight + ms, Count: 2, Side: side, Px: mustDecimal("100"), Sz: mustDecimal("1")}
	}
	said := func(minute int64, size string) Candle {
		c := trade(1, 0, Buy).candle(midnight + minute*60_000)
		c.Trades, c.Size, c.SizeBuyer, c.AmountBuyer = 0, mustDecimal(size), Decimal{}, Decimal{}
		return c
	}
	var p PairCandles
	p.Confirm(&CandleRun{Pair: pairKey, Interval: Minute1, From: midnight, To: midnight + 60_000, Candles: []Candle{said(0, "7")}})
	p.Add(trade(5, 30_000, Buy))
	p.Add(trade(6, 60_000, Buy))
	p.Add(trade(7, 70_000, Sell))
	p.Add(trade(8, 120_000, Buy))
	run := CandleRun{Pair: pairKey, Interval: Minute1, From: midnight + 60_000, To: midnight + 180_000, Candles: []Candle{said(1, "2"), said(2, "9")}}
	got := p.Confirm(&run)
	if len(got[0]) != 2 {
		t.Fatalf("%+v", got[0])
	}
	if c := got[0][0]; c.Trades != 4 || !c.Size.Equal(mustDecimal("2")) || !c.SizeBuyer.Equal(mustDecimal("1")) || !c.AmountBuyer.Equal(mustDecimal("100")) {
		t.Errorf("the minute of the same trades is %+v", c)
	}
	if c := got[0][1]; c.Trades != 0 || !c.Size.Equal(mustDecimal("9")) || !c.SizeBuyer.IsZero() {
		t.Errorf("the minute of other trades is %+v", c)
	}
}
