package projection

import (
	"cmp"
	"slices"
	"time"

	"quotary/shared/data/openinterest"
	"quotary/shared/data/positions"
	"quotary/shared/market"
	"quotary/shared/store"
)

// openInterest keeps the positions of all accounts that fills tell, marked with
// the prices of the coins' figures, else with the last trade.
//
// The positions are more than rows could hold cheaply, so they are a snapshot of
// their own, every 15 seconds while they are few and less often the more they
// are. Until it is written, the checkpoints of the sources
// wait: after a crash the fills since the snapshot come again.
type openInterest struct {
	positions *market.Positions
	dirty     bool // fills came since the snapshot
	saved     time.Time

	history   sampler
	published time.Time
	view      []openinterest.Coin // as last published
}

const (
	saveEvery    = 15 * time.Second // and a second more for every savePer positions
	savePer      = 5000
	publishEvery = 5 * time.Second
	// behindAfter is how long after the newest fill the positions count as being
	// caught up with, or their source as silent: no history is made of them.
	behindAfter = 2 * time.Minute
)

func newOpenInterest() openInterest {
	return openInterest{positions: new(market.Positions), history: newSampler()}
}

func (p *openInterest) apply(fills []market.Fill) {
	for i := range fills {
		if p.positions.Add(&fills[i]) {
			p.dirty = true
		}
	}
}

// mark is the price of a coin's positions; false when nothing tells one.
func (s *Set) mark(coin string) (market.Decimal, bool) {
	if px, ok := s.figures.marks[coin]; ok {
		return px, true
	}
	px, err := market.ParseDecimal(s.tickers.last[coin].Price)
	return px, err == nil
}

// interestOf values the positions of a coin.
func (s *Set) interestOf(coin string) (openinterest.Coin, market.OpenInterest, bool) {
	open := s.interest.positions.Of(coin)
	px, ok := s.mark(coin)
	if !ok {
		return openinterest.Coin{}, open, false
	}
	c, ok := openinterest.NewCoin(coin, open, px, s.tickers.last[coin].Time)
	return c, open, ok
}

// interestChanges appends the samples of the minute, the view when it is due and
// the snapshot when it is. It tells whether checkpoints must wait for the next.
func (s *Set) interestChanges(to *Changes, now time.Time, settle bool) {
	p := &s.interest
	if p.positions.Newest() == 0 {
		return
	}
	s.interestSamples(to, now)
	if settle || !now.Before(p.published.Add(publishEvery)) {
		list := []openinterest.Coin{}
		for _, coin := range p.positions.Coins() {
			if c, _, ok := s.interestOf(coin); ok {
				list = append(list, c)
			}
		}
		if p.view == nil || !slices.Equal(list, p.view) {
			p.view, p.published = list, now
			to.Views = append(to.Views, View{openinterest.Name, openinterest.Encode(openinterest.View{Time: now.UnixMilli(), Coins: list})})
		}
	}
	pause := saveEvery + time.Duration(p.positions.Len()/savePer)*time.Second
	if p.dirty && (settle || !now.Before(p.saved.Add(pause))) {
		p.dirty, p.saved = false, now
		to.Views = append(to.Views, View{positions.Name, positions.Encode(p.positions)})
	}
	to.Held = p.dirty
}

func (s *Set) interestSamples(to *Changes, now time.Time) {
	p := &s.interest
	if now.Sub(time.UnixMilli(p.positions.Newest())) > behindAfter {
		return
	}
	for _, coin := range p.positions.Coins() {
		if !p.history.due(coin, now) {
			continue
		}
		if c, open, ok := s.interestOf(coin); ok {
			sample := c.Sample(now.UnixMilli(), open.Longs)
			to.Fine = p.history.add(to.Fine, coin, now, func(i market.Interval, start int64) store.SeriesRow {
				return openinterest.Row(i, start, &sample)
			})
		}
	}
}

func (p *openInterest) restore(bodies map[string][]byte) error {
	v, err := restore(bodies, openinterest.Name, openinterest.Decode)
	if err != nil {
		return err
	}
	p.view = v.Coins
	slices.SortFunc(p.view, func(a, b openinterest.Coin) int { return cmp.Compare(a.Coin, b.Coin) })
	if body, ok := bodies[positions.Name]; ok {
		p.positions, err = positions.Decode(body)
	}
	return err
}
