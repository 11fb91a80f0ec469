package reference

import (
	"quotary/functions/ingester/engine"
	"quotary/shared/data/coins"
	"quotary/shared/source/drop"
)

// Drops are the datasets of the domain that drops may load.
var Drops = []engine.DropDataset[*Batch]{
	{Name: coins.Name, Schema: coins.Schema, Append: func(to *Batch, line []byte, at drop.Place) error {
		entry, err := coins.Entries.Decode(line)
		if err == nil {
			to.Entries = append(to.Entries, coins.Dropped{Entry: entry, Place: at})
		}
		return err
	}},
}
