package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/delivered"
	"quotary/shared/store/storetest"
)

// knownUntil has all been delivered, and what comes by the hour up to so long ago.
func (w *echo) knownUntil(t *testing.T, ago time.Duration) (until string) {
	t.Helper()
	views, v, at := w.Views(t), delivered.View{}, w.Now().Add(-ago)
	for _, d := range catalog.Datasets() {
		state := delivered.State{Since: 1, Sources: []string{"test"}}
		if slices.Contains([]string{"fills", "ledgers", "payments"}, d.Name) {
			state.Until = at.UnixMilli()
		}
		v[d.Name] = state
	}
	for _, d := range catalog.Datasets() {
		storetest.Publish(t, views, delivered.Published(d.Domain.Name), v)
	}
	w.Family.Delivered = delivered.Open(views, w.Now)
	return at.UTC().Format(time.RFC3339)
}

// TestAnswersSayUpToWhenIsKnownWhatComesByTheHour: those that are made of nothing else do, and no other; what
// began behind that is 503, and costs nothing.
func TestAnswersSayUpToWhenIsKnownWhatComesByTheHour(t *testing.T) {
	t.Parallel()
	everyFunction(t, func(t *testing.T, w *echo, endpoints []*catalog.Endpoint) {
		hourly := map[string]bool{}
		for _, e := range endpoints {
			if !e.Planned && len(e.Needs) > 0 {
				hourly[e.String()] = !slices.ContainsFunc(e.Needs, func(d *catalog.Dataset) bool {
					return !slices.Contains([]string{"fills", "ledgers", "payments"}, d.Name)
				})
			}
		}
		until := w.knownUntil(t, 0)
		for _, e := range endpoints {
			if _, needs := hourly[e.String()]; !needs || e.Path == "/upgrade/v2/hl/info" || e.Path == "/upgrade/v2/hl/venue/info" { // by its type
				continue
			}
			a := w.invoke(t, apitest.Example(e))
			_, dated := reflect.New(e.In).Interface().(catalog.Dater) // that of the example is long ago
			switch got := a.Header[catalog.HeaderDataUntil]; {
			case e.Lookup && !dated:
				a.Refused(t, http.StatusServiceUnavailable, "are known until "+until)
			case a.Status != http.StatusOK || hourly[e.String()] != (got == until) || !hourly[e.String()] && got != "":
				t.Errorf("%s: %d, up to %q, want %s where it comes by the hour: %t", e, a.Status, got, until, hourly[e.String()])
			}
		}
	})
}

func TestWhatBeganBehindWhatIsKnownIs503(t *testing.T) {
	t.Parallel()
	const hl, someone = "/upgrade/v2/hl", "0x00000000000000000000000000000000000000aa"
	for function, paths := range map[string]map[string]bool{
		string(catalog.PerpLiquidations): {
			"/liquidations/stat?interval=1h": true, "/liquidations/stat?interval=1d": false, "/liquidations/stat-by-coin?interval=119m": true,
			"/liquidations/top-positions?interval=90m&coin=BTC": true, "/liquidations/top-positions?interval=3h&coin=BTC": false,
			"/liquidations/history?interval=1m&limit=100": true, "/liquidations/history?interval=1h&limit=3": false,
		},
		string(catalog.PerpFills): {
			"/fills/top-trades?coin=BTC&interval=30m": true, "/fills/top-trades?coin=BTC&interval=1d": false,
			"/fills/oid/7": true, "/fills/twapid/7": true, "/fills/builder/" + someone + "/latest": false,
		},
		string(catalog.PerpTraders): {
			"/traders/" + someone + "/addr-stat?period=1": false, "/traders/" + someone + "/addr-stat?period=0": false,
			"/traders/" + someone + "/completed-trades": false, "/ledger-updates/net-flow/" + someone + "?days=1": false,
		},
	} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			w := newEcho(t, function)
			until := w.knownUntil(t, 2*time.Hour)
			for _, path := range slices.Sorted(maps.Keys(paths)) {
				a := w.Get(t, w.SubKey, hl+path)
				reached := w.take() != nil
				if !paths[path] {
					if a.Status != http.StatusOK || a.Header[catalog.HeaderDataUntil] != until {
						t.Errorf("%s: %d, up to %q: %s", path, a.Status, a.Header[catalog.HeaderDataUntil], a.Body)
					}
					continue
				}
				a.Refused(t, http.StatusServiceUnavailable, "are known until "+until)
				if a.Header["Retry-After"] != "300" || reached != strings.Contains(path, "id/") {
					t.Errorf("%s: its handler was reached: %t, Retry-After %q", path, reached, a.Header["Retry-After"])
				}
				if left := a.Header["Quota-Remaining"]; left != "" && left != w.Get(t, w.SubKey, hl+path).Header["Quota-Remaining"] {
					t.Errorf("%s is charged", path)
				}
			}
		})
	}
}

// Sums that reach over an hour that has not come are too small: answers name it, and others do not.
func TestAnswersNameTheHoursThatAreMissing(t *testing.T) {
	t.Parallel()
	const hl, someone = "/upgrade/v2/hl", "0x00000000000000000000000000000000000000aa"
	w := newEcho(t, string(catalog.PerpTraders))
	w.knownUntil(t, 2*time.Hour)
	until := w.Now().Add(-2 * time.Hour).Truncate(time.Hour)
	hour := func(before int) time.Time { return until.Add(-time.Duration(before) * time.Hour) }
	views := w.Views(t)
	storetest.Publish(t, views, delivered.Published(catalog.PerpDomain.Name), delivered.View{
		"fills":   {Since: 1, Until: until.UnixMilli(), Missing: []int64{hour(80).UnixMilli(), hour(5).UnixMilli()}},
		"ledgers": {Since: 1, Until: until.UnixMilli(), Missing: []int64{hour(4).UnixMilli()}},
	})
	w.Family.Delivered = delivered.Open(views, w.Now)
	named := func(hours ...int) string {
		var all []string
		for _, h := range hours {
			all = append(all, hour(h).UTC().Format(time.RFC3339))
		}
		return strings.Join(all, ", ")
	}
	for path, want := range map[string]string{
		"/traders/" + someone + "/addr-stat?period=1":     named(5),
		"/traders/" + someone + "/addr-stat?period=7":     named(80, 5),
		"/traders/" + someone + "/addr-stat?period=0":     named(80, 5),
		"/traders/" + someone + "/completed-trades":       named(80, 5),
		"/ledger-updates/net-flow/" + someone + "?days=1": named(4),
		fmt.Sprintf("/traders/%s/completed-position-history/BTC?startTime=%d&endTime=%d", someone, hour(70).UnixMilli(), hour(5).UnixMilli()):   "",
		fmt.Sprintf("/traders/%s/completed-position-history/BTC?startTime=%d&endTime=%d", someone, hour(79).UnixMilli()-1, hour(5).UnixMilli()): named(80),
	} {
		if a := w.Get(t, w.SubKey, hl+path); a.Header[catalog.HeaderDataMissing] != want {
			t.Errorf("%s: %d, missing %q, want %q", path, a.Status, a.Header[catalog.HeaderDataMissing], want)
		}
	}
}

// A window in the past begins before, or behind.
func TestARangeIsAnsweredUpToWhatIsKnown(t *testing.T) {
	t.Parallel()
	w := newEcho(t, string(catalog.PerpTraders))
	w.knownUntil(t, 2*time.Hour)
	ask := func(start time.Duration) apitest.Answer {
		return w.Call(t, w.SubKey, http.MethodPost, "/upgrade/v2/hl/ledger-updates/deposits-withdrawals", map[string]any{
			"addresses": []string{"0x00000000000000000000000000000000000000aa"}, "startTime": w.Now().Add(-start).UnixMilli(), "endTime": w.Now().UnixMilli(),
		})
	}
	if a := ask(3 * time.Hour); a.Status != http.StatusOK || a.Header[catalog.HeaderDataUntil] == "" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	ask(2*time.Hour).Refused(t, http.StatusServiceUnavailable, "ledger updates of the accounts of Hyperliquid are known until")
}
