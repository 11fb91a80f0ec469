package binance

import (
	"errors"
	"strconv"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/text/jsonscan"
)

// frame is what a line of a combined stream says: a trade, a mark price, an order that
// closed a position by force, changes of a book, the answer to a subscription, or something
// else that is skipped.
type frame struct {
	trade    market.PairTrade // its pair is not set
	symbol   string           // of the trade; "" for another frame
	mark     markFields
	order    orderFields
	depth    depthFields
	answer   int64  // id of the message that is answered, 0 for another frame
	refused  string // why it was refused
	shutdown bool   // the venue restarts soon
}

var (
	errFrame = errors.New("is no frame of a combined stream")
	errTrade = errors.New("is no aggregated trade")
)

// parse reads a frame for the stream.
func parse(line string, to *source.Frame) error {
	f := frame{depth: depthFields{to: &to.Book}}
	if err := f.read(line); err != nil {
		return err
	}
	to.Answered, to.ID, to.Refused, to.Restart = f.answer != 0 || f.refused != "", f.answer, f.refused, f.shutdown
	if f.symbol != "" {
		f.trade.Pair = f.symbol
		to.Events.Trades = append(to.Events.Trades, f.trade)
	}
	if f.mark.rate != "" { // empty of a contract that is no perpetual
		funding, err := f.mark.funding()
		if err != nil {
			return err
		}
		to.Events.Fundings = append(to.Events.Fundings, funding)
	}
	if f.order.symbol != "" {
		liquidation, err := f.order.liquidation()
		if err != nil {
			return err
		}
		to.Events.Liquidations = append(to.Events.Liquidations, liquidation)
	}
	return nil
}

// read reads a frame: {"stream":"btcusdt@aggTrade","data":{...}} with a trade,
// {"result":null,"id":1}, {"error":{"code":2,"msg":".."},"id":1}. What is of no interest leaves
// f as it is; what should be and cannot be read is an error.
func (f *frame) read(line string) (err error) {
	p := jsonscan.New(line)
	ok := p.Object(func(key string) (ok bool) {
		switch key {
		case "data":
			if p.Peek() != '{' {
				return p.Skip()
			}
			err = f.event(&p)
			return err == nil
		case "id":
			text, ok := p.Number()
			if !ok { // null, where no message is answered
				return p.Skip()
			}
			f.answer, err = strconv.ParseInt(text, 10, 64)
			return err == nil
		case "error":
			f.refused, ok = p.Raw()
			return ok
		}
		return p.Skip()
	})
	if err == nil && (!ok || !p.End()) {
		err = errFrame
	}
	return err
}

// event reads the data of a frame.
func (f *frame) event(p *jsonscan.Scanner) error {
	var kind, symbol, px, sz string
	var id, first, last, ms int64
	maker, seen := false, 0
	integer := func(to *int64) bool {
		text, ok := p.Number()
		if !ok {
			return false
		}
		n, err := strconv.ParseInt(text, 10, 64)
		*to = n
		seen++
		return err == nil && n >= 0
	}
	// Other events have fields of the same names and of other types: what does not fit
	// is a fault only in a trade, whose type comes first.
	ok := p.Object(func(key string) (ok bool) {
		if key == "e" {
			kind, ok = p.Text()
			return ok
		}
		switch kind {
		case aggTrade:
		case markPrice:
			return f.mark.field(p, key)
		case forceOrder:
			if key != "o" {
				return p.Skip()
			}
			return p.Object(func(key string) bool { return f.order.field(p, key) })
		case depthUpdate:
			return f.depth.field(p, key)
		default:
			return p.Skip()
		}
		switch key {
		case "s":
			symbol, ok = p.Text()
		case "p":
			px, ok = p.Text()
		case "q":
			sz, ok = p.Text()
		case "a":
			return integer(&id)
		case "f":
			return integer(&first)
		case "l":
			return integer(&last)
		case "T":
			return integer(&ms)
		case "m":
			if maker = p.Peek() == 't'; maker {
				ok = p.Literal("true")
			} else {
				ok = p.Literal("false")
			}
		default:
			return p.Skip()
		}
		seen++
		return ok
	})
	if kind == serverShutdown {
		f.shutdown = ok
	}
	switch {
	case kind == aggTrade:
	case kind == markPrice && (!ok || !f.mark.complete()):
		return errMark
	case kind == forceOrder && (!ok || !f.order.complete()):
		return errOrder
	case kind == depthUpdate && !ok:
		return errDepth
	case kind == depthUpdate:
		return f.depth.finish()
	case !ok:
		return errFrame
	default:
		return nil
	}
	if !ok || seen != tradeFields || symbol == "" || last < first || last-first >= maxCount {
		return errTrade
	}
	t := market.PairTrade{ID: id, Prev: id - 1, Count: last - first + 1, Time: ms, Side: market.Buy}
	if maker { // the buyer was there first
		t.Side = market.Sell
	}
	if err := source.SetTrade(&t, px, sz); err != nil {
		return err
	}
	f.trade, f.symbol = t, symbol
	return nil
}

const (
	aggTrade       = "aggTrade"
	depthUpdate    = "depthUpdate"
	serverShutdown = "serverShutdown"

	tradeFields = 8       // that a trade must have, each once
	maxCount    = 1 << 20 // fills of one aggregated trade
)
