package perp

import (
	"slices"

	"quotary/functions/ingester/archive"
	"quotary/functions/ingester/engine"
	"quotary/shared/data/fills"
	"quotary/shared/store"
)

// fillLog has a row of each fill. Of those with one key the last stays, which is not the provisional one.
var fillLog = engine.Log[*Batch]{Dataset: fills.Name, Append: func(rows []store.Row, b *Batch) []store.Row {
	rows = fills.AppendRows(slices.Grow(rows, len(b.Provisional)+len(b.Fills)), b.Provisional)
	return fills.AppendRows(rows, b.Fills)
}, Archive: archivedFills()}

func archivedFills() *archive.Dataset {
	d := archive.NewDataset(fills.Archive)
	d.Unfinished = fills.IsProvisional
	return d
}

// storedFills are the fills for who is folded from their log: those that are not provisional.
var storedFills = []engine.Fold[*Batch]{{Dataset: fills.Name, Append: func(to *Batch, row store.Row) error {
	f, err := fills.Decode(row)
	if err != nil || f.Provisional {
		return err
	}
	to.Fills, to.Stored = append(to.Fills, f), true
	return nil
}}}
