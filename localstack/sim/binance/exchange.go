package binance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"quotary/localstack/sim"
	"quotary/localstack/sim/trading"
)

// Config says what exchange to run.
type Config = trading.Config

// Exchange is a running exchange. All methods are safe for concurrent use.
type Exchange struct {
	Markets []*Market

	clock func() time.Time
	since int64 // ms

	trading.Faults

	mu      sync.Mutex
	weights [kinds]weights
	banned  time.Time
	status  int // while banned
	repeat  bool
	halted  map[*Market]bool
}

// weights is what has been asked of a host in a minute.
type weights struct {
	minute int64
	used   int
}

// New returns an exchange.
func New(c Config) *Exchange {
	c = c.WithDefaults()
	return &Exchange{
		Markets: markets(c.Seed), clock: c.Clock, since: c.Since.UnixMilli() / day * day,
		halted: map[*Market]bool{},
	}
}

// Since is when trading began.
func (x *Exchange) Since() time.Time { return time.UnixMilli(x.since).UTC() }

// Market returns a market by its symbol, nil where there is none.
func (x *Exchange) Market(symbol string, swap bool) *Market {
	i := slices.IndexFunc(x.Markets, func(m *Market) bool { return m.Symbol == symbol && m.Swap == swap })
	if i < 0 {
		return nil
	}
	return x.Markets[i]
}

// Ban answers every REST request with a status, 429 or 418, for a time.
func (x *Exchange) Ban(status int, long time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status, x.banned = status, x.clock().Add(long)
}

// Repeat pushes every trade twice, or no longer.
func (x *Exchange) Repeat(on bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.repeat = on
}

// Halt ends the trading of a market, or resumes it: while it is halted it is listed as
// such, and nothing is pushed of it.
func (x *Exchange) Halt(m *Market, on bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.halted[m] = on
}

func (x *Exchange) isHalted(m *Market) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.halted[m]
}

// marketOf is the market of a kind.
func (x *Exchange) marketOf(symbol string, k kind) *Market {
	if m := x.Market(symbol, k != spot); m != nil && kindOf(m) == k {
		return m
	}
	return nil
}

// Handler answers all of the protocols: /api and /stream are those of the spot
// markets, /fapi, /market/stream and /public/stream those of perpetuals in USDT, /dapi and
// /dapi/stream those of perpetuals in their base coins.
func (x *Exchange) Handler() http.Handler {
	mux := http.NewServeMux()
	for k, path := range [kinds]string{spot: "/api/v3", usdm: "/fapi/v1", coinm: "/dapi/v1"} {
		k := kind(k)
		mux.HandleFunc("GET "+path+"/exchangeInfo", x.rest(k, func(http.ResponseWriter, *http.Request) (int, any) {
			return infoWeight(k), x.info(k)
		}))
		mux.HandleFunc("GET "+path+"/klines", x.rest(k, func(_ http.ResponseWriter, r *http.Request) (int, any) {
			return x.klines(r, k)
		}))
		mux.HandleFunc("GET "+path+"/depth", x.rest(k, func(_ http.ResponseWriter, r *http.Request) (int, any) {
			return x.depth(r.URL.Query(), k)
		}))
		mux.HandleFunc("GET "+path+"/time", x.rest(k, func(http.ResponseWriter, *http.Request) (int, any) {
			return 1, map[string]int64{"serverTime": x.clock().UnixMilli()}
		}))
	}
	x.contractPaths(mux)
	for path, has := range map[string]carries{
		"/stream": {spot, true, true}, "/market/stream": {usdm, true, false}, "/public/stream": {usdm, false, true}, "/dapi/stream": {coinm, true, true},
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { x.serve(w, r, has) })
	}
	return sim.Label(mux)
}

func infoWeight(k kind) int {
	if k == spot {
		return 20
	}
	return 1
}

// fault is an answer that is none.
type fault struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
}

// rest answers a request with its weight counted.
func (x *Exchange) rest(k kind, answer func(http.ResponseWriter, *http.Request) (weight int, body any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json;charset=UTF-8")
		if status, after := x.ban(); status != 0 {
			w.Header().Set("Retry-After", strconv.Itoa(after))
			respond(w, status, fault{-1003, "Too much request weight used; current limit is exceeded."})
			return
		}
		weight, body := answer(w, r)
		used := x.spend(k, weight)
		w.Header().Set("X-MBX-USED-WEIGHT-1M", strconv.Itoa(used))
		if limit := k.limit(); used > limit {
			w.Header().Set("Retry-After", strconv.FormatInt(60-x.clock().Unix()%60, 10))
			respond(w, http.StatusTooManyRequests, fault{-1003, fmt.Sprintf("Too much request weight used; current limit is %d request weight per 1 MINUTE.", limit)})
			return
		}
		if f, is := body.(fault); is {
			respond(w, http.StatusBadRequest, f)
			return
		}
		respond(w, http.StatusOK, body)
	}
}

func respond(w http.ResponseWriter, status int, body any) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that went away needs no answer
}

func (x *Exchange) ban() (status, after int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if left := x.banned.Sub(x.clock()); left > 0 {
		return x.status, int(left/time.Second) + 1
	}
	return 0, 0
}

func (x *Exchange) spend(k kind, weight int) (used int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	w := &x.weights[k]
	if now := x.clock().UnixMilli() / minute; now != w.minute {
		*w = weights{minute: now}
	}
	w.used += weight
	return w.used
}

// info describes all markets of a kind.
func (x *Exchange) info(k kind) any {
	type object = map[string]any
	symbols := []object{}
	for _, m := range x.Markets {
		if kindOf(m) != k {
			continue
		}
		status := "status"
		if k == coinm {
			status = "contractStatus"
		}
		s := object{"symbol": m.Symbol, status: "TRADING", "baseAsset": m.Base, "quoteAsset": m.Quote, "filters": []object{
			{"filterType": "PRICE_FILTER", "tickSize": trading.Decimal(1, m.Tick)}, {"filterType": "LOT_SIZE", "stepSize": trading.Decimal(1, m.Lot)},
		}}
		if x.isHalted(m) {
			s[status] = "BREAK"
		}
		switch k {
		case usdm:
			s["pair"], s["contractType"], s["marginAsset"], s["onboardDate"] = m.Symbol, "PERPETUAL", m.Quote, x.since
		case coinm:
			s["pair"], s["contractType"], s["marginAsset"], s["contractSize"] = m.Base+m.Quote, "PERPETUAL", m.Base, m.Dollars
		}
		symbols = append(symbols, s)
	}
	// What does not trade, and what is no perpetual.
	symbols = append(symbols, map[kind]object{
		spot:  {"symbol": "LUNAUSDT", "status": "BREAK", "baseAsset": "LUNA", "quoteAsset": "USDT"},
		usdm:  {"symbol": "BTCUSDT_261225", "pair": "BTCUSDT", "contractType": "CURRENT_QUARTER", "status": "TRADING", "baseAsset": "BTC", "quoteAsset": "USDT"},
		coinm: {"symbol": "BTCUSD_261225", "pair": "BTCUSD", "contractType": "CURRENT_QUARTER", "contractStatus": "TRADING", "baseAsset": "BTC", "quoteAsset": "USD", "contractSize": 100},
	}[k])
	return object{
		"timezone": "UTC", "serverTime": x.clock().UnixMilli(), "symbols": symbols,
		"rateLimits": []object{{"rateLimitType": "REQUEST_WEIGHT", "interval": "MINUTE", "intervalNum": 1, "limit": k.limit()}},
	}
}

// intervals are those that can be asked for, and how long they are, ms.
var intervals = map[string]int64{
	"1m": minute, "3m": 3 * minute, "5m": 5 * minute, "15m": 15 * minute, "30m": 30 * minute,
	"1h": hour, "2h": 2 * hour, "4h": 4 * hour, "6h": 6 * hour, "8h": 8 * hour, "12h": 12 * hour, "1d": day,
}

// klines answers with rows, oldest first: from startTime on, or the newest up to
// endTime.
func (x *Exchange) klines(r *http.Request, k kind) (weight int, body any) {
	q := r.URL.Query()
	m := x.marketOf(q.Get("symbol"), k)
	if m == nil {
		return 1, fault{-1121, "Invalid symbol."}
	}
	width := intervals[q.Get("interval")]
	if width == 0 {
		return 1, fault{-1120, "Invalid interval."}
	}
	number := func(name string, fallback int64) int64 {
		n, err := strconv.ParseInt(q.Get(name), 10, 64)
		if err != nil {
			return fallback
		}
		return n
	}
	most := 1500
	if k == spot {
		most = 1000
	}
	limit := min(int(number("limit", 500)), most)
	if limit < 1 {
		return 1, fault{-1130, "Data sent for parameter 'limit' is not valid."}
	}
	now := x.clock()
	last := min(number("endTime", now.UnixMilli()), now.UnixMilli()) / width * width
	first := max(number("startTime", 0), x.since)
	first = (first + width - 1) / width * width
	if q.Get("startTime") == "" {
		first = max(first, last-int64(limit-1)*width)
	}
	rows := [][]any{}
	for open := first; open <= last && len(rows) < limit; open += width {
		rows = append(rows, row(m, open, open+width, now))
	}
	return klineWeight(k, limit), rows
}

func klineWeight(k kind, limit int) int {
	switch {
	case k == spot:
		return 2
	case limit < 100:
		return 1
	case limit < 500:
		return 2
	case limit <= 1000:
		return 5
	}
	return 10
}

// row is a K-line as REST writes it.
func row(m *Market, from, to int64, now time.Time) []any {
	k := m.Kline(from, to, now)
	amount, bought := m.Amount(k.Quote), m.Amount(k.QuoteBought)
	if m.Dollars > 0 {
		amount, bought = trading.Coins(k.Coins), trading.Coins(k.CoinsBought)
	}
	return []any{
		from, m.Price(k.First), m.Price(k.High), m.Price(k.Low), m.Price(k.Last), m.Lots(k.Size), to - 1,
		amount, k.Fills, m.Lots(k.SizeBought), bought, "0",
	}
}
