package connections_test

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/testing/must"
)

func TestTheNextConnectionOverTheLimitIsRefused(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]connections.Limits{
		"of the sub-key":     {Key: 2, Distributor: 5},
		"of the distributor": {Key: 5, Distributor: 2},
		"of both":            {Key: 2, Distributor: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			must.Do(t, w.Connect(t.Context(), connection("a=", "key", channel.FeedChannels), limits))
			must.Do(t, w.Connect(t.Context(), connection("b=", "key", channel.FeedFills), limits))
			err := w.Connect(t.Context(), connection("c=", "key", channel.FeedFilledOrders), limits)
			var over *connections.LimitError
			if !errors.As(err, &over) || over.Limit != 2 || over.Current != 2 {
				t.Fatalf("error = %v, want the limit of 2", err)
			}
			if removed, err := w.Remove(t.Context(), "a="); !removed || err != nil {
				t.Fatal(removed, err)
			}
			must.Do(t, w.Connect(t.Context(), connection("d=", "key", channel.FeedFilledOrders), limits))
			balanced(t, w)
		})
	}
}

func TestConnectingTwiceTakesOneSlot(t *testing.T) {
	t.Parallel()
	w := open(t)
	for range 2 {
		must.Do(t, w.Connect(t.Context(), connection("a=", "key", channel.FeedChannels), connections.Limits{Key: 1}))
	}
	if err := w.Connect(t.Context(), connection("a=", "other", channel.FeedChannels), free); err == nil {
		t.Error("another key took over the connection")
	}
	if used := w.used(t, "key"); used.Connections != 1 {
		t.Errorf("%+v", used)
	}
	balanced(t, w)
}

func TestAConnectionIsListedAsItWasMade(t *testing.T) {
	t.Parallel()
	w := open(t)
	want := connection("a=", "key", channel.FeedClearinghouseState)
	want.Dex, want.At, want.Seen = "xyz", start, start
	must.Do(t, w.Connect(t.Context(), want, free))
	must.Do(t, w.AddAddresses(t.Context(), w.message("a="), addressRange(0, 3), free, connections.Reply{}))
	list, err := w.List(t.Context())
	if err != nil || len(list) != 1 || list[0] != want {
		t.Errorf("%+v, %v, want %+v", list, err, want)
	}
}

func TestASubscriptionIsMadeOnce(t *testing.T) {
	t.Parallel()
	w := open(t)
	must.Do(t, w.Connect(t.Context(), connection("a=", "key", channel.FeedChannels), free))
	limits := connections.Limits{Key: 2}
	for _, step := range []struct {
		do      string
		coin    string
		changed bool
		active  int64
	}{
		{"subscribe", "BTC", true, 1},
		{"subscribe", "BTC", false, 1},
		{"subscribe", "ETH", true, 2},
		{"subscribe", "ETH", false, 2}, // at the limit it is still the same subscription
		{"unsubscribe", "SOL", false, 2},
		{"unsubscribe", "BTC", true, 1},
		{"unsubscribe", "BTC", false, 1},
		{"subscribe", "BTC", true, 2},
	} {
		var out connections.Outcome
		var err error
		if step.do == "subscribe" {
			out, err = w.Subscribe(t.Context(), w.message("a="), trades(step.coin), limits, reply)
		} else {
			out, err = w.Unsubscribe(t.Context(), w.message("a="), trades(step.coin))
		}
		if active := balanced(t, w).Items["k#key"].Subscriptions; err != nil || out.Changed != step.changed || active != step.active {
			t.Fatalf("%+v: %+v, %d, %v", step, out, active, err)
		}
	}
	_, err := w.Subscribe(t.Context(), w.message("a="), trades("SOL"), limits, reply)
	var over *connections.LimitError
	if !errors.As(err, &over) || over.Limit != 2 || over.Current != 2 {
		t.Errorf("error = %v, want the limit of 2", err)
	}
}

func TestKeysTellSubscriptionsApart(t *testing.T) {
	t.Parallel()
	for want, sub := range map[string]channel.Subscription{
		"trades#BTC":         trades("BTC"),
		"bbo#xyz:GOLD":       {Type: channel.BBO, Coin: "xyz:GOLD"},
		"l2Book#BTC":         {Type: channel.L2Book, Coin: "BTC"},
		"l2Book#BTC#5":       {Type: channel.L2Book, Coin: "BTC", NSigFigs: 5},
		"l2Book#BTC#5#2":     {Type: channel.L2Book, Coin: "BTC", NSigFigs: 5, Mantissa: 2},
		"candle#BTC#15m":     {Type: channel.Candle, Coin: "BTC", Interval: "15m"},
		"userFills":          {Type: channel.UserFills, User: address(1)},
		"openOrders":         {Type: channel.OpenOrders, User: address(2), Dex: "xyz"},
		"clearinghouseState": {Type: channel.AccountState, User: address(2)},
	} {
		if got := sub.Key(); got != want {
			t.Errorf("%+v has the key %q, want %q", sub, got, want)
		}
	}
}

func TestAWalletChannelHoldsOneAccount(t *testing.T) {
	t.Parallel()
	w := open(t)
	must.Do(t, w.Connect(t.Context(), connection("a=", "key", channel.FeedChannels), free))
	alice := channel.Subscription{Type: channel.UserFills, User: address(1)}
	bob := channel.Subscription{Type: channel.UserFills, User: address(2)}
	if out, err := w.Subscribe(t.Context(), w.message("a="), alice, free, reply); err != nil || !out.Changed {
		t.Fatal(out, err)
	}
	if out, err := w.Subscribe(t.Context(), w.message("a="), bob, free, reply); err != nil || out.Changed || out.Held != alice {
		t.Errorf("a second account: %+v, %v", out, err)
	}
	if out, err := w.Unsubscribe(t.Context(), w.message("a="), bob); err != nil || out.Changed || out.Held != alice {
		t.Errorf("unsubscribing another account: %+v, %v", out, err)
	}
	if out, err := w.Unsubscribe(t.Context(), w.message("a="), alice); err != nil || !out.Changed {
		t.Errorf("unsubscribing: %+v, %v", out, err)
	}
	if out, err := w.Unsubscribe(t.Context(), w.message("a="), alice); err != nil || out.Changed || out.Held != (channel.Subscription{}) {
		t.Errorf("unsubscribing again: %+v, %v", out, err)
	}
	balanced(t, w)
}

func TestAddressesAccumulateAndTheLastOneFreesItsSlot(t *testing.T) {
	t.Parallel()
	w := open(t)
	must.Do(t, w.Connect(t.Context(), connection("a=", "key", channel.FeedFills), free))
	limits := connections.Limits{Key: 2}
	slots := func(want int64) {
		t.Helper()
		balanced(t, w)
		if used := w.used(t, "key"); used.Subscriptions != want {
			t.Fatalf("%+v, want %d slots", used, want)
		}
	}
	must.Do(t, w.AddAddresses(t.Context(), w.message("a="), []string{address(1), address(2), address(1)}, limits, connections.Reply{}))
	slots(1)
	must.Do(t, w.AddAddresses(t.Context(), w.message("a="), []string{address(2), address(1)}, limits, connections.Reply{})) // nothing new
	slots(1)
	must.Do(t, w.AddAddresses(t.Context(), w.message("a="), []string{address(2), address(3)}, limits, connections.Reply{})) // 3 is new
	slots(2)
	must.Do(t, w.AddAddresses(t.Context(), w.message("a="), []string{address(3)}, limits, connections.Reply{})) // at the limit, nothing new
	var over *connections.LimitError
	if err := w.AddAddresses(t.Context(), w.message("a="), []string{address(4)}, limits, connections.Reply{}); !errors.As(err, &over) || over.Limit != 2 {
		t.Fatalf("error = %v, want the limit", err)
	}
	must.Do(t, w.RemoveAddresses(t.Context(), w.message("a="), []string{address(1)}))
	slots(2)
	must.Do(t, w.RemoveAddresses(t.Context(), w.message("a="), []string{address(1), address(2), address(9)}))
	slots(1)
	must.Do(t, w.RemoveAddresses(t.Context(), w.message("a="), []string{address(3)}))
	slots(0)
	must.Do(t, w.RemoveAddresses(t.Context(), w.message("a="), []string{address(3)}))
	if list, err := w.List(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("the connection is gone with its addresses: %v, %v", list, err)
	}
}

func TestAMessageOfTheLargestSizeIsKeptAndRemoved(t *testing.T) {
	t.Parallel()
	w := open(t)
	const n = 2900
	must.Do(t, w.Connect(t.Context(), connection("a=", "key", channel.FeedFills), free))
	for i := range 10 {
		must.Do(t, w.AddAddresses(t.Context(), w.message("a="), addressRange(i*n, (i+1)*n), free, connections.Reply{}))
	}
	var last []string
	for i := range 10 {
		last = append(last, address(i*n))
	}
	must.Do(t, w.RemoveAddresses(t.Context(), w.message("a="), last))
	if live := balanced(t, w).Live["a="]; len(live) != 10*(n-1) {
		t.Errorf("%d addresses are left, want %d", len(live), 10*(n-1))
	}
	if removed, err := w.Remove(t.Context(), "a="); !removed || err != nil {
		t.Fatal(removed, err)
	}
	balanced(t, w)
}

func TestAGoneConnectionRefusesEverything(t *testing.T) {
	t.Parallel()
	w := open(t)
	_, subscribe := w.Subscribe(t.Context(), w.message("a="), trades("BTC"), free, reply)
	for name, err := range map[string]error{
		"message":   connections.NewMeter(w.Store, connections.Budget{}).Message(t.Context(), "a=", 1),
		"subscribe": subscribe, "answer": w.Answer(t.Context(), w.message("a="), says("unsubscribed")),
		"add":  w.AddAddresses(t.Context(), w.message("a="), addressRange(0, 1), free, connections.Reply{}),
		"stat": w.AskStat(t.Context(), w.message("a=")),
	} {
		if !errors.Is(err, connections.ErrGone) {
			t.Errorf("%s: %v, want that it is gone", name, err)
		}
	}
	balanced(t, w)
	if removed, err := w.Remove(t.Context(), "a="); removed || err != nil {
		t.Error(removed, err)
	}
}

func TestOneOfManyRemovesAConnection(t *testing.T) {
	t.Parallel()
	w := open(t)
	must.Do(t, w.Connect(t.Context(), connection("a=", "key", channel.FeedChannels), free))
	for i := range 250 { // more than fit into a transaction
		must.Get(w.Subscribe(t.Context(), w.message("a="), trades(strconv.Itoa(i)), free, reply))(t)
	}
	must.Do(t, w.AskStat(t.Context(), w.message("a=")))
	balanced(t, w)
	var wins sync.Map
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			removed, err := w.Remove(t.Context(), "a=")
			if err != nil {
				t.Error(err)
			}
			if removed {
				wins.Store(i, true)
			}
		})
	}
	all.Wait()
	n := 0
	wins.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d removed it, want one", n)
	}
	if r := balanced(t, w); len(r.Live) != 0 {
		t.Errorf("left over: %v", r.Live)
	}
}

func TestOnlyAnIdleConnectionIsRemovedAsIdle(t *testing.T) {
	t.Parallel()
	w := open(t)
	for i := range 2 {
		must.Do(t, w.Connect(t.Context(), connection(fmt.Sprint(i), "key", channel.FeedChannels), free))
	}
	w.clock.Move(40 * time.Second)
	must.Do(t, connections.NewMeter(w.Store, connections.Budget{}).Message(t.Context(), "1", 10))
	w.clock.Move(connections.Idle + connections.SeenEvery - 40*time.Second)
	// Times are kept to the millisecond: a cutoff inside it is not passed.
	if removed, err := removeIdle(t.Context(), w.Store, "0", start.Add(time.Microsecond)); removed || err != nil {
		t.Fatal(removed, err)
	}
	for id, want := range map[string]bool{"0": true, "1": false} {
		cutoff := w.clock.Now().Add(-connections.Idle - connections.SeenEvery + time.Millisecond)
		if removed, err := removeIdle(t.Context(), w.Store, id, cutoff); removed != want || err != nil {
			t.Errorf("%s: %v, %v", id, removed, err)
		}
	}
	balanced(t, w)
}
