package datatest

import (
	"quotary/shared/data/liquidations"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
)

// PutLiquidations writes what fills liquidated.
func PutLiquidations(t storetest.T, s *store.Series, fills ...market.Fill) {
	t.Helper()
	storetest.PutSeries(t, s, LiquidationRows(fills)...)
}

// LiquidationRows are all rows of what fills liquidated, made at once: each fill counts once, however
// often it is there.
func LiquidationRows(fills []market.Fill) (rows []store.SeriesRow) {
	seconds := map[store.SeriesAt][]market.LiquidationEvent{}
	for i := range fills {
		e, ok := market.LiquidationOf(&fills[i])
		if !ok {
			continue
		}
		at, found := liquidations.EventsAt(e.Time), false
		for n := range seconds[at] {
			if other := &seconds[at][n]; other.Same(&e) {
				other.Add(&e)
				found = true
			}
		}
		if !found {
			seconds[at] = append(seconds[at], e)
		}
	}
	sums := map[store.SeriesAt]pairseries.Pack[market.LiquidationStats]{}
	tops := map[store.SeriesAt]market.TopLiquidations{}
	for at, events := range seconds {
		rows = append(rows, liquidations.EventsRow(at, events))
		for i := range events {
			e := &events[i]
			addLiquidation(sums, e.Coin, e, nil)
			addLiquidation(sums, liquidations.All, e, []string{e.Coin})
			for _, tier := range liquidations.TopTiers {
				at := liquidations.TopAt(e.Coin, tier, e.Time)
				top := tops[at]
				top.Put(e, liquidations.MostTop)
				tops[at] = top
			}
		}
	}
	for at, pack := range sums {
		rows = append(rows, liquidations.Stats.Row(at, pack))
	}
	for at, top := range tops {
		rows = append(rows, liquidations.TopRow(at, top))
	}
	return rows
}

func addLiquidation(sums map[store.SeriesAt]pairseries.Pack[market.LiquidationStats], key string, e *market.LiquidationEvent, coins []string) {
	for _, tier := range pairseries.Tiers {
		at, start := liquidations.Stats.At(key, tier, e.Time), tier.Part.StartMs(e.Time)
		if sums[at] == nil {
			sums[at] = pairseries.Pack[market.LiquidationStats]{}
		}
		before := sums[at][start]
		var sum market.LiquidationSum
		sum.Merge(&before)
		sum.Add(e)
		for _, coin := range coins {
			sum.Coin(coin)
		}
		sums[at][start] = sum.Stats(start)
	}
}
