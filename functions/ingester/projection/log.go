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
