package perp

import (
	"quotary/functions/ingester/engine"
	"quotary/shared/archive"
	"quotary/shared/data/ledgers"
	"quotary/shared/store"
)

// ledgerLog has a row of each ledger update that is no funding.
var ledgerLog = engine.Log[*Batch]{Dataset: ledgers.Name, Append: func(rows []store.Row, b *Batch) []store.Row {
	return ledgers.AppendRows(rows, b.Ledgers)
}, Archive: archive.Of(ledgers.Archive)}
