package binance

import (
	"errors"
	"strconv"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/text/jsonscan"
)

// Kinds of events of perpetuals.
const (
	markPrice  = "markPriceUpdate"
	forceOrder = "forceOrder"
)

var (
	errMark  = errors.New("is no mark price")
	errOrder = errors.New("is no order that closes a position by force")
)

// markFields are those of a mark price that are read.
type markFields struct {
	symbol, rate string
	time, due    int64
	seen         int
}

const markFieldCount = 4

func (m *markFields) field(p *jsonscan.Scanner, key string) (ok bool) {
	switch key {
	case "s":
		m.symbol, ok = p.Text()
	case "r":
		m.rate, ok = p.Text()
	case "E":
		m.time, ok = integer(p)
	case "T":
		m.due, ok = integer(p)
	default:
		return p.Skip()
	}
	m.seen++
	return ok
}

func (m *markFields) complete() bool { return m.seen == markFieldCount && m.symbol != "" }

// funding is the rate that is expected; its period is set by who knows it.
func (m *markFields) funding() (f market.PairFunding, err error) {
	f = market.PairFunding{Pair: m.symbol, Time: m.time, Due: m.due}
	if f.Rate, err = market.ParseDecimal(m.rate); err != nil {
		return f, errors.Join(errMark, err)
	}
	return f, source.CheckTime(m.time)
}

// orderFields are those of an order that are read.
type orderFields struct {
	symbol, side, average, price, filled string
	time                                 int64
	seen                                 int
}

const orderFieldCount = 6

func (o *orderFields) field(p *jsonscan.Scanner, key string) (ok bool) {
	switch key {
	case "s":
		o.symbol, ok = p.Text()
	case "S":
		o.side, ok = p.Text()
	case "ap":
		o.average, ok = p.Text()
	case "p":
		o.price, ok = p.Text()
	case "z":
		o.filled, ok = p.Text()
	case "T":
		o.time, ok = integer(p)
	default:
		return p.Skip()
	}
	o.seen++
	return ok
}

func (o *orderFields) complete() bool {
	return o.seen == orderFieldCount && o.symbol != "" && (o.side == "SELL" || o.side == "BUY")
}

// liquidation is the position that the order closed, as far as it was filled: a long one
// is sold. Its price is what was paid or, where the exchange does not say, that of the order.
func (o *orderFields) liquidation() (l market.PairLiquidation, err error) {
	l = market.PairLiquidation{Pair: o.symbol, Time: o.time, Long: o.side == "SELL"}
	if l.Px, err = market.ParseDecimal(o.average); err != nil {
		return l, errors.Join(errOrder, err)
	}
	if !l.Px.IsPos() {
		if l.Px, err = market.ParseDecimal(o.price); err != nil {
			return l, errors.Join(errOrder, err)
		}
	}
	if l.Sz, err = market.ParseDecimal(o.filled); err != nil {
		return l, errors.Join(errOrder, err)
	}
	if !l.Px.IsPos() || !l.Sz.IsPos() {
		return l, errOrder
	}
	return l, source.CheckTime(o.time)
}

// integer reads a whole number that is not negative.
func integer(p *jsonscan.Scanner) (int64, bool) {
	text, ok := p.Number()
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0
}
