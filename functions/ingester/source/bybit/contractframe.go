package bybit

import (
	"errors"
	"strconv"
	"strings"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/text/jsonscan"
)

var (
	errTicker      = errors.New("is no ticker")
	errLiquidation = errors.New("is no position that was closed by force")
)

// Types of frames: those that say everything, and what has changed.
const (
	snapshot = "snapshot"
	delta    = "delta"
)

// rateEvery is after how long, ms, a rate that has not changed is given out again: it is
// still the rate.
const rateEvery = 5000

// tickerFields are those of a ticker that are read, as text: "" where it does not have one.
type tickerFields struct{ symbol, rate, due, hours string }

func (t *tickerFields) field(p *jsonscan.Scanner, key string) (ok bool) {
	switch key {
	case "symbol":
		t.symbol, ok = p.Text()
	case "fundingRate":
		t.rate, ok = p.Text()
	case "nextFundingTime":
		t.due, ok = p.Text()
	case "fundingIntervalHour":
		t.hours, ok = p.Text()
	default:
		return p.Skip()
	}
	return ok
}

// funding takes what a ticker says at a time, ms, and gives out the rate where it has
// changed or was given out long ago. Spot pairs and dated contracts have none.
func (ps *parser) funding(t *tickerFields, whole bool, ts int64, e *market.PairEvents) error {
	if t.symbol == "" {
		return errTicker
	}
	was, known := ps.rates[t.symbol]
	if !known && !whole {
		return nil // what it is a change of has not come
	}
	f := was
	if whole {
		f = market.PairFunding{Pair: was.Pair, Period: source.LongestPeriod}
	}
	if err := t.set(&f); err != nil {
		return err
	}
	if f.Due == 0 {
		delete(ps.rates, t.symbol)
		return nil
	}
	if known && f.Rate.Equal(was.Rate) && f.Due == was.Due && f.Period == was.Period && ts-was.Time < rateEvery {
		return nil
	}
	if err := source.CheckTime(ts); err != nil {
		return err
	}
	if !known {
		if len(ps.rates) == source.MostSymbols || !market.ValidName(t.symbol) {
			return nil
		}
		f.Pair = strings.Clone(t.symbol) // which would hold the whole frame
	}
	f.Time = ts
	ps.rates[f.Pair] = f
	e.Fundings = append(e.Fundings, f)
	return nil
}

// set changes what the ticker says of a rate.
func (t *tickerFields) set(f *market.PairFunding) (err error) {
	if t.rate != "" {
		if f.Rate, err = market.ParseDecimal(t.rate); err != nil {
			return errors.Join(errTicker, err)
		}
	}
	if t.due != "" {
		if f.Due, err = strconv.ParseInt(t.due, 10, 64); err != nil || f.Due < 0 {
			return errors.Join(errTicker, err)
		}
	}
	if t.hours != "" {
		hours, err := strconv.ParseInt(t.hours, 10, 64)
		if err != nil || hours < 1 || hours > mostHours {
			return errors.Join(errTicker, err)
		}
		f.Period = hours * hourMs
	}
	return nil
}

const mostHours = 24 // of a funding period

// readLiquidation reads a position that was closed:
// {"T":1790000000992,"s":"BTCUSDT","S":"Buy","v":"0.006","p":"82396.90"}. The side is that
// of the position, and the price is the one at which its margin was used up.
func readLiquidation(p *jsonscan.Scanner, e *market.PairEvents) error {
	d, ok := readDeal(p)
	if !ok {
		return errLiquidation
	}
	l := market.PairLiquidation{Pair: d.symbol, Time: d.time, Long: d.side == market.Buy}
	if err := source.Decimals(source.Field{To: &l.Px, Name: "p", Text: d.px}, source.Field{To: &l.Sz, Name: "v", Text: d.sz}); err != nil {
		return err
	}
	if !l.Px.IsPos() || !l.Sz.IsPos() {
		return errLiquidation
	}
	e.Liquidations = append(e.Liquidations, l)
	return source.CheckTime(l.Time)
}
