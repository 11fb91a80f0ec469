package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"quotary/localstack/client"
	"quotary/shared/testing/testenv"
)

// eventually asks until the answer is as wanted.
func eventually[T any](t *testing.T, what string, ask func() client.Answer, wanted func(T) bool) {
	t.Helper()
	var answer client.Answer
	defer func() {
		if t.Failed() {
			t.Logf("%s: the last answer is %d: %.600s", what, answer.Status, answer.Body)
		}
	}()
	testenv.Until(t, what+" is as wanted", func() bool {
		answer = ask()
		return answer.Status == http.StatusOK && wanted(data[T](t, answer))
	})
}

// TestBooksContextsAndTickersAreServed asks for what is made of books, contexts and
// funding; the venue's live flow feeds all of it.
func TestBooksContextsAndTickersAreServed(t *testing.T) {
	t.Parallel()
	key := world.State.Demo.SubKey
	get := func(path string) func() client.Answer {
		return func() client.Answer { return ask(t, key, "GET", hl+path, nil) }
	}
	info := func(body map[string]any) func() client.Answer {
		return func() client.Answer { return ask(t, key, "POST", hl+"/info", body) }
	}
	type level struct {
		Px, Sz string
		N      int
	}
	type book struct {
		Coin   string
		Time   int64
		Levels [2][]level
		Stale  bool
	}
	eventually(t, "l2Book", info(map[string]any{"type": "l2Book", "coin": "BTC"}), func(b book) bool {
		return b.Coin == "BTC" && !b.Stale && len(b.Levels[0]) > 5 && len(b.Levels[1]) > 5
	})
	eventually(t, "l2Book, grouped", info(map[string]any{"type": "l2Book", "coin": "BTC", "nSigFigs": 3}), func(b book) bool {
		for _, side := range b.Levels {
			for _, l := range side {
				if digits := strings.TrimRight(strings.TrimSuffix(l.Px, ".0"), "0"); len(digits) > 3 {
					t.Fatalf("a price of three figures is %s", l.Px)
				}
			}
		}
		return len(b.Levels[0]) > 0
	})
	type summary struct {
		Time                 int64
		Coin                 string
		BidVolume, AskVolume string
	}
	eventually(t, "history-summaries", get("/orderbooks/history-summaries/BTC?interval=1h"), func(list []summary) bool {
		return len(list) > 0 && list[0].Coin == "BTC" && list[0].BidVolume > "0" && time.Since(time.Unix(list[0].Time, 0)) < 10*time.Minute
	})
	type point struct {
		Time                     int64
		PositionCount, LongCount int64
		TotalPv                  string
	}
	eventually(t, "open-interest/history", get("/open-interest/history/BTC"), func(list []point) bool {
		return len(list) > 0 && list[0].PositionCount > list[0].LongCount && list[0].LongCount > 0
	})
	type delta struct{ SzDelta, ValDelta string }
	eventually(t, "accumulated-taker-delta", get("/accumulated-taker-delta/BTC?interval=1d"), func(d delta) bool {
		return d.SzDelta != "" && d.SzDelta != "0.0" && d.ValDelta != "0.0"
	})
	eventually(t, "spotMetaAndAssetCtxs", info(map[string]any{"type": "spotMetaAndAssetCtxs"}), func(pair [2]json.RawMessage) bool {
		return len(pair[1]) > 2
	})

	// The past of the funding is what the venue itself answers.
	type rate struct {
		Coin, FundingRate, Premium string
		Time                       int64
	}
	since := time.Now().Add(-6 * time.Hour).UnixMilli()
	var want []rate
	if err := json.Unmarshal(venueInfo(t, map[string]any{"type": "fundingHistory", "coin": "BTC", "startTime": since}), &want); err != nil || len(want) < 5 {
		t.Fatalf("the venue answers %v, %v", want, err)
	}
	eventually(t, "fundingHistory", info(map[string]any{"type": "fundingHistory", "coin": "BTC", "startTime": since, "endTime": want[len(want)-1].Time}), func(got []rate) bool {
		if len(got) != len(want) {
			return false
		}
		for i := range got {
			if got[i] != want[i] {
				return false
			}
		}
		return true
	})
}
