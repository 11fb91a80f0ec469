package bybit

import (
	"io"
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
	Markets []*trading.Market

	clock func() time.Time
	since int64 // ms

	trading.Faults

	mu     sync.Mutex
	asked  int   // requests of five seconds,
	window int64 // which these are, by number
}

const (
	minute = int64(60_000) // ms
	hour   = 60 * minute
	day    = 24 * hour
)

// Categories of markets.
const (
	Spot    = "spot"
	Linear  = "linear"
	Inverse = "inverse"
)

// categoryOf is that of a market.
func categoryOf(m *trading.Market) string {
	switch {
	case m.Dollars > 0:
		return Inverse
	case m.Swap:
		return Linear
	}
	return Spot
}

// New returns an exchange.
func New(c Config) *Exchange {
	c = c.WithDefaults()
	return &Exchange{
		// Other trades than those of other exchanges with the same seed: a coin's place in
		// the list is not its place in theirs.
		Markets: trading.Open(c.Seed, []*trading.Market{
			{Symbol: "ETHUSDT", Base: "ETH", Quote: "USDT", Swap: true, Tick: 2, Lot: 2, MaxLots: 4_000, Large: 60_000, PerMinute: 15},
			{Symbol: "BTCUSDT", Base: "BTC", Quote: "USDT", Swap: true, Tick: 1, Lot: 3, MaxLots: 2_500, Large: 40_000, PerMinute: 24},
			{Symbol: "BTCUSD", Base: "BTC", Quote: "USD", Swap: true, Dollars: 1, Tick: 1, MaxLots: 90_000, Large: 3_000_000, PerMinute: 10},
			{Symbol: "SOLUSDT", Base: "SOL", Quote: "USDT", Tick: 2, Lot: 3, MaxLots: 80_000, PerMinute: 5, Quiet: true, Sudden: true},
			{Symbol: "ETHUSDT", Base: "ETH", Quote: "USDT", Tick: 2, Lot: 5, MaxLots: 400_000, Large: 60_000_000, PerMinute: 10},
			{Symbol: "SOLUSDT", Base: "SOL", Quote: "USDT", Swap: true, Tick: 2, Lot: 1, MaxLots: 6_000, PerMinute: 6, Quiet: true},
			{Symbol: "DOGEUSDT", Base: "DOGE", Quote: "USDT", Tick: 5, Lot: 1, MaxLots: 90_000, PerMinute: 3, Quiet: true},
			{Symbol: "BTCUSDT", Base: "BTC", Quote: "USDT", Tick: 2, Lot: 6, MaxLots: 300_000, Large: 40_000_000, PerMinute: 18},
		}),
		clock: c.Clock, since: c.Since.UnixMilli() / day * day,
	}
}

// Since is when trading began.
func (x *Exchange) Since() time.Time { return time.UnixMilli(x.since).UTC() }

// Market returns a market of a category by its symbol, nil where there is none.
func (x *Exchange) Market(category, symbol string) *trading.Market {
	i := slices.IndexFunc(x.Markets, func(m *trading.Market) bool { return m.Symbol == symbol && categoryOf(m) == category })
	if i < 0 {
		return nil
	}
	return x.Markets[i]
}

// Handler answers all of the protocols.
func (x *Exchange) Handler() http.Handler {
	mux := http.NewServeMux()
	for path, body := range map[string]func(*http.Request) answer{
		"instruments-info": x.instruments, "kline": x.klines, "mark-price-kline": x.marks, "tickers": x.tickers,
		"funding/history": x.pastFunding, "open-interest": x.pastInterest, "account-ratio": x.pastRatios,
	} {
		mux.HandleFunc("GET /v5/market/"+path, x.rest(body))
	}
	mux.HandleFunc("GET /v5/public/{category}", x.serve)
	return sim.Label(mux)
}

// answer is the envelope of everything.
type answer struct {
	Code   int    `json:"retCode"`
	Msg    string `json:"retMsg"`
	Result any    `json:"result"`
	Ext    any    `json:"retExtInfo"`
	Time   int64  `json:"time"` // ms
}

// result is a list, as most of them are.
type result struct {
	Category string `json:"category,omitempty"`
	Symbol   string `json:"symbol,omitempty"`
	List     any    `json:"list"`
	Next     string `json:"nextPageCursor"`
}

func listed(r result) answer { return answer{Msg: "OK", Result: r} }

// Codes of refusals.
const (
	badParameter = 10001
	tooMany      = 10006
)

func refusal(code int, msg string) answer { return answer{Code: code, Msg: msg, Result: struct{}{}} }

var (
	errCategory = refusal(badParameter, "params error: Category is invalid")
	errSymbol   = refusal(badParameter, "Not supported symbols")
	errInterval = refusal(badParameter, "Invalid period!")
	errTime     = refusal(badParameter, "params error: time range invalid")
)

// rest answers a path.
func (x *Exchange) rest(body func(*http.Request) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var a answer
		switch x.allow() {
		case http.StatusForbidden:
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "access too frequent, please try again later") // a client that went away needs no answer
			return
		case http.StatusTooManyRequests:
			a = refusal(tooMany, "Too many visits!")
		default:
			a = body(r)
		}
		a.Ext, a.Time = struct{}{}, x.clock().UnixMilli()
		sim.JSON(w, http.StatusOK, a)
	}
}

const mostAsked = 600 // requests in five seconds

// allow counts a request; it returns how it is refused, or 200.
func (x *Exchange) allow() (status int) {
	if x.Refused() {
		return http.StatusTooManyRequests
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if now := time.Now().Unix() / 5; now != x.window {
		x.window, x.asked = now, 0
	}
	if x.asked++; x.asked > mostAsked {
		return http.StatusForbidden
	}
	return http.StatusOK
}

// market is the one that a request names, nil with how it is refused where there is none.
func (x *Exchange) market(r *http.Request) (m *trading.Market, refused answer) {
	q := r.URL.Query()
	if !isCategory(q.Get("category")) {
		return nil, errCategory
	}
	return x.Market(q.Get("category"), q.Get("symbol")), errSymbol
}

func isCategory(text string) bool { return text == Spot || text == Linear || text == Inverse }

// number is a parameter of a request.
func number(r *http.Request, name string, fallback int64) int64 {
	if n, err := strconv.ParseInt(r.URL.Query().Get(name), 10, 64); err == nil {
		return n
	}
	return fallback
}

func text(n int64) string { return strconv.FormatInt(n, 10) }
