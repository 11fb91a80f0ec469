package content

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/localstack/sim"
	simulated "quotary/localstack/sim/announcements"
	"quotary/shared/data/airdrops"
	"quotary/shared/data/flashes"
	"quotary/shared/service/config"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

func TestSettingsOfAnnouncements(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "[] ", "binance, okx,binance": "[binance okx] ", "nobody": `QUOTARY_ANNOUNCEMENTS names "nobody": accepted are binance, bybit, okx`, "a;b": "must be names"} {
		env := config.Env{Lookup: func(name string) (string, bool) { return text, name == "QUOTARY_ANNOUNCEMENTS" }}
		c := Settings(&env)
		got := fmt.Sprint(c.Announcements, " ")
		if err := env.Err(); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) || c.AnnouncementsEvery != time.Minute || c.AnnouncementsURL != "" {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestWhatExchangesAnnounceIsStored follows simulated exchanges: listings are flashes, and
// campaigns are airdrops. A restart stores nothing again.
func TestWhatExchangesAnnounceIsStored(t *testing.T) {
	t.Parallel()
	now := time.Now()
	site := simulated.New(sim.Config{Now: func() time.Time { return now }})
	server := httptest.NewServer(site.Handler())
	t.Cleanup(server.Close)
	w := newWorld(t)
	c := Config{Stores: w.stores, Objects: w.objects, Bucket: w.bucket, DropsEvery: time.Hour, Logger: slog.New(slog.DiscardHandler),
		Announcements: []string{"binance", "bybit", "okx"}, AnnouncementsURL: server.URL, AnnouncementsEvery: time.Hour}
	stop := w.start(t, c.pipeline())
	const read = 60 // three pages of 20
	for _, exchange := range []string{simulated.Binance, simulated.Bybit, simulated.OKX} {
		var want []string
		for _, a := range site.Listings(exchange, now)[:read] {
			want = append(want, fmt.Sprint(a.Title, a.Text, a.URL, a.Published/1000, flashes.TypeListing))
		}
		testenv.Until(t, "the listings are flashes", func() bool {
			v, err := flashes.Published.Open(w.stores.Views, time.Now).Get(t.Context())
			if err != nil {
				return false
			}
			page, _ := v.Select(flashes.Selection{Platform: flashes.House, Language: "en", Limit: 500, Keep: func(f *flashes.Flash) bool { return f.MemberID == flashes.MemberID(exchange) }})
			var got []string
			for _, f := range page {
				got = append(got, fmt.Sprint(f.Title, f.Content, f.Link, f.Time, f.FlashType))
			}
			return slices.Equal(got, want)
		})
	}
	v := must.Get(flashes.Published.Open(w.stores.Views, time.Now).Get(t.Context()))(t)
	if page, _ := v.Select(flashes.Selection{Platform: flashes.House, Language: "cn", Limit: 500}); len(page) != 3*read || !strings.Contains(page[0].Title, "模拟") || !strings.Contains(page[0].TransTitle, "list") {
		t.Errorf("%d listings in Chinese: %+v", len(page), page)
	}
	want := map[string]string{}
	for _, exchange := range []string{simulated.Binance, simulated.Bybit, simulated.OKX} {
		for _, a := range site.Airdrops(exchange, now)[:read] {
			want[exchange+" "+a.Title] = fmt.Sprint(a.Programme, a.Name, a.Symbol, a.Published, a.Start, a.End, a.URL)
		}
	}
	testenv.Until(t, "the campaigns are airdrops", func() bool {
		v, err := airdrops.Published.Open(w.stores.Views, time.Now).Get(t.Context())
		if err != nil || len(v.Airdrops) != len(want) {
			return false
		}
		for a := range v.Shown() {
			if want[a.Exchange+" "+a.TitleEN] != fmt.Sprint(a.Source, a.ProjectName, a.TokenSymbol, a.PublishTime, a.StartTime, a.EndTime, a.SourceURL) {
				t.Fatalf("%+v", a)
			}
			if text, err := airdrops.Content(t.Context(), w.stores.Log, a, airdrops.Chinese); err != nil || !strings.Contains(text, a.TitleCN) || !strings.Contains(text, "模拟") {
				t.Fatalf("%s: %q, %v", a.AirdropID, text, err)
			}
		}
		return true
	})
	stop()

	p := c.pipeline()
	stop = w.start(t, p)
	testenv.Until(t, "all exchanges were asked again", func() bool {
		asked := 0
		for _, s := range p.Sources {
			if strings.HasPrefix(s.Name, "announcements ") && s.Stats.Lines.Load() == 2 { // a page of each category
				asked++
			}
		}
		return asked == 3
	})
	stop()
	if n := p.Stats.Events.Load(); n != 0 {
		t.Errorf("%d events are stored again", n)
	}
}
