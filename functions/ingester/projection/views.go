package projection

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"quotary/shared/market"
	"quotary/shared/store"
)

// ticker is the last trade of a coin as the view tells it. Seq orders trades of
// the same ms, so that a restart does not let an earlier one overwrite it.
type ticker struct {
	Coin  string `json:"coin"`
	Price string `json:"price"`
	Time  int64  `json:"time"` // ms
	Seq   int64  `json:"seq"`
	Tid   int64  `json:"tid"`
}

func (t *ticker) order() market.Order { return market.Order{Time: t.Time, Seq: t.Seq, Tid: t.Tid} }

// tickers keeps the last trade of each coin.
type tickers struct {
	last    map[string]ticker
	changed bool
}

func (p *tickers) apply(trades []market.Trade) {
	for i := range trades {
		t := &trades[i]
		have, ok := p.last[t.Coin]
		if ok && have.order().Compare(t.Order()) >= 0 {
			continue
		}
		if !ok {
			have.Coin = strings.Clone(t.Coin)
		}
		have.Price, have.Time, have.Seq, have.Tid = market.Text(t.Px), t.Time, t.Seq, t.Tid
		p.last[have.Coin] = have
		p.changed = true
	}
}

// tickersView is the view of last prices.
type tickersView struct {
	Time    int64    `json:"time"` // when the view was made, ms
	Tickers []ticker `json:"tickers"`
}

func (p *tickers) body(now time.Time) []byte {
	p.changed = false
	v := tickersView{Time: now.UnixMilli(), Tickers: make([]ticker, 0, len(p.last))}
	for _, coin := range sortedCoins(p.last) {
		v.Tickers = append(v.Tickers, p.last[coin])
	}
	return encode(v)
}

// mids keeps the mid prices of each dex.
type mids struct {
	time    int64
	byDex   map[string]map[string]string
	changed bool
}

// midsView is the view of mid prices: dex, coin, price; "" is the main dex.
type midsView struct {
	Time int64                        `json:"time"` // of the newest, ms
	Mids map[string]map[string]string `json:"mids"`
}

func (p *mids) apply(m *market.Mids) {
	p.time = max(p.time, m.Time)
	if !maps.Equal(p.byDex[m.Dex], m.Px) {
		p.byDex[m.Dex] = m.Px
		p.changed = true
	}
}

func (p *mids) body() []byte {
	p.changed = false
	return encode(midsView{p.time, p.byDex})
}

// meta keeps the venue's description of its markets.
type meta struct {
	last    market.Meta
	changed bool
}

// metaView is the view of market descriptions, as the venue wrote them.
type metaView struct {
	Time  int64                      `json:"time"` // when the venue told it, ms
	Perps map[string]json.RawMessage `json:"meta"` // by dex, "" is the main one
	Spot  json.RawMessage            `json:"spotMeta"`
}

func (p *meta) apply(m *market.Meta) { p.last, p.changed = *m, true }

func (p *meta) body() []byte {
	p.changed = false
	return encode(metaView{p.last.Time, p.last.Perps, p.last.Spot})
}

// encode writes a view. encoding/json writes maps in the order of their keys.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("projection: encode %T: %v", v, err)) // texts, numbers and checked JSON only
	}
	return b
}

// Restored are the views that a new Set is restored from.
var Restored = [...]string{store.TickersView, store.MidsView, store.BooksView, store.ContextsView, store.OpenInterestView, store.PositionsView}

// Restore brings back what the views tell, by name; views that were never
// published are missing. It returns the coins that have traded.
func (s *Set) Restore(bodies map[string][]byte) (coins []string, err error) {
	var t tickersView
	if err := restore(bodies, store.TickersView, &t); err != nil {
		return nil, err
	}
	for _, ticker := range t.Tickers {
		s.tickers.last[ticker.Coin] = ticker
		coins = append(coins, ticker.Coin)
	}
	var m midsView
	if err := restore(bodies, store.MidsView, &m); err != nil {
		return nil, err
	}
	s.mids.time = m.Time
	for dex, px := range m.Mids {
		s.mids.byDex[dex] = px
	}
	if err := s.books.restore(bodies); err != nil {
		return nil, err
	}
	if err := s.contexts.restore(bodies); err != nil {
		return nil, err
	}
	return coins, s.interest.restore(bodies)
}

func restore(bodies map[string][]byte, name string, to any) error {
	if body, ok := bodies[name]; ok {
		if err := json.Unmarshal(body, to); err != nil {
			return fmt.Errorf("read view %s: %w", name, err)
		}
	}
	return nil
}
