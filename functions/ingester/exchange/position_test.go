package exchange

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"quotary/functions/ingester/engine"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
)

// mostPairs is how many pairs a market may list: what is read of an answer with more is
// nothing.
const mostPairs = 20_000

// Whatever a source remembers, its checkpoint can be stored: here of every pair that an
// exchange may list, each followed, with times that have nothing in common.
func TestWhatSourcesRememberFitsIntoACheckpoint(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	const now, minute = int64(1_795_000_000_000), int64(60_000)
	key := func(n int) string { return fmt.Sprintf("coin%dswapusdt:binance", n) }
	filled := map[string]progress{}
	for n := range mostPairs {
		filled[key(n)] = progress{
			Since: now - random.Int64N(1000)*86_400_000, Until: now - random.Int64N(10)*minute, Back: now - random.Int64N(9000)*60*minute,
			First: now - random.Int64N(4000)*86_400_000, Wanted: n%2 == 0,
		}
	}
	delivered := map[string]span{}
	for n := range mostPairs / 4 { // four kinds of a perpetual, of which an exchange has a few hundred
		for _, kind := range []string{"funding", "interest", "ratio", "coin"} {
			delivered[kind+" "+key(n)] = span{now - random.Int64N(9000)*60*minute, now - random.Int64N(10)*5*minute}
		}
	}
	db := storetest.DynamoDB(t)
	series := store.NewSeries(db, storetest.Tables(t, db)+schema.SeriesTable)
	for name, remembered := range map[string]any{"history": filled, "contractsPast": pastPosition{delivered}} {
		position, err := engine.PositionOf(remembered)
		if err != nil {
			t.Fatal(err)
		}
		if err := series.SaveCheckpoint(t.Context(), name, position); err != nil {
			t.Errorf("%s, %d bytes: %v", name, len(position), err)
		}
	}
}
