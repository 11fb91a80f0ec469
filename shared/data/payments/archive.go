package payments

import (
	"quotary/shared/store"
	"quotary/shared/store/columns"
)

// Archived has the columns of archived funding payments of an account at an hour:
// amounts are decimal texts.
type Archived struct {
	columns.Row
	Payments []ArchivedPayment `parquet:"payments,list"` // in the order of their coins
}

// ArchivedPayment is the payment of one coin, [market.FundingPayment].
type ArchivedPayment struct {
	Coin string `parquet:"coin,dict"`
	USDC string `parquet:"usdc"` // negative was paid, positive received
	Szi  string `parquet:"szi"`  // the position, negative is short
	Rate string `parquet:"rate"` // hourly, a fraction
}

// Archive returns the columns of a row.
func Archive(r store.Row) (Archived, error) {
	list, err := Decode(r)
	a := Archived{Row: columns.FromRow(r), Payments: make([]ArchivedPayment, len(list))}
	for i := range list {
		a.Payments[i] = ArchivedPayment{list[i].Coin, list[i].USDC, list[i].Szi, list[i].Rate}
	}
	return a, err
}
