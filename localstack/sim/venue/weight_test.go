package venue

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"quotary/shared/testing/must"
)

// TestAMinuteOfQuestionsHasAWeight as at the venue, and begins anew.
func TestAMinuteOfQuestionsHasAWeight(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 15, 18, 0, 30, 0, time.UTC)
	v := must.Get(Open(Config{Weight: 1000, Traders: 40, HistoryDays: 5, HistoryFills: 500, Clock: func() time.Time { return now }}))(t)
	t.Cleanup(func() { must.Do(t, v.Close()) })
	count := func(body string) (n int) {
		for now = now.Add(time.Minute); ; n++ {
			if status, _, _ := post(t, v.Handler(), body); status != http.StatusOK || n > 1000 {
				if status != http.StatusTooManyRequests {
					t.Errorf("%s is %d, after %d times", body, status, n)
				}
				return n
			}
		}
	}
	history := `{"type":"fundingHistory","coin":"BTC","startTime":0}`
	now = now.Add(time.Minute)
	rows := len(ask[[]json.RawMessage](t, v, "%s", history))
	if rows < 100 {
		t.Fatalf("there are %d rows of funding", rows)
	}
	for body, weight := range map[string]int{
		`{"type":"meta"}`: 20, `{"type":"allMids"}`: 2, `{"type":"userRole","user":"0x00000000000000000000000000000000000000aa"}`: 60, history: 20 + rows/20,
	} {
		if n, want := count(body), (1000+weight-1)/weight; n != want {
			t.Errorf("%d times %s in a minute, want %d", n, body, want)
		}
	}
	if w := weightOfRows("candleSnapshot", []byte("["+strings.Repeat("1,", 119)+"1]")); w != 2 {
		t.Errorf("120 candles weigh %d, want 2", w)
	}
}
