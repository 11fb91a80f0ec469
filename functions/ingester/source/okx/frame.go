package okx

import (
	"errors"
	"fmt"
	"strconv"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/text/jsonscan"
)

var (
	errFrame = errors.New("is no frame of a channel")
	errTrade = errors.New("is no trade")
)

// pong is the answer to a ping, which is no JSON.
const pong = "pong"

// codeNoTopic is that of the answer to a topic which there is not, as it is of a pair that is
// listed and cannot be followed. The others of its message are answered by themselves.
const codeNoTopic = "60018"

// Channels that are followed.
const (
	tradesChannel      = "trades"
	fundingChannel     = "funding-rate"
	liquidationChannel = "liquidation-orders"
)

// parse reads a frame: {"arg":{"channel":"trades","instId":".."},"data":[{..}]} with
// trades, or with what another channel has; {"event":"subscribe","arg":{..}},
// {"event":"error","code":"..","msg":".."}, or {"event":"notice",..} ahead of a restart.
// Frames of order books say beside their arg whether they have all of one (action).
func parse(line string, f *source.Frame) (err error) {
	if line == pong {
		return nil
	}
	var event, code, action string
	var topic arg
	p := jsonscan.New(line)
	ok := p.Object(func(key string) (ok bool) {
		switch key {
		case "event":
			event, ok = p.Text()
			return ok
		case "code":
			code, ok = p.Text()
			return ok
		case "arg":
			return p.Object(func(key string) (ok bool) {
				switch key {
				case "channel":
					topic.Channel, ok = p.Text()
				case "instId":
					topic.InstID, ok = p.Text()
				case "instType":
					topic.InstType, ok = p.Text()
				default:
					return p.Skip()
				}
				return ok
			})
		case "action":
			action, ok = p.Text()
			return ok
		case "data": // behind arg
			if topic.Channel == booksChannel {
				return p.Array(func() bool {
					err = readBook(&p, &f.Book)
					return err == nil
				})
			}
			read := readers[topic.Channel]
			if read == nil {
				return p.Skip()
			}
			return f.Rows(&p, func() error { return read(&p, &f.Events) })
		}
		return p.Skip()
	})
	switch {
	case err != nil:
		return err
	case !ok || !p.End():
		return errFrame
	}
	switch event {
	case "":
		if topic.Channel == booksChannel {
			return endBook(&f.Book, topic.InstID, action)
		}
	case "subscribe", "unsubscribe":
		f.Answered, f.Topic = true, topic
	case "error":
		f.Answered, f.Refused, f.NoTopic = true, line, code == codeNoTopic
	case "notice":
		f.Restart = true
	}
	return nil
}

// readers read an element of what a channel has.
var readers = map[string]func(*jsonscan.Scanner, *market.PairEvents) error{
	tradesChannel: readTrade, fundingChannel: rowReader((*fundingRow).read), liquidationChannel: rowReader((*liquidationRow).read),
}

func readTrade(p *jsonscan.Scanner, e *market.PairEvents) error {
	e.Trades = append(e.Trades, market.PairTrade{})
	return parseTrade(p, &e.Trades[len(e.Trades)-1])
}

// integer reads a whole number that is not negative, which the venue writes as text.
func integer(p *jsonscan.Scanner, to *int64) bool {
	text, ok := p.Text()
	return ok && parseInteger(text, to)
}

func parseInteger(text string, to *int64) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	*to = n
	return err == nil && n >= 0
}

// parseTrade reads a trade. Its count is 1 where the venue does not say: it did not before
// 2023.
func parseTrade(p *jsonscan.Scanner, t *market.PairTrade) error {
	var px, sz, side string
	t.Count = 1
	seen := 0
	ok := p.Object(func(key string) (ok bool) {
		switch key {
		case "instId":
			t.Pair, ok = p.Text()
		case "tradeId":
			ok = integer(p, &t.ID)
		case "px":
			px, ok = p.Text()
		case "sz":
			sz, ok = p.Text()
		case "side":
			side, ok = p.Text()
		case "ts":
			ok = integer(p, &t.Time)
		case "count":
			return integer(p, &t.Count)
		default:
			return p.Skip()
		}
		seen++
		return ok
	})
	if !ok || seen != tradeFields || t.Pair == "" || t.Count < 1 || t.Count > maxCount || t.ID < t.Count {
		return errTrade
	}
	t.Prev = t.ID - t.Count
	switch side {
	case "buy":
		t.Side = market.Buy
	case "sell":
		t.Side = market.Sell
	default:
		return fmt.Errorf("%w: side %.20q", errTrade, side)
	}
	return source.SetTrade(t, px, sz)
}

const (
	tradeFields = 6       // that a trade must have, each once
	maxCount    = 1 << 20 // fills of one trade
)
