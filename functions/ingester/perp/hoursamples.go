package perp

import (
	"maps"
	"time"

	"quotary/shared/data/openinterest"
	"quotary/shared/market"
	"quotary/shared/store"
)

// hourSamples are the samples of positions that the hours of the venue tell of: what stands at the beginning of
// each minute, at the last price of each coin before it, as the mark prices of then are not known.
type hourSamples struct {
	minute int64        // that was begun last, ms
	prices market.Marks // of the fills before
	rows   []store.SeriesRow
}

// sampleHour takes the samples of the minutes that have begun before a fill, which is next in the order of the hour.
// Of minutes in which nothing was filled there are none.
func (p *openInterest) sampleHour(f *market.Fill) {
	h := &p.hour
	if minute := market.Minute1.StartMs(f.Time); minute > h.minute {
		if h.minute > 0 {
			p.takeSamples(time.UnixMilli(minute))
		}
		h.minute = minute
	}
	if !market.IsSpot(f.Coin) {
		if px, err := market.ParseDecimal(f.Px); err == nil {
			if h.prices == nil {
				h.prices = market.Marks{}
			}
			h.prices[f.Coin] = px
		}
	}
}

// takeSamples samples what stands at a time.
func (p *openInterest) takeSamples(at time.Time) {
	h := &p.hour
	for _, coin := range p.positions.Coins() {
		px, ok := h.prices[coin]
		if !ok {
			if px, ok = p.price(coin); !ok {
				continue
			}
		}
		open := p.positions.OpenInterest(coin)
		c, ok := openinterest.NewCoin(coin, open, px, 0)
		if !ok {
			continue
		}
		sample := c.Sample(at.UnixMilli(), open.Longs)
		h.rows = p.history.add(h.rows, coin, at, func(i market.Interval, start int64) store.SeriesRow {
			return openinterest.Row(i, start, &sample)
		})
	}
	if p.markets == nil {
		return
	}
	h.rows = append(h.rows, p.whales.samples(at, func() market.WhaleSides {
		prices := p.marks.prices()
		maps.Copy(prices, h.prices)
		return p.positions.Table(at.UnixMilli()).Mark(p.markets, prices).Whales("")
	})...)
}
