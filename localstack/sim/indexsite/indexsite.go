// Package indexsite is a simulated source of indexes, of daily prices and of filings, for
// tests and for the local stack: it writes what alternative.me, Cboe, Stooq and EDGAR write.
//
//	/indices/fng/                 the Fear and Greed index, newest first
//	/indices/cboe/VIX_History.csv  the VIX of all days
//	/indices/stooq/?s=&i=d        the prices of a symbol; a sentence for one that is unknown
//	/indices/sec/api/xbrl/companyfacts/  what companies have filed
//
// What companies and others hold of coins is a drop of its own ([Site.Treasuries]).
//
// Figures follow from the seed and the day alone. [Site.Days] and [Site.Filed] are the truth with which what
// the product stores is compared; the package shares no code with it. Nothing of it is a
// market: each answer carries X-Simulated: true.
package indexsite

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"quotary/localstack/sim"
)

// Where it answers.
const (
	FearGreedPath = "/indices/fng"
	VIXPath       = "/indices/cboe"
	StooqPath     = "/indices/stooq"
)

// Names of series that are no symbols.
const (
	FearGreed = "fear and greed"
	VIX       = "vix"
)

// Symbols are what is known under the path of prices.
var Symbols = []string{"^spx", "^ndq", "^dji", "^shc", "mstr.us", "coin.us", "gbtc.us", "ethe.us", "0434.hk"}

// Site is a source.
type Site struct{ cfg sim.Config }

// New returns a site. Its period is a day whatever the config says.
func New(cfg sim.Config) *Site { return &Site{cfg.WithDefaults(0)} }

// Day is a day of a series, with plain decimals.
type Day struct {
	Date, Open, High, Low, Close string
	start                        time.Time
}

// kept is how many days there are of each series.
const kept = 400

// Days are those of a series, oldest first: the Fear and Greed index has all of them and
// today's, others those that are no weekend, until yesterday's.
func (s *Site) Days(name string) (days []Day) {
	today := s.cfg.Now().UTC().Truncate(24 * time.Hour)
	for back := kept; back >= 0; back-- {
		start := today.AddDate(0, 0, -back)
		weekend := start.Weekday() == time.Saturday || start.Weekday() == time.Sunday
		if name != FearGreed && (weekend || back == 0) {
			continue
		}
		days = append(days, s.day(name, start))
	}
	return days
}

func (s *Site) day(name string, start time.Time) Day {
	n := start.Unix() / 86400
	d := Day{Date: start.Format(time.DateOnly), start: start}
	if name == FearGreed {
		d.Close = strconv.FormatInt(s.draw(101, name, n), 10)
		d.Open, d.High, d.Low = d.Close, d.Close, d.Close
		return d
	}
	level := 1500 + s.draw(400_000, name, 0) // hundredths
	if name == VIX {
		level = 1800
	}
	first, last := level*(95+s.draw(11, name+" open", n))/100, level*(95+s.draw(11, name+" close", n))/100
	high, low := max(first, last)+s.draw(50, name+" high", n), min(first, last)-s.draw(50, name+" low", n)
	d.Open, d.High, d.Low, d.Close = hundredths(first), hundredths(high), hundredths(low), hundredths(last)
	return d
}

// hundredths is a decimal without needless zeros.
func hundredths(n int64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%02d", n/100, n%100), "0"), ".")
}

// draw is a number below most that follows from the seed.
func (s *Site) draw(most int64, what string, n int64) int64 {
	h := fnv.New64a()
	fmt.Fprint(h, s.cfg.Seed, what, n)
	return int64(h.Sum64()>>1) % most
}

// Handler serves the site.
func (s *Site) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+FearGreedPath+"/", s.serveFearGreed)
	mux.HandleFunc("GET "+VIXPath+"/VIX_History.csv", s.serveVIX)
	mux.HandleFunc("GET "+StooqPath+"/", s.serveStooq)
	mux.HandleFunc("GET "+SECPath+"/api/xbrl/companyfacts/{file}", s.serveFacts)
	return sim.Label(mux)
}

// serveFearGreed writes the last days, ten where the question does not say how many.
func (s *Site) serveFearGreed(w http.ResponseWriter, r *http.Request) {
	type row struct {
		Value string `json:"value"`
		Class string `json:"value_classification"`
		Time  string `json:"timestamp"`
		Until string `json:"time_until_update,omitempty"`
	}
	var rows []row
	for _, d := range s.Days(FearGreed) {
		rows = append(rows, row{Value: d.Close, Class: "Simulated", Time: strconv.FormatInt(d.start.Unix(), 10)})
	}
	slices.Reverse(rows)
	rows[0].Until = "3600"
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil {
		limit = 10
	}
	if limit > 0 {
		rows = rows[:min(limit, len(rows))]
	}
	sim.JSON(w, http.StatusOK, map[string]any{"name": "Fear and Greed Index (simulated)", "data": rows, "metadata": map[string]any{"error": nil}})
}

func (s *Site) serveVIX(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/csv")
	fmt.Fprint(w, "DATE,OPEN,HIGH,LOW,CLOSE\n")
	for _, d := range s.Days(VIX) {
		fmt.Fprintf(w, "%s,%s,%s,%s,%s\n", d.start.Format("01/02/2006"), six(d.Open), six(d.High), six(d.Low), six(d.Close))
	}
}

// six writes a decimal with six places.
func six(text string) string {
	whole, places, _ := strings.Cut(text, ".")
	return whole + "." + (places + "000000")[:6]
}

// serveStooq writes prices: indexes have no volume.
func (s *Site) serveStooq(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	name := r.URL.Query().Get("s")
	if r.URL.Query().Get("i") != "d" || !slices.Contains(Symbols, name) {
		fmt.Fprint(w, "No data")
		return
	}
	fmt.Fprint(w, "Date,Open,High,Low,Close,Volume\n")
	for _, d := range s.Days(name) {
		fmt.Fprintf(w, "%s,%s,%s,%s,%s", d.Date, d.Open, d.High, d.Low, d.Close)
		if !strings.HasPrefix(name, "^") {
			fmt.Fprintf(w, ",%d", 1_000_000+s.draw(9_000_000, name+" volume", d.start.Unix()))
		}
		fmt.Fprint(w, "\n")
	}
}
