package source

import (
	"errors"
	"fmt"
	"strconv"

	"quotary/shared/market"
)

// KlineRow is a row of K-lines as an exchange gives it.
type KlineRow struct {
	market.Candle
	Ended bool // the exchange says that nothing of it changes any more
}

// NewKlineRow reads the fields that rows of text have in common: when the candle opens
// (ms), its four prices, its size in base coins and its amount in quote coins.
func NewKlineRow(open string, opening, high, low, closing, size, amount string) (KlineRow, error) {
	ms, err := strconv.ParseInt(open, 10, 64)
	if err != nil {
		return KlineRow{}, errTime
	}
	at := market.Order{Time: ms}
	c := market.Candle{OpenTime: ms, First: at, Last: at}
	for _, f := range [...]struct {
		to   *market.Decimal
		name string
		text string
	}{
		{&c.Open, "open", opening}, {&c.High, "high", high}, {&c.Low, "low", low}, {&c.Close, "close", closing},
		{&c.Size, "size", size}, {&c.Amount, "amount", amount},
	} {
		if *f.to, err = market.ParseDecimal(f.text); err != nil {
			return KlineRow{}, fmt.Errorf("%s: %w", f.name, err)
		}
		if f.to.IsNeg() {
			return KlineRow{}, fmt.Errorf("%s is negative: %s", f.name, f.text)
		}
	}
	return KlineRow{Candle: c}, CheckKline(&c)
}

// CheckKline returns an error for a candle whose prices cannot be.
func CheckKline(c *market.Candle) error {
	if !c.Empty() && (c.Low.Cmp(c.Open) > 0 || c.Low.Cmp(c.Close) > 0 || c.High.Cmp(c.Open) < 0 || c.High.Cmp(c.Close) < 0) {
		return fmt.Errorf("the candle from %d has prices outside its high and low", c.OpenTime)
	}
	return nil
}

// KlineWindow is what is asked of an exchange that answers K-lines newest first: some
// openings of an interval from a time on, of which the last is asked for only to see that
// the one before has ended.
type KlineWindow struct {
	Interval market.Interval
	From     int64 // ms
	Openings int   // at least 2
}

// NewKlineWindow is the window for at most so many candles that have ended, where one
// answer has as many as pageMost openings.
func NewKlineWindow(i market.Interval, from int64, most, pageMost int) KlineWindow {
	return KlineWindow{Interval: i, From: from, Openings: min(max(most, 1)+1, pageMost)}
}

// last is the last opening.
func (w KlineWindow) last() int64 {
	return w.From + int64(w.Openings-1)*(w.Interval.NextMs(w.From)-w.From)
}

// To is the end of the window, ms: nothing that is asked for opens there.
func (w KlineWindow) To() int64 { return w.Interval.NextMs(w.last()) }

var errNotNewestFirst = errors.New("rows are not newest first")

// Run makes the run of an answer, newest first. It ends at the first candle that may not
// have ended, or behind the last one. A bucket without a row before others has no trade.
func (w KlineWindow) Run(pair string, rows []KlineRow) (market.CandleRun, error) {
	run := market.CandleRun{Pair: pair, Interval: w.Interval, From: w.From, To: w.From}
	for n := len(rows) - 1; n >= 0; n-- {
		row := &rows[n]
		open := row.OpenTime
		switch {
		case open < w.From || open > w.last() || w.Interval.StartMs(open) != open:
			return run, fmt.Errorf("a row opens at %d, which was not asked for", open)
		case n < len(rows)-1 && open <= rows[n+1].OpenTime:
			return run, errNotNewestFirst
		case !row.Ended || open == w.last():
			if n > 0 {
				return run, fmt.Errorf("the row from %d has not ended and is not the newest", open)
			}
			run.To, run.Open = open, row.Candle
		default:
			run.To = w.Interval.NextMs(open)
			if !row.Empty() {
				run.Candles = append(run.Candles, row.Candle)
			}
		}
	}
	return run, nil
}

// EmptyRun is the run of an answer without rows, when the newest row that the exchange
// has at all opens at newest (ms): nothing was traded before that.
func (w KlineWindow) EmptyRun(pair string, newest int64) market.CandleRun {
	return market.CandleRun{Pair: pair, Interval: w.Interval, From: w.From, To: max(w.From, min(w.last(), newest))}
}
