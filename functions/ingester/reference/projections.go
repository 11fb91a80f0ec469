package reference

import "quotary/functions/ingester/engine"

// Projection folds the domain's batches.
type Projection = engine.Projection[*Batch]

// Projections returns all projections of the domain, without state.
func Projections() []Projection {
	return []Projection{newDayRates(), newCoinNames(), newCoinPrices()}
}
