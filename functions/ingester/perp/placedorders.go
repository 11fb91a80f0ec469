package perp

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/traderfacts"
	"quotary/shared/store"
)

// placedOrders counts the orders that each account placed, from all statuses of orders, of which no
// log keeps most, see [traderfacts.Placed].
//
// The row of an account is read when the first status of it comes that may count, and is written
// where checkpoints wait, twice a minute, and sooner where many accounts have changed.
type placedOrders struct {
	engine.Defaults[*Batch]

	cache   map[string]*placer // by address
	most    int                // accounts that stay in the cache
	dirty   map[*placer]struct{}
	missing []string // whose rows are read for the batch at hand
}

// placer is an account in the cache.
type placer struct {
	address string
	traderfacts.Placed
	used time.Time
}

// cachedPlacers is how many accounts stay in memory between their orders, some 200 bytes each.
const cachedPlacers = 100_000

func newPlacedOrders() *placedOrders {
	return &placedOrders{cache: map[string]*placer{}, most: cachedPlacers, dirty: map[*placer]struct{}{}}
}

// placedOrdersName is the projection's own: it shares a series with accounts.
const placedOrdersName = "placedorders"

// Name is the projection's.
func (p *placedOrders) Name() string { return placedOrdersName }

// Prefetch asks for the rows of accounts that may have placed an order and are not in memory.
func (p *placedOrders) Prefetch(b *Batch, r *engine.Reads) {
	p.missing = p.missing[:0]
	last := ""
	for i := range b.Orders {
		o := &b.Orders[i]
		if o.Address == last || !traderfacts.MayPlace(o) || p.cache[o.Address] != nil {
			continue
		}
		last = o.Address
		p.missing = append(p.missing, last)
		r.Prefetch(traderfacts.PlacedAt(last), func(_ store.SeriesAt, point *store.Point) error {
			_, err := traderfacts.DecodePlaced(point.Extra)
			return err
		})
	}
}

// Apply counts the orders of a batch.
func (p *placedOrders) Apply(b *Batch, r *engine.Reads, now time.Time) error {
	for _, address := range p.missing {
		if p.cache[address] != nil {
			continue
		}
		c := &placer{address: strings.Clone(address)}
		if point := r.Row(traderfacts.PlacedAt(address)); point != nil {
			var err error
			if c.Placed, err = traderfacts.DecodePlaced(point.Extra); err != nil {
				return err
			}
		}
		p.cache[c.address] = c
	}
	var c *placer
	for i := range b.Orders {
		o := &b.Orders[i]
		if !traderfacts.MayPlace(o) {
			continue
		}
		if c == nil || c.address != o.Address {
			c = p.cache[o.Address]
			c.used = now
		}
		if c.Place(o) {
			p.dirty[c] = struct{}{}
		}
	}
	return nil
}

// Changes returns the rows of the accounts that placed orders. Held reports that some wait.
func (p *placedOrders) Changes(_ time.Time, settle bool) (c engine.Changes) {
	if !settle && len(p.dirty) < writeMost {
		c.Held = len(p.dirty) > 0
		return c
	}
	for one := range p.dirty {
		c.Fine = append(c.Fine, traderfacts.PlacedRow(one.address, &one.Placed))
	}
	slices.SortFunc(c.Fine, func(a, b store.SeriesRow) int { return cmp.Compare(a.Key, b.Key) })
	clear(p.dirty)
	p.evict()
	return c
}

// evict drops the accounts that have placed nothing for longest, as the cache has grown by an eighth.
func (p *placedOrders) evict() {
	if len(p.cache) <= p.most+p.most/8 {
		return
	}
	all := make([]*placer, 0, len(p.cache))
	for _, c := range p.cache {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *placer) int { return a.used.Compare(b.used) })
	for _, c := range all[:len(all)-p.most] {
		delete(p.cache, c.address)
	}
}
