package bybit

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"quotary/shared/jsonscan"
	"quotary/shared/market"
	"quotary/shared/source"
)

var (
	errFrame = errors.New("is no frame of a topic")
	errTrade = errors.New("is no trade")
)

// tradeTopic is the beginning of those that are followed.
const tradeTopic = "publicTrade."

// parse reads a frame: {"topic":"publicTrade.BTCUSDT",..,"data":[{..}]} with trades, or
// the answer to a message, {"success":true,"req_id":"1","op":"subscribe",..}. That to a
// ping has another op.
func parse(line string, f *source.Frame) (err error) {
	var topic, op, id string
	success := false
	p := jsonscan.New(line)
	ok := p.Object(func(key string) (ok bool) {
		switch key {
		case "topic":
			topic, ok = p.Text()
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
			if !strings.HasPrefix(topic, tradeTopic) {
				return p.Skip()
			}
			return p.Array(func() bool {
				var trade market.PairTrade
				var block bool
				if block, err = parseTrade(&p, &trade); err == nil && !block {
					f.Events.Trades = append(f.Events.Trades, trade)
				}
				return err == nil
			})
		}
		return p.Skip()
	})
	switch {
	case err != nil:
		return err
	case !ok || !p.End():
		return errFrame
	}
	if op == "subscribe" {
		f.Answered = true
		if !success {
			f.Refused = line
		}
		if id != "" {
			if f.ID, err = strconv.ParseInt(id, 10, 64); err != nil {
				return errFrame
			}
		}
	}
	return nil
}

// parseTrade reads a trade, and whether it is one of a block.
func parseTrade(p *jsonscan.Scanner, t *market.PairTrade) (block bool, err error) {
	var px, sz, side string
	t.Count = 1
	seen := 0
	ok := p.Object(func(key string) (ok bool) {
		switch key {
		case "T":
			t.Time, ok = integer(p)
		case "s":
			t.Pair, ok = p.Text()
		case "S":
			side, ok = p.Text()
		case "v":
			sz, ok = p.Text()
		case "p":
			px, ok = p.Text()
		case "BT":
			block = p.Peek() == 't'
			return p.Skip()
		default:
			return p.Skip()
		}
		seen++
		return ok
	})
	if !ok || seen != tradeFields || t.Pair == "" {
		return false, errTrade
	}
	switch side {
	case "Buy":
		t.Side = market.Buy
	case "Sell":
		t.Side = market.Sell
	default:
		return false, fmt.Errorf("%w: side %.20q", errTrade, side)
	}
	return block, source.SetTrade(t, px, sz)
}

// tradeFields are those that a trade must have, each once.
const tradeFields = 5

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
