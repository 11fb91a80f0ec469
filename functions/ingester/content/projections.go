package content

import "quotary/functions/ingester/engine"

// Projection folds the domain's batches.
type Projection = engine.Projection[*Batch]

// Projections returns all projections of the domain, without state, and its logs: that of news
// leaves out what its projection knows to be stored.
func Projections() ([]Projection, []engine.Log[*Batch]) {
	news := newNewest()
	return []Projection{news, airdropEntries.newView(), flashEntries.newView(), newFlashIndex(), memberEntries.newView(), newReadings()},
		[]engine.Log[*Batch]{news.log(), airdropEntries.log(), flashEntries.log(), memberEntries.log()}
}

// Drops are the datasets of the domain that drops may load.
var Drops = []engine.DropDataset[*Batch]{airdropEntries.drops(), flashEntries.drops(), memberEntries.drops()}
