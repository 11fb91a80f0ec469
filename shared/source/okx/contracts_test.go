package okx

import (
	"context"
	"testing"
	"time"

	simulated "quotary/localstack/okx"
	"quotary/localstack/trading"
	"quotary/shared/market"
	"quotary/shared/source/sourcetest"
	"quotary/shared/testclock"
)

var elevenForty = time.Date(2026, 11, 20, 11, 40, 30, 0, time.UTC)

const hour = int64(3_600_000) // ms

func TestWhatIsAskedOfSwapsIsTheTruthOfTheExchange(t *testing.T) {
	t.Parallel()
	clock := testclock.At(elevenForty)
	x, all := openAll(t, simulated.Config{Clock: clock.Now})
	for _, c := range []struct {
		of       *Market
		key      string
		payments int
		period   int64
		accounts int
	}{
		{all[1], "solswapusdt:okcoinfutures", 30, 4 * hour, 12},
		{all[2], "btcswapusd:okcoinfutures", 15, 8 * hour, 0}, // accounts are those of linear swaps
	} {
		t.Run(c.key, func(t *testing.T) {
			pair := sourcetest.Find(t, c.of, c.key)
			m, now := x.Market(pair.Symbol), elevenForty.UnixMilli()
			// At the last price, as the exchange does not say what was paid.
			sourcetest.IsNow(t, c.of, m, pair, now, func(day *trading.Kline) int64 { return day.Size * day.Last })
			from := now - 5*24*hour
			fundings, err := c.of.PastFundings(t.Context(), pair, from, now)
			if err != nil || len(fundings) != c.payments {
				t.Fatalf("%d payments in five days, %v", len(fundings), err)
			}
			sourcetest.ArePayments(t, m, pair, from, c.period, fundings)
			// The exchange has three days of open interest.
			past, err := c.of.PastInterests(t.Context(), pair, from, now)
			if err != nil || len(past) != 3*288 {
				t.Fatalf("%d points in five days, %v", len(past), err)
			}
			sourcetest.AreInterests(t, m, pair, from, past)
			ratios, err := c.of.PastRatios(t.Context(), pair, now-hour, now)
			if err != nil || len(ratios) != c.accounts {
				t.Fatalf("%d ratios, %v", len(ratios), err)
			}
			for _, r := range ratios {
				ratio := sourcetest.Decimal(t, simulated.Ratio(m, r.Time))
				if back := r.Long.MustDiv(market.Whole(1).Sub(r.Long)); back.Sub(ratio).Abs().Cmp(sourcetest.Decimal(t, "0.00001")) > 0 {
					t.Errorf("%s is long of %s", r.Long, ratio)
				}
			}
		})
	}
	if list, err := all[0].Interests(t.Context(), []market.Pair{sourcetest.Find(t, all[0], "btcusdt:okex")}); err != nil || list != nil {
		t.Errorf("spot has open interest %v, %v", list, err)
	}
	if list, err := all[0].Tickers(t.Context(), []market.Pair{sourcetest.Find(t, all[0], "btcusdt:okex")}); err != nil || len(list) != 1 {
		t.Errorf("tickers of spot are %v, %v", list, err)
	} else if m := x.Market("BTC-USDT"); !list[0].Amount.Equal(sourcetest.Decimal(t, m.Amount(m.Day(list[0].Time).Quote))) {
		t.Errorf("%+v is not what was paid", list[0])
	}
}

func TestFundingAndLiquidationsArePushed(t *testing.T) {
	t.Parallel()
	x, all := openAll(t, simulated.Config{})
	for _, c := range []struct {
		of  *Market
		key string
	}{{all[1], "ethswapusdt:okcoinfutures"}, {all[2], "btcswapusd:okcoinfutures"}} {
		t.Run(c.key, func(t *testing.T) {
			t.Parallel()
			pair := sourcetest.Find(t, c.of, c.key)
			m := x.Market(pair.Symbol)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			began := time.Now().UnixMilli()
			var fundings []market.PairFunding
			var liquidations []market.PairLiquidation
			err := c.of.Follow(ctx, []market.Pair{pair}, func(_ context.Context, e *market.PairEvents) error {
				fundings, liquidations = append(fundings, e.Fundings...), append(liquidations, e.Liquidations...)
				if len(fundings) > 1 && len(liquidations) > 0 {
					cancel()
				}
				return nil
			})
			if len(fundings) < 2 || len(liquidations) == 0 || c.of.Stats.Malformed.Load() > 0 {
				t.Fatalf("%d rates and %d liquidations came: %v", len(fundings), len(liquidations), err)
			}
			sourcetest.AreRates(t, m, pair, fundings)
			sourcetest.AreLiquidations(t, m, pair, liquidations, m.Liquidations(began-5000, time.Now().UnixMilli()))
		})
	}
}

func TestFramesOfSwapsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`{"arg":{"channel":"funding-rate"},"data":[{"instId":"A","fundingRate":"x","fundingTime":"1790000000000","nextFundingTime":"1790028800000","ts":"1790000000000"}]}`,
		`{"arg":{"channel":"funding-rate"},"data":[{"instId":"A","fundingRate":"0.1","fundingTime":"1790000000000","nextFundingTime":"1790000000000","ts":"1790000000000"}]}`,
		`{"arg":{"channel":"funding-rate"},"data":[{"instId":"A","fundingRate":"0.1","fundingTime":"1790000000000","nextFundingTime":"1790028800000"}]}`,
		`{"arg":{"channel":"liquidation-orders"},"data":[{"instId":"A","details":[{"posSide":"both","side":"sell","bkPx":"1","sz":"1","ts":"1790000000000"}]}]}`,
		`{"arg":{"channel":"liquidation-orders"},"data":[{"instId":"A","details":[{"posSide":"long","side":"sell","bkPx":"0","sz":"1","ts":"1790000000000"}]}]}`,
		`{"arg":{"channel":"liquidation-orders"},"data":[{"details":[{"posSide":"long","side":"sell","bkPx":"1","sz":"1","ts":"1790000000000"}]}]}`,
	} {
		if f, err := parsed(line); err == nil {
			t.Errorf("%s is %+v", line, f.Events)
		}
	}
	f, err := parsed(`{"arg":{"channel":"liquidation-orders","instType":"SWAP"},"data":[{"instId":"A","details":[{"posSide":"net","side":"sell","bkPx":"1.5","sz":"2","ts":"1790000000000"},{"posSide":"net","side":"buy","bkPx":"1.5","sz":"2","ts":"1790000000001"}]}]}`)
	if l := f.Events.Liquidations; err != nil || len(l) != 2 || !l[0].Long || l[1].Long || l[1].Pair != "A" {
		t.Errorf("positions that are netted: %+v, %v", l, err)
	}
}
