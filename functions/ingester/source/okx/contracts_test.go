package okx

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"quotary/shared/market"
)

const hour = int64(3_600_000) // ms

func TestARateThatIsExpectedIsOfThePeriodThatEnds(t *testing.T) {
	t.Parallel()
	const due = int64(1_790_000_000_000)
	for _, c := range []struct {
		name, prev, next string
		hours            int64
	}{
		{"ahead of a change", strconv.FormatInt(due-8*hour, 10), strconv.FormatInt(due+hour, 10), 8},
		{"no period before", "", strconv.FormatInt(due+4*hour, 10), 4},
		{"no next period", strconv.FormatInt(due-2*hour, 10), "", 2},
		{"neither", "", "", 0},
	} {
		line := fmt.Sprintf(`{"arg":{"channel":"funding-rate"},"data":[{"instId":"A","fundingRate":"0.0008","prevFundingTime":%q,"fundingTime":"%d","nextFundingTime":%q,"ts":"%d"}]}`, c.prev, due, c.next, due-1000)
		if f, err := frames.Read(line); err != nil || len(f.Events.Fundings) != 1 || f.Events.Fundings[0].Period != c.hours*hour {
			t.Errorf("%s: %+v, %v, want %d hours", c.name, f.Events.Fundings, err, c.hours)
		}
	}
	null, err := frames.Read(`{"arg":{"channel":"funding-rate"},"data":[{"instId":"A","fundingRate":"0.0008","prevFundingTime":null,"fundingTime":"1790000000000","ts":"1789999999000"}]}`)
	if err != nil || len(null.Events.Fundings) != 1 {
		t.Errorf("without what may be left out: %+v, %v", null.Events, err)
	}
}

// The rate that was paid at the end of a page, where the question ends too, has its period from
// the page behind it.
func TestPaidRatesHaveTheirPeriodsAcrossPages(t *testing.T) {
	t.Parallel()
	base := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC).UnixMilli()
	var times []int64 // newest first: a hundred of an hour each, and before that of four
	for h := range int64(100) {
		times = append(times, base+(100-h)*hour)
	}
	times = append(times, base-3*hour, base-7*hour, base-11*hour)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		after, _ := strconv.ParseInt(r.FormValue("after"), 10, 64)
		limit, _ := strconv.Atoi(r.FormValue("limit"))
		rows := []string{}
		for _, at := range times {
			if at < after && len(rows) < limit {
				rows = append(rows, fmt.Sprintf(`{"fundingTime":"%d","realizedRate":"0.0001"}`, at))
			}
		}
		fmt.Fprintf(w, `{"code":"0","data":[%s]}`, strings.Join(rows, ","))
	}))
	t.Cleanup(server.Close)
	m := Open(server.URL, slog.New(slog.DiscardHandler))[1]
	list, err := m.PastFundings(t.Context(), market.Pair{Symbol: "A-USDT-SWAP"}, base+hour, base+200*hour)
	if err != nil || len(list) != 100 || list[0].Period != 4*hour || list[1].Period != hour || list[99].Period != hour {
		t.Errorf("%d rates, %v: %+v", len(list), err, list[:min(2, len(list))])
	}
}
