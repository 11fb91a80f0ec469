package perp

import (
	"quotary/functions/ingester/archive"
	"quotary/functions/ingester/engine"
	"quotary/shared/data/payments"
	"quotary/shared/store"
)

// paymentLog has a row of what each account paid and received at an hour.
var paymentLog = engine.Log[*Batch]{Dataset: payments.Name, Append: func(rows []store.Row, b *Batch) []store.Row {
	return payments.AppendRows(rows, b.Payments)
}, Archive: archive.NewDataset(payments.Archive)}

// storedPayments are the payments for who is folded from their log.
var storedPayments = []engine.Fold[*Batch]{{Dataset: payments.Name, Append: func(to *Batch, row store.Row) error {
	list, err := payments.Decode(row)
	if err != nil {
		return err
	}
	to.Payments, to.Stored = append(to.Payments, list...), true
	return nil
}}}
