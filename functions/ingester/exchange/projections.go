package exchange

import (
	"time"

	"quotary/functions/ingester/engine"
)

// Projection folds the domain's batches.
type Projection = engine.Projection[*Batch]

// Projections returns all projections of the domain, without state.
func Projections(refresh time.Duration) []Projection {
	return []Projection{
		newKlines(refresh),
		newListings(),
		newTickers(),
		newTrades(),
		newFlows(),
		newLatest(),
		newFundings(),
		newInterests(),
		newRatios(),
		newLiquidations(),
		newBooks(),
	}
}
