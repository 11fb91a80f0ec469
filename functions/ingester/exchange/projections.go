package exchange

import (
	"sync/atomic"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/market"
)

// Projection folds the domain's batches.
type Projection = engine.Projection[*Batch]

// Projections returns all projections of the domain, without state.
func Projections(refresh time.Duration) []Projection { return projections(refresh, new(atomic.Int64)) }

// projections are those of [Projections], which count in leftOut the liquidations that their rows
// have no room for.
func projections(refresh time.Duration, leftOut *atomic.Int64) []Projection {
	return []Projection{
		newKlines(refresh),
		newListings(),
		newTickers(),
		newTrades(),
		newFlows(),
		newLatest(),
		newFundings(),
		newInterests(),
		newRatios(market.LongAccounts),
		newRatios(market.LongTopAccounts),
		newRatios(market.LongTopPositions),
		newRatios(market.MarginLoans),
		newLiquidations(leftOut),
		newBooks(),
		newDepths(),
		newFiredAlerts(),
		newStrategySignals(),
		newLargeOrders(),
		newTakerRuns(),
	}
}
