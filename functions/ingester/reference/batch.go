package reference

import (
	"quotary/shared/data/coins"
	"quotary/shared/data/companies"
	"quotary/shared/data/indices"
	"quotary/shared/data/othervenues"
	"quotary/shared/data/treasuries"
	"quotary/shared/market"
)

// Batch is what the domain's sources emit. It belongs to one goroutine at a time.
type Batch struct {
	Coins      []market.CoinMarket
	Themes     []market.CoinTheme
	Rates      []market.DayRates
	Entries    []coins.Dropped
	Indices    []indices.DayEntry
	Filings    []companies.Filed
	Companies  []companies.Dropped
	Treasuries []treasuries.Dropped
	Held       []treasuries.Filed
	Venues     []othervenues.Dropped
}

// NewBatch returns an empty batch.
func NewBatch() *Batch { return new(Batch) }

// Merge appends a batch that came later, and may keep what that holds. Nil is no
// events.
func (b *Batch) Merge(later *Batch) {
	if later == nil {
		return
	}
	b.Coins = append(b.Coins, later.Coins...)
	b.Themes = append(b.Themes, later.Themes...)
	b.Rates = append(b.Rates, later.Rates...)
	b.Entries = append(b.Entries, later.Entries...)
	b.Indices = append(b.Indices, later.Indices...)
	b.Filings = append(b.Filings, later.Filings...)
	b.Companies = append(b.Companies, later.Companies...)
	b.Treasuries = append(b.Treasuries, later.Treasuries...)
	b.Held = append(b.Held, later.Held...)
	b.Venues = append(b.Venues, later.Venues...)
}

// Len is the number of events.
func (b *Batch) Len() int {
	return len(b.Coins) + len(b.Themes) + len(b.Rates) + len(b.Entries) + len(b.Indices) + len(b.Filings) + len(b.Companies) +
		len(b.Treasuries) + len(b.Held) + len(b.Venues)
}
