package perp

import (
	"quotary/functions/ingester/engine"
	"quotary/shared/archive"
	"quotary/shared/data/orders"
	"quotary/shared/store"
)

// filledLog and otherLog have a row of each status of an order: the first of those
// that were filled, the second of all others.
var (
	filledLog = orderLog(orders.FilledName)
	otherLog  = orderLog(orders.OtherName)
)

func orderLog(name string) engine.Log[*Batch] {
	return engine.Log[*Batch]{Dataset: name, Append: func(rows []store.Row, b *Batch) []store.Row {
		return orders.AppendRows(rows, b.Orders, name)
	}, Archive: archive.Of(orders.Archive)}
}
