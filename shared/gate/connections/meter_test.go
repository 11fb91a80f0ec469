package connections_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// TestHeartbeatsCostAWriteInFifteenSeconds has a client send a message every few seconds,
// which three instances of the function take in turn.
func TestHeartbeatsCostAWriteInFifteenSeconds(t *testing.T) {
	t.Parallel()
	w := openRuled(t)
	synctest.Test(t, func(t *testing.T) {
		must.Do(t, w.aws.Connect(t.Context(), connection("a=", "key", channel.FeedChannels), free))
		w.rules.Take()
		var instances []*connections.Meter
		for range 3 {
			instances = append(instances, connections.NewMeter(w.aws, connections.Budget{Messages: 2000}))
		}
		const every = 3 * time.Second
		n := testenv.Amount(60, 200)
		for i := range n {
			time.Sleep(every)
			must.Do(t, instances[i%3].Message(t.Context(), "a=", 20))
			list, err := w.aws.List(context.WithoutCancel(t.Context()))
			if err != nil || len(list) != 1 || time.Since(list[0].Seen) >= connections.SeenEvery {
				t.Fatalf("message %d: recorded is %+v at %s, %v", i, list, time.Now(), err)
			}
		}
		c := w.rules.Take()
		quarters := int(every * time.Duration(n) / connections.SeenEvery)
		t.Logf("%d messages in %s: %d writes, %d reads", n, every*time.Duration(n), c.Calls["UpdateItem"], c.Calls["GetItem"])
		if writes, reads := c.Calls["UpdateItem"], c.Calls["GetItem"]; writes > quarters+1 || reads > 3*(quarters+1) {
			t.Errorf("%d writes and %d reads in %s, want at most one write in 15 s, and one read of each instance", writes, reads, every*time.Duration(n))
		}
	})
}

func TestAFloodIsFoundAndNothingElse(t *testing.T) {
	t.Parallel()
	budget := connections.Budget{Messages: 300, Bytes: 1 << 20, Reads: 10_000}
	for name, tt := range map[string]struct {
		every time.Duration
		bytes int
		reads float64
		flood bool
	}{
		"within the budget":  {210 * time.Millisecond, 100, 30, false},
		"too many messages":  {20 * time.Millisecond, 100, 0, true},
		"too many bytes":     {210 * time.Millisecond, 100_000, 0, true},
		"too many reads":     {210 * time.Millisecond, 100, 99.5, true},
		"dear but seldom":    {10 * time.Second, 100, 1500, false},
		"large but seldom":   {10 * time.Second, 100_000, 0, false},
		"one after another":  {0, 1, 0, true},
		"the largest, a few": {8 * time.Second, 100 << 10, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := openRuled(t)
			synctest.Test(t, func(t *testing.T) {
				must.Do(t, w.aws.Connect(t.Context(), connection("a=", "key", channel.FeedChannels), free))
				meter := connections.NewMeter(w.aws, budget)
				var err error
				sent := 0
				for ; sent < 600 && err == nil; sent++ {
					time.Sleep(tt.every)
					err = meter.Message(t.Context(), "a=", tt.bytes)
					meter.Read("a=", tt.reads)
				}
				if flood := errors.Is(err, connections.ErrFlood); flood != tt.flood {
					t.Errorf("after %d messages: %v", sent, err)
				}
				if tt.flood && (sent > int(budget.Messages)+50 || float64(sent)*tt.reads > 11_200) {
					t.Errorf("found after %d messages", sent)
				}
			})
		})
	}
}

// Each instance counts for itself, up to 50 messages.
func TestAFloodOverSeveralInstancesIsFound(t *testing.T) {
	t.Parallel()
	const instances, budget = 8, 300
	w := openRuled(t)
	synctest.Test(t, func(t *testing.T) {
		must.Do(t, w.aws.Connect(t.Context(), connection("a=", "key", channel.FeedChannels), free))
		var meters []*connections.Meter
		for range instances {
			meters = append(meters, connections.NewMeter(w.aws, connections.Budget{Messages: budget}))
		}
		var err error
		sent := 0
		for ; sent < 5000 && err == nil; sent++ {
			time.Sleep(time.Millisecond)
			err = meters[sent%instances].Message(t.Context(), "a=", 20)
		}
		if !errors.Is(err, connections.ErrFlood) || sent > budget+instances*50 {
			t.Errorf("after %d messages: %v", sent, err)
		}
	})
}

func TestAKeyIsKeptOutForAMinute(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.clock.Move(900 * time.Millisecond) // expiries are whole seconds
	must.Do(t, w.Bar(t.Context(), "key"))
	for _, step := range []struct {
		after time.Duration
		out   bool
	}{{0, true}, {connections.BarredFor - time.Millisecond, true}, {time.Second + time.Millisecond, false}} {
		w.clock.Move(step.after)
		if out, err := w.Barred(t.Context(), "key"); out != step.out || err != nil {
			t.Errorf("%s later: %t, %v", step.after, out, err)
		}
	}
	if out, err := w.Barred(t.Context(), "other"); out || err != nil {
		t.Errorf("another key: %t, %v", out, err)
	}
}
