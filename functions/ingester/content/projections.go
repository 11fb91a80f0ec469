package content

import "quotary/functions/ingester/engine"

// Projection folds the domain's batches.
type Projection = engine.Projection[*Batch]

// Projections returns all projections of the domain, without state.
func Projections() []Projection {
	return []Projection{newNewest(), airdropEntries.newView(), flashEntries.newView(), newFlashIndex(), memberEntries.newView()}
}

// Logs are the domain's logs, whose rows need no state.
var Logs = []engine.Log[*Batch]{newsLog, airdropEntries.log(), flashEntries.log(), memberEntries.log()}

// Drops are the datasets of the domain that drops may load.
var Drops = []engine.DropDataset[*Batch]{airdropEntries.drops(), flashEntries.drops(), memberEntries.drops()}
