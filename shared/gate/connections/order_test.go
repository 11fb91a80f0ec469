package connections_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/testing/must"
)

// TestTheLaterMessageWinsInWhateverOrderTheyAreCarriedOut carries out two messages about one
// key, or one address, in both orders, with caps and without.
func TestTheLaterMessageWinsInWhateverOrderTheyAreCarriedOut(t *testing.T) {
	t.Parallel()
	for _, limits := range []connections.Limits{free, {Key: 5, Distributor: 5}} {
		for name, late := range map[string]bool{"in order": false, "the later one first": true} {
			for _, ends := range []bool{true, false} { // what the later one does
				t.Run(fmt.Sprint(name, ", with caps ", limits != free, ", to end ", ends), func(t *testing.T) {
					t.Parallel()
					w := open(t)
					must.Do(t, w.Connect(t.Context(), connection("a=", "key", channel.FeedChannels), limits))
					must.Do(t, w.Connect(t.Context(), connection("b=", "key", channel.FeedFills), limits))
					first, second := w.message("a="), w.message("a=")
					do := func(m connections.Message, end bool) {
						t.Helper()
						var err error
						if end {
							_, err = w.Unsubscribe(t.Context(), m, trades("BTC"))
						} else {
							_, err = w.Subscribe(t.Context(), m, trades("BTC"), limits, reply)
						}
						must.Do(t, err)
						m.Connection = "b="
						if end {
							err = w.RemoveAddresses(t.Context(), m, addressRange(0, 2))
						} else {
							err = w.AddAddresses(t.Context(), m, addressRange(0, 2), limits, says("added"))
						}
						must.Do(t, err)
					}
					steps := []func(){func() { do(first, !ends) }, func() { do(second, ends) }}
					if late {
						slices.Reverse(steps)
					}
					for _, step := range steps {
						step()
					}
					r := balanced(t, w)
					want := 1
					if ends {
						want = 0
					}
					if len(r.Live["a="]) != want || len(r.Live["b="]) != 2*want {
						t.Errorf("followed are %v", r.Live)
					}
					if used := r.Items["k#key"].Subscriptions; used != int64(2*want) {
						t.Errorf("%d slots are held, want %d", used, 2*want)
					}
				})
			}
		}
	}
}

// TestTheLatestMessageDecidesOfMany carries out three and four messages about one key and
// one address, some to follow and some to end, in every order.
func TestTheLatestMessageDecidesOfMany(t *testing.T) {
	t.Parallel()
	for _, limits := range []connections.Limits{free, {Key: 5, Distributor: 1000}} {
		for _, follows := range [][]bool{{true, false, true}, {true, true, false}, {true, false, true, false}, {false, true, false, true}} {
			t.Run(fmt.Sprint(follows, ", with caps ", limits != free), func(t *testing.T) {
				t.Parallel()
				w := open(t)
				for run, order := range permutations(len(follows)) {
					channels, fills := fmt.Sprint("a", run), fmt.Sprint("b", run)
					key := fmt.Sprint("key", run)
					must.Do(t, w.Connect(t.Context(), connection(channels, key, channel.FeedChannels), limits))
					must.Do(t, w.Connect(t.Context(), connection(fills, key, channel.FeedFills), limits))
					messages := make([]connections.Message, len(follows))
					for i := range messages {
						messages[i] = w.message(channels)
						messages[i].Key = key
					}
					for _, i := range order {
						m := messages[i]
						var err error
						if follows[i] {
							_, err = w.Subscribe(t.Context(), m, trades("BTC"), limits, reply)
						} else {
							_, err = w.Unsubscribe(t.Context(), m, trades("BTC"))
						}
						must.Do(t, err)
						if m.Connection = fills; follows[i] {
							err = w.AddAddresses(t.Context(), m, addressRange(0, 1), limits, says("added"))
						} else {
							err = w.RemoveAddresses(t.Context(), m, addressRange(0, 1))
						}
						must.Do(t, err)
					}
					live, want := balanced(t, w).Live, 0
					if follows[len(follows)-1] {
						want = 1
					}
					if len(live[channels]) != want || len(live[fills]) != want {
						t.Errorf("carried out as %v: %v and %v are followed, want %d each", order, live[channels], live[fills], want)
					}
				}
			})
		}
	}
}

// permutations are all orders of the numbers below n.
func permutations(n int) (all [][]int) {
	if n == 0 {
		return [][]int{{}}
	}
	for _, shorter := range permutations(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(shorter), at, n-1))
		}
	}
	return all
}

// TestManySubscribesAtOnceCostAWriteEach sends a hundred messages of one connection at
// once, under the rules of AWS.
func TestManySubscribesAtOnceCostAWriteEach(t *testing.T) {
	t.Parallel()
	const n = 100
	for name, tt := range map[string]struct {
		limits connections.Limits
		writes int // requests, at most
	}{
		"without caps": {free, n},
		"with caps":    {connections.Limits{Key: 1000, Distributor: 100_000}, 8 * n},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := openRuled(t)
			must.Do(t, w.Connect(t.Context(), connection("a=", "key", channel.FeedChannels), tt.limits))
			if tt.limits != free { // the caps are split
				_, err := w.Subscribe(t.Context(), w.message("a="), trades("first"), tt.limits, reply)
				must.Do(t, err)
			}
			w.rules.Take()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var all sync.WaitGroup
				for i := range n {
					all.Go(func() {
						out, err := w.aws.Subscribe(t.Context(), w.message("a="), trades(fmt.Sprint(i)), tt.limits, reply)
						if err != nil || !out.Changed {
							t.Errorf("%d: %+v, %v", i, out, err)
						}
					})
				}
				all.Wait()
				c := w.rules.Take()
				writes := c.Calls["UpdateItem"] + c.Calls["TransactWriteItems"]
				t.Logf("%d writes of %d messages in %s, %d conflicts, %v write units, %v read units", writes, n, time.Since(began), c.Conflicts, c.Writes, c.Reads)
				if writes > tt.writes {
					t.Errorf("%d writes, want at most %d", writes, tt.writes)
				}
			})
			balanced(t, w.world)
		})
	}
}

// Without a cap, too, a connection follows so many addresses and no more.
func TestAConnectionFollowsABoundedNumberOfAddresses(t *testing.T) {
	t.Parallel()
	w := open(t)
	must.Do(t, w.Connect(t.Context(), connection("a=", "key", channel.FeedFills), free))
	const each = connections.MostAddresses / 8
	for i := range 8 {
		must.Do(t, w.AddAddresses(t.Context(), w.message("a="), addressRange(i*each, (i+1)*each), free, says("added")))
	}
	if err := w.AddAddresses(t.Context(), w.message("a="), addressRange(0, each), free, says("held")); err != nil {
		t.Errorf("those that are followed: %v", err)
	}
	if err := w.AddAddresses(t.Context(), w.message("a="), addressRange(8*each, 8*each+1), free, says("more")); !errors.Is(err, connections.ErrFull) {
		t.Errorf("one more: %v", err)
	}
	must.Do(t, w.RemoveAddresses(t.Context(), w.message("a="), addressRange(0, 1)))
	must.Do(t, w.AddAddresses(t.Context(), w.message("a="), addressRange(8*each, 8*each+1), free, says("in its place")))
}
