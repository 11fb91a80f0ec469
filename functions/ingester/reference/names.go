package reference

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/coins"
	"quotary/shared/market"
)

// coinNames keeps the view of what coins are called: of each coin the newest listing
// by the source of prices, and the entry of the last place in a drop.
type coinNames struct {
	engine.Defaults[*Batch]
	coins   map[string]coins.Coin
	changed bool
}

func newCoinNames() *coinNames { return &coinNames{coins: map[string]coins.Coin{}} }

// Name is that of the view.
func (p *coinNames) Name() string { return coins.Name }

// Restores has its own view.
func (p *coinNames) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(coins.Name, coins.Decode)}
}

// Restore takes the coins from the view.
func (p *coinNames) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, coins.Name, coins.Decode)
	for _, c := range v.Coins {
		p.coins[c.Key] = c
	}
	return err
}

// Apply takes listings and entries that are newer than what is known.
func (p *coinNames) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	for i := range b.Coins {
		p.list(&b.Coins[i])
	}
	for i := range b.Entries {
		e := &b.Entries[i]
		c := p.coins[e.CoinKey]
		if c.Place != nil && c.Place.Compare(e.Place) >= 0 {
			continue
		}
		entry, place := e.Entry, e.Place
		c.Key, c.Entry, c.Place = e.CoinKey, &entry, &place
		p.coins[c.Key], p.changed = c, true
	}
	return nil
}

// list takes a listing. Of two of the same moment one is chosen by what it says, so
// that their order makes no difference.
func (p *coinNames) list(m *market.CoinMarket) {
	c := p.coins[m.Key]
	listing := coins.Listing{Time: m.Time, Symbol: m.Symbol, Name: m.Name, Rank: m.Rank}
	if c.Listing != nil && c.Listing.Compare(&listing) >= 0 {
		return
	}
	c.Key, c.Listing = m.Key, &listing
	p.coins[c.Key], p.changed = c, true
}

// Changes returns the view when there is anything newer of a coin.
func (p *coinNames) Changes(time.Time, bool) engine.Changes {
	if !p.changed {
		return engine.Changes{}
	}
	p.changed = false
	v := coins.View{Coins: make([]coins.Coin, 0, len(p.coins))}
	for _, c := range p.coins {
		v.Coins = append(v.Coins, c)
		if c.Listing != nil {
			v.Time = max(v.Time, c.Listing.Time)
		}
	}
	return engine.Changes{Views: []engine.View{{Name: coins.Name, Body: coins.Encode(v)}}}
}
