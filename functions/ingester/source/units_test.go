package source

import (
	"testing"

	"quotary/shared/market"
	"quotary/shared/testing/must"
)

func decimal(t testing.TB, text string) market.Decimal {
	t.Helper()
	return must.Get(market.ParseDecimal(text))(t)
}

// What each venue counts comes out in base coins and quote units.
func TestSizesAreInBaseCoinsAndQuoteUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                    string
		pair                    market.Pair
		px, counted, sz, amount string
	}{
		{"coins", market.Pair{}, "2000.5", "3", "3", "6001.5"},
		{"linear contracts", market.Pair{Contract: decimal(t, "0.01")}, "60000", "7", "0.07", "4200"},
		{"inverse contracts", market.Pair{Contract: decimal(t, "100"), Inverse: true}, "60000", "3", "0.005", "300"},
		{"inverse, counted in dollars", market.Pair{Inverse: true}, "30000", "100", "0.00333333", "100"},
		{"inverse, which no price divides", market.Pair{Contract: decimal(t, "10"), Inverse: true}, "1500", "2", "0.01333333", "20"},
		{"inverse, without a price", market.Pair{Inverse: true}, "0", "5", "0", "5"},
	} {
		sz, amount := Sizes(&c.pair, decimal(t, c.px), decimal(t, c.counted))
		if !sz.Equal(decimal(t, c.sz)) || !amount.Equal(decimal(t, c.amount)) {
			t.Errorf("%s: %s and %s, want %s and %s", c.name, sz, amount, c.sz, c.amount)
		}
	}
}
