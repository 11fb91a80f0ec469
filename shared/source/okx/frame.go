package okx

import (
	"errors"
	"fmt"
	"strconv"

	"quotary/shared/jsonscan"
	"quotary/shared/market"
	"quotary/shared/source"
)

var (
	errFrame = errors.New("is no frame of a channel")
	errTrade = errors.New("is no trade")
)

// pong is the answer to a ping, which is no JSON.
const pong = "pong"

// tradesChannel is the one that is followed.
const tradesChannel = "trades"

// parse reads a frame: {"arg":{"channel":"trades","instId":".."},"data":[{..}]} with
// trades, {"event":"subscribe","arg":{..}}, {"event":"error","code":"..","msg":".."}, or
// {"event":"notice",..} ahead of a restart.
func parse(line string, f *source.Frame) (err error) {
	if line == pong {
		return nil
	}
	var event, channel string
	p := jsonscan.New(line)
	ok := p.Object(func(key string) (ok bool) {
		switch key {
		case "event":
			event, ok = p.Text()
			return ok
		case "arg":
			return p.Object(func(key string) (ok bool) {
				if key != "channel" {
					return p.Skip()
				}
				channel, ok = p.Text()
				return ok
			})
		case "data": // behind arg
			if channel != tradesChannel {
				return p.Skip()
			}
			return p.Array(func() bool {
				var trade market.PairTrade
				if err = parseTrade(&p, &trade); err == nil {
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
	switch event {
	case "":
	case "subscribe":
		f.Answered = true
	case "error":
		f.Answered, f.Refused = true, line
	case "notice":
		f.Restart = true
	}
	return nil
}

// parseTrade reads a trade. Its count is 1 where the venue does not say: it did not before
// 2023.
func parseTrade(p *jsonscan.Scanner, t *market.PairTrade) error {
	var px, sz, side string
	t.Count = 1
	seen := 0
	integer := func(to *int64) bool {
		text, ok := p.Text()
		if !ok {
			return false
		}
		n, err := strconv.ParseInt(text, 10, 64)
		*to = n
		return err == nil && n >= 0
	}
	ok := p.Object(func(key string) (ok bool) {
		switch key {
		case "instId":
			t.Pair, ok = p.Text()
		case "tradeId":
			ok = integer(&t.ID)
		case "px":
			px, ok = p.Text()
		case "sz":
			sz, ok = p.Text()
		case "side":
			side, ok = p.Text()
		case "ts":
			ok = integer(&t.Time)
		case "count":
			return integer(&t.Count)
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
