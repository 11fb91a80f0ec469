package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"quotary/localstack/stack"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// lateMost is how late a live trade may come: a busy machine is slow.
var lateMost = testenv.Amount(time.Minute, 2*time.Second)

// atOnce is what was wrong with the first answers, right after the stack was ready.
var atOnce []string

// askAtOnce asks each question once, as soon as a stack on a fresh folder is ready.
func askAtOnce(ctx context.Context) {
	for _, q := range stack.Questions() {
		answer, err := api().Do(ctx, world.State.Demo.SubKey, q.Method, q.Path, q.Query, q.Body)
		if err != nil {
			atOnce = append(atOnce, fmt.Sprintf("%s %s %v: %v", q.Method, q.Path, q.Body, err))
		} else if !stack.Shows(answer) {
			atOnce = append(atOnce, fmt.Sprintf("%s %s %v: %d %.200s", q.Method, q.Path, q.Body, answer.Status, answer.Body))
		}
	}
}

// TestAFreshStackIsReady holds what make run calls ready: every built endpoint has
// something to show at once.
func TestAFreshStackIsReady(t *testing.T) {
	t.Parallel()
	for _, fault := range atOnce {
		t.Error(fault)
	}
}

// TestTradesAreLive follows trades: they come soon after they happened, and each second
// that has one gets its candle.
func TestTradesAreLive(t *testing.T) {
	t.Parallel()
	s := connect(t, world.State.Demo.SubKey, "/ws")
	s.send(subscription("subscribe", map[string]any{"type": "trades", "coin": "BTC"}))
	began := time.Now()
	traded := map[int64]bool{}
	s.await("live trades", 2*soon, func(p pushed) bool {
		var trades []struct{ Time int64 }
		if p.Channel != "trades" {
			return false
		}
		must.Do(t, json.Unmarshal(p.Data, &trades))
		for _, trade := range trades {
			at := time.UnixMilli(trade.Time)
			if at.Before(began) {
				continue // of the snapshot
			}
			if late := time.Since(at); late > lateMost {
				t.Errorf("a trade came %s after it happened", late)
			}
			traded[trade.Time/1000*1000] = true
		}
		return len(traded) >= 5
	})
	testenv.Until(t, "each second with a trade has its candle", func() bool {
		answer := call(t, 200, world.State.Demo.SubKey, "GET", hl+"/klines-with-taker-vol/BTC/1s?limit=500", nil)
		for second := range traded {
			if !bytes.Contains(answer.Body, fmt.Append(nil, second)) {
				return false
			}
		}
		return true
	})
}

// snapshotFills is how many fills of an account are compared.
const snapshotFills = 200

// TestAUserFillsSnapshotHasNoHoles compares the snapshots of several accounts with what
// the venue itself answers.
func TestAUserFillsSnapshotHasNoHoles(t *testing.T) {
	t.Parallel()
	type fill struct{ Tid, Time int64 }
	venueFills := func(user string) (fills []fill) {
		t.Helper()
		body := []byte(`{"type":"userFills","user":"` + user + `"}`)
		res := must.Get(http.Post(world.State.VenueURL+"/info", "application/json", bytes.NewReader(body)))(t)
		defer res.Body.Close()
		must.Do(t, json.NewDecoder(res.Body).Decode(&fills))
		return fills
	}
	for _, user := range world.Venue.Truth().Addresses[:8] {
		want := venueFills(user) // newest first
		s := connect(t, world.State.Demo.SubKey, "/ws")
		s.send(subscription("subscribe", map[string]any{"type": "userFills", "user": user}))
		missing := map[int64]bool{}
		for _, f := range want[:min(len(want), snapshotFills)] {
			missing[f.Tid] = true
		}
		s.await(fmt.Sprintf("%d fills of %s", len(missing), user), soon, func(p pushed) bool {
			var frame struct{ Fills []fill }
			if p.Channel != "userFills" {
				return false
			}
			if err := json.Unmarshal(p.Data, &frame); err != nil {
				t.Fatalf("%.200s: %v", p.raw, err)
			}
			for _, f := range frame.Fills {
				delete(missing, f.Tid)
			}
			return len(missing) == 0
		})
		s.conn.CloseNow()
	}
}
