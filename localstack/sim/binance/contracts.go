package binance

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"quotary/localstack/sim/trading"
)

// contractPaths are the requests about perpetuals, and tickers of both kinds of markets.
func (x *Exchange) contractPaths(mux *http.ServeMux) {
	type answer = func(q url.Values) (weight int, body any)
	handle := func(path string, k kind, of answer) {
		mux.HandleFunc("GET "+path, x.rest(k, func(_ http.ResponseWriter, r *http.Request) (int, any) { return of(r.URL.Query()) }))
	}
	handle("/api/v3/ticker/24hr", spot, func(q url.Values) (int, any) { return x.tickers(q, spot, 2, 80) })
	for k, path := range map[kind]string{usdm: "/fapi/v1", coinm: "/dapi/v1"} {
		handle(path+"/ticker/24hr", k, func(q url.Values) (int, any) { return x.tickers(q, k, 1, 40) })
		handle(path+"/premiumIndex", k, func(q url.Values) (int, any) { return x.premiumIndex(q, k) })
		handle(path+"/fundingInfo", k, func(url.Values) (int, any) { return x.fundingInfo(k) })
		handle(path+"/fundingRate", k, func(q url.Values) (int, any) { return x.fundingRate(q, k) })
		handle(path+"/openInterest", k, func(q url.Values) (int, any) { return x.openInterest(q, k) })
	}
	handle("/futures/data/openInterestHist", usdm, x.openInterestHist)
	handle("/futures/data/globalLongShortAccountRatio", usdm, x.ratios((*Market).Longs, "Account"))
	handle("/futures/data/topLongShortAccountRatio", usdm, x.ratios((*Market).TopLongs, "Account"))
	handle("/futures/data/topLongShortPositionRatio", usdm, x.ratios((*Market).TopPositions, "Position"))
}

// requested are the markets of a request: the one that is named, else all of the kind that
// trade. ok is false where the name is none.
func (x *Exchange) requested(q url.Values, k kind) (list []*Market, one, ok bool) {
	if symbol := q.Get("symbol"); symbol != "" {
		m := x.marketOf(symbol, k)
		return []*Market{m}, true, m != nil
	}
	for _, m := range x.Markets {
		if kindOf(m) == k && !x.isHalted(m) {
			list = append(list, m)
		}
	}
	return list, false, true
}

var invalidSymbol = fault{-1121, "Invalid symbol."}

// tickers are the last 24 hours.
func (x *Exchange) tickers(q url.Values, k kind, single, every int) (weight int, body any) {
	markets, one, ok := x.requested(q, k)
	if !ok {
		return single, invalidSymbol
	}
	now := x.clock().UnixMilli()
	list := []any{}
	for _, m := range markets {
		d := m.Day(now)
		ticker := map[string]any{
			"symbol": m.Symbol, "lastPrice": m.Price(d.Last), "openPrice": m.Price(d.First), "highPrice": m.Price(d.High), "lowPrice": m.Price(d.Low),
			"priceChange": m.Price(d.Last - d.First), "volume": m.Lots(d.Size),
			"openTime": d.Open, "closeTime": now, "count": d.Fills,
		}
		if k == coinm {
			ticker["pair"], ticker["baseVolume"] = m.Base+m.Quote, trading.Coins(d.Coins)
		} else {
			ticker["quoteVolume"] = m.Amount(d.Quote)
		}
		list = append(list, ticker)
	}
	if one {
		return single, list[0]
	}
	return every, list
}

func (x *Exchange) premiumIndex(q url.Values, k kind) (weight int, body any) {
	markets, one, ok := x.requested(q, k)
	if !ok {
		return 1, invalidSymbol
	}
	now := x.clock().UnixMilli()
	list := []any{}
	for _, m := range markets {
		list = append(list, map[string]any{
			"symbol": m.Symbol, "markPrice": m.Price(m.Mark(now)), "indexPrice": m.Price(m.Index(now)),
			"lastFundingRate": trading.Rate(m.Funding(now)), "interestRate": "0.00010000", "nextFundingTime": m.Due(now), "time": now,
		})
	}
	if one && k == usdm { // the other kind always answers with a list
		return 1, list[0]
	}
	return 10, list
}

// fundingInfo tells only of markets whose periods are no eight hours.
func (x *Exchange) fundingInfo(k kind) (weight int, body any) {
	list := []any{}
	for _, m := range x.Markets {
		if kindOf(m) == k && m.Period() != 8*hour {
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

func (x *Exchange) fundingRate(q url.Values, k kind) (weight int, body any) {
	m := x.marketOf(q.Get("symbol"), k)
	w, started, ok := x.past(q, 100, 1000, 0)
	if m == nil || !ok {
		return 0, invalidWindow
	}
	list := []any{}
	for _, at := range w.times(m.Period(), started) {
		list = append(list, map[string]any{
			"symbol": m.Symbol, "fundingTime": at, "fundingRate": trading.Rate(m.Paid(at)), "markPrice": m.Price(m.Mark(at)), "rateType": "Regular",
		})
	}
	return 0, list
}

func (x *Exchange) openInterest(q url.Values, k kind) (weight int, body any) {
	m := x.marketOf(q.Get("symbol"), k)
	if m == nil {
		return 1, invalidSymbol
	}
	now := x.clock().UnixMilli()
	return 1, map[string]any{"symbol": m.Symbol, "openInterest": m.Lots(m.Interest(now)), "time": now}
}

// statistics are rows of the last 30 days, one a period: of a symbol or, of the kind that is
// paid in base coins, of a pair.
func (x *Exchange) statistics(q url.Values, row func(m *Market, at int64) any) (weight int, body any) {
	m := x.marketOf(q.Get("symbol"), usdm)
	if pair := q.Get("pair"); pair != "" {
		m = x.marketOf(pair+"_PERP", coinm)
	}
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
	if q.Has("pair") && q.Get("contractType") != "PERPETUAL" {
		return 0, invalidWindow
	}
	return x.statistics(q, func(m *Market, at int64) any {
		lots := m.Interest(at)
		if m.Dollars > 0 {
			return map[string]any{
				"pair": m.Base + m.Quote, "contractType": "PERPETUAL", "timestamp": at,
				"sumOpenInterest": m.Lots(lots), "sumOpenInterestValue": trading.Coins(m.CoinsOf(lots, m.Mark(at))),
			}
		}
		return map[string]any{
			"symbol": m.Symbol, "sumOpenInterest": m.Lots(lots), "sumOpenInterestValue": m.Amount(lots * m.Mark(at)), "timestamp": at,
		}
	})
}

// ratios answers with shares, in ten-thousandths, of accounts or positions. What is of positions
// has another name of inverse markets alone.
func (x *Exchange) ratios(share func(m *Market, at int64) int64, of string) func(q url.Values) (weight int, body any) {
	return func(q url.Values) (weight int, body any) {
		return x.statistics(q, func(m *Market, at int64) any {
			of, longs := of, share(m, at)
			if m.Dollars == 0 {
				of = "Account"
			}
			return map[string]any{
				"symbol": m.Symbol, "long" + of: trading.Decimal(longs, 4), "short" + of: trading.Decimal(10_000-longs, 4),
				"longShortRatio": trading.Decimal(longs*10_000/(10_000-longs), 4), "timestamp": at,
			}
		})
	}
}

// Streams of a perpetual besides its trades.
const (
	markEvery  = 3000 // ms
	markStream = "@markPrice"
	forceAll   = "!forceOrder@arr"
)

// contractEvents are what the streams of perpetuals have between two times, ms.
func (x *Exchange) contractEvents(name string, k kind, from, now int64) (list []any) {
	if name == forceAll {
		for _, m := range x.Markets { // of both kinds, on either's streams
			list = append(list, x.forceOrders(m, from, now)...)
		}
		return list
	}
	for _, stream := range []struct {
		suffix string
		events func(m *Market) []any
	}{
		{markStream, func(m *Market) []any { return marks(m, markEvery, from, now) }},
		{markStream + "@1s", func(m *Market) []any { return marks(m, 1000, from, now) }},
		{"@forceOrder", func(m *Market) []any { return x.forceOrders(m, from, now) }},
	} {
		i := slices.IndexFunc(x.Markets, func(m *Market) bool { return kindOf(m) == k && strings.ToLower(m.Symbol)+stream.suffix == name })
		if i >= 0 && !x.isHalted(x.Markets[i]) {
			return stream.events(x.Markets[i])
		}
	}
	return nil
}

// marks are the mark prices that are pushed between two times.
func marks(m *Market, every, from, now int64) (list []any) {
	for at := (from + every - 1) / every * every; at < now; at += every {
		mark, index := m.Price(m.Mark(at)), m.Price(m.Index(at))
		list = append(list, markUpdate{"markPriceUpdate", at, m.Symbol, mark, mark, index, index, trading.Rate(m.Funding(at)), m.Due(at), int(kindOf(m))})
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
			"s": m.Symbol, "ps": m.Symbol, "st": int(kindOf(m)), "S": side, "o": "LIMIT", "f": "IOC", "q": m.Lots(l.Size), "p": m.Price(l.Price), "ap": m.Price(l.Price),
			"X": "FILLED", "l": m.Lots(l.Size), "z": m.Lots(l.Size), "T": l.Time,
		}})
	}
	return list
}
