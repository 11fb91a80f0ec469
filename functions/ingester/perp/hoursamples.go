package perp

import (
	"maps"
	"time"

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
	h.rows = p.samplesAt(h.rows, at, func(coin string) (market.Decimal, bool) {
		if px, ok := h.prices[coin]; ok {
			return px, true
		}
		return p.price(coin)
	})
	if p.markets == nil {
		return
	}
	h.rows = append(h.rows, p.sidesAt(at, func() market.Marks {
		prices := p.marks.prices()
		maps.Copy(prices, h.prices)
		return prices
	})...)
}
