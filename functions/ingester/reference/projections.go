package reference

import "quotary/functions/ingester/engine"

// Projection folds the domain's batches.
type Projection = engine.Projection[*Batch]

// Logs are the domain's logs, whose rows need no state.
var Logs = []engine.Log[*Batch]{droppedCoins, droppedDays, droppedCompanies, droppedTreasuries}

// Projections returns all projections of the domain, without state.
func Projections() []Projection {
	return []Projection{newDayRates(), newCoinNames(), newCoinPrices(), newIndexDays(), newCompanyFacts(), newTreasuryFacts()}
}
