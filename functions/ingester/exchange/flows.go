package exchange

import (
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/platformflows"
	"quotary/shared/market"
)

// flows keeps the view of what takers bought less what they sold on each exchange in the
// last 24 hours, of followed pairs that are priced in US dollars or a stable coin. Trades make
// the minutes that are open. K-lines replace them as the exchange confirms them, and say what
// was before the pair was followed, where the exchange tells takers apart in its K-lines.
// Each minute of a pair is counted once, whatever comes again after a restart: the view says
// from when until when K-lines of a pair are in it.
type flows struct {
	minutes map[string]map[int64]market.Decimal // by exchange
	counted map[string]*platformflows.Counted   // by pair
	pairs   listedPairs
	gone    []string         // pairs that are counted and trade no more, at most mostResting
	last    map[string]int64 // id of the newest trade of a pair
	newest  int64
}

func newFlows() Projection {
	return engine.KeepView(platformflows.Published, noFlows).Every(viewEvery)
}

func noFlows() *flows {
	return &flows{minutes: map[string]map[int64]market.Decimal{}, counted: map[string]*platformflows.Counted{}, last: map[string]int64{}}
}

// Restore takes it.
func (p *flows) Restore(v platformflows.View) error {
	if p.newest = v.Time; v.Pairs == nil {
		return nil // it does not say what is counted in it
	}
	for _, platform := range v.Platforms {
		p.minutes[platform.Key] = map[int64]market.Decimal{}
		for _, m := range platform.Minutes {
			p.minutes[platform.Key][m.Time] = m.Net
		}
	}
	for i := range v.Pairs {
		p.counted[v.Pairs[i].Key] = &v.Pairs[i]
	}
	return nil
}

// Apply takes K-lines before trades, each once.
func (p *flows) Apply(b *Batch, _ time.Time) (changed bool) {
	p.forget(p.pairs.list(b.Listings))
	for i := range b.Past {
		changed = p.confirm(&b.Past[i]) || changed
	}
	for i := range b.Runs {
		changed = p.confirm(&b.Runs[i].CandleRun) || changed
	}
	for i := range b.Trades {
		changed = p.trade(&b.Trades[i]) || changed
	}
	return changed
}

// forget forgets pairs that trade no more. What is counted of them stays for 24 hours, as one
// that is listed again must not be counted twice: of the last that went.
func (p *flows) forget(gone []string) {
	for _, key := range gone {
		delete(p.last, key)
		if p.counted[key] != nil {
			p.gone = append(p.gone, key)
		}
	}
	for ; len(p.gone) > mostResting; p.gone = p.gone[1:] {
		if _, listed := p.pairs.byKey[p.gone[0]]; !listed {
			delete(p.counted, p.gone[0])
		}
	}
}

// trade takes a trade of a minute that is not confirmed.
func (p *flows) trade(t *market.PairTrade) (changed bool) {
	if pair, listed := p.pairs.byKey[t.Pair]; !t.Follows(p.last[t.Pair]) || listed && !pair.followed {
		return false // one that clients want is in no sum
	}
	p.last[t.Pair] = t.ID
	net := t.Value()
	if t.Side == market.Sell {
		net = net.Neg()
	}
	of, minute := p.of(t.Pair), market.Minute1.StartMs(t.Time)
	if of.Tells && minute < of.To {
		return false
	}
	of.Trades = addMinute(of.Trades, minute, net)
	p.add(t.Pair, minute, net)
	p.newest = max(p.newest, t.Time)
	return true
}

// confirm takes K-lines of a minute that continue those that are counted, on either side.
func (p *flows) confirm(run *market.CandleRun) (changed bool) {
	if run.Interval != market.Minute1 || run.To <= run.From || !p.pairs.byKey[run.Pair].followed {
		return false
	}
	of := p.of(run.Pair)
	from, to := run.From, run.To
	switch {
	case of.To == 0 || from > of.To: // what is between is older than what is kept
		of.From, of.To = from, to
	case to > of.To:
		from, of.To = of.To, to
	case to == of.From:
		of.From = from
	default:
		return false
	}
	trades := map[int64]market.Decimal{}
	of.Trades = slices.DeleteFunc(of.Trades, func(m platformflows.Minute) bool {
		ended := m.Time >= from && m.Time < to
		if ended {
			trades[m.Time] = m.Net
		}
		return ended
	})
	for i := range run.Candles {
		c := &run.Candles[i]
		if c.OpenTime < from || c.OpenTime >= to || c.Trades == 0 { // such a one does not tell takers
			continue
		}
		of.Tells, changed = true, true
		p.add(run.Pair, c.OpenTime, c.AmountBuyer.Add(c.AmountBuyer).Sub(c.Amount).Sub(trades[c.OpenTime]))
	}
	p.newest = max(p.newest, to)
	return changed
}

func (p *flows) of(pair string) *platformflows.Counted {
	of := p.counted[pair]
	if of == nil {
		of = &platformflows.Counted{Key: pair}
		p.counted[pair] = of
	}
	return of
}

// add adds to a minute of the exchange of a pair.
func (p *flows) add(pair string, minute int64, net market.Decimal) {
	platform := platformOf(pair)
	of := p.minutes[platform]
	if of == nil {
		of = map[int64]market.Decimal{}
		p.minutes[platform] = of
	}
	of[minute] = of[minute].Add(net)
}

// addMinute adds to a minute of a list, most likely the last.
func addMinute(list []platformflows.Minute, minute int64, net market.Decimal) []platformflows.Minute {
	for i := range slices.Backward(list) {
		if list[i].Time == minute {
			list[i].Net = list[i].Net.Add(net)
			return list
		}
	}
	return append(list, platformflows.Minute{Time: minute, Net: net})
}

// View has the minutes of the last 24 hours; older ones are forgotten.
func (p *flows) View(time.Time) platformflows.View {
	oldest := market.Minute1.StartMs(p.newest - platformflows.Window.Milliseconds())
	v := platformflows.View{Time: p.newest}
	for _, key := range slices.Sorted(maps.Keys(p.minutes)) {
		minutes := p.minutes[key]
		maps.DeleteFunc(minutes, func(ms int64, _ market.Decimal) bool { return ms < oldest })
		one := platformflows.Platform{Key: key, Minutes: []platformflows.Minute{}}
		for _, ms := range slices.Sorted(maps.Keys(minutes)) {
			one.Minutes = append(one.Minutes, platformflows.Minute{Time: ms, Net: minutes[ms]})
		}
		v.Platforms = append(v.Platforms, one)
	}
	for _, key := range slices.Sorted(maps.Keys(p.counted)) {
		of := p.counted[key]
		of.Trades = slices.DeleteFunc(of.Trades, func(m platformflows.Minute) bool { return m.Time < oldest })
		if of.To < oldest && len(of.Trades) == 0 {
			delete(p.counted, key)
			delete(p.last, key)
			continue
		}
		v.Pairs = append(v.Pairs, *of)
	}
	return v
}
