package perp

import (
	"quotary/functions/ingester/archive"
	"quotary/functions/ingester/engine"
	"quotary/shared/data/ledgers"
	"quotary/shared/store"
)

// ledgerLog has a row of each ledger update that is no funding.
var ledgerLog = engine.Log[*Batch]{Dataset: ledgers.Name, Append: func(rows []store.Row, b *Batch) []store.Row {
	return ledgers.AppendRows(rows, b.Ledgers)
}, Archive: archive.NewDataset(ledgers.Archive)}

// storedLedgers are the ledger updates for who is folded from their log.
var storedLedgers = []engine.Fold[*Batch]{{Dataset: ledgers.Name, Append: func(to *Batch, row store.Row) error {
	l, err := ledgers.Decode(row)
	if err != nil {
		return err
	}
	to.Ledgers, to.Stored = append(to.Ledgers, l), true
	return nil
}}}
