package projection

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"quotary/shared/data/books"
	"quotary/shared/data/contexts"
	"quotary/shared/data/meta"
	"quotary/shared/data/mids"
	"quotary/shared/data/openinterest"
	"quotary/shared/data/positions"
	"quotary/shared/data/tickers"
	"quotary/shared/market"
)

// lastPrices keeps the last trade of each coin.
type lastPrices struct {
	last    map[string]tickers.Ticker
	changed bool
}

func (p *lastPrices) apply(trades []market.Trade) {
	for i := range trades {
		t := &trades[i]
		have, ok := p.last[t.Coin]
		if ok && have.Order().Compare(t.Order()) >= 0 {
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

func (p *lastPrices) body(now time.Time) []byte {
	p.changed = false
	return tickers.Encode(tickers.View{Time: now.UnixMilli(), Tickers: slices.Collect(maps.Values(p.last))})
}

// midPrices keeps the mid prices of each dex.
type midPrices struct {
	time    int64
	byDex   map[string]map[string]string
	changed bool
}

func (p *midPrices) apply(m *market.Mids) {
	p.time = max(p.time, m.Time)
	if !maps.Equal(p.byDex[m.Dex], m.Px) {
		p.byDex[m.Dex] = m.Px
		p.changed = true
	}
}

func (p *midPrices) body() []byte {
	p.changed = false
	return mids.Encode(mids.View{Time: p.time, Mids: p.byDex})
}

// descriptions keeps the venue's description of its markets.
type descriptions struct {
	last    market.Meta
	changed bool
}

func (p *descriptions) apply(m *market.Meta) { p.last, p.changed = *m, true }

func (p *descriptions) body() []byte {
	p.changed = false
	return meta.Encode(meta.View{Time: p.last.Time, Perps: p.last.Perps, Spot: p.last.Spot})
}

// Restored are the views that a new Set is restored from.
var Restored = [...]string{tickers.Name, mids.Name, books.Name, contexts.Name, openinterest.Name, positions.Name}

// Restore brings back what the views hold, by name; views that were never
// published are missing. It returns the coins that have traded.
func (s *Set) Restore(bodies map[string][]byte) (coins []string, err error) {
	t, err := restore(bodies, tickers.Name, tickers.Decode)
	if err != nil {
		return nil, err
	}
	for _, ticker := range t.Tickers {
		s.tickers.last[ticker.Coin] = ticker
		coins = append(coins, ticker.Coin)
	}
	m, err := restore(bodies, mids.Name, mids.Decode)
	if err != nil {
		return nil, err
	}
	s.mids.time = m.Time
	for dex, px := range m.Mids {
		s.mids.byDex[dex] = px
	}
	if err := s.books.restore(bodies); err != nil {
		return nil, err
	}
	if err := s.figures.restore(bodies); err != nil {
		return nil, err
	}
	return coins, s.interest.restore(bodies)
}

// restore decodes the view of that name, the zero value when there is none.
func restore[T any](bodies map[string][]byte, name string, decode func([]byte) (T, error)) (view T, err error) {
	body, ok := bodies[name]
	if !ok {
		return view, nil
	}
	if view, err = decode(body); err != nil {
		return view, fmt.Errorf("read view %s: %w", name, err)
	}
	return view, nil
}
