package perp

import "quotary/shared/catalog"

// holds says of which datasets a batch holds something.
func holds(b *Batch, say func(catalog.Need)) {
	for _, one := range [...]struct {
		held bool
		of   *catalog.Dataset
	}{
		{len(b.Fills) > 0, catalog.VenueFills},
		{len(b.Fills)+len(b.Provisional) > 0, catalog.VenueAccountTrades},
		{len(b.Fills)+len(b.Payments) > 0, catalog.VenueAccountEvents},
		{len(b.Fills)+len(b.Trades) > 0, catalog.VenueTrades},
		{len(b.Mids) > 0, catalog.VenueMids},
		{b.Meta != nil, catalog.VenueMeta},
		{len(b.Books) > 0, catalog.VenueBooks},
		{len(b.Contexts) > 0, catalog.VenueContexts},
		{len(b.Funding) > 0, catalog.VenueFunding},
		{len(b.Orders) > 0, catalog.VenueOrders},
		{len(b.Ledgers) > 0, catalog.VenueLedgers},
		{len(b.Payments) > 0, catalog.VenuePayments},
		{len(b.Twaps) > 0, catalog.VenueTwaps},
		{len(b.Anchors) > 0, catalog.VenueAccounts},
	} {
		if one.held {
			say(one.of.On(""))
		}
	}
}
