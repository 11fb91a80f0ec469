// Package coinsite is a simulated source of prices of coins and of exchange rates, for
// tests and for the local stack: it speaks the protocols of CoinGecko and of the
// European Central Bank.
//
//	/api/v3/coins/markets   pages of coins, the largest first, as CoinGecko writes them
//	/rates/eurofxref-*.xml  daily rates of 90 days, and of the last one
//
// Prices of coins that the simulated venue trades are the venue's, of others a walk of package
// prices. Supplies stay, and the other figures follow from these prices, now and in the past:
// what clients compute of them agrees with what they are told. They change once a period, as
// CoinGecko's do behind its cache. [Site.Served] is the truth with which answers of the product are
// compared; the package shares no code with it.
//
// More than 30 calls a minute are answered with 429 and a pause, as are calls that
// [Site.Refuse] names. Nothing of it is a market: each answer carries X-Simulated: true,
// and the names of the coins say so.
package coinsite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"quotary/localstack/sim"
	"quotary/localstack/sim/prices"
)

// Site is a source.
type Site struct {
	cfg   sim.Config
	marks func(at time.Time) map[string]string

	mu     sync.Mutex
	period int64            // of rows
	rows   []Row            // what is shown in it
	served map[string][]Row // what was shown of each coin, the newest last
	calls  []time.Time      // of the last minute
	refuse int              // calls that are still to be refused
}

// New returns a site whose figures change once a period, five seconds where it is left out.
// The marks are the prices of the simulated venue at a time, by short name; nil has none.
func New(cfg sim.Config, marks func(at time.Time) map[string]string) *Site {
	return &Site{cfg: cfg.WithDefaults(5 * time.Second), marks: marks, served: map[string][]Row{}}
}

// Row is a coin of /coins/markets. Numbers are plain decimals.
type Row struct {
	ID          string      `json:"id"`
	Symbol      string      `json:"symbol"`
	Name        string      `json:"name"`
	Image       string      `json:"image"`
	Price       json.Number `json:"current_price"`
	MarketCap   json.Number `json:"market_cap"`
	Rank        int         `json:"market_cap_rank"`
	Volume      json.Number `json:"total_volume"`
	Degree24h   json.Number `json:"price_change_percentage_24h"`
	Circulating json.Number `json:"circulating_supply"`
	MaxSupply   *string     `json:"max_supply"`
	LastUpdated time.Time   `json:"last_updated"`
	Degree7d    json.Number `json:"price_change_percentage_7d_in_currency"`
}

// named are the coins with names of their own: those that the simulated venue trades
// among them.
var named = []struct{ id, symbol, name string }{
	{"bitcoin", "BTC", "Bitcoin"}, {"ethereum", "ETH", "Ethereum"}, {"solana", "SOL", "Solana"}, {"ripple", "XRP", "XRP"}, {"dogecoin", "DOGE", "Dogecoin"},
	{"hyperliquid", "HYPE", "Hyperliquid"}, {"chainlink", "LINK", "Chainlink"}, {"avalanche-2", "AVAX", "Avalanche"}, {"sui", "SUI", "Sui"}, {"arbitrum", "ARB", "Arbitrum"},
}

// Categories are the coins of categories, of our own making.
var Categories = map[string][]string{
	"decentralized-finance-defi": {"hyperliquid", "chainlink"}, "gaming": {"simulated-coin-11", "simulated-coin-12"}, "privacy-coins": {"simulated-coin-13"},
	"exchange-based-tokens": {"hyperliquid"}, "stablecoins": {"simulated-coin-14"},
}

// Coins is how many there are: more than a page of 250 holds.
const Coins = 260

// kept is how much of what was shown is remembered of each coin: ten minutes of
// changes every five seconds.
const kept = 120

// show makes the rows of the present period.
func (s *Site) show() []Row {
	period := s.cfg.Now().UnixNano() / int64(s.cfg.Period)
	if s.rows != nil && period == s.period {
		return s.rows
	}
	at := time.Unix(0, period*int64(s.cfg.Period)).UTC()
	now, dayAgo, weekAgo := s.pricesAt(at), s.pricesAt(at.Add(-day)), s.pricesAt(at.Add(-7*day))
	rows := make([]Row, Coins)
	for i := range rows {
		rows[i] = s.row(i, at, now[i], dayAgo[i], weekAgo[i])
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(len(b.MarketCap), len(a.MarketCap)), cmp.Compare(b.MarketCap, a.MarketCap))
	})
	for i := range rows {
		rows[i].Rank = i + 1
		history := append(s.served[rows[i].ID], rows[i])
		s.served[rows[i].ID] = history[max(0, len(history)-kept):]
	}
	s.period, s.rows = period, rows
	return rows
}

const (
	day    = 24 * time.Hour
	hourMs = int64(3_600_000)
)

// symbolOf is the short name of coin i.
func symbolOf(i int) string {
	if i < len(named) {
		return named[i].symbol
	}
	return fmt.Sprintf("SIM%d", i)
}

// walkOf is the price of coin i over time. Coins with a higher number are worth less.
func (s *Site) walkOf(i int) prices.Walk {
	if walk := prices.WalkOf(s.cfg.Seed, symbolOf(i)); walk.Known() {
		return walk
	}
	return prices.From(s.cfg.Seed, symbolOf(i), 1_000_000_000*int64(5+i%7)/int64(1+i*i))
}

// pricesAt are the prices of all coins at a time, as plain decimals.
func (s *Site) pricesAt(at time.Time) []string {
	var marks map[string]string
	if s.marks != nil {
		marks = s.marks(at)
	}
	list := make([]string, Coins)
	for i := range list {
		mark, ok := marks[symbolOf(i)]
		if !ok { // around the walk of the coin, as markets are
			n := s.walkOf(i).At(at.UnixMilli(), 9)
			n += n / 1000 * s.wave("price", i, at, hourMs/3, 1000) / 1000
			mark = big.NewRat(n, 1_000_000_000).FloatString(9)
		}
		list[i] = mark
	}
	return list
}

// wave is where a figure of coin i stands at a time, in millionths: at most far off from 0,
// between points that are drawn for every so many ms.
func (s *Site) wave(what string, i int, at time.Time, apart, far int64) int64 {
	h := fnv.New64a()
	fmt.Fprint(h, what, i)
	return prices.Wave(prices.Hash(s.cfg.Seed, h.Sum64()), 0, at.UnixMilli(), apart, far)
}

// row is coin i at a time, but for its rank.
func (s *Site) row(i int, at time.Time, now, dayAgo, weekAgo string) Row {
	symbol := symbolOf(i)
	r := Row{ID: fmt.Sprintf("simulated-coin-%d", i), Symbol: strings.ToLower(symbol), Name: fmt.Sprintf("Simulated Coin %d", i), LastUpdated: at}
	if i < len(named) {
		r.ID, r.Name = named[i].id, named[i].name+" (simulated)"
	}
	// As many coins as are worth less the higher the number is, at the price of the beginning.
	supply := big.NewInt(2_000_000_000_000_000 / int64(i+1))
	supply.Mul(supply, big.NewInt(1_000_000)).Quo(supply, big.NewInt(max(1, s.walkOf(i).Start(9))))
	value := new(big.Rat).Mul(rational(now), new(big.Rat).SetInt(supply))
	// Some hundredths of all are traded in a day.
	traded := new(big.Rat).Mul(value, big.NewRat(30_000+int64(i%20)*1000+s.wave("volume", i, at, 6*hourMs, 10_000), 1_000_000))
	r.Price, r.MarketCap, r.Circulating, r.Volume = json.Number(now), json.Number(value.FloatString(0)), json.Number(supply.String()), json.Number(traded.FloatString(0))
	r.Degree24h, r.Degree7d = degree(dayAgo, now), degree(weekAgo, now)
	return r
}

// degree is the change from one price to another, percent.
func degree(then, now string) json.Number {
	change := new(big.Rat).Quo(rational(now), rational(then))
	return json.Number(change.Sub(change, big.NewRat(1, 1)).Mul(change, big.NewRat(100, 1)).FloatString(5))
}

// rational is the value of a decimal that is above 0.
func rational(text string) *big.Rat {
	value, ok := new(big.Rat).SetString(text)
	if !ok || value.Sign() <= 0 {
		panic(fmt.Sprintf("coinsite: %q is no price", text))
	}
	return value
}

// Served returns what was shown of a coin in the last periods, the newest last.
func (s *Site) Served(id string) []Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Row(nil), s.served[id]...)
}

// Refuse has the next n calls for coins answered with 429.
func (s *Site) Refuse(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = n
}

// Handler serves the site.
func (s *Site) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v3/coins/markets", s.serveMarkets)
	mux.HandleFunc("GET /rates/eurofxref-daily.xml", func(w http.ResponseWriter, _ *http.Request) { s.serveRates(w, 1) })
	mux.HandleFunc("GET /rates/eurofxref-hist-90d.xml", func(w http.ResponseWriter, _ *http.Request) { s.serveRates(w, 64) })
	return sim.Label(mux)
}

// callsPerMinute is what a demo account may ask.
const callsPerMinute = 30

func (s *Site) serveMarkets(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	page, size := 1, 100
	for name, at := range map[string]*int{"page": &page, "per_page": &size} {
		if text := q.Get(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				http.Error(w, `{"error":"invalid `+name+`"}`, http.StatusBadRequest)
				return
			}
			*at = n
		}
	}
	if q.Get("vs_currency") != "usd" {
		http.Error(w, `{"error":"invalid vs_currency"}`, http.StatusUnprocessableEntity)
		return
	}
	s.mu.Lock()
	allowed := s.allows()
	rows := []Row{}
	if allowed {
		rows = slices.Clone(s.show())
	}
	s.mu.Unlock()
	if !allowed {
		w.Header().Set("Retry-After", "2")
		http.Error(w, `{"status":{"error_code":429,"error_message":"You've exceeded the Rate Limit (simulated)."}}`, http.StatusTooManyRequests)
		return
	}
	if category := q.Get("category"); category != "" {
		rows = slices.DeleteFunc(rows, func(r Row) bool { return !slices.Contains(Categories[category], r.ID) })
	}
	sim.JSON(w, http.StatusOK, sim.Page(rows, page, min(size, 250)))
}

// allows counts a call.
func (s *Site) allows() bool {
	if s.refuse > 0 {
		s.refuse--
		return false
	}
	now := s.cfg.Now()
	for len(s.calls) > 0 && now.Sub(s.calls[0]) >= time.Minute {
		s.calls = s.calls[1:]
	}
	if len(s.calls) >= callsPerMinute {
		return false
	}
	s.calls = append(s.calls, now)
	return true
}
