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
func Projections(refresh time.Duration) []Projection { return projections(refresh, new(leftOut)) }

// leftOut counts what projections leave out.
type leftOut struct {
	liquidations atomic.Int64 // that their rows have no room for
	largeLate    atomic.Int64 // of what large orders are made of: see [market.LargeOrders.Late]
	alerts       atomic.Int64 // that are not in force now: see [alertsOfDistributor]
	largeRefused atomic.Int64 // large levels: see [market.LargeOrders.Refused], and orders that are over
	changes      atomic.Int64 // that there is no room for: see [mostChanges]
}

// projections are those of [Projections], which count what they leave out.
func projections(refresh time.Duration, left *leftOut) []Projection {
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
		newLiquidations(&left.liquidations),
		newBooks(),
		newDepths(),
		newFiredAlerts(),
		newStrategySignals(),
		newLargeOrders(left),
		newTakerRuns(left),
		newChanges(left),
	}
}
