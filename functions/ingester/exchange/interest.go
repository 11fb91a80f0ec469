package exchange

import (
	"slices"
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/packedrows"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
)

// interests keeps the series of open interest: of each pair, and of each coin the sum over
// its followed perpetuals, those that are margined in a stable coin and the inverse ones
// each for themselves. The sum is made once a minute of what happens, and at each time of
// the past for which exchanges tell what it was. The perpetual exchange, whose domain keeps
// the series of its pairs, is one of those with a stable coin (see [perpInterest]).
type interests struct {
	engine.Defaults[*Batch]
	perpetuals
	pairs, coinSums packedrows.Bars
	values          sums[market.Decimal] // US dollars
	summed          bool                 // sums were made that are not written
	held            bool                 // what a checkpoint is behind is in memory only
}

func newInterests() *interests {
	return &interests{pairs: packedrows.NewBars(pairseries.Interest, pointsEvery, pointsEvery), coinSums: packedrows.NewBars(pairseries.CoinInterest, pointsEvery, pointsEvery)}
}

// Name is that of the series of pairs.
func (*interests) Name() string { return pairseries.Interest.Name() }

// Restores has the pairs.
func (*interests) Restores() []engine.RestoredView { return []engine.RestoredView{restoredPairs} }

// Restore takes them.
func (p *interests) Restore(views map[string][]byte) error { return p.restorePairs(views) }

// Prefetch asks for the rows of open interest.
func (p *interests) Prefetch(b *Batch, r *engine.Reads) {
	for i := range b.Interests {
		p.pairs.Want(r, b.Interests[i].Pair, b.Interests[i].Time)
	}
	if end, ok := p.values.ended(b.Newest()); ok {
		for coin := range p.byCoin {
			p.coinSums.Want(r, pairseries.Stable(coin), end)
			p.coinSums.Want(r, pairseries.CoinMargined(coin), end)
			perpInterest{&p.perpetuals}.want(r, coin, end)
		}
	}
	for i := range b.PastInterests {
		past := &b.PastInterests[i]
		for _, one := range past.Interests {
			if past.Key == "" {
				p.pairs.Want(r, one.Pair, one.Time)
				continue
			}
			p.coinSums.Want(r, past.Key, one.Time)
			if coin, ok := strings.CutSuffix(past.Key, pairseries.Stable("")); ok {
				perpInterest{&p.perpetuals}.want(r, coin, one.Time)
			}
		}
	}
}

// Apply takes open interest, after the minute that it ends, and that of the past.
func (p *interests) Apply(b *Batch, r *engine.Reads, _ time.Time) error {
	newest := b.Newest()
	if end, ok := p.values.ended(newest); ok {
		if err := p.sumUp(r, end); err != nil {
			return err
		}
		p.summed = true
	}
	p.values.advance(newest)
	p.list(b.Listings)
	for i := range b.Interests {
		one := &b.Interests[i]
		if err := p.pairs.Add(r, one.Pair, one.Time, one.Value); err != nil {
			return err
		}
		p.values.add(one.Pair, one.Time, one.Value)
	}
	for i := range b.PastInterests {
		p.held = true
		if err := p.applyPast(r, &b.PastInterests[i]); err != nil {
			return err
		}
	}
	return nil
}

// sumUp makes the sums of the minute that ends at a time, ms.
func (p *interests) sumUp(r *engine.Reads, end int64) error {
	for _, coin := range p.coins() {
		var stable, inverse []string
		for _, key := range p.byCoin[coin] {
			if p.byKey[key].Inverse {
				inverse = append(inverse, key)
			} else {
				stable = append(stable, key)
			}
		}
		for key, members := range map[string][]string{pairseries.Stable(coin): stable, pairseries.CoinMargined(coin): inverse} {
			values := p.values.at(end, members)
			if len(values) == 0 {
				continue
			}
			if err := p.addSum(r, key, end, sum(values), p.values.begins(end)); err != nil {
				return err
			}
		}
	}
	return nil
}

// addSum adds a sum over centralised exchanges at a time (ms), with what the perpetual one
// has to it. Where that was followed and its value is missing there is no sum, if one is to
// be whole: it would fall by all of it.
func (p *interests) addSum(r *engine.Reads, key string, ms int64, total market.Decimal, whole bool) error {
	if coin, ok := strings.CutSuffix(key, pairseries.Stable("")); ok {
		perp, err := perpInterest{&p.perpetuals}.at(r, coin, ms)
		if err != nil {
			return err
		}
		if whole && perp.followed && !perp.known {
			return nil
		}
		total = total.Add(perp.value)
	}
	return p.coinSums.Add(r, key, ms, total)
}

func sum(values []market.Decimal) (total market.Decimal) {
	for _, v := range values {
		total = total.Add(v)
	}
	return total
}

// applyPast takes open interest of the past: that of pairs, or that of a sum, in which every
// perpetual has a value. At each of its times the sum is that of the newest values until then. There is none where
// one is missing or too old: what an exchange tells may begin later than what others tell,
// and the sum would rise by all of it.
func (p *interests) applyPast(r *engine.Reads, past *PastInterest) error {
	if past.Key == "" {
		for _, one := range past.Interests {
			if err := p.pairs.Add(r, one.Pair, one.Time, one.Value); err != nil {
				return err
			}
		}
		return nil
	}
	points := slices.Clone(past.Interests)
	slices.SortStableFunc(points, func(a, b market.PairInterest) int { return int(a.Time - b.Time) })
	members := map[string]bool{}
	for i := range points {
		members[points[i].Pair] = true
	}
	newest := map[string]market.PairInterest{}
	for i, one := range points {
		newest[one.Pair] = one
		if i+1 < len(points) && points[i+1].Time == one.Time {
			continue
		}
		var values []market.Decimal
		for _, v := range newest {
			if one.Time-v.Time <= valueFor {
				values = append(values, v.Value)
			}
		}
		if len(values) < len(members) {
			continue
		}
		if err := p.addSum(r, past.Key, one.Time, sum(values), true); err != nil {
			return err
		}
	}
	return nil
}

// Changes returns the rows once a minute, those of sums when these are made.
func (p *interests) Changes(now time.Time, settle bool) engine.Changes {
	rows := append(p.pairs.Changes(now, settle), p.coinSums.Changes(now, settle || p.summed)...)
	p.summed = false
	p.held = p.held && (!p.pairs.Clean() || !p.coinSums.Clean())
	return engine.Changes{Fine: rows, Held: p.held}
}
