package twaps

import (
	"quotary/shared/store"
	"quotary/shared/store/columns"
)

// Archived has the columns of an archived status, those of [market.TwapStatus]: amounts are
// decimal texts.
type Archived struct {
	columns.Row
	TwapID      *int64 `parquet:"twap_id,optional"`
	Status      string `parquet:"status,dict"`
	Error       string `parquet:"error,dict"` // "" of all that is no error
	Coin        string `parquet:"coin,dict"`
	Side        string `parquet:"side,dict"` // B or A
	Sz          string `parquet:"sz"`
	ExecutedSz  string `parquet:"executed_sz"`
	ExecutedNtl string `parquet:"executed_ntl"`
	Minutes     int64  `parquet:"minutes"`
	ReduceOnly  bool   `parquet:"reduce_only"`
	Randomize   bool   `parquet:"randomize"`
	Began       int64  `parquet:"began,timestamp(millisecond)"`
}

// Archive returns the columns of a row.
func Archive(r store.Row) (Archived, error) {
	s, err := Decode(r)
	return Archived{
		Row: columns.FromRow(r), TwapID: s.TwapID, Status: s.Status, Error: s.Error, Coin: s.Coin, Side: s.Side.String(), Sz: s.Sz, ExecutedSz: s.ExecutedSz,
		ExecutedNtl: s.ExecutedNtl, Minutes: s.Minutes, ReduceOnly: s.ReduceOnly, Randomize: s.Randomize, Began: s.Timestamp,
	}, err
}
