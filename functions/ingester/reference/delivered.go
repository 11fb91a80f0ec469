package reference

import "quotary/shared/catalog"

// holds says of which datasets a batch holds something.
func holds(b *Batch, say func(catalog.Need)) {
	if len(b.Coins) > 0 {
		say(catalog.ReferencePrices.On(""))
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
