package perp

import (
	"fmt"
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/tickers"
	"quotary/shared/data/topfills"
	"quotary/shared/market"
	"quotary/shared/store"
)

// settleAfter is how long after its end, and after the coin's last event, a
// bucket is closed by the clock.
const settleAfter = 2 * time.Second

// openAtOnce is of how many coins the buckets are derived again in one step at the
// start.
const openAtOnce = 50

// topFills keeps the series of the largest fills: one row a coin, tier of
// [market.TopTiers] and bucket that saw a fill, of up to 1,000 fills of a second
// and 100 of a wider bucket. Dust conversions are no executions and not ranked.
//
// A second's row is written at once; the wider ones, which are large, only when
// their bucket is over: when a later fill of the coin is applied or the clock says
// so. Until then they exist in memory, and all that is lost in a crash is along
// the path of the coin's newest stored second, where it is derived from the finer
// rows again. After a restart that is done for all coins, so that the buckets that
// closed while nothing was running are finished, of coins that trade no more too.
type topFills struct {
	engine.Defaults[*Batch]
	coins   map[string]*topCoin
	restart []string        // coins that traded before the start and are not looked at yet
	opening map[string]bool // coins that are looked at as if a fill had touched them
	round   int64
}

type topCoin struct {
	coin    string
	stored       // which seconds may have a row
	heal    bool // newest was read from the store
	applied time.Time
	buckets [len(market.TopTiers)]map[int64]*topBucket // by start
}

type topBucket struct {
	top   market.Top
	dirty bool
	round int64 // last touched
}

func newTopFills() *topFills {
	return &topFills{coins: map[string]*topCoin{}, opening: map[string]bool{}}
}

// Name is that of the series.
func (p *topFills) Name() string { return topfills.Name }

// Folds has the fills.
func (p *topFills) Folds() []engine.Fold[*Batch] { return storedFills }

// Restores has the tickers, which name all coins that have traded.
func (p *topFills) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(tickers.Published)}
}

// Restore remembers the coins that have traded.
func (p *topFills) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, tickers.Published)
	if err != nil {
		return err
	}
	for _, t := range v.Tickers {
		p.restart = append(p.restart, t.Coin)
	}
	return nil
}

// Prefetch asks for the stored rows that the fills touch.
func (p *topFills) Prefetch(b *Batch, r *engine.Reads) {
	if n := min(openAtOnce, len(p.restart)); n > 0 && len(p.opening) == 0 {
		for _, coin := range p.restart[:n] {
			p.opening[coin] = true
		}
		p.restart = p.restart[n:]
	}
	for coin := range p.opening {
		p.find(coin, r)
	}
	fills := b.Fills
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
			if c.buckets[tier][start] == nil && !c.absent(interval, start) {
				r.Prefetch(topfills.At(c.coin, interval, start), checkTop)
			}
		}
	}
}

// find is the coin, or nil while its newest stored second is not read. It asks
// for what is to be derived again.
func (p *topFills) find(coin string, r *engine.Reads) *topCoin {
	c := p.coins[coin]
	if c == nil {
		newest, ok := newest(r, topfills.Key(coin, market.Second1))
		if !ok {
			return nil
		}
		c = &topCoin{coin: strings.Clone(coin), stored: newStored(newest), heal: newest >= 0}
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
func (c *topCoin) needHeal(r *engine.Reads) {
	for tier := 1; tier < len(market.TopTiers); tier++ {
		interval, part := market.TopTiers[tier], market.TopTiers[tier-1]
		start := interval.StartMs(c.newest)
		r.Prefetch(topfills.At(c.coin, interval, start), checkTop)
		for s := start; s <= c.newest; s = part.NextMs(s) {
			r.Prefetch(topfills.At(c.coin, part, s), checkTop)
		}
	}
}

// healCoin derives the buckets along the path of the newest stored second from
// their parts, the finest first.
func (p *topFills) healCoin(c *topCoin, cached *engine.Reads) error {
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
			} else if child, err = readTop(cached.Row(topfills.At(c.coin, part, s))); err != nil {
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
func (c *topCoin) bucket(tier int, start int64, cached *engine.Reads) (*topBucket, error) {
	b := c.buckets[tier][start]
	if b == nil {
		top, err := readTop(cached.Row(topfills.At(c.coin, market.TopTiers[tier], start)))
		if err != nil {
			return nil, fmt.Errorf("%s row of %d: %w", market.TopTiers[tier], start, err)
		}
		b = &topBucket{top: top}
		c.buckets[tier][start] = b
	}
	return b, nil
}

// checkTop reports why a stored row cannot be read.
func checkTop(_ store.SeriesAt, p *store.Point) error {
	_, err := readTop(p)
	return err
}

func readTop(p *store.Point) (market.Top, error) {
	if p == nil {
		return nil, nil
	}
	return topfills.Decode(p.Body)
}

// Apply ranks the fills.
func (p *topFills) Apply(b *Batch, cached *engine.Reads, now time.Time) error {
	fills := b.Fills
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

func (p *topFills) add(c *topCoin, f *market.Fill, cached *engine.Reads) error {
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
	c.add(second)
	return nil
}

// Changes returns the rows of changed seconds as Fine and of changed wider buckets
// that are over as Coarse.
func (p *topFills) Changes(now time.Time, settle bool) (to engine.Changes) {
	p.round++
	for _, coin := range sorted(p.coins) {
		c := p.coins[coin]
		idle := settle || !now.Before(c.applied.Add(settleAfter))
		for tier, interval := range market.TopTiers {
			for _, start := range sorted(c.buckets[tier]) {
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
	return to
}
