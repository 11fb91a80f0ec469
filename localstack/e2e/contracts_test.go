package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"quotary/localstack/sim/trading"
	"quotary/shared/testing/testenv"
)

// began is before any part of the stack ran: what lies before it, the ingester was told of
// the past, and what lies behind it may have been pushed as well.
var began = time.Now()

// perpetual is a market of the simulated exchanges by the key of its pair.
type perpetual struct {
	key string
	*trading.Market
}

func perpetuals() []perpetual {
	return []perpetual{
		{"btcswapusdt:binance", world.Exchange.Market("BTCUSDT", true)},
		{"solswapusdt:binance", world.Exchange.Market("SOLUSDT", true)},
		{"btcswapusd:binance", world.Exchange.Market("BTCUSD_PERP", true)},
		{"btcswapusdt:okcoinfutures", world.OKX.Market("BTC-USDT-SWAP")},
		{"solswapusdt:okcoinfutures", world.OKX.Market("SOL-USDT-SWAP")},
		{"btcswapusd:okcoinfutures", world.OKX.Market("BTC-USD-SWAP")},
		{"btcswapusdt:bybit", world.Bybit.Market("linear", "BTCUSDT")},
		{"solswapusdt:bybit", world.Bybit.Market("linear", "SOLUSDT")},
		{"btcswapusd:bybit", world.Bybit.Market("inverse", "BTCUSD")},
	}
}

// value is what lots of a perpetual are worth at a price, in US dollars.
func (p perpetual) value(lots, ticks int64) *big.Rat {
	if p.Dollars > 0 {
		return new(big.Rat).SetInt64(lots * p.Dollars)
	}
	product := new(big.Int).Mul(big.NewInt(lots), big.NewInt(ticks))
	places := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(p.Tick+p.Lot)), nil)
	return new(big.Rat).SetFrac(product, places)
}

type futuresBar struct {
	Time                   int64
	Open, High, Low, Close string
}

// futures asks for rows of a perpetual or a coin.
func futures[T any](t *testing.T, path, query string) T {
	t.Helper()
	answer := ask(t, world.State.Demo.SubKey, "GET", "/upgrade/v2/futures/"+path+"?"+query, nil)
	if answer.Status != http.StatusOK {
		t.Fatalf("%s?%s: status %d: %s", path, query, answer.Status, answer.Body)
	}
	return data[T](t, answer)
}

// paidAt is the last time before the stack began at which every perpetual paid.
var paidAt = began.Truncate(8 * time.Hour).UnixMilli()

// coinFunding is the bucket of an hour of a coin's funding that ends then.
func coinFunding(t *testing.T, coin string) []futuresBar {
	t.Helper()
	open := paidAt - time.Hour.Milliseconds()
	return futures[[]futuresBar](t, "funding-rate/vol-weight-history", fmt.Sprintf("symbol=%s&interval=1h&start_time=%d&end_time=%d", coin, open, open))
}

// awaitPast waits until the newest of a coin's past is there. It comes coin by coin, of each
// open interest first and its rate of funding last: on a busy machine that of the last one
// takes minutes.
func awaitPast(t *testing.T, coin string) {
	t.Helper()
	for _, c := range []string{"BTC", "ETH", "SOL"} {
		query := fmt.Sprintf("symbol=%s&interval=5m&end_time=%d&limit=1", c, began.Add(-10*time.Minute).UnixMilli())
		testenv.Until(t, "open interest of the past of "+c, func() bool {
			return len(futures[[]futuresBar](t, "open-interest/aggregated-stablecoin-history", query)) > 0
		})
		testenv.Until(t, "funding of the past of "+c, func() bool { return len(coinFunding(t, c)) > 0 })
		if c == coin {
			return
		}
	}
}

// TestPastFundingIsWhatTheExchangesPaid compares buckets of half a day before the stack
// began with what was paid for them; what is older is asked for behind everything else.
func TestPastFundingIsWhatTheExchangesPaid(t *testing.T) {
	t.Parallel()
	for _, p := range perpetuals() {
		awaitPast(t, p.Base)
		for _, hours := range []int64{1, 4, 8} {
			width := hours * 3_600_000
			query := fmt.Sprintf("symbol=%s&interval=%dh&limit=100", p.key, hours)
			var difference string
			t.Cleanup(func() {
				if difference != "" {
					t.Log(query, difference)
				}
			})
			testenv.Until(t, query+" is what was paid", func() bool {
				difference = unpaid(p, width, futures[[]futuresBar](t, "funding-rate/history", query))
				return difference == ""
			})
		}
	}
}

// unpaid says how buckets, newest first, differ from the rates that were paid for periods
// that end in or with those of half a day before the stack began.
func unpaid(p perpetual, width int64, rows []futuresBar) string {
	byTime := map[int64]futuresBar{}
	for i, row := range rows {
		if i > 0 && row.Time >= rows[i-1].Time {
			return fmt.Sprintf("row %d is not before the one above", i)
		}
		byTime[row.Time] = row
	}
	last := began.UnixMilli()/width*width - width
	for open := last; open > began.Add(-11*time.Hour).UnixMilli(); open -= width {
		var paid []int64 // at the ends of periods, of which the last may end the bucket
		for at := p.Due(open); at <= open+width; at += p.Period() {
			paid = append(paid, p.Paid(at))
		}
		row, ok := byTime[open]
		switch {
		case len(paid) == 0 && !ok:
			continue
		case len(paid) == 0 || !ok:
			return fmt.Sprintf("of the bucket of %d, where %d rates were paid, there is %+v", open, len(paid), row)
		}
		for _, c := range []struct {
			name, got string
			want      int64
		}{
			{"open", row.Open, paid[0]}, {"high", row.High, slices.Max(paid)}, {"low", row.Low, slices.Min(paid)}, {"close", row.Close, paid[len(paid)-1]},
		} {
			if want := big.NewRat(c.want, 100_000_000); !equals(c.got, want) {
				return fmt.Sprintf("%s of %d is %s, want %s", c.name, open, c.got, want.FloatString(8))
			}
		}
	}
	return ""
}

// equals compares a decimal.
func equals(decimal string, want *big.Rat) bool {
	got, ok := new(big.Rat).SetString(decimal)
	return ok && got.Cmp(want) == 0
}

// TestTheRunningFundingIsWhatTheExchangeExpects waits for a rate of the last two minutes.
func TestTheRunningFundingIsWhatTheExchangeExpects(t *testing.T) {
	t.Parallel()
	for _, p := range perpetuals() {
		testenv.Until(t, "the newest rate of "+p.key+" is of now", func() bool {
			rows := futures[[]futuresBar](t, "funding-rate/history", "symbol="+p.key+"&interval=1m&limit=1")
			now := time.Now().UnixMilli() / 1000 * 1000
			for at := now; len(rows) == 1 && at > now-120_000; at -= 1000 {
				if rows[0].Time == at/60_000*60_000 && equals(rows[0].Close, big.NewRat(p.Funding(at), 100_000_000)) {
					return true
				}
			}
			return false
		})
	}
}

// TestPastFundingOfACoinIsTheMeanOfWhatTheExchangesPaid compares the mean of their rates for
// eight hours by what was traded of each perpetual in 24 hours.
func TestPastFundingOfACoinIsTheMeanOfWhatTheExchangesPaid(t *testing.T) {
	t.Parallel()
	const hour = int64(3_600_000)
	for _, coin := range []string{"BTC", "SOL"} {
		total, weights := new(big.Rat), new(big.Rat)
		for _, p := range perpetuals() {
			if p.Base != coin {
				continue
			}
			day := p.Kline(paidAt-24*hour, paidAt, began)
			traded := p.value(day.Quote, 1)
			if p.Dollars > 0 {
				traded = p.value(day.Size, 1)
			}
			rate := big.NewRat(p.Paid(paidAt)*8*hour, 100_000_000*p.Period())
			total.Add(total, rate.Mul(rate, traded))
			weights.Add(weights, traded)
		}
		text := total.Quo(total, weights).FloatString(12)
		want, _ := new(big.Rat).SetString(text)
		awaitPast(t, coin)
		if rows := coinFunding(t, coin); len(rows) != 1 || !equals(rows[0].Open, want) || !equals(rows[0].Close, want) {
			t.Errorf("%s at %d: %+v, want %s", coin, paidAt, rows, text)
		}
	}
}

// TestPastOpenInterestOfACoinIsTheSumOverExchanges compares steps of three hours before the
// stack began, of perpetuals of each kind.
func TestPastOpenInterestOfACoinIsTheSumOverExchanges(t *testing.T) {
	t.Parallel()
	const step = int64(300_000)
	for _, c := range []struct {
		path, coin string
		keys       []string
	}{
		{"aggregated-stablecoin-history", "BTC", []string{"btcswapusdt:binance", "btcswapusdt:okcoinfutures", "btcswapusdt:bybit"}},
		{"aggregated-stablecoin-history", "SOL", []string{"solswapusdt:binance", "solswapusdt:okcoinfutures", "solswapusdt:bybit"}},
		{"aggregated-coin-margin-history", "BTC", []string{"btcswapusd:binance", "btcswapusd:okcoinfutures", "btcswapusd:bybit"}},
	} {
		awaitPast(t, c.coin)
		last := began.UnixMilli()/step*step - step
		from := last - 3*3_600_000
		query := fmt.Sprintf("symbol=%s&interval=5m&start_time=%d&end_time=%d&limit=1000", c.coin, from, last)
		testenv.Until(t, query+" is the sum", func() bool {
			rows := futures[[]futuresBar](t, "open-interest/"+c.path, query)
			if len(rows) != int((last-from)/step)+1 {
				return false
			}
			for i, row := range rows {
				want := new(big.Rat)
				for _, p := range perpetuals() {
					if slices.Contains(c.keys, p.key) {
						want.Add(want, p.value(p.Interest(row.Time), p.Mark(row.Time)))
					}
				}
				if row.Time != from+int64(i)*step || !equals(row.Open, want) || !equals(row.High, want) || !equals(row.Low, want) || !equals(row.Close, want) {
					t.Fatalf("%s: %+v, want %s", query, row, want.FloatString(8))
				}
			}
			return true
		})
	}
}

// TestLiquidationsOfAMinuteAreAllOfThem waits for a whole minute that began with the test.
func TestLiquidationsOfAMinuteAreAllOfThem(t *testing.T) {
	t.Parallel()
	const minute = int64(60_000)
	first := time.Now().UnixMilli()/minute*minute + minute
	testenv.Until(t, "a whole minute is over", func() bool { return time.Now().UnixMilli() > first+minute })
	for _, p := range perpetuals() {
		if p.Quiet { // few minutes of it have any
			continue
		}
		testenv.Until(t, "the liquidations of a minute of "+p.key, func() bool {
			type sums struct {
				Time  int64
				Long  string `json:"long_liquidation_usd"`
				Short string `json:"short_liquidation_usd"`
			}
			rows := futures[[]sums](t, "liquidation/history", "symbol="+p.key+"&interval=1m&limit=100")
			i := slices.IndexFunc(rows, func(row sums) bool { return row.Time == first })
			if i < 0 {
				return false
			}
			long, short := new(big.Rat), new(big.Rat)
			for _, l := range p.Liquidations(first, first+minute) {
				side := short
				if l.Long {
					side = long
				}
				side.Add(side, p.value(l.Size, l.Price))
			}
			return equals(rows[i].Long, long) && equals(rows[i].Short, short)
		})
	}
}

// TestTheRatioOfAccountsIsTheMeanOfTheExchanges compares it with those of the last quarter
// of an hour: exchanges round their own to four places.
func TestTheRatioOfAccountsIsTheMeanOfTheExchanges(t *testing.T) {
	t.Parallel()
	const step = int64(300_000)
	testenv.Until(t, "the ratio of accounts", func() bool {
		type ratio struct {
			Detail struct{ Last *string }
		}
		answer := ask(t, world.State.Demo.SubKey, "GET", "/v2/mix/ls-ratio", nil)
		if answer.Status != http.StatusOK {
			t.Fatalf("status %d: %s", answer.Status, answer.Body)
		}
		last := data[ratio](t, answer).Detail.Last
		if last == nil {
			return false // not known yet
		}
		got, err := strconv.ParseFloat(*last, 64)
		if err != nil {
			t.Fatalf("%v: %s", err, answer.Body)
		}
		now := time.Now().UnixMilli() / step * step
		for _, at := range []int64{now, now - step, now - 2*step} {
			longs, exchanges := 0.0, 0.0
			for _, p := range perpetuals() {
				if p.Base == "BTC" && p.key != "btcswapusd:okcoinfutures" { // OKX tells of a coin, not of a pair
					longs, exchanges = longs+float64(p.Longs(at))/10_000, exchanges+1
				}
			}
			mean := longs / exchanges
			if math.Abs(got-mean/(1-mean)) < 0.001 {
				return true
			}
		}
		return false
	})
}

// TestLatestTradesAreTheExchanges looks each of them up among the exchange's trades.
func TestLatestTradesAreTheExchanges(t *testing.T) {
	t.Parallel()
	for _, p := range []perpetual{
		{"btcswapusdt:binance", world.Exchange.Market("BTCUSDT", true)},
		{"ethusdt:binance", world.Exchange.Market("ETHUSDT", false)},
		{"btcusdt:okex", world.OKX.Market("BTC-USDT")},
	} {
		type row struct {
			ID, Price, Amount, Side string
			Time                    int64
		}
		var rows []row
		testenv.Until(t, "trades of "+p.key, func() bool {
			rows = futures[[]row](t, "trade-data", "dbkey="+p.key)
			return len(rows) >= 10
		})
		trades := p.Trades(rows[len(rows)-1].Time, rows[0].Time+1)
		for _, row := range rows {
			i := slices.IndexFunc(trades, func(trade trading.Trade) bool {
				id := trade.ID
				if p.Market == world.OKX.Market("BTC-USDT") {
					id = trade.Last // it numbers fills
				}
				return strconv.FormatInt(id, 10) == row.ID
			})
			if i < 0 {
				t.Fatalf("%s: the exchange had no trade %+v", p.key, row)
			}
			side := "buy"
			if trades[i].BuyerMaker {
				side = "sell"
			}
			if trades[i].Time != row.Time || row.Side != side || !same(json.Number(row.Price), p.Price(trades[i].Price)) || !same(json.Number(row.Amount), p.Lots(trades[i].Size)) {
				t.Errorf("%s: %+v, the exchange had %+v", p.key, row, trades[i])
			}
		}
	}
}
