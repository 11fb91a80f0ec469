package binance

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"quotary/localstack/trading"
)

// contractPaths are the requests about perpetuals, and tickers of both kinds of markets.
func (x *Exchange) contractPaths(mux *http.ServeMux) {
	type answer = func(q url.Values) (weight int, body any)
	handle := func(path string, swap bool, of answer) {
		mux.HandleFunc("GET "+path, x.rest(swap, func(_ http.ResponseWriter, r *http.Request) (int, any) { return of(r.URL.Query()) }))
	}
	handle("/api/v3/ticker/24hr", false, func(q url.Values) (int, any) { return x.tickers(q, false, 2, 80) })
	handle("/fapi/v1/ticker/24hr", true, func(q url.Values) (int, any) { return x.tickers(q, true, 1, 40) })
	handle("/fapi/v1/premiumIndex", true, x.premiumIndex)
	handle("/fapi/v1/fundingInfo", true, x.fundingInfo)
	handle("/fapi/v1/fundingRate", true, x.fundingRate)
	handle("/fapi/v1/openInterest", true, x.openInterest)
	handle("/futures/data/openInterestHist", true, x.openInterestHist)
	handle("/futures/data/globalLongShortAccountRatio", true, x.accountRatio)
}

// requested are the markets of a request: the one that is named, else all of the kind that
// trade. ok is false where the name is none.
func (x *Exchange) requested(q url.Values, swap bool) (list []*Market, one, ok bool) {
	if symbol := q.Get("symbol"); symbol != "" {
		m := x.Market(symbol, swap)
		return []*Market{m}, true, m != nil
	}
	for _, m := range x.Markets {
		if m.Swap == swap && !x.isHalted(m) {
			list = append(list, m)
		}
	}
	return list, false, true
}

var invalidSymbol = fault{-1121, "Invalid symbol."}

// tickers are the last 24 hours.
func (x *Exchange) tickers(q url.Values, swap bool, single, every int) (weight int, body any) {
	markets, one, ok := x.requested(q, swap)
	if !ok {
		return single, invalidSymbol
	}
	now := x.clock().UnixMilli()
	list := []any{}
	for _, m := range markets {
		k := m.Day(now)
		list = append(list, map[string]any{
			"symbol": m.Symbol, "lastPrice": m.Price(k.Last), "openPrice": m.Price(k.First), "highPrice": m.Price(k.High), "lowPrice": m.Price(k.Low),
			"priceChange": m.Price(k.Last - k.First), "volume": m.Lots(k.Size), "quoteVolume": m.Amount(k.Quote),
			"openTime": k.Open, "closeTime": now, "count": k.Fills,
		})
	}
	if one {
		return single, list[0]
	}
	return every, list
}

// rate writes a funding rate.
func rate(hundredMillionths int64) string {
	if hundredMillionths < 0 {
		return "-" + trading.Decimal(-hundredMillionths, 8)
	}
	return trading.Decimal(hundredMillionths, 8)
}

func (x *Exchange) premiumIndex(q url.Values) (weight int, body any) {
	markets, one, ok := x.requested(q, true)
	if !ok {
		return 1, invalidSymbol
	}
	now := x.clock().UnixMilli()
	list := []any{}
	for _, m := range markets {
		list = append(list, map[string]any{
			"symbol": m.Symbol, "markPrice": m.Price(m.Mark(now)), "indexPrice": m.Price(m.Index(now)),
			"lastFundingRate": rate(m.Funding(now)), "interestRate": "0.00010000", "nextFundingTime": m.Due(now), "time": now,
		})
	}
	if one {
		return 1, list[0]
	}
	return 10, list
}

// fundingInfo tells only of markets whose periods are no eight hours.
func (x *Exchange) fundingInfo(url.Values) (weight int, body any) {
	list := []any{}
	for _, m := range x.Markets {
		if m.Swap && m.Period() != 8*hour {
			list = append(list, map[string]any{
				"symbol": m.Symbol, "adjustedFundingRateCap": "0.02000000", "adjustedFundingRateFloor": "-0.02000000", "fundingIntervalHours": m.Period() / hour,
			})
		}
	}
	return 0, list
}

// window is what a request for the past asks for.
type window struct {
	from, to int64 // ms, both inclusive
	limit    int
}

// past reads a window, which reaches back to when trading began, and not before a time
// ago.
func (x *Exchange) past(q url.Values, fallback, most int, back time.Duration) (w window, started, ok bool) {
	now := x.clock().UnixMilli()
	w = window{from: x.since, to: now, limit: fallback}
	if back > 0 {
		w.from = max(w.from, now-back.Milliseconds())
	}
	for name, to := range map[string]*int64{"startTime": &w.from, "endTime": &w.to} {
		if text := q.Get(name); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return w, false, false
			}
			if name == "startTime" {
				n = max(n, *to)
				started = true
			} else {
				n = min(n, *to)
			}
			*to = n
		}
	}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > most {
			return w, false, false
		}
		w.limit = n
	}
	return w, started, true
}

var invalidWindow = fault{-1102, "A parameter was empty or malformed."}

// times are those of a window that are multiples of a step, ms, oldest first: without a
// start the newest.
func (w window) times(step int64, started bool) (list []int64) {
	for at := (w.from + step - 1) / step * step; at <= w.to; at += step {
		list = append(list, at)
	}
	if extra := len(list) - w.limit; extra > 0 {
		if started {
			return list[:w.limit]
		}
		return list[extra:]
	}
	return list
}

func (x *Exchange) fundingRate(q url.Values) (weight int, body any) {
	m := x.Market(q.Get("symbol"), true)
	w, started, ok := x.past(q, 100, 1000, 0)
	if m == nil || !ok {
		return 0, invalidWindow
	}
	list := []any{}
	for _, at := range w.times(m.Period(), started) {
		list = append(list, map[string]any{
			"symbol": m.Symbol, "fundingTime": at, "fundingRate": rate(m.Paid(at)), "markPrice": m.Price(m.Mark(at)), "rateType": "Regular",
		})
	}
	return 0, list
}

func (x *Exchange) openInterest(q url.Values) (weight int, body any) {
	m := x.Market(q.Get("symbol"), true)
	if m == nil {
		return 1, invalidSymbol
	}
	now := x.clock().UnixMilli()
	return 1, map[string]any{"symbol": m.Symbol, "openInterest": m.Lots(m.Interest(now)), "time": now}
}

// statistics are rows of the last 30 days, one a period.
func (x *Exchange) statistics(q url.Values, row func(m *Market, at int64) any) (weight int, body any) {
	m := x.Market(q.Get("symbol"), true)
	step := map[string]int64{"5m": 5 * minute, "15m": 15 * minute, "30m": 30 * minute, "1h": hour, "2h": 2 * hour, "4h": 4 * hour, "6h": 6 * hour, "12h": 12 * hour, "1d": day}[q.Get("period")]
	w, started, ok := x.past(q, 30, 500, 30*24*time.Hour)
	if m == nil || step == 0 || !ok {
		return 0, invalidWindow
	}
	list := []any{}
	for _, at := range w.times(step, started) {
		list = append(list, row(m, at))
	}
	return 0, list
}

func (x *Exchange) openInterestHist(q url.Values) (weight int, body any) {
	return x.statistics(q, func(m *Market, at int64) any {
		lots := m.Interest(at)
		return map[string]any{
			"symbol": m.Symbol, "sumOpenInterest": m.Lots(lots), "sumOpenInterestValue": m.Amount(lots * m.Mark(at)), "timestamp": at,
		}
	})
}

func (x *Exchange) accountRatio(q url.Values) (weight int, body any) {
	return x.statistics(q, func(m *Market, at int64) any {
		longs := m.Longs(at)
		return map[string]any{
			"symbol": m.Symbol, "longAccount": trading.Decimal(longs, 4), "shortAccount": trading.Decimal(10_000-longs, 4),
			"longShortRatio": trading.Decimal(longs*10_000/(10_000-longs), 4), "timestamp": at,
		}
	})
}

// Streams of a perpetual besides its trades.
const (
	markEvery  = 3000 // ms
	markStream = "@markPrice"
	forceAll   = "!forceOrder@arr"
)

// contractEvents are what the streams of perpetuals have between two times, ms.
func (x *Exchange) contractEvents(name string, from, now int64) (list []any) {
	if name == forceAll {
		for _, m := range x.Markets {
			list = append(list, x.forceOrders(m, from, now)...)
		}
		return list
	}
	for _, kind := range []struct {
		suffix string
		events func(m *Market) []any
	}{
		{markStream, func(m *Market) []any { return marks(m, markEvery, from, now) }},
		{markStream + "@1s", func(m *Market) []any { return marks(m, 1000, from, now) }},
		{"@forceOrder", func(m *Market) []any { return x.forceOrders(m, from, now) }},
	} {
		i := slices.IndexFunc(x.Markets, func(m *Market) bool { return m.Swap && strings.ToLower(m.Symbol)+kind.suffix == name })
		if i >= 0 && !x.isHalted(x.Markets[i]) {
			return kind.events(x.Markets[i])
		}
	}
	return nil
}

// marks are the mark prices that are pushed between two times.
func marks(m *Market, every, from, now int64) (list []any) {
	for at := (from + every - 1) / every * every; at < now; at += every {
		mark, index := m.Price(m.Mark(at)), m.Price(m.Index(at))
		list = append(list, markUpdate{"markPriceUpdate", at, m.Symbol, mark, mark, index, index, rate(m.Funding(at)), m.Due(at), 1})
	}
	return list
}

// markUpdate is a mark price as streams write it, the kind first.
type markUpdate struct {
	Kind      string `json:"e"`
	EventTime int64  `json:"E"`
	Symbol    string `json:"s"`
	Mark      string `json:"p"`
	Average   string `json:"ap"`
	Index     string `json:"i"`
	Settle    string `json:"P"`
	Rate      string `json:"r"`
	Due       int64  `json:"T"`
	Market    int    `json:"st"`
}

// forced is an order that closed a position, as streams write it.
type forced struct {
	Kind      string         `json:"e"`
	EventTime int64          `json:"E"`
	Order     map[string]any `json:"o"`
}

// forceOrders are the orders that closed positions between two times: on the other side.
func (x *Exchange) forceOrders(m *Market, from, now int64) (list []any) {
	if !m.Swap || x.isHalted(m) {
		return nil
	}
	for _, l := range m.Liquidations(from, now) {
		side := "BUY"
		if l.Long {
			side = "SELL"
		}
		list = append(list, forced{"forceOrder", l.Time, map[string]any{
			"s": m.Symbol, "ps": m.Symbol, "st": 1, "S": side, "o": "LIMIT", "f": "IOC", "q": m.Lots(l.Size), "p": m.Price(l.Price), "ap": m.Price(l.Price),
			"X": "FILLED", "l": m.Lots(l.Size), "z": m.Lots(l.Size), "T": l.Time,
		}})
	}
	return list
}
