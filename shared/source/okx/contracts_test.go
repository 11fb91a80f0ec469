package okx

import (
	"context"
	"testing"
	"time"

	simulated "quotary/localstack/okx"
	"quotary/localstack/trading"
	"quotary/shared/market"
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
			pair := find(t, c.of, c.key)
			m, now := x.Market(pair.Symbol), elevenForty.UnixMilli()
			isNow(t, c.of, m, pair)
			from := now - 5*24*hour
			fundings, err := c.of.PastFundings(t.Context(), pair, from, now)
			if err != nil || len(fundings) != c.payments {
				t.Fatalf("%d payments in five days, %v", len(fundings), err)
			}
			for i, f := range fundings {
				if !f.Paid || f.Period != c.period || f.Time < from || i > 0 && f.Time != fundings[i-1].Time+c.period || !f.Rate.Equal(decimal(t, rateOf(m.Paid(f.Time)))) {
					t.Errorf("a payment is %+v", f)
				}
			}
			// The exchange has three days of open interest.
			past, err := c.of.PastInterests(t.Context(), pair, from, now)
			if err != nil || len(past) != 3*288 {
				t.Fatalf("%d points in five days, %v", len(past), err)
			}
			for i, p := range past {
				if size, value := interest(m, p.Time); !p.Size.Equal(decimal(t, size)) || !p.Value.Equal(decimal(t, value)) || i > 0 && p.Time != past[i-1].Time+300_000 {
					t.Fatalf("point %d is %+v", i, p)
				}
			}
			ratios, err := c.of.PastRatios(t.Context(), pair, now-hour, now)
			if err != nil || len(ratios) != c.accounts {
				t.Fatalf("%d ratios, %v", len(ratios), err)
			}
			for _, r := range ratios {
				ratio := decimal(t, simulated.Ratio(m, r.Time))
				if back := r.Long.MustDiv(market.Whole(1).Sub(r.Long)); back.Sub(ratio).Abs().Cmp(decimal(t, "0.00001")) > 0 {
					t.Errorf("%s is long of %s", r.Long, ratio)
				}
			}
		})
	}
	if list, err := all[0].Interests(t.Context(), []market.Pair{find(t, all[0], "btcusdt:okex")}); err != nil || list != nil {
		t.Errorf("spot has open interest %v, %v", list, err)
	}
	if list, err := all[0].Tickers(t.Context(), []market.Pair{find(t, all[0], "btcusdt:okex")}); err != nil || len(list) != 1 {
		t.Errorf("tickers of spot are %v, %v", list, err)
	} else if m := x.Market("BTC-USDT"); !list[0].Amount.Equal(decimal(t, m.Amount(m.Day(list[0].Time).Quote))) {
		t.Errorf("%+v is not what was paid", list[0])
	}
}

// isNow holds tickers and open interest of a swap to its truth.
func isNow(t *testing.T, of *Market, m *trading.Market, pair market.Pair) {
	t.Helper()
	now := elevenForty.UnixMilli()
	interests, err := of.Interests(t.Context(), []market.Pair{pair})
	if size, value := interest(m, now); err != nil || len(interests) != 1 || !interests[0].Size.Equal(decimal(t, size)) || !interests[0].Value.Equal(decimal(t, value)) || interests[0].Time != now {
		t.Errorf("open interest is %+v, %v, want %s worth %s", interests, err, size, value)
	}
	tickers, err := of.Tickers(t.Context(), []market.Pair{pair})
	day := m.Day(now)
	size, amount := sizes(m, day.Size, day.Coins, day.Size*day.Last) // at the last price, as the exchange does not say
	if err != nil || len(tickers) != 1 || !tickers[0].Last.Equal(decimal(t, m.Price(day.Last))) || !tickers[0].High.Equal(decimal(t, m.Price(day.High))) ||
		!tickers[0].Size.Equal(decimal(t, size)) || !tickers[0].Amount.Equal(decimal(t, amount)) {
		t.Errorf("tickers are %+v, %v", tickers, err)
	}
}

func interest(m *trading.Market, at int64) (size, value string) {
	n := m.Interest(at)
	return sizes(m, n, m.CoinsOf(n, m.Mark(at)), n*m.Mark(at))
}

// rateOf writes hundred-millionths.
func rateOf(n int64) string {
	if n < 0 {
		return "-" + trading.Decimal(-n, 8)
	}
	return trading.Decimal(n, 8)
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
			pair := find(t, c.of, c.key)
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
			for _, f := range fundings {
				if f.Pair != pair.Key || f.Paid || f.Period != m.Period() || f.Due != m.Due(f.Time) || !f.Rate.Equal(decimal(t, rateOf(m.Funding(f.Time)))) {
					t.Errorf("a rate is %+v", f)
				}
			}
			truth := map[int64]trading.Liquidation{}
			for _, one := range m.Liquidations(began-5000, time.Now().UnixMilli()) {
				truth[one.Time] = one
			}
			for _, l := range liquidations {
				one := truth[l.Time]
				size, value := sizes(m, one.Size, m.CoinsOf(one.Size, max(1, one.Price)), one.Size*one.Price)
				if l.Pair != pair.Key || l.Long != one.Long || !l.Px.Equal(decimal(t, m.Price(one.Price))) || !l.Sz.Equal(decimal(t, size)) || !l.Value.Equal(decimal(t, value)) {
					t.Errorf("%+v is not %+v", l, one)
				}
			}
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
