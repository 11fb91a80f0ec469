package perp

import (
	"slices"

	"quotary/functions/ingester/archive"
	"quotary/functions/ingester/engine"
	"quotary/shared/data/fills"
	"quotary/shared/store"
)

// fillLog has a row of each fill.
var fillLog = engine.Log[*Batch]{Dataset: fills.Name, Append: func(rows []store.Row, b *Batch) []store.Row {
	return fills.AppendRows(slices.Grow(rows, len(b.Fills)), b.Fills)
}, Archive: archive.NewDataset(fills.Archive)}

// storedFills are the fills for who is folded from their log.
var storedFills = []engine.Fold[*Batch]{{Dataset: fills.Name, Append: func(to *Batch, row store.Row) error {
	f, err := fills.Decode(row)
	if err != nil {
		return err
	}
	to.Fills, to.Stored = append(to.Fills, f), true
	return nil
}}}
