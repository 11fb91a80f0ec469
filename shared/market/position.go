package market

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Positions keeps the open positions of all accounts in perpetuals, as far as
// their fills are known. After a fill a position is its start plus or minus the size,
// and of all fills of an account and coin the last in order counts: so fills may
// come late, twice and in any order, and the result is the same. It is not safe
// for concurrent use. The zero value is empty.
//
// A position that was closed is remembered for a week of fills, so that late
// fills do not open it again. An account and coin that first appear in a fill
// more than a week older than the newest are left out, as its later fills may
// have been forgotten.
//
// What no fill tells (leverage, margin, cost, funding, what stands behind it) comes from the
// states of the accounts: see [Positions.SetAccount] and [Positions.Table].
type Positions struct {
	coins   map[string]*coinPositions
	holders map[accountID]*holder // of what is open
	newest  int64                 // time of the newest fill, ms
}

// forgetAfter is how long a closed position is remembered, ms.
const forgetAfter = 7 * dayMs

type coinPositions struct {
	coin string
	open OpenInterest
	held map[accountID]position // closed ones too

	number uint16 // of the coin in the table that is being made
}

// accountID is an address without its 0x.
type accountID = [20]byte

type position struct {
	size  Decimal // base units, negative is short
	order Order   // of the last fill
	held  *held   // nil where size is 0
}

// OpenInterest is what all accounts hold in one coin.
type OpenInterest struct {
	Longs, Shorts       int64   // positions
	LongSize, ShortSize Decimal // base units, neither is negative
}

// Add takes a fill in and reports whether anything changed. Those of spot markets
// change nothing.
func (p *Positions) Add(f *Fill) bool { return p.add(f, false) }

// AddStored is Add for who takes in every fill of the account and coin from this
// one on, in order: then its age is no reason to leave it out.
func (p *Positions) AddStored(f *Fill) bool { return p.add(f, true) }

func (p *Positions) add(f *Fill, ofAnyAge bool) bool {
	if IsSpot(f.Coin) {
		return false
	}
	id, ok := ParseAccount(f.Address)
	if !ok {
		return false
	}
	order := Order{f.Time, f.Seq, f.Tid}
	c := p.coins[f.Coin]
	had, known := position{}, false
	if c != nil {
		had, known = c.held[id]
	}
	if known && order.Compare(had.order) <= 0 || !known && !ofAnyAge && f.Time < p.newest-forgetAfter {
		return false
	}
	if c == nil {
		c = p.coin(f.Coin)
	}
	p.set(c, id, f.EndPosition(), order)
	p.newest = max(p.newest, f.Time)
	return true
}

// set puts a position in the place of the one of the same account. Where the size is another one
// the state of the account is not known until it has that too.
func (p *Positions) set(c *coinPositions, id accountID, size Decimal, order Order) {
	had := c.held[id]
	c.open.count(had.size, -1)
	c.open.count(size, 1)
	switch {
	case size.IsZero() && order == Order{}: // no late fill can open it again
		p.release(id, had.held)
		delete(c.held, id)
		return
	case size.IsZero():
		p.release(id, had.held)
		had.held = nil
	case had.held == nil:
		had.held = p.holder(id).hold(c, size)
	case !had.size.Equal(size):
		*had.held = held{in: c, size: size}
	}
	c.held[id] = position{size, order, had.held}
}

func (p *Positions) coin(name string) *coinPositions {
	c := p.coins[name]
	if c == nil {
		if p.coins == nil {
			p.coins = map[string]*coinPositions{}
		}
		name = strings.Clone(name) // which may be a part of a line of the source
		c = &coinPositions{coin: name, held: map[accountID]position{}}
		p.coins[name] = c
	}
	return c
}

// count adds or takes away n positions of a size.
func (o *OpenInterest) count(size Decimal, n int64) {
	if n < 0 {
		size = size.Neg()
	}
	switch sign := size.Sign() * cmp.Compare(n, 0); {
	case sign > 0:
		o.Longs += n
		o.LongSize = o.LongSize.Add(size)
	case sign < 0:
		o.Shorts += n
		o.ShortSize = o.ShortSize.Sub(size)
	}
}

// Len is how many positions are kept, closed ones that are remembered included.
func (p *Positions) Len() (n int) {
	for _, c := range p.coins {
		n += len(c.held)
	}
	return n
}

// Newest is the time of the newest fill, ms; 0 without any.
func (p *Positions) Newest() int64 { return p.newest }

// Coins are those with an open position, in the order of their names.
func (p *Positions) Coins() []string {
	var coins []string
	for coin, c := range p.coins {
		if c.open.Longs+c.open.Shorts > 0 {
			coins = append(coins, coin)
		}
	}
	slices.Sort(coins)
	return coins
}

// OpenInterest is the open interest in a coin.
func (p *Positions) OpenInterest(coin string) OpenInterest {
	if c := p.coins[coin]; c != nil {
		return c.open
	}
	return OpenInterest{}
}

// Prune forgets the positions that were closed long ago.
func (p *Positions) Prune() {
	for _, c := range p.coins {
		for id, one := range c.held {
			if one.size.IsZero() && one.order.Time < p.newest-forgetAfter {
				delete(c.held, id)
			}
		}
	}
}

// Position is what an account holds in a coin.
type Position struct {
	Coin    string
	Account [20]byte // the address, without its 0x
	Size    Decimal  // base units, negative is short; 0 where it was closed
	Last    Order    // of the last fill
}

// All are the positions, closed ones that are remembered included, by coin and
// account.
func (p *Positions) All() iter.Seq[Position] {
	return func(yield func(Position) bool) {
		for _, coin := range slices.Sorted(maps.Keys(p.coins)) {
			held := p.coins[coin].held
			ids := slices.SortedFunc(maps.Keys(held), CompareAccounts)
			for _, id := range ids {
				if one := held[id]; !yield(Position{coin, id, one.size, one.order}) {
					return
				}
			}
		}
	}
}

// Restore puts a position in the place of the one of the same account and coin. Of spot
// markets there is none.
func (p *Positions) Restore(one Position) {
	if IsSpot(one.Coin) {
		return
	}
	p.set(p.coin(one.Coin), one.Account, one.Size, one.Last)
}

// RestoreNewest sets the time of the newest fill, ms.
func (p *Positions) RestoreNewest(ms int64) { p.newest = max(p.newest, ms) }
