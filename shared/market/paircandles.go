package market

import "slices"

// PairCandles folds the candles of one pair in [PairTiers] from two sources: runs of
// ended minutes, which are the exchange's own word, and trades as they happen, for the
// minutes after those.
//
// Runs are taken in their order from the opening of a UTC day on, at which every tier
// opens a bucket; of what was confirmed only the parts of open buckets are kept. Each
// trade names the one before it, so that a missing one shows. After a gap, and at the beginning,
// trades are not part of any candle until a run has confirmed the minute in which they
// begin: a candle is never short of a trade in its middle. Until then the open minute is
// what the exchange said of it. Trades that come late or twice change nothing.
//
// The zero value has seen nothing.
type PairCandles struct {
	began bool  // a run was taken
	until int64 // ms: minutes that open before are confirmed

	// open has of each tier the confirmed part of the bucket that holds until; one of
	// another bucket is as good as empty.
	open [len(PairTiers)]Candle

	opening Candle // the minute from until on, as the last run had it; without trades for none

	live    liveTrades
	changed map[bucket]struct{} // of the trades
}

type bucket struct {
	tier int
	open int64
}

// liveTrades are trades without a gap between them, by minute.
type liveTrades struct {
	last    int64    // id of the newest trade
	since   int64    // ms: minutes that open from here on hold every trade
	minutes []Candle // by OpenTime
}

// keptMinutes bounds the minutes of trades that wait to be confirmed: two days.
const keptMinutes = 2880

// Until is the end of what is confirmed, ms; 0 while nothing is.
func (p *PairCandles) Until() int64 { return p.until }

// Confirm takes a run of ended minutes and returns the candles of every tier that it
// has changed, by tier. A run that does not continue what is confirmed is taken only
// from the opening of a day on.
func (p *PairCandles) Confirm(run *CandleRun) (changed [len(PairTiers)][]Candle) {
	if !p.began || run.From > p.until {
		if Day1.StartMs(run.From) != run.From {
			return changed
		}
		p.began, p.until, p.open = true, run.From, [len(PairTiers)]Candle{}
	}
	if run.To < p.until || run.To == p.until && (run.Open.Empty() || p.joined()) {
		return changed
	}
	for i := range run.Candles {
		c := run.Candles[i]
		p.live.tellTakers(&c)
		if c.OpenTime < p.until || c.Empty() {
			continue
		}
		for tier, interval := range PairTiers {
			open := interval.StartMs(c.OpenTime)
			if part := &p.open[tier]; part.OpenTime != open || part.Empty() {
				if !part.Empty() && part.OpenTime >= interval.StartMs(p.until) {
					changed[tier] = append(changed[tier], *part)
				}
				*part = Candle{OpenTime: open}
			}
			p.open[tier].Merge(&c)
		}
	}
	from, was := p.until, p.joined()
	p.until, p.opening = run.To, run.Open
	p.live.forget(p.until)
	for tier, interval := range PairTiers {
		// The last bucket with a trade, and the one that is open, with what came after the run.
		last, open := p.open[tier].OpenTime, interval.StartMs(p.until)
		if last != open && last >= interval.StartMs(from) {
			p.report(&changed, tier, last)
		}
		if last == open || !p.opening.Empty() && !p.joined() {
			p.report(&changed, tier, open)
		}
	}
	if p.joined() && !was {
		for i := range p.live.minutes {
			p.touch(p.live.minutes[i].OpenTime)
		}
	}
	return changed
}

// report adds a bucket to those that were changed, as far as it is known.
func (p *PairCandles) report(changed *[len(PairTiers)][]Candle, tier int, open int64) {
	if c, ok := p.candle(tier, open); ok {
		changed[tier] = append(changed[tier], c)
	}
	delete(p.changed, bucket{tier, open})
}

// Add takes a trade.
func (p *PairCandles) Add(t *PairTrade) {
	l := &p.live
	open := Minute1.StartMs(t.Time)
	switch {
	case l.last == 0 || t.Prev > l.last || t.ID < l.last && t.Follows(l.last) || len(l.minutes) > keptMinutes:
		*l = liveTrades{last: t.ID, since: Minute1.NextMs(t.Time), minutes: l.minutes[:0]}
		clear(p.changed)
	case !t.Follows(l.last):
		return
	default:
		l.last = t.ID
	}
	if open < p.until || open < l.since {
		return
	}
	c := t.candle(open)
	l.minute(open).Merge(&c)
	p.touch(open)
}

// Changed returns the candles that trades have changed since it was last called, by
// tier. A candle of a wide bucket holds the confirmed minutes and the trades after
// them.
func (p *PairCandles) Changed() (changed [len(PairTiers)][]Candle) {
	if !p.joined() {
		return changed
	}
	for b := range p.changed {
		p.report(&changed, b.tier, b.open)
	}
	return changed
}

// joined reports whether no trade is missing between what is confirmed and what is
// live.
func (p *PairCandles) joined() bool { return p.began && p.live.last > 0 && p.live.since <= p.until }

func (p *PairCandles) touch(minute int64) {
	if p.changed == nil {
		p.changed = map[bucket]struct{}{}
	}
	for tier, interval := range PairTiers {
		p.changed[bucket{tier, interval.StartMs(minute)}] = struct{}{}
	}
}

// candle is a bucket as far as it is known; ok is false for one without a trade.
func (p *PairCandles) candle(tier int, open int64) (c Candle, ok bool) {
	if part := &p.open[tier]; part.OpenTime == open {
		c = *part
	}
	c.OpenTime = open
	after := p.live.minutes // of what is confirmed
	if !p.joined() {
		after = []Candle{p.opening}
	}
	for i := range after {
		if m := &after[i]; m.OpenTime >= open && m.OpenTime < PairTiers[tier].NextMs(open) {
			c.Merge(m)
		}
	}
	return c, !c.Empty()
}

// minute is the candle of a minute, a new one where there is none.
func (l *liveTrades) minute(open int64) *Candle {
	i := len(l.minutes)
	for i > 0 && l.minutes[i-1].OpenTime > open {
		i--
	}
	if i > 0 && l.minutes[i-1].OpenTime == open {
		return &l.minutes[i-1]
	}
	l.minutes = append(l.minutes, Candle{})
	copy(l.minutes[i+1:], l.minutes[i:])
	l.minutes[i] = Candle{OpenTime: open}
	return &l.minutes[i]
}

// tellTakers adds to a minute of an exchange that does not count trades what these make of
// it, where they are the same ones: as many coins.
func (l *liveTrades) tellTakers(c *Candle) {
	if c.Trades > 0 || c.OpenTime < l.since {
		return
	}
	for i := range l.minutes {
		if m := &l.minutes[i]; m.OpenTime == c.OpenTime && m.Size.Equal(c.Size) {
			c.Trades, c.SizeBuyer, c.AmountBuyer = m.Trades, m.SizeBuyer, m.AmountBuyer
		}
	}
}

// forget drops the minutes that open before a time.
func (l *liveTrades) forget(until int64) {
	n := 0
	for n < len(l.minutes) && l.minutes[n].OpenTime < until {
		n++
	}
	l.minutes = append(l.minutes[:0], l.minutes[n:]...)
}

// Tiers returns the candles of a run of whole UTC days in its own interval, one of
// [PairTiers], and in every wider one, by tier.
func (run *CandleRun) Tiers() (tiers [len(PairTiers)][]Candle) {
	for tier, interval := range PairTiers {
		if interval >= run.Interval {
			tiers[tier] = Compose(slices.Clone(run.Candles), interval.StartMs)
		}
	}
	return tiers
}
