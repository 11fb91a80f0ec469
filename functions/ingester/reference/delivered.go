package reference

import (
	"slices"

	"quotary/shared/catalog"
	"quotary/shared/data/indices"
)

// holds says of which datasets a batch holds something.
func holds(b *Batch, say func(catalog.Need)) {
	if len(b.Coins) > 0 {
		say(catalog.ReferencePrices.On(""))
	}
	if slices.ContainsFunc(b.Indices, func(d indices.DayEntry) bool { return d.Unit != "" }) {
		say(catalog.ReferenceShares.On(""))
	}
	if len(b.Filings)+len(b.Companies) > 0 {
		say(catalog.ReferenceCompanies.On(""))
	}
	if len(b.Treasuries)+len(b.Held) > 0 {
		say(catalog.ReferenceTreasuries.On(""))
	}
	if len(b.Coins)+len(b.Entries) > 0 {
		say(catalog.ReferenceCoins.On(""))
	}
	if len(b.Indices) > 0 {
		say(catalog.ReferenceIndices.On(""))
	}
	if len(b.Rates) > 0 {
		say(catalog.ReferenceRates.On(""))
	}
}
