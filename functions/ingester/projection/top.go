package projection

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"quotary/shared/data/topfills"
	"quotary/shared/market"
	"quotary/shared/store"
)

// settleAfter is how long after its end, and after the coin's last event, a
// bucket is closed by the clock.
const settleAfter = 2 * time.Second

// tops keeps the rows of [market.TopTiers]. A second's row is written at once;
// the wider ones, which are large, only when their bucket is over: when a later
// fill of the coin is applied or the clock says so. Until then they exist in
// memory, and all that is lost in a crash is along the path of the coin's newest
// stored second, where it is derived from the finer rows again.
type tops struct {
	coins   map[string]*topCoin
	opening map[string]bool // see [Set.Open]
	round   int64
}

type topCoin struct {
	coin    string
	newest  int64 // newest second that may be stored, ms, -1 without any
	heal    bool  // newest was read from the store
	applied time.Time
	buckets [len(market.TopTiers)]map[int64]*topBucket // by start
}

type topBucket struct {
	top   market.Top
	dirty bool
	round int64 // last touched
}

func (p *tops) need(fills []market.Fill, r *request) {
	for coin := range p.opening {
		p.find(coin, r)
	}
	var coin string
	second := int64(-1)
	for i := range fills {
		f := &fills[i]
		s := market.Second1.StartMs(f.Time)
		if !f.IsTrade() || f.Coin == coin && s == second {
			continue
		}
		coin, second = f.Coin, s
		c := p.find(coin, r)
		if c == nil {
			continue
		}
		for tier, interval := range market.TopTiers {
			start := interval.StartMs(s)
			if c.buckets[tier][start] == nil && start <= c.newest {
				r.row(topfills.At(c.coin, interval, start))
			}
		}
	}
}

// find is the coin, or nil while its newest stored second is not read. It asks
// for what is to be derived anew.
func (p *tops) find(coin string, r *request) *topCoin {
	c := p.coins[coin]
	if c == nil {
		newest, ok := r.latest(topfills.Key(coin, market.Second1))
		if !ok {
			return nil
		}
		c = &topCoin{coin: strings.Clone(coin), newest: newest, heal: newest >= 0}
		for tier := range c.buckets {
			c.buckets[tier] = map[int64]*topBucket{}
		}
		p.coins[c.coin] = c
	}
	if c.heal {
		c.needHeal(r)
	}
	return c
}

// needHeal asks for the buckets along the path of the newest stored second and
// for the rows that they consist of.
func (c *topCoin) needHeal(r *request) {
	for tier := 1; tier < len(market.TopTiers); tier++ {
		interval, part := market.TopTiers[tier], market.TopTiers[tier-1]
		start := interval.StartMs(c.newest)
		r.row(topfills.At(c.coin, interval, start))
		for s := start; s <= c.newest; s = part.NextMs(s) {
			r.row(topfills.At(c.coin, part, s))
		}
	}
}

// heal derives the buckets along the path of the newest stored second from
// their parts, the finest first.
func (p *tops) healCoin(c *topCoin, cached *cache) error {
	c.heal = false
	for tier := 1; tier < len(market.TopTiers); tier++ {
		interval, part := market.TopTiers[tier], market.TopTiers[tier-1]
		start := interval.StartMs(c.newest)
		b, err := c.bucket(tier, start, cached)
		if err != nil {
			return err
		}
		b.round = p.round
		for s := start; s <= c.newest; s = part.NextMs(s) {
			var child market.Top
			if open := c.buckets[tier-1][s]; open != nil {
				child = open.top
			} else if child, err = readTop(cached.point(topfills.At(c.coin, part, s))); err != nil {
				return fmt.Errorf("%s row of %d: %w", part, s, err)
			}
			if b.top.Merge(child, topfills.Limit(market.TopTiers[tier])) {
				b.dirty = true
			}
		}
	}
	return nil
}

// bucket is the bucket in memory, read before if it is stored.
func (c *topCoin) bucket(tier int, start int64, cached *cache) (*topBucket, error) {
	b := c.buckets[tier][start]
	if b == nil {
		top, err := readTop(cached.point(topfills.At(c.coin, market.TopTiers[tier], start)))
		if err != nil {
			return nil, fmt.Errorf("%s row of %d: %w", market.TopTiers[tier], start, err)
		}
		b = &topBucket{top: top}
		c.buckets[tier][start] = b
	}
	return b, nil
}

func readTop(p *store.Point) (market.Top, error) {
	if p == nil {
		return nil, nil
	}
	return topfills.Decode(p.Body)
}

func (p *tops) apply(fills []market.Fill, cached *cache, now time.Time) error {
	for coin := range p.opening {
		if c := p.coins[coin]; c.heal {
			if err := p.healCoin(c, cached); err != nil {
				return fmt.Errorf("%s: %w", coin, err)
			}
		}
		delete(p.opening, coin)
	}
	for i := range fills {
		f := &fills[i]
		if !f.IsTrade() {
			continue
		}
		c := p.coins[f.Coin]
		if c.heal {
			if err := p.healCoin(c, cached); err != nil {
				return fmt.Errorf("%s: %w", c.coin, err)
			}
		}
		c.applied = now
		if err := p.add(c, f, cached); err != nil {
			return fmt.Errorf("%s: %w", c.coin, err)
		}
	}
	return nil
}

func (p *tops) add(c *topCoin, f *market.Fill, cached *cache) error {
	ranked := f.Rank()
	ranked.Coin = c.coin
	second := market.Second1.StartMs(f.Time)
	for tier, interval := range market.TopTiers {
		b, err := c.bucket(tier, interval.StartMs(f.Time), cached)
		if err != nil {
			return err
		}
		b.round = p.round
		if b.top.Add(ranked, topfills.Limit(market.TopTiers[tier])) {
			b.dirty = true
		}
	}
	c.newest = max(c.newest, second)
	return nil
}

// changes appends the rows of changed seconds to Fine and of changed wider
// buckets that are over to Coarse.
func (p *tops) changes(to *Changes, now time.Time, settle bool) {
	p.round++
	for _, coin := range sortedCoins(p.coins) {
		c := p.coins[coin]
		idle := settle || !now.Before(c.applied.Add(settleAfter))
		for tier, interval := range market.TopTiers {
			for _, start := range sortedKeys(c.buckets[tier]) {
				b := c.buckets[tier][start]
				over := tier == 0 || interval.StartMs(c.newest) != start ||
					idle && !now.Before(time.UnixMilli(interval.NextMs(start)).Add(settleAfter))
				if b.dirty && over {
					b.dirty = false
					row := topfills.Row(c.coin, interval, start, b.top)
					if tier == 0 {
						to.Fine = append(to.Fine, row)
					} else {
						to.Coarse = append(to.Coarse, row)
					}
				}
				if !b.dirty && b.round < p.round-keepRounds && interval.StartMs(c.newest) != start {
					delete(c.buckets[tier], start)
				}
			}
		}
	}
}

func sortedCoins[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
