package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"quotary/localstack/client"
	"quotary/localstack/sim/trading"
	"quotary/shared/testing/testenv"
)

// TestKlinesOfPairsAreTheExchangesOwn compares what is served with the sums of the
// simulated exchange's trades, to the last digit: of everything that has ended, in
// every period and both openings of the day.
func TestKlinesOfPairsAreTheExchangesOwn(t *testing.T) {
	t.Parallel()
	for _, pair := range []struct {
		key, symbol string
		swap        bool
	}{
		{"btcusdt:binance", "BTCUSDT", false}, {"ethusdt:binance", "ETHUSDT", false}, {"solusdt:binance", "SOLUSDT", false},
		{"btcswapusdt:binance", "BTCUSDT", true}, {"solswapusdt:binance", "SOLUSDT", true}, {"btcswapusd:binance", "BTCUSD_PERP", true},
	} {
		m := world.Exchange.Market(pair.symbol, pair.swap)
		for _, period := range []int64{60, 180, 300, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 259200, 604800, 2592000} {
			for _, opens := range []string{"0", "8"} {
				query := fmt.Sprintf("symbol=%s&period=%d&open_time=%s&size=500", pair.key, period, opens)
				var difference string
				testenv.Until(t, query+" is the exchange's own", func() bool {
					now := time.Now()
					got := commonKlines(t, query)
					difference = unlike(world.Exchange.Since(), m, period, opens, got, now)
					return difference == ""
				})
			}
		}
	}
}

// TestKlinesOfASecondExchangeAreItsOwn does so for OKX, whose swaps are traded in
// contracts and known under another platform, and for Bybit, whose inverse perpetuals are
// traded in US dollars.
func TestKlinesOfASecondExchangeAreItsOwn(t *testing.T) {
	t.Parallel()
	for _, pair := range []struct {
		key   string
		m     *trading.Market
		since time.Time
	}{
		{"btcusdt:okex", world.OKX.Market("BTC-USDT"), world.OKX.Since()},
		{"solusdt:okex", world.OKX.Market("SOL-USDT"), world.OKX.Since()},
		{"btcswapusdt:okcoinfutures", world.OKX.Market("BTC-USDT-SWAP"), world.OKX.Since()},
		{"solswapusdt:okcoinfutures", world.OKX.Market("SOL-USDT-SWAP"), world.OKX.Since()},
		{"btcusdt:bybit", world.Bybit.Market("spot", "BTCUSDT"), world.Bybit.Since()},
		{"solswapusdt:bybit", world.Bybit.Market("linear", "SOLUSDT"), world.Bybit.Since()},
		{"btcswapusd:bybit", world.Bybit.Market("inverse", "BTCUSD"), world.Bybit.Since()},
	} {
		for _, period := range []int64{60, 900, 3600, 14400, 86400} {
			query := fmt.Sprintf("symbol=%s&period=%d&open_time=8&size=500", pair.key, period)
			difference := ""
			testenv.Until(t, query+" is the exchange's own", func() bool {
				now := time.Now()
				difference = unlike(pair.since, pair.m, period, "8", commonKlines(t, query), now)
				return difference == ""
			})
		}
	}
}

// TestTheOpenKlineFollowsTrades waits until the open K-line of an hour holds every
// trade up to some moment in the minute that runs.
func TestTheOpenKlineFollowsTrades(t *testing.T) {
	t.Parallel()
	m := world.Exchange.Market("BTCUSDT", true)
	testenv.Until(t, "the open K-line of an hour holds trades of this minute", func() bool {
		rows := commonKlines(t, "symbol=btcswapusdt:binance&period=3600&size=1")
		if len(rows) != 1 {
			return false
		}
		open := seconds(rows[0]) * 1000
		var sum trading.Kline
		minute := time.Now().UnixMilli() / 60_000 * 60_000
		var size int64
		for _, trade := range m.Trades(open, time.Now().UnixMilli()) {
			size += trade.Size
			sum.Last = trade.Price
			if trade.Time >= minute && same(rows[0][5], m.Lots(size)) && same(rows[0][4], m.Price(sum.Last)) {
				return true
			}
		}
		return false
	})
}

func TestKlinesOfNothingAndOfWrongPeriods(t *testing.T) {
	t.Parallel()
	for of, query := range map[string]string{
		"an index that nobody knows": "symbol=i:nobody:nasdaq&period=86400",
		"a pair that does not trade": "symbol=lunausdt:binance&period=60",
	} {
		if rows := commonKlines(t, query); len(rows) != 0 {
			t.Errorf("%s has %v", of, rows)
		}
	}
	for of, query := range map[string]string{
		"days of an index are its shortest": "symbol=i:ixic:nasdaq&period=60",
		"a period is seconds":               "symbol=btcusdt:binance&period=1day",
	} {
		answer := ask(t, world.State.Demo.SubKey, "GET", "/v2/commonKline/dataRecords?"+query, nil)
		if answer.Status != http.StatusBadRequest {
			t.Errorf("%s: status %d: %s", of, answer.Status, answer.Body)
		}
	}
}

func commonKlines(t *testing.T, query string) [][]json.Number {
	t.Helper()
	type list struct {
		Rows [][]json.Number `json:"kline_data"`
	}
	var answer client.Answer = ask(t, world.State.Demo.SubKey, "GET", "/v2/commonKline/dataRecords?"+query, nil)
	if answer.Status == http.StatusServiceUnavailable { // their past is being read
		return nil
	}
	if answer.Status != http.StatusOK {
		t.Fatalf("%s: status %d: %s", query, answer.Status, answer.Body)
	}
	return data[list](t, answer).Rows
}

// unlike says how rows differ from what the exchange summed up in buckets that had
// ended; those that have not are left out on both sides.
func unlike(since time.Time, m *trading.Market, period int64, opens string, rows [][]json.Number, now time.Time) string {
	if len(rows) == 0 {
		return "no rows"
	}
	kline := func(open time.Time) trading.Kline { // of the first bucket what there was from its pair's first trade on
		return m.Kline(max(open.UnixMilli(), since.UnixMilli()), next(open, period).UnixMilli(), now)
	}
	at, last := time.Unix(seconds(rows[0]), 0).UTC(), time.Time{}
	for _, row := range rows {
		open := time.Unix(seconds(row), 0).UTC()
		if !open.Equal(bucket(open, period, opens)) {
			return fmt.Sprintf("a row opens at %s", open)
		}
		for ; at.Before(open); at = next(at, period) {
			if kline(at).Fills > 0 {
				return fmt.Sprintf("no row of %s", at)
			}
		}
		at, last = next(at, period), open
		if next(open, period).After(now) {
			continue // it is open
		}
		k := kline(open)
		size := m.Lots(k.Size)
		if m.Dollars > 0 {
			size = trading.Coins(k.Coins)
		}
		for i, want := range []string{m.Price(k.First), m.Price(k.High), m.Price(k.Low), m.Price(k.Last), size} {
			if !same(row[i+1], want) {
				return fmt.Sprintf("of %s, number %d is %s, want %s", open, i+1, row[i+1], want)
			}
		}
	}
	// The newest that has ended must be there.
	if ended := bucket(now, period, opens).Add(-time.Millisecond); last.Before(bucket(ended, period, opens)) && m.Kline(bucket(ended, period, opens).UnixMilli(), ended.UnixMilli(), now).Fills > 0 && bucket(ended, period, opens).After(since) {
		return fmt.Sprintf("the newest row is of %s", last)
	}
	return ""
}

// bucket is the opening of the bucket that holds a moment: counted from the opening of a
// day, three days from the first one of BTCUSDT on Binance, weeks from a Monday, months by
// the calendar in UTC.
func bucket(at time.Time, period int64, opens string) time.Time {
	at = at.UTC()
	if period == 2592000 {
		return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
	}
	from := time.Unix(0, 0).UTC()
	switch period {
	case 259200:
		from = time.Date(2017, 8, 17, 0, 0, 0, 0, time.UTC)
	case 604800:
		from = from.AddDate(0, 0, 4)
	}
	if opens == "0" {
		from = from.Add(-8 * time.Hour)
	}
	width := time.Duration(period) * time.Second
	return from.Add(at.Sub(from) / width * width)
}

func next(open time.Time, period int64) time.Time {
	if period == 2592000 {
		return open.AddDate(0, 1, 0)
	}
	return open.Add(time.Duration(period) * time.Second)
}

func seconds(row []json.Number) int64 {
	n, err := strconv.ParseInt(string(row[0]), 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// same compares decimals of which one may have zeros at its end.
func same(got json.Number, want string) bool { return trimmed(string(got)) == trimmed(want) }

func trimmed(decimal string) string {
	for i := range decimal {
		if decimal[i] == '.' {
			for decimal[len(decimal)-1] == '0' {
				decimal = decimal[:len(decimal)-1]
			}
			if decimal[len(decimal)-1] == '.' {
				decimal = decimal[:len(decimal)-1]
			}
			break
		}
	}
	return decimal
}
