package exchange

import (
	"testing"
	"time"

	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
)

// The perpetual exchange is margined in a stable coin. Its open interest is what its domain has
// stored until then, no older than ten minutes.
func TestOpenInterestOfACoinHasThatOfThePerpetualExchange(t *testing.T) {
	t.Parallel()
	btc, inverse, pepe := perpetual("BTC", "binance", false), perpetual("BTC", "binance", true), perpetual("1000PEPE", "binance", false)
	m := newMemory()
	m.listed(btc, inverse, pepe)
	const minute = int64(60_000)
	at := midnight + 16*minute // the newest values are in the quarter before
	for key, values := range map[string][]int64{"btcswapusdc:hyperliquid": {0, 1000, 2000}, "kpepeswapusdc:hyperliquid": {0, 30}, "pepeswapusdc:hyperliquid": {500}} {
		pack := pairseries.Pack[market.Bar]{}
		for n, value := range values {
			start := midnight + int64(n)*7*minute
			bar := market.Bar{Time: start}
			bar.Add(start+10, dec(value))
			pack[start] = bar
		}
		row := pairseries.Interest.Row(pairseries.Interest.At(key, pairseries.Tiers[0], midnight), pack)
		m.rows[store.SeriesAt{SeriesKey: row.SeriesKey, Time: row.Time}] = row.Point
	}
	p := m.restored(t, newInterests())
	live := func(at int64) {
		events := market.PairEvents{Interests: []market.PairInterest{{Pair: btc.Key, Time: at, Value: dec(5)}, {Pair: inverse.Key, Time: at, Value: dec(6)}, {Pair: pepe.Key, Time: at, Value: dec(7)}}}
		m.apply(t, p, &Batch{PairEvents: events}, time.UnixMilli(at))
	}
	live(at)
	live(at + minute)
	past := []market.PairInterest{{Pair: btc.Key, Time: midnight + 5*minute, Value: dec(3)}, {Pair: btc.Key, Time: midnight + 10*minute, Value: dec(4)}}
	m.apply(t, p, &Batch{PastInterests: []PastInterest{{Key: "btc:stable", Interests: past}}}, time.UnixMilli(at))
	live(at + 30*minute)
	live(at + 31*minute)
	for _, c := range []struct {
		key  string
		at   int64
		want int64
	}{
		{"btc:stable", at, 2005}, {"btc:coin", at, 6}, {"pepe:stable", at, 37},
		{"btc:stable", midnight + 5*minute, 3}, {"btc:stable", midnight + 10*minute, 1004},
		{"btc:stable", at + 30*minute, 5}, // it has said nothing for too long
	} {
		row := m.rows[pairseries.CoinInterest.At(c.key, pairseries.Tiers[0], c.at)]
		pack, err := pairseries.CoinInterest.Decode(row.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got := pack[market.Minute1.StartMs(c.at)]; !got.Close.Equal(dec(c.want)) {
			t.Errorf("%s at minute %d is %s, want %d", c.key, (c.at-midnight)/minute, got.Close, c.want)
		}
	}
}
