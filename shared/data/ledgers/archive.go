package ledgers

import (
	"quotary/shared/store"
	"quotary/shared/store/columns"
)

// Archived has the columns of an archived ledger update, those of [market.Ledger]:
// amounts are decimal texts.
type Archived struct {
	columns.Row
	Hash  string `parquet:"hash"`
	Type  string `parquet:"type,dict"`
	Funds string `parquet:"funds,dict"` // deposit or withdraw where money came from outside of the venue or left it; "" of everything else
	USDC  string `parquet:"usdc"`       // that a deposit or a withdrawal moved; "" of everything else
	Fee   string `parquet:"fee"`        // that it cost; "" where the venue names none
	Value string `parquet:"value"`      // that a deposit or withdrawal of another token was worth, USDC; "" where the venue does not say
	Delta string `parquet:"delta"`      // JSON, as the venue wrote it
}

// Archive returns the columns of a row.
func Archive(r store.Row) (Archived, error) {
	l, err := Decode(r)
	return Archived{Row: columns.FromRow(r), Hash: l.Hash, Type: l.Type, Funds: l.Funds, USDC: l.USDC, Fee: l.Fee, Value: l.Value, Delta: string(l.Delta)}, err
}
