package okx

import (
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

	mu    sync.Mutex
	asked map[string][]time.Time // by path: requests of the last two seconds
}

const (
	minute = int64(60_000) // ms
	hour   = 60 * minute
	day    = 24 * hour
)

// New returns an exchange.
func New(c Config) *Exchange {
	c = c.WithDefaults()
	return &Exchange{
		// Other trades than those of other exchanges with the same seed.
		Markets: trading.Open(c.Seed, []*trading.Market{
			{Symbol: "DOGE-USDT", Base: "DOGE", Quote: "USDT", Tick: 5, Lot: 2, MaxLots: 900_000, PerMinute: 3, Quiet: true},
			{Symbol: "SOL-USDT", Base: "SOL", Quote: "USDT", Tick: 2, Lot: 4, MaxLots: 700_000, PerMinute: 5, Quiet: true},
			{Symbol: "ETH-USDT-SWAP", Base: "ETH", Quote: "USDT", Swap: true, Tick: 2, Lot: 1, MaxLots: 400, Large: 6_000, PerMinute: 18},
			{Symbol: "BTC-USDT-SWAP", Base: "BTC", Quote: "USDT", Swap: true, Tick: 1, Lot: 2, MaxLots: 300, Large: 4_000, PerMinute: 30},
			{Symbol: "SOL-USDT-SWAP", Base: "SOL", Quote: "USDT", Swap: true, Tick: 2, Lot: 0, MaxLots: 600, PerMinute: 7, Quiet: true},
			{Symbol: "BTC-USD-SWAP", Base: "BTC", Quote: "USD", Swap: true, Dollars: 100, Tick: 1, MaxLots: 900, Large: 30_000, PerMinute: 9},
			{Symbol: "BTC-USDT", Base: "BTC", Quote: "USDT", Tick: 1, Lot: 8, MaxLots: 30_000_000, PerMinute: 20},
			{Symbol: "ETH-USDT", Base: "ETH", Quote: "USDT", Tick: 2, Lot: 6, MaxLots: 4_000_000, Large: 600_000_000, PerMinute: 12},
		}),
		clock: c.Clock, since: c.Since.UnixMilli() / day * day, asked: map[string][]time.Time{},
	}
}

// Since is when trading began.
func (x *Exchange) Since() time.Time { return time.UnixMilli(x.since).UTC() }

// Market returns a market by its instrument, nil where there is none.
func (x *Exchange) Market(instID string) *trading.Market {
	i := slices.IndexFunc(x.Markets, func(m *trading.Market) bool { return m.Symbol == instID })
	if i < 0 {
		return nil
	}
	return x.Markets[i]
}

// Handler answers all of the protocols.
func (x *Exchange) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v5/public/instruments", x.rest(20, x.instruments))
	mux.HandleFunc("GET /api/v5/market/candles", x.rest(40, func(r *http.Request) answer { return x.candles(r, false) }))
	mux.HandleFunc("GET /api/v5/market/history-candles", x.rest(20, func(r *http.Request) answer { return x.candles(r, true) }))
	x.contractPaths(mux)
	mux.HandleFunc("GET /ws/v5/public", x.serve)
	return sim.Label(mux)
}

// answer is the envelope of everything.
type answer struct {
	Code string `json:"code"`
	Msg  string `json:"msg"`
	Data any    `json:"data"`
}

func refusal(code, msg string) answer { return answer{code, msg, []any{}} }

// rest answers a path of which so many requests are allowed in two seconds.
func (x *Exchange) rest(allowed int, body func(*http.Request) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !x.allow(r.URL.Path, allowed) {
			sim.JSON(w, http.StatusTooManyRequests, refusal("50011", "Too Many Requests"))
			return
		}
		sim.JSON(w, http.StatusOK, body(r))
	}
}

func (x *Exchange) allow(path string, most int) bool {
	if x.Refused() {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	now := time.Now()
	asked := slices.DeleteFunc(x.asked[path], func(t time.Time) bool { return now.Sub(t) >= 2*time.Second })
	x.asked[path] = append(asked, now)
	return len(asked) < most
}

// instruments describes the markets of a type, and one that does not trade.
func (x *Exchange) instruments(r *http.Request) answer {
	type instrument struct {
		InstType   string `json:"instType"`
		InstID     string `json:"instId"`
		InstFamily string `json:"instFamily"`
		BaseCcy    string `json:"baseCcy"`
		QuoteCcy   string `json:"quoteCcy"`
		SettleCcy  string `json:"settleCcy"`
		CtVal      string `json:"ctVal"`
		CtMult     string `json:"ctMult"`
		CtValCcy   string `json:"ctValCcy"`
		CtType     string `json:"ctType"`
		TickSz     string `json:"tickSz"`
		LotSz      string `json:"lotSz"`
		State      string `json:"state"`
		ListTime   string `json:"listTime"`
	}
	kind := r.URL.Query().Get("instType")
	var other instrument
	switch kind {
	case "SPOT":
		other = instrument{InstType: kind, InstID: "LUNA-USDT", BaseCcy: "LUNA", QuoteCcy: "USDT", State: "suspend"}
	case "SWAP":
		other = instrument{InstType: kind, InstID: "LUNA-USD-SWAP", InstFamily: "LUNA-USD", SettleCcy: "LUNA", CtVal: "10", CtMult: "1", CtValCcy: "USD", CtType: "inverse", State: "suspend"}
	default:
		return refusal("51000", "Parameter instType error")
	}
	all := []instrument{other}
	for _, m := range x.Markets {
		if m.Swap != (kind == "SWAP") {
			continue
		}
		i := instrument{InstType: kind, InstID: m.Symbol, TickSz: trading.Decimal(1, m.Tick), State: "live", ListTime: text(x.since)}
		i.InstFamily, i.CtMult, i.LotSz = m.Base+"-"+m.Quote, "1", "1"
		switch {
		case m.Dollars > 0:
			i.SettleCcy, i.CtVal, i.CtValCcy, i.CtType = m.Base, text(m.Dollars), m.Quote, "inverse"
		case m.Swap:
			i.SettleCcy, i.CtVal, i.CtValCcy, i.CtType = m.Quote, m.Lots(1), m.Base, "linear"
		default:
			i.InstFamily, i.CtMult = "", ""
			i.BaseCcy, i.QuoteCcy, i.LotSz = m.Base, m.Quote, m.Lots(1)
		}
		all = append(all, i)
	}
	return answer{"0", "", all}
}

func text(n int64) string { return strconv.FormatInt(n, 10) }

// size writes lots as the exchange counts them: of a swap each is a contract.
func size(m *trading.Market, lots int64) string {
	if m.Swap {
		return text(lots)
	}
	return m.Lots(lots)
}

// bars are the intervals that can be asked for, and how long they are, ms. Those of a day
// open at midnight in Hong Kong, but for 1Dutc.
var bars = map[string]int64{
	"1m": minute, "3m": 3 * minute, "5m": 5 * minute, "15m": 15 * minute, "30m": 30 * minute,
	"1H": hour, "2H": 2 * hour, "4H": 4 * hour, "1D": day, "1Dutc": day,
}

const (
	candlesBack = 1440 // rows that are not history
	candlesMost = 300  // of an answer
	historyMost = 100
)

// candles answers with rows, newest first: those that open before after and after before,
// of which the newest are taken.
func (x *Exchange) candles(r *http.Request, history bool) answer {
	q := r.URL.Query()
	m := x.Market(q.Get("instId"))
	if m == nil {
		return refusal("51001", "Instrument ID, Instrument ID code, or Spread ID doesn't exist.")
	}
	width, shift := bars[q.Get("bar")], int64(0)
	if q.Get("bar") == "1D" {
		shift = 8 * hour
	}
	if width == 0 {
		return refusal("51000", "Parameter bar error")
	}
	number := func(name string, fallback int64) int64 {
		if n, err := strconv.ParseInt(q.Get(name), 10, 64); err == nil {
			return n
		}
		return fallback
	}
	now := x.clock()
	open := func(ms int64) int64 { return (ms+shift)/width*width - shift } // of the bar that holds a time
	newest := open(now.UnixMilli())
	most, oldest := historyMost, x.since
	if !history {
		most, oldest = candlesMost, max(x.since, newest-(candlesBack-1)*width)
	} else {
		newest -= width // what has ended
	}
	limit := min(int(number("limit", 100)), most)
	rows := [][]string{}
	for at := min(newest, open(number("after", newest+1)-1)); at >= oldest && at > number("before", 0) && len(rows) < limit; at -= width {
		rows = append(rows, row(m, at, at+width, now))
	}
	return answer{"0", "", rows}
}

func row(m *trading.Market, from, to int64, now time.Time) []string {
	k := m.Kline(from, to, now)
	ended := "0"
	if to <= now.UnixMilli() {
		ended = "1"
	}
	coins := baseCoins(m, k.Size, k.Coins)
	if !m.Swap { // the exchange writes the quote coin's twice
		coins = m.Amount(k.Quote)
	}
	return []string{text(from), m.Price(k.First), m.Price(k.High), m.Price(k.Low), m.Price(k.Last), size(m, k.Size), coins, quoteCoins(m, k.Size, k.Quote), ended}
}

// baseCoins and quoteCoins write a size and what it is worth: of an inverse market, coins as
// hundred-millionths and the dollars of its contracts.
func baseCoins(m *trading.Market, lots, coins int64) string {
	if m.Dollars > 0 {
		return trading.Coins(coins)
	}
	return m.Lots(lots)
}

func quoteCoins(m *trading.Market, lots, product int64) string {
	if m.Dollars > 0 {
		return text(lots * m.Dollars)
	}
	return m.Amount(product)
}

// trade writes a trade as the channel does.
func trade(m *trading.Market, t *trading.Trade) any {
	type message struct {
		InstID  string `json:"instId"`
		TradeID string `json:"tradeId"`
		Px      string `json:"px"`
		Sz      string `json:"sz"`
		Side    string `json:"side"`
		Ts      string `json:"ts"`
		Count   string `json:"count"`
	}
	side := "buy"
	if t.BuyerMaker {
		side = "sell"
	}
	return message{m.Symbol, text(t.Last), m.Price(t.Price), size(m, t.Size), side, text(t.Time), text(t.Last - t.First + 1)}
}
