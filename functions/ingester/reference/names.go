package reference

import (
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/coins"
	"quotary/shared/market"
	"quotary/shared/store"
)

// droppedCoins has a row of each entry of a drop.
var droppedCoins = engine.Log[*Batch]{Dataset: coins.Name, Append: func(rows []store.Row, b *Batch) []store.Row {
	return coins.AppendRows(rows, b.Entries)
}}

// storedCoins are the entries for who is folded from their log.
var storedCoins = []engine.Fold[*Batch]{{Dataset: coins.Name, Append: func(to *Batch, row store.Row) error {
	entry, err := coins.DecodeRow(row)
	if err == nil {
		to.Entries = append(to.Entries, entry)
	}
	return err
}}}

// coinNames keeps the view of what coins are called: of each coin the newest listing
// by the source of prices, and the entry of the last place in a drop.
type coinNames struct {
	coins  map[string]coins.Coin
	themes map[string]coins.Theme
	time   int64 // of the newest listing, ms
}

// newCoinNames is folded from what was dropped. The source of prices is asked again.
func newCoinNames() Projection {
	return engine.KeepView(coins.Published, func() *coinNames { return &coinNames{coins: map[string]coins.Coin{}, themes: map[string]coins.Theme{}} }).FoldedFrom(storedCoins)
}

// Restore takes the coins from the view.
func (p *coinNames) Restore(v coins.View) error {
	p.time = v.Time
	for _, c := range v.Coins {
		p.coins[c.Key] = c
	}
	for _, theme := range v.Themes {
		p.themes[theme.Key] = theme
	}
	return nil
}

// Apply takes listings and entries that are newer than what is known.
func (p *coinNames) Apply(b *Batch, _ time.Time) (changed bool) {
	for i := range b.Coins {
		changed = p.list(&b.Coins[i]) || changed
	}
	for _, t := range b.Themes {
		theme := coins.Theme(t)
		if have, ok := p.themes[t.Key]; !ok || have.Compare(&theme) < 0 {
			p.themes[t.Key], changed = theme, true
		}
	}
	for i := range b.Entries {
		e := &b.Entries[i]
		c := p.coins[e.CoinKey]
		if c.Place != nil && c.Place.Compare(e.Place) >= 0 {
			continue
		}
		entry, place := e.Entry, e.Place
		c.Key, c.Entry, c.Place = e.CoinKey, &entry, &place
		p.coins[c.Key], changed = c, true
	}
	return changed
}

// list takes a listing, and reports whether it is newer than what is known. Of two of the
// same moment one is chosen by what it says, so that their order makes no difference.
func (p *coinNames) list(m *market.CoinMarket) bool {
	c := p.coins[m.Key]
	listing := coins.Listing{Time: m.Time, Symbol: m.Symbol, Name: m.Name, Rank: m.Rank, Logo: m.Image, Supply: m.Supply, Issued: m.Issued}
	if c.Listing != nil && c.Listing.Compare(&listing) >= 0 || m.Time < p.oldest() {
		return false
	}
	p.time = max(p.time, m.Time)
	c.Key, c.Listing = m.Key, &listing
	p.coins[c.Key] = c
	return true
}

// oldest is the time of the oldest figures of a listing, ms.
func (p *coinNames) oldest() int64 { return p.time - coins.MaxAge.Milliseconds() }

// age ends the listings that the source of prices does not repeat any more.
func (p *coinNames) age() {
	listed := map[string]int64{} // ms
	for key, c := range p.coins {
		if c.Listing != nil && c.Listing.Time >= p.oldest() {
			listed[key] = c.Listing.Time
		}
	}
	keepNewest(listed, mostCoins, func(ms int64) int64 { return ms })
	for key, c := range p.coins {
		switch _, kept := listed[key]; {
		case c.Listing == nil || kept:
		case c.Entry == nil:
			delete(p.coins, key)
		default:
			c.Listing = nil
			p.coins[key] = c
		}
	}
}

// bound forgets the oldest entries of drops, where there are too many.
func (p *coinNames) bound() {
	dropped := map[string]int64{} // ms
	for key, c := range p.coins {
		if c.Entry != nil {
			dropped[key] = c.Place.Time
		}
	}
	keepNewest(dropped, mostDropped, func(ms int64) int64 { return ms })
	for key, c := range p.coins {
		switch _, kept := dropped[key]; {
		case c.Entry == nil || kept:
		case c.Listing == nil:
			delete(p.coins, key)
		default:
			c.Entry, c.Place = nil, nil
			p.coins[key] = c
		}
	}
}

// View has all coins.
func (p *coinNames) View(time.Time) coins.View {
	p.age()
	p.bound()
	return coins.View{
		Time: p.time, Coins: slices.AppendSeq(make([]coins.Coin, 0, len(p.coins)), maps.Values(p.coins)),
		Themes: slices.Collect(maps.Values(p.themes)),
	}
}
