package orders

import (
	"quotary/shared/store"
	"quotary/shared/store/columns"
)

// Archived has the columns of an archived status of an order, those of
// [market.OrderStatus]: amounts are the venue's decimal texts, in its units.
type Archived struct {
	columns.Row
	Status     string `parquet:"status,dict"`
	Coin       string `parquet:"coin,dict"`
	Side       string `parquet:"side,dict"`
	LimitPx    string `parquet:"limit_px"`
	Sz         string `parquet:"sz"`      // what rests
	OrigSz     string `parquet:"orig_sz"` // what was placed
	Oid        int64  `parquet:"oid"`
	Placed     int64  `parquet:"placed,timestamp(millisecond)"`
	OrderType  string `parquet:"order_type,dict"`
	Tif        string `parquet:"tif,dict"`
	TriggerPx  string `parquet:"trigger_px"`
	IsTrigger  bool   `parquet:"is_trigger"`
	ReduceOnly bool   `parquet:"reduce_only"`
	Cloid      string `parquet:"cloid"`
}

// Archive returns the columns of a row of either dataset.
func Archive(r store.Row) (Archived, error) {
	s, err := Decode(r)
	return Archived{
		Row: columns.FromRow(r), Status: s.Status, Coin: s.Coin, Side: s.Side, LimitPx: s.LimitPx, Sz: s.Sz, OrigSz: s.OrigSz, Oid: s.Oid,
		Placed: s.Timestamp, OrderType: s.OrderType, Tif: s.Tif, TriggerPx: s.TriggerPx, IsTrigger: s.IsTrigger, ReduceOnly: s.ReduceOnly, Cloid: s.Cloid,
	}, err
}
