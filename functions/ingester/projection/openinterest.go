package projection

import (
	"encoding/json"
	"time"

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
	view      []byte // the coins as last published
}

const (
	saveEvery    = 15 * time.Second // and a second more for every savePer positions
	savePer      = 5000
	publishEvery = 5 * time.Second
	// behindAfter is how long after the newest fill the positions count as being
	// caught up with, or their source as silent: no history is made of them.
	behindAfter = 2 * time.Minute
	// ratioPlaces is the precision of averages, which are rounded half away from
	// zero. Everything else is exact.
	ratioPlaces = 6
)

func newOpenInterest() openInterest {
	return openInterest{positions: new(market.Positions), history: newSampler(store.OpenInterestSeries)}
}

func (p *openInterest) apply(fills []market.Fill) {
	for i := range fills {
		if p.positions.Add(&fills[i]) {
			p.dirty = true
		}
	}
}

// coinInterest is a coin in the view of open interest; values are quote units.
type coinInterest struct {
	Coin          string `json:"coin"`
	PositionCount int64  `json:"positionCount"`
	LongPv        string `json:"longPv"`
	ShortPv       string `json:"shortPv"`
	TotalPv       string `json:"totalPv"`
	AvgPv         string `json:"avgPv"`
	Traded        int64  `json:"traded"` // when the coin last traded, ms
}

// sampledInterest is a row of the history.
type sampledInterest struct {
	Time          int64  `json:"time"` // ms
	Coin          string `json:"coin"`
	PositionCount int64  `json:"positionCount"`
	LongCount     int64  `json:"longCount"`
	LongPv        string `json:"longPv"`
	TotalPv       string `json:"totalPv"`
	AvgPv         string `json:"avgPv"`
}

// mark is the price of a coin's positions; false when nothing tells one.
func (s *Set) mark(coin string) (market.Decimal, bool) {
	if px, ok := s.contexts.marks[coin]; ok {
		return px, true
	}
	px, err := market.ParseDecimal(s.tickers.last[coin].Price)
	return px, err == nil
}

// interestOf values the positions of a coin.
func (s *Set) interestOf(coin string) (coinInterest, market.OpenInterest, bool) {
	open := s.interest.positions.Of(coin)
	px, ok := s.mark(coin)
	if !ok {
		return coinInterest{}, open, false
	}
	long, short := market.Notional(px, open.LongSize), market.Notional(px, open.ShortSize)
	total, count := long.Add(short), open.Longs+open.Shorts
	average, err := total.Div64(uint64(count))
	if err != nil {
		return coinInterest{}, open, false // no positions
	}
	return coinInterest{
		Coin: coin, PositionCount: count, LongPv: market.Text(long), ShortPv: market.Text(short), TotalPv: market.Text(total),
		AvgPv: market.Text(average.RoundHAZ(ratioPlaces)), Traded: s.tickers.last[coin].Time,
	}, open, true
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
		list := []coinInterest{}
		for _, coin := range p.positions.Coins() {
			if c, _, ok := s.interestOf(coin); ok {
				list = append(list, c)
			}
		}
		if view := encode(list); string(view) != string(p.view) {
			p.view, p.published = view, now
			to.Views = append(to.Views, View{store.OpenInterestView, encode(map[string]any{"time": now.UnixMilli(), "coins": list})})
		}
	}
	pause := saveEvery + time.Duration(p.positions.Len()/savePer)*time.Second
	if p.dirty && (settle || !now.Before(p.saved.Add(pause))) {
		p.dirty, p.saved = false, now
		to.Views = append(to.Views, View{store.PositionsView, p.positions.AppendJSON(nil)})
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
			to.Fine = p.history.add(to.Fine, coin, now, encode(sampledInterest{
				Time: now.UnixMilli(), Coin: coin, PositionCount: c.PositionCount, LongCount: open.Longs,
				LongPv: c.LongPv, TotalPv: c.TotalPv, AvgPv: c.AvgPv,
			}))
		}
	}
}

func (p *openInterest) restore(bodies map[string][]byte) (err error) {
	var v struct {
		Coins json.RawMessage `json:"coins"`
	}
	if err := restore(bodies, store.OpenInterestView, &v); err != nil {
		return err
	}
	p.view = v.Coins
	if body, ok := bodies[store.PositionsView]; ok {
		p.positions, err = market.ParsePositions(body)
	}
	return err
}
