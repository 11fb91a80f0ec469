package connections_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/connections/connectionstest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// since is when the caps of a test are set where there was none.
const since = 1000

// counting does what the ingester does of counts, until the test ends.
func (w *world) counting(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for event, err := range connections.NewFollower(w.Store, w.db, streams(t)).Follow(ctx) {
			asked, ok := event.(connections.CountAsked)
			if err != nil || !ok {
				continue
			}
			list, err := w.List(ctx)
			var ids []string
			for i := range list {
				if asked.Concerns(&list[i]) {
					ids = append(ids, list[i].ID)
				}
			}
			if err == nil {
				err = w.CountAll(ctx, asked, ids)
			}
			if err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
}

// TestACapThatIsSetLaterCountsWhatWasThereFirst makes connections and subscriptions without
// a cap. Many who come at once under a cap then find them counted, also where the same cap
// was there before.
func TestACapThatIsSetLaterCountsWhatWasThereFirst(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		caps connections.Limits
		left int // slots
	}{
		"smaller than what is there":      {connections.Limits{Key: 3, KeySince: since}, 0},
		"as large":                        {connections.Limits{Key: 5, KeySince: since}, 0},
		"larger":                          {connections.Limits{Key: 7, KeySince: since}, 2},
		"of the distributor":              {connections.Limits{Distributor: 7, DistributorSince: since}, 2},
		"of both":                         {connections.Limits{Key: 8, KeySince: since, Distributor: 7, DistributorSince: since}, 2},
		"beside one that was always":      {connections.Limits{Key: 8, KeySince: since, Distributor: 400}, 3},
		"large, over many shards":         {connections.Limits{Key: 70, KeySince: since, Distributor: 300, DistributorSince: since}, 65},
		"the same as there was before":    {connections.Limits{Key: 7, KeySince: since + 1}, 2},
		"another than there was before":   {connections.Limits{Key: 6, KeySince: since + 1}, 1},
		"the distributor's as it was":     {connections.Limits{Distributor: 7, DistributorSince: since + 1}, 2},
		"later, when all was removed":     {connections.Limits{Key: 2, KeySince: since}, 2},
		"later, when there never was any": {connections.Limits{Key: 2, KeySince: since}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			w.counting(t)
			make := func(id string, caps connections.Limits) error {
				err := untilCounted(t, func() error { return w.Connect(t.Context(), connection(id, "key", channel.FeedChannels), caps) })
				if err != nil {
					return err
				}
				return untilCounted(t, func() error {
					_, err := w.Subscribe(t.Context(), w.message(id), trades("BTC"), caps, reply)
					return err
				})
			}
			if before := tt.caps; before.KeySince > since || before.DistributorSince > since {
				before.Key, before.KeySince, before.DistributorSince = min(before.Key, 7), 0, 0
				must.Do(t, make("before the caps were away", before))
				_, err := w.Remove(t.Context(), "before the caps were away")
				must.Do(t, err)
			}
			if name != "later, when there never was any" {
				for i := range 5 {
					must.Do(t, make(fmt.Sprint(i), free))
				}
				if taken := balanced(t, w).Taken["k#key"]; taken != (connectionstest.Usage{}) {
					t.Errorf("without a cap %v are counted", taken)
				}
			}
			if name == "later, when all was removed" {
				for i := range 5 {
					_, err := w.Remove(t.Context(), fmt.Sprint(i))
					must.Do(t, err)
				}
			}
			var all sync.WaitGroup
			results := [10]error{}
			for i := range results {
				all.Go(func() { results[i] = make(fmt.Sprint("new ", i), tt.caps) })
			}
			all.Wait()
			got := 0
			for _, err := range results {
				var over *connections.LimitError
				if err == nil {
					got++
				} else if !errors.As(err, &over) {
					t.Error(err)
				}
			}
			if got != min(tt.left, len(results)) {
				t.Errorf("%d more got in, want %d", got, tt.left)
			}
			balanced(t, w)
			must.Do(t, errorOf(w.Remove(t.Context(), "0")))
			for i := range 10 {
				must.Do(t, errorOf(w.Remove(t.Context(), fmt.Sprint("new ", i))))
			}
			for i := range 5 {
				must.Do(t, errorOf(w.Remove(t.Context(), fmt.Sprint(i))))
			}
			for who, u := range balanced(t, w).Taken {
				if u != (connectionstest.Usage{}) {
					t.Errorf("%s still counts %+v", who, u)
				}
			}
		})
	}
}

func errorOf(_ bool, err error) error { return err }

// untilCounted makes a request again for as long as it is refused because what was there
// before a cap is being counted.
func untilCounted(t *testing.T, request func() error) (err error) {
	t.Helper()
	testenv.Until(t, "what was there is counted", func() bool {
		err = request()
		return !errors.Is(err, connections.ErrCounting)
	})
	return err
}

// Whoever waits holds an instance of the function.
func TestOneRequestAloneWaitsForACount(t *testing.T) {
	t.Parallel()
	w := open(t)
	caps := connections.Limits{Key: 3, KeySince: since, Distributor: 5, DistributorSince: since}
	ctx, stop := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() { first <- w.Connect(ctx, connection("first", "key", channel.FeedChannels), caps) }()
	testenv.Until(t, "the first one asks for a count", func() bool {
		out, err := w.db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &w.table, ConsistentRead: aws.Bool(true),
			Key: map[string]types.AttributeValue{"pk": attr.S("k#key#0"), "sk": attr.S("conns")}})
		return err == nil && attr.Int(out.Item, "asked") == since
	})
	for i := range 20 {
		if err := w.Connect(t.Context(), connection(fmt.Sprint(i), "key", channel.FeedChannels), caps); !errors.Is(err, connections.ErrCounting) {
			t.Errorf("another one: %v, want that it is being counted", err)
		}
		select {
		case err := <-first:
			t.Fatalf("%d others were held as long as the first one, which got %v", i+1, err)
		default:
		}
	}
	stop()
	<-first
}

func TestWithoutAnIngesterNothingGetsInUnderACapThatWasSetLater(t *testing.T) {
	t.Parallel()
	w := open(t)
	caps := connections.Limits{Key: 3, KeySince: since}
	if err := w.Connect(t.Context(), connection("a=", "key", channel.FeedChannels), caps); !errors.Is(err, connections.ErrCounting) {
		t.Errorf("got %v, want that it is being counted", err)
	}
	must.Do(t, w.Connect(t.Context(), connection("b=", "other", channel.FeedChannels), connections.Limits{Key: 3}))
	w.counting(t) // what was asked before an ingester was there is counted
	must.Do(t, untilCounted(t, func() error { return w.Connect(t.Context(), connection("a=", "key", channel.FeedChannels), caps) }))
	balanced(t, w)
}

func TestWhatWasCountedIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.counting(t)
	must.Do(t, w.Connect(t.Context(), connection("a=", "key", channel.FeedChannels), connections.Limits{Key: 3, KeySince: start.UnixMilli()}))
	for event, err := range connections.NewFollower(w.Store, w.db, streams(t)).Follow(t.Context()) {
		must.Do(t, err)
		if asked, ok := event.(connections.CountAsked); ok {
			t.Errorf("asked again after the count: %+v", asked)
		}
		if _, ok := event.(connections.Live); ok {
			break
		}
	}
}
