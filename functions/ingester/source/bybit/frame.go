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
	errFrame = errors.New("is no frame of a topic")
	errTrade = errors.New("is no trade")
)

// Beginnings of the topics that are followed.
const (
	tradeTopic       = "publicTrade."
	tickerTopic      = "tickers."
	liquidationTopic = "allLiquidation."
)

// parser reads the frames of one connection.
type parser struct {
	// rates are those that were given out last, by symbol: a frame of a ticker says only
	// what has changed.
	rates map[string]market.PairFunding
}

func newParser() source.Parser {
	p := parser{rates: map[string]market.PairFunding{}}
	return p.parse
}

// parse reads a frame: {"topic":"publicTrade.BTCUSDT",..,"data":[{..}]} with trades, or
// with what another topic has, or the answer to a message,
// {"success":true,"req_id":"1","op":"subscribe",..}. That to a ping has another op.
func (ps *parser) parse(line string, f *source.Frame) (err error) {
	var topic, kind, op, id string
	var ts int64
	success := false
	var t tickerFields
	p := jsonscan.New(line)
	ok := p.Object(func(key string) (ok bool) {
		switch key {
		case "topic":
			topic, ok = p.Text()
			return ok
		case "type":
			kind, ok = p.Text()
			return ok
		case "ts":
			ts, ok = integer(&p)
			return ok
		case "op":
			op, ok = p.Text()
			return ok
		case "req_id":
			id, ok = p.Text()
			return ok
		case "success":
			success = p.Peek() == 't'
			return p.Skip()
		case "data": // behind topic
			switch {
			case strings.HasPrefix(topic, tradeTopic):
				return f.Rows(&p, func() error { return readTrade(&p, &f.Events) })
			case strings.HasPrefix(topic, tickerTopic):
				return p.Object(func(key string) bool { return t.field(&p, key) })
			case strings.HasPrefix(topic, liquidationTopic):
				return f.Rows(&p, func() error { return readLiquidation(&p, &f.Events) })
			case strings.HasPrefix(topic, bookTopic):
				return readBook(&p, &f.Book)
			}
		}
		return p.Skip()
	})
	switch {
	case err != nil:
		return err
	case !ok || !p.End():
		return errFrame
	case strings.HasPrefix(topic, tickerTopic):
		return ps.funding(&t, kind == snapshot, ts, &f.Events)
	case strings.HasPrefix(topic, bookTopic):
		return endBook(&f.Book, kind, ts)
	case op == "subscribe" || op == "unsubscribe":
		return answered(line, id, success, f)
	}
	return nil
}

// alreadySubscribed is in the answer to a message of which a topic was accepted before.
const alreadySubscribed = "already subscribed"

// answered notes the answer to a message.
func answered(line, id string, success bool, f *source.Frame) (err error) {
	f.Answered = true
	if !success && !strings.Contains(line, alreadySubscribed) {
		f.Refused = line
	}
	if id != "" {
		if f.ID, err = strconv.ParseInt(id, 10, 64); err != nil {
			return errFrame
		}
	}
	return nil
}

// readTrade reads a trade; those of a block are left out.
func readTrade(p *jsonscan.Scanner, e *market.PairEvents) error {
	d, ok := readDeal(p)
	if !ok {
		return errTrade
	}
	t := market.PairTrade{Pair: d.symbol, Time: d.time, Side: d.side, Count: 1}
	err := source.SetTrade(&t, d.px, d.sz)
	if err == nil && !d.block {
		e.Trades = append(e.Trades, t)
	}
	return err
}

// deal is what a trade and a position that was closed say alike.
type deal struct {
	time   int64 // ms
	symbol string
	side   market.Side // of the taker, or of the position
	sz, px string
	block  bool // a trade of a block
}

// readDeal reads {"T":1790000000992,"s":"BTCUSDT","S":"Buy","v":"0.006","p":"82396.90"}, of
// which each member must be there, once; trades have more.
func readDeal(p *jsonscan.Scanner) (d deal, ok bool) {
	var side string
	seen := 0
	ok = p.Object(func(key string) (ok bool) {
		switch key {
		case "T":
			d.time, ok = integer(p)
		case "s":
			d.symbol, ok = p.Text()
		case "S":
			side, ok = p.Text()
		case "v":
			d.sz, ok = p.Text()
		case "p":
			d.px, ok = p.Text()
		case "BT":
			d.block = p.Peek() == 't'
			return p.Skip()
		default:
			return p.Skip()
		}
		seen++
		return ok
	})
	switch side {
	case "Buy":
		d.side = market.Buy
	case "Sell":
		d.side = market.Sell
	default:
		return d, false
	}
	return d, ok && seen == dealFields && d.symbol != ""
}

const dealFields = 5

// integer reads a whole number, which the venue writes as text in some places.
func integer(p *jsonscan.Scanner) (n int64, ok bool) {
	var text string
	if p.Peek() == '"' {
		text, ok = p.Text()
	} else {
		text, ok = p.Number()
	}
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0
}
