// Package coinsite is a simulated source of prices of coins and of exchange rates, for
// tests and for the local stack: it speaks the protocols of CoinGecko and of the
// European Central Bank.
//
//	/api/v3/coins/markets   pages of coins, the largest first, as CoinGecko writes them
//	/rates/eurofxref-*.xml  daily rates of 90 days, and of the last one
//
// Prices of coins that the simulated venue trades are the venue's, of other known coins
// those of package prices; the rest, and changes, follow from the seed and the clock. Figures change once a period, as CoinGecko's do
// behind its cache. [Site.Served] is the truth with which answers of the product are
// compared; the package shares no code with it.
//
// More than 30 calls a minute are answered with 429 and a pause, as are calls that
// [Site.Refuse] names. Nothing of it is a market: each answer carries X-Simulated: true,
// and the names of the coins say so.
package coinsite

import (
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

	"quotary/localstack/prices"
)

// Config is what a site shows. The zero value is seed 1 without a venue.
type Config struct {
	Seed   uint64
	Period time.Duration    // between two changes of the figures; 0 means five seconds
	Now    func() time.Time // nil means time.Now

	// Marks are the prices of the simulated venue, by short name. Nil has none.
	Marks func() map[string]string
}

// Site is a source.
type Site struct {
	cfg Config

	mu     sync.Mutex
	period int64            // of rows
	rows   []Row            // what is shown in it
	served map[string][]Row // what was shown of each coin, the newest last
	calls  []time.Time      // of the last minute
	refuse int              // calls that are still to be refused
}

// New returns a site.
func New(cfg Config) *Site {
	if cfg.Seed == 0 {
		cfg.Seed = 1 // as the other simulators
	}
	if cfg.Period == 0 {
		cfg.Period = 5 * time.Second
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Site{cfg: cfg, served: map[string][]Row{}}
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
	var marks map[string]string
	if s.cfg.Marks != nil {
		marks = s.cfg.Marks()
	}
	rows := make([]Row, Coins)
	for i := range rows {
		rows[i] = s.row(i, period, marks)
		history := append(s.served[rows[i].ID], rows[i])
		s.served[rows[i].ID] = history[max(0, len(history)-kept):]
	}
	s.period, s.rows = period, rows
	return rows
}

// row is coin i in a period. Coins with a higher number are worth less.
func (s *Site) row(i int, period int64, marks map[string]string) Row {
	r := Row{ID: fmt.Sprintf("simulated-coin-%d", i), Symbol: fmt.Sprintf("sim%d", i), Name: fmt.Sprintf("Simulated Coin %d", i), Rank: i + 1, LastUpdated: time.Unix(0, period*int64(s.cfg.Period)).UTC()}
	if i < len(named) {
		r.ID, r.Symbol, r.Name = named[i].id, strings.ToLower(named[i].symbol), named[i].name+" (simulated)"
	}
	wave := s.draw(2001, "price", i, period) - 1000 // ten thousandths
	price := big.NewRat((10_000+wave)*int64(5+i%7), 10_000*int64(1+i*i))
	text := price.FloatString(8)
	if walk := prices.Of(s.cfg.Seed, strings.ToUpper(r.Symbol)); walk.Known() {
		price.SetFrac64(walk.At(r.LastUpdated.UnixMilli(), 9), 1_000_000_000)
		price.Mul(price, big.NewRat(1_000_000+wave, 1_000_000))
		text = price.FloatString(8)
	}
	if mark, ok := marks[strings.ToUpper(r.Symbol)]; ok {
		text = mark
		price.SetString(mark)
	}
	// A value falls with the rank, and the supply follows from it.
	supply := new(big.Rat).Quo(new(big.Rat).SetInt64(2_000_000_000_000/int64(i+1)), price)
	units := new(big.Int).Quo(supply.Num(), supply.Denom())
	if units.Sign() == 0 {
		units.SetInt64(1)
	}
	value := new(big.Rat).Mul(price, new(big.Rat).SetInt(units))
	r.Price, r.MarketCap, r.Circulating = json.Number(text), json.Number(value.FloatString(0)), json.Number(units.String())
	r.Volume = json.Number(strconv.FormatInt(1_000_000+s.draw(90_000_000, "volume", i, period), 10))
	r.Degree24h, r.Degree7d = percent(s.draw(2_000_001, "day", i, period)-1_000_000), percent(s.draw(4_000_001, "week", i, period)-2_000_000)
	return r
}

// percent is so many hundred thousandths.
func percent(n int64) json.Number { return json.Number(big.NewRat(n, 100_000).FloatString(5)) }

// draw is a number below most that follows from the seed.
func (s *Site) draw(most int64, what string, i int, period int64) int64 {
	h := fnv.New64a()
	fmt.Fprint(h, s.cfg.Seed, what, i, period)
	return int64(h.Sum64()>>1) % most
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
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Simulated", "true")
		mux.ServeHTTP(w, r)
	})
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
	size = min(size, 250)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(rows[min((page-1)*size, len(rows)):min(page*size, len(rows))])
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
