package exchange

import (
	"log/slog"
	"testing"
	"time"

	"quotary/localstack/sim/binance"
	"quotary/localstack/sim/bybit"
	"quotary/localstack/sim/okx"
	"quotary/localstack/sim/trading"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// simulatedCandle is what there was of a simulated market.
func simulatedCandle(t *testing.T, m *trading.Market, from, to, until time.Time) market.Candle {
	t.Helper()
	number := func(s string) market.Decimal { return must.Get(market.ParseDecimal(s))(t) }
	k := m.Kline(from.UnixMilli(), to.UnixMilli(), until)
	return market.Candle{
		OpenTime: from.UnixMilli(), Trades: k.Fills, Open: number(m.Price(k.First)), High: number(m.Price(k.High)), Low: number(m.Price(k.Low)), Close: number(m.Price(k.Last)),
		Size: number(m.Lots(k.Size)), SizeBuyer: number(m.Lots(k.SizeBought)), Amount: number(m.Amount(k.Quote)), AmountBuyer: number(m.Amount(k.QuoteBought)),
	}
}

// simulatedPair is a pair of a simulated exchange with the hours of its strategies.
func simulatedPair(t *testing.T, platform string, m *trading.Market, until time.Time) hourlyPair {
	t.Helper()
	p := hourlyPair{Pair: market.Pair{Key: market.PairKey(m.Base, m.Quote, platform, m.Swap), Platform: platform, Base: m.Base, Quote: m.Quote, Swap: m.Swap}, longs: map[int64]market.Decimal{}}
	for at := until.Add(-(strategiesPast + market.StrategyHoursBack) * time.Hour); at.Before(until); at = at.Add(time.Hour) {
		end := at.Add(time.Hour)
		c := simulatedCandle(t, m, at, end, until)
		p.hours = append(p.hours, c)
		if m.Swap {
			p.longs[c.OpenTime] = must.Get(market.ParseDecimal(trading.Decimal(m.Longs(end.UnixMilli()-1), 4)))(t)
		}
	}
	return p
}

// What make run shows of sudden changes within an hour or two: a pair has some of each kind that
// calm ones do not have.
func TestASimulatedMorningHasSuddenChanges(t *testing.T) {
	t.Parallel()
	from, until := market.Day1.Start(noon), market.Day1.Start(noon).Add(8*time.Hour)
	said := map[market.ChangeKind]int{}
	for _, m := range bybit.New(bybit.Config{}).Markets {
		if m.Sudden {
			var day market.ChangeDay
			for at := from; at.Before(until); at = at.Add(time.Minute) {
				c := simulatedCandle(t, m, at, at.Add(time.Minute), until)
				for _, kind := range day.Add(&c) {
					said[kind]++
				}
			}
		}
	}
	for _, kind := range []market.ChangeKind{1, 2, 3, 4, 5, 6, 9, 10} {
		if said[kind] == 0 {
			t.Errorf("nothing of kind %d: %v", kind, said)
		}
	}
}

// What make run shows of each strategy, of the simulated fortnight before its first start, is enough
// for a win rate: a hundred signals.
func TestTheSimulatedFortnightHasAHundredSignalsOfEachStrategy(t *testing.T) {
	t.Parallel()
	until := market.Hour1.Start(noon)
	var all []hourlyPair
	add := func(platform string, markets []*trading.Market) {
		for _, m := range markets {
			if m.Dollars == 0 && m.Quote == "USDT" && (m.Base == "BTC" || m.Base == "ETH" || m.Base == "SOL") {
				all = append(all, simulatedPair(t, platform, m, until))
			}
		}
	}
	add("binance", binance.New(binance.Config{}).Markets)
	add("okex", okx.New(okx.Config{}).Markets)
	add("bybit", bybit.New(bybit.Config{}).Markets)
	w := Config{Logger: slog.New(slog.DiscardHandler)}.strategyWatch()
	w.at.Ended = map[string]endedSignals{}
	said := map[string]int{}
	for closed := until.Add(-strategiesPast * time.Hour); !closed.After(until); closed = closed.Add(time.Hour) {
		for _, s := range w.hour(all, closed.UnixMilli()) {
			if s.State == market.SignalOpen {
				said[s.Strategy]++
			}
		}
	}
	t.Log(said, len(all))
	for _, s := range market.Strategies {
		if said[s.Key] < 100 {
			t.Errorf("%s has %d signals", s.Key, said[s.Key])
		}
	}
}
