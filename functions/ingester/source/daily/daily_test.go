package daily_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/daily"
	"quotary/shared/market"
	"quotary/shared/upstream"
)

// text is days as tests write them.
func text(days []market.DayQuote) string {
	var b strings.Builder
	for _, d := range days {
		fmt.Fprintf(&b, "%s %s %s %s %s %s;", d.Date, d.Open, d.High, d.Low, d.Close, d.Volume)
	}
	return b.String()
}

const html = "<!DOCTYPE html>\n<html><body>Please wait, we check your browser</body></html>"

func TestAnswers(t *testing.T) {
	t.Parallel()
	type answer struct{ given, want string }
	const (
		cboe   = "DATE,OPEN,HIGH,LOW,CLOSE\n"
		stooq  = "Date,Open,High,Low,Close,Volume\n"
		polish = "Data,Otwarcie,Najwyzszy,Najnizszy,Zamkniecie,Wolumen\r\n"
	)
	fng := func(rows string) string {
		return `{"name":"Fear and Greed Index","data":[` + rows + `],"metadata":{"error":null}}`
	}
	for name, tt := range map[string]struct {
		read    func([]byte) ([]market.DayQuote, int, error)
		answers []answer
	}{
		"alternative.me": {
			func(b []byte) ([]market.DayQuote, int, error) { return daily.ReadFearGreed(b, "i:fgi:alternative") },
			[]answer{
				{fng(`{"value":"40","value_classification":"Fear","timestamp":"1795305600","time_until_update":"3600"},{"value":"0","timestamp":"1795219200"}`), "2026-11-22 40 40 40 40 ;2026-11-21 0 0 0 0 ; 0"},
				{fng(`{"value":"101","timestamp":"1795305600"},{"value":"x","timestamp":"1795305600"},{"value":"4.5","timestamp":"1795305600"},{"timestamp":"1795305600"},{"value":"5","timestamp":"11-22-2026"},{"value":"5","timestamp":"-1"},7,{"value":5,"timestamp":1795219200}`), "2026-11-21 5 5 5 5 ; 7"},
				{fng(``), "it has no days"},
				{fng(`{"value":"x"}`), "it has no days"},
				{`{"data":[],"metadata":{"error":"limit is too large"}}`, "the upstream says that it cannot answer"},
				{html, "it is no list of days"}, {``, "it is no list of days"}, {`[]`, "it is no list of days"},
			},
		},
		"Cboe": {
			func(b []byte) ([]market.DayQuote, int, error) { return daily.ReadVIX(b, "i:vix:cboe") },
			[]answer{
				{cboe + "01/02/1990,17.240000,17.240000,17.240000,17.240000\n11/20/2026,16.820000,18.700000,15.820000,15.990000\n", "1990-01-02 17.24 17.24 17.24 17.24 ;2026-11-20 16.82 18.7 15.82 15.99 ; 0"},
				{cboe + "11/20/2026,9,8,7,6\n", "2026-11-20 9 9 6 6 ; 0"},
				{cboe + "2026-11-20,1,1,1,1\n13/20/2026,1,1,1,1\n11/20/2026,1,1,1\n11/20/2026,,,,1\n11/20/2026,1,1,1,n/a\n11/20/2026,-1,1,1,1\n\"11/20/2026,1\n,1\",\"x\n11/21/2026,1,1,1,2\n", "2026-11-21 1 2 1 2 ; 8"},
				{cboe + "\"11/19/2026,1,1,1,1\n11/20/2026,1,1,1,2\n11/21/2026,1,1,1,2\n", "2026-11-20 1 2 1 2 ;2026-11-21 1 2 1 2 ; 1"},
				{cboe + "11/20/2026,1,1,1\n11/20/2026,1,1\"1,1,1\n\n11/21/2026,1,1,1,2\n", "2026-11-21 1 2 1 2 ; 2"},
				{cboe, "it has no days"},
				{html, "it is no file of days"},
				{"", "it is no file of days"},
				{"DATE,VVIX\n11/20/2026,90\n", "it is no file of days"},
			},
		},
		"Stooq": {
			func(b []byte) ([]market.DayQuote, int, error) {
				return daily.ReadStooq(b, daily.Symbol{Key: "i:mstr:nasdaq", Name: "mstr.us", Unit: "USD"})
			},
			[]answer{
				{stooq + "2026-11-20,28.3,28.713,28.114,28.684,143375790\n", "2026-11-20 28.3 28.713 28.114 28.684 143375790; 0"},
				{"\ufeff" + polish + "1789-05-01,0.51,0.51,0.51,0.51\r\n1970-01-02,1,1,1,1\r\n2026-11-20,2,2,2,2,7\r\n", "1970-01-02 1 1 1 1 ;2026-11-20 2 2 2 2 7; 0"},
				{"Date,Open,High,Low,Close\n2026-11-20,1,1,1,1\n", "2026-11-20 1 1 1 1 ; 0"},
				{stooq + "2026-11-20,1,1,1,N/D,5\n20261120,1,1,1,1,5\n2026-11-19,1,1,1,1,5\n", "2026-11-19 1 1 1 1 5; 2"},
				{"No data", "it says that it has no such symbol"},
				{"Exceeded the daily hits limit", "it says that it was asked too often today"},
				{"", "it is no file of days"},
			},
		},
	} {
		for _, a := range tt.answers {
			days, malformed, err := tt.read([]byte(a.given))
			got := fmt.Sprint(text(days), " ", malformed)
			if err != nil {
				got = err.Error()
			}
			if got != a.want {
				t.Errorf("%s: %s\n got %s\nwant %s", name, a.given, got, a.want)
			}
		}
	}
}

// served answers questions with a function of how often it was asked.
func served(t *testing.T, answer func(w http.ResponseWriter, n int, r *http.Request)) (url string, asked func() string) {
	t.Helper()
	var mu sync.Mutex
	var questions []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		questions = append(questions, r.URL.String())
		answer(w, len(questions), r)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(questions, " ")
	}
}

var errEnough = errors.New("enough")

// follow returns what is delivered until there is so much of it.
func follow(t *testing.T, s *daily.Series, deliveries int) (got []string) {
	t.Helper()
	s.Every, s.Stats, s.Log = time.Millisecond, new(source.Stats), slog.New(slog.DiscardHandler)
	s.Now = func() time.Time { return time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC) }
	err := s.Follow(t.Context(), func(_ context.Context, _ time.Time, days []market.DayQuote) error {
		if got = append(got, text(days)); len(got) == deliveries {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
	return got
}

func TestOnlyWhatHasChangedIsDelivered(t *testing.T) {
	t.Parallel()
	url, asked := served(t, func(w http.ResponseWriter, n int, _ *http.Request) {
		row := func(value, at int) string { return fmt.Sprintf(`{"value":"%d","timestamp":"%d"}`, value, at) }
		const today, day = 1795305600, 86400
		list := []string{row(30, today-day), row(20, today-2*day)}
		switch {
		case n >= 6:
			list = []string{row(50, today), row(30, today-day), row(99, today+2*day)} // the last is no day yet
		case n >= 4:
			list = []string{row(40, today), row(41, today), row(30, today-day)}
		}
		fmt.Fprint(w, `{"data":[`+strings.Join(list, ",")+`],"metadata":{"error":null}}`)
	})
	s := daily.FearGreed(url, "k")
	got := follow(t, s, 3)
	want := "2026-11-20 20 20 20 20 ;2026-11-21 30 30 30 30 ; 2026-11-22 41 41 41 41 ; 2026-11-22 50 50 50 50 ;"
	if strings.Join(got, " ") != want {
		t.Errorf("got %s", got)
	}
	if whole := strings.Count(asked(), "limit=0"); whole != 1 || !strings.HasPrefix(asked(), "/?format=json&limit=0 /?format=json&limit=10 ") {
		t.Errorf("asked %s", asked())
	}
	if n := s.Stats.Malformed.Load(); n != 1 {
		t.Errorf("%d malformed", n)
	}
}

func TestTroubleIsWaitedFor(t *testing.T) {
	t.Parallel()
	const file = "DATE,OPEN,HIGH,LOW,CLOSE\n11/20/2026,1,1,1,1\n"
	for name, trouble := range map[string]func(http.ResponseWriter){
		"too many":   func(w http.ResponseWriter) { w.Header().Set("Retry-After", "1"); w.WriteHeader(429) },
		"broken":     func(w http.ResponseWriter) { w.WriteHeader(503) },
		"HTML":       func(w http.ResponseWriter) { fmt.Fprint(w, html) },
		"huge":       func(w http.ResponseWriter) { fmt.Fprint(w, file, strings.Repeat("11/19/2026,1,1,1,1\n", 500_000)) },
		"redirected": func(w http.ResponseWriter) { w.Header().Set("Location", "/elsewhere"); w.WriteHeader(302) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, asked := served(t, func(w http.ResponseWriter, n int, _ *http.Request) {
				if n == 1 {
					trouble(w)
					return
				}
				fmt.Fprint(w, file)
			})
			if got := follow(t, daily.VIX(url, "k"), 1); got[0] != "2026-11-20 1 1 1 1 ;" {
				t.Error(got)
			}
			if asked() != "/VIX_History.csv /VIX_History.csv" {
				t.Error(asked())
			}
		})
	}
}

func TestASymbolThatIsUnknownDoesNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	url, asked := served(t, func(w http.ResponseWriter, _ int, r *http.Request) {
		if r.URL.Query().Get("s") == "gone.us" {
			fmt.Fprint(w, "No data")
			return
		}
		fmt.Fprint(w, "Date,Open,High,Low,Close,Volume\n2026-11-20,1,1,1,1,"+fmt.Sprint(len(r.URL.Query().Get("s")))+"\n")
	})
	s := daily.Stooq(url, "secret", []daily.Symbol{{"i:gone:nyse", "gone.us", "USD"}, {"i:mstr:nasdaq", "mstr.us", "USD"}, {"i:spx:us", "^spx", ""}})
	if got := strings.Join(follow(t, s, 2), " "); got != "2026-11-20 1 1 1 1 7; 2026-11-20 1 1 1 1 4;" {
		t.Error(got)
	}
	if want := "/?apikey=secret&i=d&s=gone.us /?apikey=secret&i=d&s=mstr.us /?apikey=secret&i=d&s=%5Espx"; asked() != want {
		t.Error(asked())
	}
}

func TestAFileThatIsBeyondItsBoundsIsRefused(t *testing.T) {
	t.Parallel()
	const heading, row = "DATE,OPEN,HIGH,LOW,CLOSE\n", "01/02/1990,17.24,17.24,17.24,17.24\n"
	for name, file := range map[string]string{"too many lines": heading + strings.Repeat(row, 60_000), "a line of commas": heading + row + strings.Repeat(",", 2000)} {
		if days, _, err := daily.ReadVIX([]byte(file), "i:vix:cboe"); !errors.Is(err, upstream.ErrBounds) {
			t.Errorf("%s: %d days, %v", name, len(days), err)
		}
	}
	if days, _, err := daily.ReadFearGreed([]byte(`{"data":[`+strings.Repeat("{},", 60_000)+`{}]}`), "i:fgi:alternative"); !errors.Is(err, upstream.ErrBounds) {
		t.Errorf("%d days, %v", len(days), err)
	}
}
