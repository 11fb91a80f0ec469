package exchange

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// ratesModel is what the funding rate of a coin is made of, kept in the plainest way.
type ratesModel struct {
	amounts map[string]int64          // traded in 24 hours, by pair
	newest  map[string]weightedRateAt // by pair
	began   int64                     // of events, after a pause again
	last    int64                     // time of the newest event
	want    map[int64]market.Decimal  // by the end of a minute
}

type weightedRateAt struct{ time, rate, hours, amount int64 }

// end notes the mean at the end of a minute: sum(rate x 8 h / period x amount) / sum(amount)
// over the pairs whose rate is not too old; none while one may still come.
func (m *ratesModel) end(t rapid.TB, all []market.Pair, end int64) {
	var total, weights market.Decimal
	for _, pair := range all {
		v, ok := m.newest[pair.Key]
		switch {
		case ok && end-v.time <= valueFor:
			total = total.Add(dec(v.rate * v.amount * 8 / v.hours))
			weights = weights.Add(dec(v.amount))
		case end-m.began <= valueFor:
			return
		}
	}
	if weights.IsPos() {
		m.want[end] = total.MustDiv(weights).RoundHAZ(12)
	}
}

func TestTheFundingRateOfACoinIsThatOfAllItsPerpetuals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := []market.Pair{perpetual("BTC", "binance", false), perpetual("BTC", "bybit", false), perpetual("BTC", "binance", true), perpetual("BTC", "okcoinfutures", false)}
		m := newMemory()
		m.listed(all...)
		p := m.restored(t, newFundings())
		model := ratesModel{amounts: map[string]int64{}, newest: map[string]weightedRateAt{}, want: map[int64]market.Decimal{}}
		for minute := range rapid.Int64Range(3, 40).Draw(t, "minutes") {
			at := midnight + 30_000 + minute*60_000
			b := new(Batch)
			for _, pair := range all {
				if rapid.IntRange(0, 2).Draw(t, "ticker") == 0 {
					model.amounts[pair.Key] = rapid.Int64Range(0, 1000).Draw(t, "amount")
					b.Tickers = append(b.Tickers, market.PairTicker{Pair: pair.Key, Time: at, Amount: dec(model.amounts[pair.Key])})
				}
			}
			given := map[string]weightedRateAt{}
			for _, pair := range all {
				if rapid.IntRange(0, 3).Draw(t, "silent") == 0 {
					continue
				}
				one := weightedRateAt{at, rapid.Int64Range(-100, 100).Draw(t, "rate"), rapid.SampledFrom([]int64{1, 4, 8}).Draw(t, "hours"), 0}
				paid := rapid.IntRange(0, 4).Draw(t, "paid") == 0 // tells nothing of the running period
				b.Fundings = append(b.Fundings, market.PairFunding{Pair: pair.Key, Time: at, Rate: dec(one.rate), Period: one.hours * 3_600_000, Paid: paid})
				if amount, ok := model.amounts[pair.Key]; ok && !paid {
					one.amount = amount
					given[pair.Key] = one
				}
			}
			if len(b.Fundings) == 0 && len(b.Tickers) == 0 {
				continue
			}
			if start := market.Minute1.StartMs(at); model.last > 0 && start > model.last {
				model.end(t, all, start-1)
			}
			if model.last == 0 || at-model.last > valueFor {
				model.began = at
			}
			model.last = at
			for pair, one := range given {
				model.newest[pair] = one
			}
			m.apply(t, p, b, time.UnixMilli(at))
		}
		made := 0
		for at, row := range m.rows {
			if at.Name == pairseries.CoinFunding.Name() && at.Interval == pairseries.Tiers[0].Row.String() {
				pack := must.Get(pairseries.CoinFunding.Decode(row.Body))(t)
				made += len(pack)
			}
		}
		if made != len(model.want) {
			t.Fatalf("%d minutes have a rate, want %d", made, len(model.want))
		}
		for end, want := range model.want {
			tier := pairseries.Tiers[0]
			pack, err := pairseries.CoinFunding.Decode(m.rows[pairseries.CoinFunding.At("btc", tier, end)].Body)
			if err != nil {
				t.Fatalf("at %d: %v", end, err)
			}
			if got := pack[tier.Part.StartMs(end)]; !got.Close.Equal(want) || got.Last != end-1 {
				t.Fatalf("at %d it is %+v, want %s", end, got, want)
			}
		}
	})
}
