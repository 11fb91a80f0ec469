package perp

import (
	"quotary/functions/ingester/engine"
	"quotary/shared/archive"
	"quotary/shared/data/payments"
	"quotary/shared/store"
)

// paymentLog has a row of what each account paid and received at an hour.
var paymentLog = engine.Log[*Batch]{Dataset: payments.Name, Append: func(rows []store.Row, b *Batch) []store.Row {
	return payments.AppendRows(rows, b.Payments)
}, Archive: archive.Of(payments.Archive)}
