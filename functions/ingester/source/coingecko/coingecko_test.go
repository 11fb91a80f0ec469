package coingecko_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/coingecko"
	"quotary/functions/ingester/source/sourcetest"
	"quotary/shared/market"
	"quotary/shared/upstream"
)

var errEnough = errors.New("enough")

// row is a row of /coins/markets with further members, of our own making.
func row(id string, members string) string {
	return fmt.Sprintf(`{"id":%q,"symbol":"abc","name":"A B C","image":"https://example.com/a.png","last_updated":"2026-11-20T09:59:31.736Z","roi":null%s}`, id, members)
}

func TestARow(t *testing.T) {
	t.Parallel()
	const made, logo = 1795168771736, "https://example.com/a.png"
	for text, want := range map[string]market.CoinMarket{
		row("abc", `,"current_price":70187,"market_cap":1381651251183,"market_cap_rank":7,"total_volume":20154184933.25,"price_change_percentage_24h":3.12502,"price_change_percentage_7d_in_currency":-2.4e-3,"circulating_supply":19675987`): {
			Key: "abc", Symbol: "ABC", Name: "A B C", Rank: 7, Time: made, Image: logo, Supply: "19675987", Price: "70187", MarketCap: "1381651251183", Turnover24h: "20154184933.25", Degree24h: "3.12502", Degree7d: "-0.0024",
		},
		// The digits of a number that is no float64 are all kept.
		row("abc", `,"current_price":12345678901234567890.1234567,"market_cap":1.23e-9`): {
			Key: "abc", Symbol: "ABC", Name: "A B C", Time: made, Image: logo, Price: "12345678901234567890.1234567", MarketCap: "0.00000000123",
		},
		row("abc", `,"current_price":null,"market_cap_rank":null,"total_volume":null`):    {Key: "abc", Symbol: "ABC", Name: "A B C", Time: made, Image: logo},
		row("abc", `,"current_price":1e-40`):                                              {Key: "abc", Symbol: "ABC", Name: "A B C", Time: made, Image: logo},
		strings.Replace(row("abc", ``), "A B C", `\u202eA\u0000B  C`, 1):                  {Key: "abc", Symbol: "ABC", Name: "A B C", Time: made, Image: logo},
		row("abc", `,"image":"javascript:alert(1)","total_supply":3e3,"max_supply":null`): {Key: "abc", Symbol: "ABC", Name: "A B C", Time: made, Issued: "3000"},
		row("abc", `,"total_supply":30,"max_supply":21`):                                  {Key: "abc", Symbol: "ABC", Name: "A B C", Time: made, Image: logo, Issued: "21"},
		row("a,b", ``): {}, row("", ``): {}, row(strings.Repeat("a", 65), ``): {},
		row("abc", `,"current_price":-1`):   {},
		row("abc", `,"current_price":true`): {},
		`{"id":"abc"}`:                      {}, `null`: {}, `[]`: {},
	} {
		got, err := coingecko.Parse([]byte(text))
		if diff := cmp.Diff(want, got); diff != "" || (err != nil) != (want.Key == "") {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
}

// pages are those of numbered coins.
type pages struct {
	*httptest.Server
	calls   atomic.Int64
	refuse  atomic.Int64 // calls that are still to be refused
	coins   int
	wantKey string
}

func newPages(t *testing.T, coins int) *pages {
	u := &pages{coins: coins}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.calls.Add(1)
		q := r.URL.Query()
		page, _ := strconv.Atoi(q.Get("page"))
		switch {
		case u.refuse.Add(-1) >= 0:
			w.Header().Set("Retry-After", "1")
			http.Error(w, `{"status":{"error_code":429,"error_message":"You've exceeded the Rate Limit."}}`, http.StatusTooManyRequests)
			return
		case r.URL.Path != "/api/v3/coins/markets" || q.Get("vs_currency") != "usd" || q.Get("per_page") != "250" || q.Get("price_change_percentage") != "24h,7d",
			q.Get("order") != "market_cap_desc", r.Header.Get("x-cg-demo-api-key") != u.wantKey:
			t.Errorf("asked for %s with %v", r.URL, r.Header)
		}
		rows := []json.RawMessage{}
		for n := (page - 1) * 250; n < min(page*250, u.coins); n++ {
			rows = append(rows, json.RawMessage(row("coin"+strconv.Itoa(n), "")))
		}
		if page == 1 && len(rows) > 0 {
			rows[0] = json.RawMessage(`{"id":""}`)
		}
		_ = json.NewEncoder(w).Encode(rows)
	}))
	t.Cleanup(u.Close)
	return u
}

func (u *pages) markets(pages int) *coingecko.Markets {
	return &coingecko.Markets{URL: u.URL + "/api/v3", Key: u.wantKey, Pages: pages, Every: time.Hour, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler)}
}

// take follows until so many coins have come.
func take(t *testing.T, m *coingecko.Markets, most int) (got []market.CoinMarket) {
	t.Helper()
	err := m.Follow(t.Context(), func(_ context.Context, coins []market.CoinMarket) error {
		if got = append(got, coins...); len(got) >= most {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
	return got
}

func TestPagesAreAskedForInTheirOrder(t *testing.T) {
	t.Parallel()
	u := newPages(t, 600)
	u.wantKey = "secret"
	m := u.markets(3)
	got := take(t, m, 599)
	if len(got) != 599 || got[0].Key != "coin1" || got[598].Key != "coin599" || u.calls.Load() != 3 {
		t.Errorf("%d coins in %d calls", len(got), u.calls.Load())
	}
	if m.Stats.Malformed.Load() != 1 || m.Stats.Lines.Load() != 3 || m.Stats.LastEvent.Load() != 1795168771736 {
		t.Errorf("malformed %d, answers %d", m.Stats.Malformed.Load(), m.Stats.Lines.Load())
	}
}

// What is of the future would make everything else old.
func TestFiguresOfTheFutureAreSkipped(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		later := strings.Replace(row("later", ""), "2026-11-20T09:59:31.736Z", time.Now().Add(time.Hour).UTC().Format(time.RFC3339), 1)
		fmt.Fprintf(w, "[%s,%s]", later, row("now", ""))
	}))
	defer server.Close()
	m := &coingecko.Markets{URL: server.URL, Pages: 1, Every: time.Hour, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler)}
	if got := take(t, m, 1); len(got) != 1 || got[0].Key != "now" || m.Stats.Malformed.Load() != 1 {
		t.Errorf("%+v", got)
	}
}

func TestAShortPageIsTheLast(t *testing.T) {
	t.Parallel()
	u := newPages(t, 260)
	m := u.markets(9)
	m.Every = 20 * time.Millisecond
	if got := take(t, m, 2*259); got[259].Key != "coin1" || u.calls.Load() != 4 {
		t.Errorf("after %d calls: %s", u.calls.Load(), got[259].Key)
	}
}

func TestARefusalForTooManyCallsIsObeyed(t *testing.T) {
	t.Parallel()
	u := newPages(t, 10)
	u.refuse.Store(1)
	began := time.Now()
	take(t, u.markets(1), 9)
	if took := time.Since(began); took < time.Second || u.calls.Load() != 2 {
		t.Errorf("asked %d times within %s, where Retry-After is a second", u.calls.Load(), took)
	}
}

// A redirect would show the key to whoever it names.
func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer other.Close()
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusFound)
		cancel()
	}))
	defer server.Close()
	m := &coingecko.Markets{URL: server.URL, Key: "secret", Pages: 1, Every: time.Hour, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler)}
	_ = m.Follow(ctx, func(context.Context, []market.CoinMarket) error { return nil })
	if reached.Load() {
		t.Error("the redirect was followed")
	}
}

func FuzzARow(f *testing.F) {
	f.Add([]byte(row("abc", `,"current_price":1.5e-3,"market_cap_rank":1`)))
	f.Add([]byte(`{"id":"x","current_price":1e999,"last_updated":"2026-11-20T09:59:31Z"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := coingecko.Parse(text)
		if err != nil {
			return
		}
		for _, figure := range []string{m.Price, m.MarketCap, m.Turnover24h, m.Degree24h, m.Degree7d} {
			if _, err := market.ParseDecimal(figure); figure != "" && err != nil {
				t.Errorf("%q: %v", figure, err)
			}
		}
		if !market.ValidCoinKey(m.Key) || m.Time <= 0 {
			t.Errorf("%+v", m)
		}
	})
}

func TestAnAnswerWithoutEndIsRefused(t *testing.T) {
	t.Parallel()
	sourcetest.RefusesEndless(t, upstream.Bounds{Bytes: 2 << 20, Rows: 2 * coingecko.PageSize}, `[`, func(url string) error {
		return sourcetest.Logged(t.Context(), func(ctx context.Context, log *slog.Logger) {
			m := coingecko.Markets{URL: url, Pages: 1, Every: time.Hour, Stats: new(source.Stats), Log: log}
			_ = m.Follow(ctx, func(context.Context, []market.CoinMarket) error { return errEnough })
		})
	})
}
