package projection

import (
	"strconv"

	"quotary/shared/market"
	"quotary/shared/store"
)

// AppendFillRows appends the log row of each fill: under its address, found
// also by "<address>/<coin>" (index A), order id (B), TWAP id (C) and builder
// (D). Body is the fill as the venue tells it, with its address first.
func AppendFillRows(rows []store.Row, fills []market.Fill) []store.Row {
	for i := range fills {
		f := &fills[i]
		oid := strconv.FormatInt(f.Oid, 10)
		row := store.Row{
			Subject: f.Address,
			Time:    f.When(),
			ID:      strconv.FormatInt(f.Tid, 10) + "#" + oid,
			Seq:     f.Seq,
			Index:   [4]string{f.Address + "/" + f.Coin, oid, "", f.Builder},
			Body:    f.AppendJSON(make([]byte, 0, 480)),
		}
		if f.TwapID != nil {
			row.Index[2] = strconv.FormatInt(*f.TwapID, 10)
		}
		rows = append(rows, row)
	}
	return rows
}

// AppendOrderRows appends the log rows of those order statuses that belong to a
// dataset, [store.FilledDataset] or [store.OrderDataset]: under the order's
// address, found also by "<address>/<coin>" (index A), order id (B) and
// "<address>/<client order id>" (C). Body is as the venue tells it. Every status
// of an order has a row of its own, so that they may come in any order and again.
func AppendOrderRows(rows []store.Row, orders []market.OrderStatus, dataset string) []store.Row {
	for i := range orders {
		o := &orders[i]
		if (o.Status == market.StatusFilled) != (dataset == store.FilledDataset) {
			continue
		}
		oid := strconv.FormatInt(o.Oid, 10)
		row := store.Row{
			Subject: o.Address,
			Time:    o.When(),
			ID:      oid + "#" + o.Status,
			Seq:     o.Seq,
			Index:   [4]string{o.Address + "/" + o.Coin, oid},
			Body:    o.AppendJSON(make([]byte, 0, 480)),
		}
		if o.Cloid != "" {
			row.Index[2] = o.Address + "/" + o.Cloid
		}
		rows = append(rows, row)
	}
	return rows
}
