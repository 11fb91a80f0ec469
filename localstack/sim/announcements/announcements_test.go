package announcements

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"quotary/localstack/sim"
	"quotary/localstack/sim/simtest"
)

func TestWhatIsAnnouncedFollowsFromTheClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 10, 5, 0, 0, time.UTC)
	s := New(sim.Config{})
	for _, exchange := range []string{Binance, OKX, Bybit} {
		listings, campaigns := s.Listings(exchange, now), s.Airdrops(exchange, now)
		if len(listings) != Kept || len(campaigns) != Kept || listings[0].Published > now.UnixMilli() || listings[0].Published < listings[1].Published {
			t.Errorf("%s: %d listings, %d campaigns", exchange, len(listings), len(campaigns))
		}
		if later := s.Listings(exchange, now.Add(6*time.Hour)); later[4] != listings[0] {
			t.Errorf("%s: %+v, and six hours later %+v", exchange, listings[0], later[4])
		}
		for _, a := range append(listings, campaigns...) {
			if !strings.Contains(strings.ToLower(a.Title), "simulated") || a.Listing == (a.Programme != "") {
				t.Errorf("%+v", a)
			}
		}
	}
}

func TestExchangesAnswerAsTheyDo(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(New(sim.Config{}).Handler())
	t.Cleanup(server.Close)
	for query, want := range map[string]string{
		"/bapi/composite/v1/public/cms/article/list/query?type=1&catalogId=128&pageNo=1&pageSize=20": `"releaseDate":17`,
		"/bapi/composite/v1/public/cms/article/list/query?type=1&catalogId=1":                        `"code":"000002"`,
		"/api/v5/support/announcements?annType=announcements-new-listings":                           `"totalPage":"5"`,
		"/api/v5/support/announcements?annType=announcements-new-listings&page=9":                    `"details":[]`,
		"/api/v5/support/announcements?annType=nothing":                                              `"code":"51000"`,
		"/v5/announcements/index?locale=en-US&type=latest_activities&page=5&limit=20":                `"total":100`,
		"/v5/announcements/index?locale=en-US&type=nothing":                                          `"retCode":10001`,
	} {
		if _, body := simtest.Get(t, server.URL+query); !strings.Contains(string(body), want) {
			t.Errorf("%s: %.300s, want %s", query, body, want)
		}
	}
}
