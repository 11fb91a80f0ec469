package coinsite_test

import (
	"encoding/json"
	"math"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/localstack/sim"
	"quotary/localstack/sim/coinsite"
	"quotary/localstack/sim/prices"
	"quotary/localstack/sim/simtest"
	"quotary/shared/testing/must"
)

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	response, body := simtest.Get(t, url)
	return response.StatusCode, string(body)
}

var saturday = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// clock is a time that a test moves.
type clock struct{ ns atomic.Int64 }

func newClock() *clock {
	c := new(clock)
	c.ns.Store(saturday.UnixNano())
	return c
}

func (c *clock) now() time.Time       { return time.Unix(0, c.ns.Load()) }
func (c *clock) move(d time.Duration) { c.ns.Add(int64(d)) }

func TestCoinsAreShownInPages(t *testing.T) {
	t.Parallel()
	clock := newClock()
	config, marks := sim.Config{Seed: 7, Now: clock.now}, func(time.Time) map[string]string { return map[string]string{"ETH": "3400.25"} }
	site := coinsite.New(config, marks)
	server := httptest.NewServer(site.Handler())
	defer server.Close()
	pages := func(server string) (all []coinsite.Row) {
		for _, page := range []string{"1", "2", "3"} {
			status, body := get(t, server+"/api/v3/coins/markets?vs_currency=usd&per_page=250&page="+page)
			var rows []coinsite.Row
			if err := json.Unmarshal([]byte(body), &rows); err != nil || status != 200 {
				t.Fatal(status, err)
			}
			all = append(all, rows...)
		}
		return all
	}
	rows := pages(server.URL)
	if len(rows) != coinsite.Coins || rows[0].ID != "bitcoin" || rows[1].Price != "3400.25" || rows[0].Price == "" {
		t.Fatalf("%d rows, %+v", len(rows), rows[:2])
	}
	for _, r := range rows[:13] {
		walk := prices.WalkOf(7, strings.ToUpper(r.Symbol))
		if !walk.Known() {
			continue
		}
		price := must.Get(r.Price.Float64())(t)
		if want := float64(walk.At(saturday.UnixMilli(), 9)) / 1e9; r.Symbol != "eth" && math.Abs(price/want-1) > 0.002 {
			t.Errorf("%s costs %g, want about %g", r.Symbol, price, want)
		}
	}
	if diff := cmp.Diff(rows[0], site.Served("bitcoin")[0]); diff != "" {
		t.Error(diff)
	}
	again := httptest.NewServer(coinsite.New(config, marks).Handler())
	defer again.Close()
	if diff := cmp.Diff(rows, pages(again.URL)); diff != "" {
		t.Errorf("another site of the same seed and time shows\n%s", diff)
	}
	clock.move(5 * time.Second)
	if later := pages(server.URL); later[0].Price == rows[0].Price || later[1].Price != "3400.25" {
		t.Errorf("%s, then %s", rows[0].Price, later[0].Price)
	}
}

// What a client computes of what it was told over time is what it is told.
func TestFiguresAgreeWithEachOtherOverTime(t *testing.T) {
	t.Parallel()
	clock := newClock()
	marks := func(at time.Time) map[string]string {
		return map[string]string{"SOL": strconv.FormatInt(180+at.Unix()%1000/100, 10)}
	}
	site := coinsite.New(sim.Config{Seed: 7, Now: clock.now}, marks)
	server := httptest.NewServer(site.Handler())
	defer server.Close()
	rows := func() map[string]coinsite.Row {
		all := map[string]coinsite.Row{}
		var before float64
		for _, page := range []string{"1", "2"} {
			_, body := get(t, server.URL+"/api/v3/coins/markets?vs_currency=usd&per_page=250&page="+page)
			var rows []coinsite.Row
			must.Do(t, json.Unmarshal([]byte(body), &rows))
			for _, r := range rows {
				value := number(t, r.MarketCap)
				if len(all) > 0 && value > before || r.Rank != len(all)+1 {
					t.Errorf("rank %d of %s, behind %g, is worth %g", r.Rank, r.ID, before, value)
				}
				before, all[r.ID] = value, r
			}
		}
		return all
	}
	weekAgo := rows()
	clock.move(6 * 24 * time.Hour)
	dayAgo := rows()
	clock.move(24*time.Hour - 5*time.Second)
	justNow := rows()
	clock.move(5 * time.Second)
	for id, r := range rows() {
		price := number(t, r.Price)
		for name, c := range map[string]struct {
			degree json.Number
			then   coinsite.Row
		}{"24h": {r.Degree24h, dayAgo[id]}, "7d": {r.Degree7d, weekAgo[id]}} {
			if want := (price/number(t, c.then.Price) - 1) * 100; math.Abs(number(t, c.degree)-want) > 0.0001 || c.then.Circulating != r.Circulating {
				t.Errorf("%s: %s in %s, from %s to %s is %g; supply %s, then %s", id, c.degree, name, c.then.Price, r.Price, want, r.Circulating, c.then.Circulating)
			}
		}
		value, traded := number(t, r.MarketCap), number(t, r.Volume)
		if want := price * number(t, r.Circulating); math.Abs(value-want) > 1 || traded < value/100 || traded > value/10 {
			t.Errorf("%s: worth %g, want %g, of which %g were traded", id, value, want, traded)
		}
		if id != "solana" && (math.Abs(price/number(t, justNow[id].Price)-1) > 0.001 || math.Abs(traded/number(t, justNow[id].Volume)-1) > 0.01) {
			t.Errorf("%s: within seconds from %s to %s, traded from %s to %s", id, justNow[id].Price, r.Price, justNow[id].Volume, r.Volume)
		}
	}
}

func number(t *testing.T, n json.Number) float64 {
	t.Helper()
	return must.Get(n.Float64())(t)
}

// A change of a price in a day is nearly the same in dollars and in yuan.
func TestYuanFollowTheDollar(t *testing.T) {
	t.Parallel()
	site := coinsite.New(sim.Config{}, nil)
	perDollar := func(day int) float64 {
		r := site.On(saturday.AddDate(0, 0, day))
		return number(t, json.Number(r.CNY)) / number(t, json.Number(r.USD))
	}
	for day := range 400 {
		if now, before := perDollar(day+1), perDollar(day); math.Abs(now/before-1) > 0.002 || now < 6.9 || now > 7.3 {
			t.Errorf("day %d: a dollar is %g yuan, and then %g", day, before, now)
		}
		if now, before := number(t, json.Number(site.On(saturday.AddDate(0, 0, day+1)).USD)), number(t, json.Number(site.On(saturday.AddDate(0, 0, day)).USD)); math.Abs(now/before-1) > 0.01 {
			t.Errorf("day %d: a euro is %g dollars, and then %g", day, before, now)
		}
	}
}

func TestCallsAreLimited(t *testing.T) {
	t.Parallel()
	clock := newClock()
	site := coinsite.New(sim.Config{Now: clock.now}, nil)
	server := httptest.NewServer(site.Handler())
	defer server.Close()
	ask := func() int {
		status, _ := get(t, server.URL+"/api/v3/coins/markets?vs_currency=usd")
		return status
	}
	site.Refuse(1)
	if ask() != 429 {
		t.Error("a call is not refused")
	}
	for i := range 30 {
		if ask() != 200 {
			t.Fatalf("call %d is refused", i)
		}
	}
	if ask() != 429 {
		t.Error("31 calls a minute")
	}
	clock.move(time.Minute)
	if ask() != 200 {
		t.Error("a minute later calls are still refused")
	}
}

func TestRatesAreOfWorkingDays(t *testing.T) {
	t.Parallel()
	clock := newClock()
	server := httptest.NewServer(coinsite.New(sim.Config{Now: clock.now}, nil).Handler())
	defer server.Close()
	_, daily := get(t, server.URL+"/rates/eurofxref-daily.xml")
	_, history := get(t, server.URL+"/rates/eurofxref-hist-90d.xml")
	if !strings.Contains(daily, `time="2026-11-20"`) || strings.Count(daily, "time=") != 1 || strings.Count(history, "time=") != 64 ||
		!strings.Contains(history, `time="2026-11-19"`) || strings.Contains(history, `time="2026-11-15"`) {
		t.Errorf("%s\n%s", daily, history)
	}
	for at, want := range map[string]string{
		"2026-11-20T14:29:59Z": "2026-11-19", "2026-11-20T14:30:00Z": "2026-11-20", "2026-11-23T14:00:00Z": "2026-11-20", "2026-11-23T15:00:00Z": "2026-11-23",
	} {
		when := must.Get(time.Parse(time.RFC3339, at))(t)
		if got := coinsite.Last(when).Format(time.DateOnly); got != want {
			t.Errorf("at %s the last rates are of %s, want %s", at, got, want)
		}
	}
}
