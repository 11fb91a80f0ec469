package bybit

import (
	"fmt"
	"strings"

	"quotary/localstack/sim/trading"
)

// topic is what a connection has subscribed to. It is called by one goroutine at a time.
type topic struct {
	name   string
	kind   string
	market *trading.Market
	until  int64             // everything before this is pushed, ms; of an order book 0 before the first
	sent   map[string]string // of a ticker: its fields as they were sent
}

// Kinds of topics, as their names begin.
const (
	tradeTopic       = "publicTrade"
	tickerTopic      = "tickers"
	liquidationTopic = "allLiquidation"
	bookTopic        = "orderbook.200"

	tickerEvery      = 1000 // ms; the exchange takes 100
	liquidationEvery = 500  // ms
)

// topic is one of a category by its name, to be pushed from a time on; nil where there is
// none.
func (x *Exchange) topic(category, name string, from int64) *topic {
	dot := max(0, strings.LastIndexByte(name, '.'))
	kind, symbol := name[:dot], strings.TrimPrefix(name[dot:], ".")
	m := x.Market(category, symbol)
	switch {
	case m == nil || kind == liquidationTopic && !m.Swap:
		return nil
	case kind == bookTopic:
		from = 0
	case kind != tradeTopic && kind != tickerTopic && kind != liquidationTopic:
		return nil
	}
	return &topic{name: name, kind: kind, market: m, until: from}
}

// frame is what has happened until now (ms), nil for nothing.
func (t *topic) frame(now int64) any {
	from := t.until
	switch t.kind {
	case tickerTopic:
		return t.tickerFrame(now / tickerEvery * tickerEvery)
	case liquidationTopic:
		now = now / liquidationEvery * liquidationEvery
	}
	if now <= from {
		return nil
	}
	t.until = now
	list := t.trades(from, now)
	if t.kind == liquidationTopic {
		list = t.liquidations(from, now)
	}
	if len(list) == 0 {
		return nil
	}
	return struct {
		Topic string `json:"topic"`
		Type  string `json:"type"`
		Ts    int64  `json:"ts"`
		Data  []any  `json:"data"`
	}{t.name, "snapshot", now, list}
}

func (t *topic) trades(from, to int64) (list []any) {
	type message struct {
		T    int64  `json:"T"`
		S    string `json:"s"`
		Side string `json:"S"`
		V    string `json:"v"`
		P    string `json:"p"`
		I    string `json:"i"`
		BT   bool   `json:"BT"`
	}
	for _, one := range t.market.Trades(from, to) {
		side := "Buy"
		if one.BuyerMaker {
			side = "Sell"
		}
		id := fmt.Sprintf("00000000-0000-5000-8000-%012x", one.ID)
		list = append(list, message{one.Time, t.market.Symbol, side, size(t.market, one.Size), t.market.Price(one.Price), id, false})
	}
	return list
}

// liquidations name the side of the position.
func (t *topic) liquidations(from, to int64) (list []any) {
	type message struct {
		T    int64  `json:"T"`
		S    string `json:"s"`
		Side string `json:"S"`
		V    string `json:"v"`
		P    string `json:"p"`
	}
	for _, l := range t.market.Liquidations(from, to) {
		side := "Sell"
		if l.Long {
			side = "Buy"
		}
		list = append(list, message{l.Time, t.market.Symbol, side, size(t.market, l.Size), t.market.Price(l.Price)})
	}
	return list
}

// tickerFrame is the ticker at a time, ms: first everything, then what has changed; all
// of it of spot.
func (t *topic) tickerFrame(at int64) any {
	type frame struct {
		Topic string            `json:"topic"`
		Type  string            `json:"type"`
		Data  map[string]string `json:"data"`
		Cs    int64             `json:"cs"`
		Ts    int64             `json:"ts"`
	}
	if t.sent != nil && at <= t.until {
		return nil
	}
	t.until = at
	is := ticker(t.market, at)
	if t.sent == nil || !t.market.Swap {
		t.sent = is
		return frame{t.name, "snapshot", is, at, at}
	}
	changed := map[string]string{"symbol": t.market.Symbol}
	for name, value := range is {
		if t.sent[name] != value {
			changed[name] = value
		}
	}
	t.sent = is
	if len(changed) == 1 {
		return nil
	}
	return frame{t.name, "delta", changed, at, at}
}
