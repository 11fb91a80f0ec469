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
	engine.Defaults[*Batch]
	coins   map[string]coins.Coin
	time    int64 // of the newest listing, ms
	changed bool
}

func newCoinNames() *coinNames { return &coinNames{coins: map[string]coins.Coin{}} }

// Name is that of the view.
func (p *coinNames) Name() string { return coins.Name }

// Folds has the log of what was dropped. The source of prices is asked again.
func (p *coinNames) Folds() []engine.Fold[*Batch] { return storedCoins }

// Restores has its own view.
func (p *coinNames) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(coins.Published)}
}

// Restore takes the coins from the view.
func (p *coinNames) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, coins.Published)
	p.time = v.Time
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
	if c.Listing != nil && c.Listing.Compare(&listing) >= 0 || m.Time < p.oldest() {
		return
	}
	p.time = max(p.time, m.Time)
	c.Key, c.Listing = m.Key, &listing
	p.coins[c.Key], p.changed = c, true
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

// Changes returns the view when there is anything newer of a coin.
func (p *coinNames) Changes(time.Time, bool) engine.Changes {
	if !p.changed {
		return engine.Changes{}
	}
	p.changed = false
	p.age()
	v := coins.View{Time: p.time, Coins: slices.AppendSeq(make([]coins.Coin, 0, len(p.coins)), maps.Values(p.coins))}
	return engine.Changes{Views: []engine.View{engine.ViewOf(coins.Published, v)}}
}
