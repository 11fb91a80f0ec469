package reference

import "quotary/functions/ingester/engine"

// Projection folds the domain's batches.
type Projection = engine.Projection[*Batch]

// Logs are the domain's logs, whose rows need no state.
var Logs = []engine.Log[*Batch]{droppedCoins, droppedDays, droppedCompanies, droppedTreasuries, droppedVenues}

// Projections returns all projections of the domain, without state. What finds no room is counted in left.
func Projections(left *leftOut) []Projection {
	return []Projection{newDayRates(), newCoinNames(), newCoinPrices(), newIndexDays(), newCompanyFacts(), newTreasuryFacts(), newOtherVenues(left)}
}
