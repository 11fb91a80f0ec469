package perp

import (
	"slices"

	"quotary/functions/ingester/archive"
	"quotary/functions/ingester/engine"
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
	}, Archive: archive.NewDataset(orders.Archive)}
}

// logs are those of a term. Where the operator keeps only the statuses of orders that
// were filled, all others are read for the open orders alone; what is stored of them is
// archived as before.
func (c Config) logs() []engine.Log[*Batch] {
	logs := slices.Clone(Logs)
	for i := range logs {
		if logs[i].Dataset == orders.OtherName && !c.AllOrders {
			logs[i].Append = func(rows []store.Row, _ *Batch) []store.Row { return rows }
		}
	}
	return logs
}
