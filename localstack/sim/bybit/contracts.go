package bybit

import (
	"net/http"

	"quotary/localstack/sim/trading"
)

// size writes lots as the exchange counts them: base coins, or dollars.
func size(m *trading.Market, lots int64) string {
	if m.Dollars > 0 {
		return text(lots * m.Dollars)
	}
	return m.Lots(lots)
}

// ticker is what is said of a market at a time, ms.
func ticker(m *trading.Market, at int64) map[string]string {
	d := m.Day(at)
	volume, turnover := traded(m, &d)
	t := map[string]string{
		"symbol": m.Symbol, "lastPrice": m.Price(d.Last), "prevPrice24h": m.Price(d.First),
		"highPrice24h": m.Price(d.High), "lowPrice24h": m.Price(d.Low), "volume24h": volume, "turnover24h": turnover,
	}
	if !m.Swap {
		return t
	}
	lots, mark := m.Interest(at), m.Mark(at)
	value := m.Amount(2 * lots * mark)
	if m.Dollars > 0 {
		value = trading.Coins(m.CoinsOf(2*lots, mark))
	}
	for name, is := range map[string]string{
		"markPrice": m.Price(mark), "indexPrice": m.Price(m.Index(at)),
		"openInterest": size(m, 2*lots), "openInterestValue": value, "singleOpenInterest": size(m, lots),
		"fundingRate": trading.Rate(m.Funding(at)), "nextFundingTime": text(m.Due(at)), "fundingIntervalHour": text(m.Period() / hour),
	} {
		t[name] = is
	}
	return t
}

// tickers are those of a category, or one of them.
func (x *Exchange) tickers(r *http.Request) answer {
	category, symbol := r.URL.Query().Get("category"), r.URL.Query().Get("symbol")
	if !isCategory(category) {
		return errCategory
	}
	now := x.clock().UnixMilli()
	list := []any{}
	for _, m := range x.Markets {
		if categoryOf(m) == category && (symbol == "" || m.Symbol == symbol) {
			list = append(list, ticker(m, now))
		}
	}
	if symbol != "" && len(list) == 0 {
		return errSymbol
	}
	return listed(result{Category: category, List: list})
}

// past answers with what a perpetual had every so often, newest first: the newest of what
// is asked for.
func (x *Exchange) past(r *http.Request, step int64, start, end string, fallback, most int64, row func(m *trading.Market, at int64) map[string]string) answer {
	m, refused := x.market(r)
	if m == nil || !m.Swap {
		return refused
	}
	if step == 0 {
		step = m.Period()
	}
	now := x.clock().UnixMilli()
	oldest, limit := max(x.since, number(r, start, 0)), min(number(r, "limit", fallback), most)
	list := []any{}
	for at := min(now, number(r, end, now)) / step * step; at >= oldest && int64(len(list)) < limit; at -= step {
		list = append(list, row(m, at))
	}
	return listed(result{Category: categoryOf(m), Symbol: m.Symbol, List: list})
}

// pastFunding are rates that were paid. A beginning without an end is refused.
func (x *Exchange) pastFunding(r *http.Request) answer {
	if q := r.URL.Query(); q.Has("startTime") && !q.Has("endTime") {
		return errTime
	}
	return x.past(r, 0, "startTime", "endTime", 200, 200, func(m *trading.Market, at int64) map[string]string {
		return map[string]string{"symbol": m.Symbol, "fundingRate": trading.Rate(m.Paid(at)), "fundingRateTimestamp": text(at)}
	})
}

// steps are those of what is told of the past.
var steps = map[string]int64{"5min": 5 * minute, "15min": 15 * minute, "30min": 30 * minute, "1h": hour, "4h": 4 * hour, "1d": day}

func (x *Exchange) pastInterest(r *http.Request) answer {
	step := steps[r.URL.Query().Get("intervalTime")]
	if step == 0 {
		return errInterval
	}
	return x.past(r, step, "startTime", "endTime", 50, 200, func(m *trading.Market, at int64) map[string]string {
		lots := m.Interest(at)
		return map[string]string{"openInterest": size(m, 2*lots), "singleOpenInterest": size(m, lots), "timestamp": text(at)}
	})
}

func (x *Exchange) pastRatios(r *http.Request) answer {
	step := steps[r.URL.Query().Get("period")]
	if step == 0 {
		return errInterval
	}
	return x.past(r, step, "startTime", "endTime", 50, 500, func(m *trading.Market, at int64) map[string]string {
		longs := m.Longs(at)
		return map[string]string{"symbol": m.Symbol, "buyRatio": trading.Decimal(longs, 4), "sellRatio": trading.Decimal(10_000-longs, 4), "timestamp": text(at)}
	})
}
