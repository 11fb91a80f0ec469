package perp

import (
	"fmt"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/funding"
	"quotary/shared/market"
	"quotary/shared/store"
)

// fundings makes the series of hourly funding, one row a perpetual and hour. What
// the venue says it paid is final. Until it has said so, a provisional row stands
// for it: of the rate that a node's files hold, which leave out the premium, or of
// what a coin's context last gave before the hour, as the venue pays what it last
// showed but for the samples of the last seconds. A provisional row never replaces
// a final one.
type fundings struct {
	engine.Defaults[*Batch]
	final map[string]int64            // by coin: the newest hour that is final, ms
	rated map[string]int64            // by coin: the newest hour of which a node gave the rate, ms
	shown map[string]shownRate        // by coin: what its context last gave
	rows  map[fundingKey]funding.Hour // to be written
	order []fundingKey                // of rows
}

type fundingKey struct {
	coin string
	hour int64 // ms
}

type shownRate struct {
	rate, premium string
	time          int64 // ms
}

// shownFor is how old the last rate before an hour may be to replace it, ms.
const shownFor = 150_000

func newFundings() *fundings {
	return &fundings{final: map[string]int64{}, rated: map[string]int64{}, shown: map[string]shownRate{}, rows: map[fundingKey]funding.Hour{}}
}

// Name is that of the series.
func (p *fundings) Name() string { return funding.Name }

// Prefetch asks for the rows that a node's rates may fill provisionally.
func (p *fundings) Prefetch(b *Batch, r *engine.Reads) {
	for i := range b.Funding {
		f := &b.Funding[i]
		if hour := market.Hour1.StartMs(f.Time); f.Premium == "" && hour > p.final[f.Coin] {
			r.Prefetch(funding.At(f.Coin, hour), checkFunding)
		}
	}
}

// Apply takes what was paid, then what the contexts show.
func (p *fundings) Apply(b *Batch, r *engine.Reads, _ time.Time) error {
	for i := range b.Funding {
		f := &b.Funding[i]
		hour := market.Hour1.StartMs(f.Time)
		if f.Premium != "" {
			p.put(fundingKey{f.Coin, hour}, funding.Hour{Funding: *f})
			p.final[f.Coin] = max(p.final[f.Coin], hour)
			continue
		}
		final, err := isFinal(r.Row(funding.At(f.Coin, hour)))
		if err != nil {
			return fmt.Errorf("%s at %d: %w", f.Coin, hour, err)
		}
		if !final {
			p.provisional(f, hour)
		}
	}
	for i := range b.Contexts {
		p.show(&b.Contexts[i])
	}
	return nil
}

// isFinal reports whether a stored row is what the venue says it paid.
func isFinal(stored *store.Point) (bool, error) {
	if stored == nil {
		return false, nil
	}
	h, err := funding.Decode(stored.Body)
	return !h.Provisional, err
}

// checkFunding reports why a stored row cannot be read.
func checkFunding(_ store.SeriesAt, p *store.Point) error {
	_, err := isFinal(p)
	return err
}

// provisional takes a rate whose premium is not known: that of the context before the
// hour completes it, or 0 where there are none.
func (p *fundings) provisional(f *market.Funding, hour int64) {
	if hour <= p.final[f.Coin] {
		return
	}
	row := funding.Hour{Funding: *f, Provisional: true}
	row.Premium = "0.0"
	if last := p.shown[f.Coin]; last.time > 0 && last.time <= f.Time && f.Time-last.time <= shownFor {
		row.Premium = last.premium
	}
	p.rated[f.Coin] = max(p.rated[f.Coin], hour)
	p.put(fundingKey{f.Coin, hour}, row)
}

func (p *fundings) put(key fundingKey, h funding.Hour) {
	if _, ok := p.rows[key]; !ok {
		p.order = append(p.order, key)
	}
	p.rows[key] = h
}

// show notes the rates of contexts, and makes a row of those before when an hour
// has passed between the two. This happens only in the life that saw both, so it
// never replaces what an earlier run was sent.
func (p *fundings) show(c *market.Contexts) {
	if c.Spot {
		return
	}
	for i := range c.Coins {
		one := &c.Coins[i]
		if one.Funding == "" {
			continue
		}
		last := p.shown[one.Coin]
		hour := market.Hour1.StartMs(c.Time)
		if last.time > 0 && last.time < hour && c.Time-last.time <= shownFor && p.final[one.Coin] < hour && p.rated[one.Coin] < hour {
			f := market.Funding{Coin: one.Coin, Rate: last.rate, Premium: last.premium, Time: hour}
			p.put(fundingKey{one.Coin, hour}, funding.Hour{Funding: f, Provisional: true})
		}
		if c.Time >= last.time {
			shown := shownRate{one.Funding, one.Premium, c.Time}
			if shown.premium == "" {
				shown.premium = "0.0"
			}
			p.shown[one.Coin] = shown
		}
	}
}

// Changes returns the rows that were made.
func (p *fundings) Changes(time.Time, bool) (c engine.Changes) {
	for _, key := range p.order {
		h := p.rows[key]
		c.Fine = append(c.Fine, funding.Row(&h))
	}
	clear(p.rows)
	p.order = p.order[:0]
	return c
}
