package fills

import (
	"quotary/shared/store"
	"quotary/shared/store/columns"
)

// Archived has the columns of an archived fill, those of [market.Fill]: amounts are
// the venue's decimal texts, in its units.
type Archived struct {
	columns.Row
	Coin           string `parquet:"coin,dict"`
	Side           string `parquet:"side,dict"` // of this account: B or A
	Px             string `parquet:"px"`
	Sz             string `parquet:"sz"`
	Dir            string `parquet:"dir,dict"`
	StartPosition  string `parquet:"start_position"`
	ClosedPnl      string `parquet:"closed_pnl"`
	Fee            string `parquet:"fee"`
	FeeToken       string `parquet:"fee_token,dict"`
	Crossed        bool   `parquet:"crossed"` // this account was the taker
	Hash           string `parquet:"hash"`
	Oid            int64  `parquet:"oid"`
	Tid            int64  `parquet:"tid"`
	Cloid          string `parquet:"cloid"`
	Builder        string `parquet:"builder,dict"`
	BuilderFee     string `parquet:"builder_fee"`
	TwapID         *int64 `parquet:"twap_id,optional"`
	LiquidatedUser string `parquet:"liquidated_user"` // "" unless the execution liquidated someone
}

// Archive returns the columns of a row.
func Archive(r store.Row) (Archived, error) {
	f, err := Decode(r)
	if err != nil {
		return Archived{}, err
	}
	a := Archived{
		Row: columns.FromRow(r), Coin: f.Coin, Side: string(rune(f.Side)), Px: f.Px, Sz: f.Sz, Dir: f.Dir,
		StartPosition: f.StartPosition, ClosedPnl: f.ClosedPnl, Fee: f.Fee, FeeToken: f.FeeToken, Crossed: f.Crossed,
		Hash: f.Hash, Oid: f.Oid, Tid: f.Tid, Cloid: f.Cloid, Builder: f.Builder, BuilderFee: f.BuilderFee, TwapID: f.TwapID,
	}
	if f.Liquidation != nil {
		a.LiquidatedUser = f.Liquidation.LiquidatedUser
	}
	return a, nil
}
