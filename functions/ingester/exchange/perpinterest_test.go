package exchange

import (
	"testing"
	"time"

	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
)

// The perpetual exchange is margined in a stable coin. Its open interest is what its domain has
// stored until then, no older than ten minutes. Before it was followed sums are without it;
// where it was followed and is missing there is none, but live ones go on after ten minutes.
func TestOpenInterestOfACoinHasThatOfThePerpetualExchange(t *testing.T) {
	t.Parallel()
	btc, inverse, pepe := perpetual("BTC", "binance", false), perpetual("BTC", "binance", true), perpetual("1000PEPE", "binance", false)
	m := newMemory()
	m.listed(btc, inverse, pepe)
	const minute = int64(60_000)
	for key, values := range map[string]map[int64]int64{
		"btcswapusdc:hyperliquid": {7: 1000, 14: 2000}, "pepeswapusdc:hyperliquid": {7: 30, 14: 40}, "kpepeswapusdc:hyperliquid": {14: 500},
	} {
		for _, tier := range pairseries.Tiers {
			pack := pairseries.Pack[market.Bar]{}
			for n, value := range values {
				at := midnight + n*minute + 10
				bar := pack[tier.Part.StartMs(at)]
				bar.Time = tier.Part.StartMs(at)
				bar.Add(at, dec(value))
				pack[bar.Time] = bar
			}
			row := pairseries.Interest.Row(pairseries.Interest.At(key, tier, midnight), pack)
			m.rows[store.SeriesAt{SeriesKey: row.SeriesKey, Time: row.Time}] = row.Point
		}
	}
	p := m.restored(t, newInterests())
	live := func(minutes ...int64) {
		for _, n := range minutes {
			at := midnight + n*minute
			events := market.PairEvents{Interests: []market.PairInterest{{Pair: btc.Key, Time: at, Value: dec(5)}, {Pair: inverse.Key, Time: at, Value: dec(6)}, {Pair: pepe.Key, Time: at, Value: dec(7)}}}
			m.apply(t, p, &Batch{PairEvents: events}, time.UnixMilli(at))
		}
	}
	live(16, 17, 46, 47, 56, 57, 58)
	past := PastInterest{Key: "btc:stable"}
	for n, value := range []int64{0, 3, 4, 8} {
		past.Interests = append(past.Interests, market.PairInterest{Pair: btc.Key, Time: midnight + []int64{5, 6, 10, 40}[n]*minute, Value: dec(value)})
	}
	m.apply(t, p, &Batch{PastInterests: []PastInterest{past}}, time.UnixMilli(midnight+58*minute))
	for _, c := range []struct {
		why    string
		key    string
		minute int64
		want   int64 // below 0: there is none
	}{
		{"not followed yet", "btc:stable", 6, 3},
		{"the newest until then", "btc:stable", 10, 1004},
		{"the newest until then, live", "btc:stable", 16, 2005},
		{"it has no inverse ones", "btc:coin", 16, 6},
		{"of a thousand, which is stored by the coin too", "pepe:stable", 16, 47},
		{"missing in the past", "btc:stable", 40, -1},
		{"missing after a pause, which may end", "btc:stable", 46, -1},
		{"missing after a pause, of an inverse one", "btc:coin", 46, 6},
		{"missing for ten minutes", "btc:stable", 57, 5},
	} {
		at := midnight + c.minute*minute
		pack := pairseries.Pack[market.Bar]{}
		if row, ok := m.rows[pairseries.CoinInterest.At(c.key, pairseries.Tiers[0], at)]; ok {
			var err error
			if pack, err = pairseries.CoinInterest.Decode(row.Body); err != nil {
				t.Fatal(err)
			}
		}
		got, ok := pack[at]
		if ok != (c.want >= 0) || ok && !got.Close.Equal(dec(c.want)) {
			t.Errorf("%s: %s at minute %d is %s (%t), want %d", c.why, c.key, c.minute, got.Close, ok, c.want)
		}
	}
}
