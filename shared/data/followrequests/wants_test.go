package followrequests

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

const alice, bob = "0xa11ce00000000000000000000000000000000001", "0xb0b0000000000000000000000000000000000002"

var now = time.UnixMilli(1_800_000_000_000)

// world is a table, and the requests that were sent to it.
type world struct {
	table    string
	db       *dynamodb.Client
	requests atomic.Int64
	fails    atomic.Bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{db: storetest.DynamoDB(t)}
	w.table = storetest.Tables(t, w.db) + schema.DocumentsTable
	return w
}

// open opens what is wanted, as each instance does.
func (w *world) open(k Kind) *Store {
	db := storetest.Intercept(w.db, func(_ any, send func() (any, error)) (any, error) {
		w.requests.Add(1)
		if w.fails.Load() {
			return nil, &types.ProvisionedThroughputExceededException{}
		}
		return send()
	})
	return k.Open(func(kind string, limits store.DocumentLimits) *store.Documents {
		return store.NewDocuments(db, w.table, kind, limits)
	})
}

func addresses(from, n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("0x%040d", from+i))
	}
	return list
}

func want(t *testing.T, s *Store, distributor string, after time.Duration, ids ...string) (refused []string) {
	t.Helper()
	for try := time.Duration(0); ; try++ { // on a busy machine the store may take longer than a request waits for it
		refused, err := s.Want(t.Context(), distributor, ids, now.Add(after+try*(pause+time.Millisecond)))
		if err == nil {
			return refused
		}
		if try == 20 {
			t.Fatal(err)
		}
	}
}

func TestAnAccountIsWantedForTenMinutesAfterItWasAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	function, ingester := w.open(Accounts), w.open(Accounts)
	list := func(after time.Duration, want ...OfDistributor[string]) {
		t.Helper()
		got, err := ingester.List(t.Context(), now.Add(after))
		if diff := cmp.Diff(List[string](want), got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("after %s: %v\n%s", after, err, diff)
		}
	}
	list(0)
	want(t, function, "one", 0, bob)
	list(0, OfDistributor[string]{"one", []string{bob}})
	want(t, function, "one", time.Millisecond, alice, bob)
	list(time.Millisecond, OfDistributor[string]{"one", []string{bob, alice}}) // what was asked for first is first
	sent := w.requests.Load()
	for second := range 50 {
		want(t, function, "one", time.Duration(second)*time.Second, alice, bob)
	}
	if n := w.requests.Load(); n != sent {
		t.Errorf("%d requests within a minute", n-sent)
	}
	want(t, w.open(Accounts), "one", 4*time.Minute, alice) // another instance
	want(t, function, "one", 6*time.Minute, alice)
	want(t, function, "two", 0, alice)
	list(Accounts.Lasts, OfDistributor[string]{"one", []string{bob, alice}}, OfDistributor[string]{"two", []string{alice}})
	list(Accounts.Lasts+time.Second, OfDistributor[string]{"one", []string{alice}})
	want(t, function, "one", Accounts.Lasts+2*time.Second, bob)
	list(Accounts.Lasts+2*time.Second, OfDistributor[string]{"one", []string{alice, bob}}) // as if it were new
	list(2*Accounts.Lasts + 7*time.Minute)
	list(3*Accounts.Lasts + 7*time.Minute)
	for what, d := range map[string]*store.Documents{"things": ingester.things, "who": ingester.distributors} {
		for one, err := range d.List(t.Context(), map[string]string{"things": "one", "who": distributors}[what]) {
			t.Errorf("%s: %+v is left, %v", what, one, err)
		}
	}
	sent = w.requests.Load()
	list(3*Accounts.Lasts + 7*time.Minute)
	if n := w.requests.Load() - sent; n != 1 {
		t.Errorf("%d requests to find that nothing is wanted", n)
	}
}

// TestAListOfWhatIsKnownIsOneRequest, for as long as nobody wants more.
func TestAListOfWhatIsKnownIsOneRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	function, ingester := w.open(Accounts), w.open(Accounts)
	for i, distributor := range []string{"one", "two", "three"} {
		want(t, function, distributor, 0, addresses(100*i, 50)...)
	}
	for _, requests := range []int64{4, 1, 1} {
		before := w.requests.Load()
		list, err := ingester.List(t.Context(), now.Add(time.Second))
		if n := w.requests.Load() - before; err != nil || len(list) != 3 || n != requests {
			t.Errorf("%d distributors by %d requests, want %d: %v", len(list), n, requests, err)
		}
	}
	want(t, function, "two", time.Second, alice)
	before := w.requests.Load()
	list, err := ingester.List(t.Context(), now.Add(2*time.Second))
	if n := w.requests.Load() - before; err != nil || len(list.By()) != 151 || n != 2 {
		t.Errorf("%d are wanted, by %d requests: %v", len(list.By()), n, err)
	}
}

// TestADistributorWantsNoMoreThanItMay, whatever instances write at the same time, each for
// several requests, and takes nothing of another's.
func TestADistributorWantsNoMoreThanItMay(t *testing.T) {
	t.Parallel()
	for kind, c := range map[*Kind]struct{ instances, requests, each int }{
		&Accounts: {15, 1, 50},
		&Pairs:    {10, 5, 1},
	} {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			requests := func(do func(s *Store, ids []string)) {
				var all sync.WaitGroup
				for i := range c.instances {
					function := w.open(*kind)
					for n := range c.requests {
						all.Go(func() { do(function, addresses((i*c.requests+n)*c.each, c.each)) })
					}
				}
				all.Wait()
			}
			var accepted, unsure atomic.Int64
			requests(func(s *Store, ids []string) {
				refused, err := s.Want(t.Context(), "one", ids, now)
				if accepted.Add(int64(len(ids) - len(refused))); err != nil {
					unsure.Add(1) // too many at once: the next request does it
				}
			})
			function, again := w.open(*kind), 0
			for i := range c.instances * c.requests {
				again += c.each - len(want(t, function, "one", time.Minute, addresses(i*c.each, c.each)...))
			}
			list, err := w.open(*kind).List(t.Context(), now.Add(time.Minute))
			if err != nil || len(list) != 1 || len(list[0].Things) != kind.Most || again != kind.Most {
				t.Fatalf("%d are wanted, and %d requests were accepted, %v", len(list.By()), again, err)
			}
			if n := int(accepted.Load()); unsure.Load() == 0 && n != again {
				t.Errorf("%d were accepted at once, and %d later", n, again)
			}
			if refused := want(t, function, "one", time.Minute, alice, list[0].Things[0]); !slices.Equal(refused, []string{alice}) {
				t.Errorf("%s are refused", refused)
			}
			sent := w.requests.Load()
			want(t, function, "one", time.Minute+time.Second, alice)
			if n := w.requests.Load(); n != sent {
				t.Errorf("%d requests for what was refused a second ago", n-sent)
			}
			if refused := want(t, function, "two", time.Minute, alice); len(refused) > 0 {
				t.Errorf("of another %s are refused", refused)
			}
			// When something ends there is room again.
			must.Get(w.open(*kind).List(t.Context(), now.Add(time.Minute+kind.Lasts)))(t)
			if refused := want(t, function, "one", 2*time.Minute+kind.Lasts, addresses(10_000, c.each)...); len(refused) > 0 {
				t.Errorf("%d are refused", len(refused))
			}
		})
	}
}

// TestAStoreThatRefusesHoldsUpOneRequestASecond: the others go on at once, and what was not
// written is once it takes it again.
func TestAStoreThatRefusesHoldsUpOneRequestASecond(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	function, ingester := w.open(Accounts), w.open(Accounts)
	want(t, function, "two", 0, bob)
	must.Get(ingester.List(t.Context(), now))(t)
	w.fails.Store(true)
	if _, err := function.Want(t.Context(), "one", []string{alice}, now); err == nil {
		t.Error("the first does not say that it was refused")
	}
	sent := w.requests.Load()
	for ms := range 999 {
		if _, err := function.Want(t.Context(), "one", []string{alice}, now.Add(time.Duration(ms)*time.Millisecond)); !errors.Is(err, errRests) {
			t.Fatalf("after %d ms: %v", ms, err)
		}
	}
	if n := w.requests.Load(); n != sent {
		t.Errorf("%d requests", n-sent)
	}
	within, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if list, err := ingester.List(within, now); err == nil || len(list) != 1 {
		t.Errorf("while the store refuses %v are wanted, %v", list, err)
	}
	w.fails.Store(false)
	want(t, function, "one", 2*time.Second, alice)
	if list, err := ingester.List(t.Context(), now.Add(2*time.Second)); err != nil || len(list) != 2 {
		t.Errorf("%v are wanted, %v", list, err)
	}
}

func TestPlacesAreDealtInRounds(t *testing.T) {
	t.Parallel()
	l := List[string]{{"a", []string{"a1", "both", "a2", "unknown", "a3"}}, {"b", []string{"both", "b1"}}, {"c", nil}}
	known := func(id string) bool { return id != "unknown" }
	for most, want := range map[int][]string{0: nil, 1: {"a1"}, 2: {"a1", "both"}, 3: {"a1", "both", "b1"}, 9: {"a1", "both", "b1", "a2", "a3"}} {
		if dealt, left := l.Deal(most, known); !slices.Equal(dealt, want) || left != 5-len(want) {
			t.Errorf("of %d places: %q, and %d are left; want %q", most, dealt, left, want)
		}
	}
	if by := l.By(); len(by) != 6 || !slices.Equal(by["both"], []string{"a", "b"}) {
		t.Errorf("who wants what: %v", by)
	}
}

// What another request adds while it is being noted that there is more is noted after that.
func TestWhatIsAddedWhileItIsNotedIsNotedToo(t *testing.T) {
	t.Parallel()
	a := &remembered{things: map[string]request{}}
	a.add([]string{alice}, []string{"1"}, body{})
	added, due := a.toNote(now, time.Minute)
	a.add([]string{bob}, []string{"1"}, body{})
	a.note(now, added)
	if !due || !a.unnoted() {
		t.Fatalf("due %v, and more to note %v", due, a.unnoted())
	}
	added, due = a.toNote(now, time.Minute)
	a.note(now, added)
	if !due || a.unnoted() {
		t.Errorf("due %v, and more to note %v", due, a.unnoted())
	}
}

func TestAThingIsWaitedForWhenItIsAskedForFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, other := w.open(Accounts), w.open(Accounts)
	recent := func(when string, s *Store, after time.Duration, want ...string) {
		t.Helper()
		if got := s.Recent("d", []string{alice, bob}, now.Add(after)); !slices.Equal(got, want) {
			t.Errorf("%s %v are worth waiting for, want %v", when, got, want)
		}
	}
	recent("before it is asked for", one, 0)
	want(t, one, "d", 0, alice)
	recent("when it is", one, 0, alice)
	want(t, other, "d", Accounts.Wait/2, alice)
	recent("half the time later, in another instance,", other, Accounts.Wait/2, alice)
	want(t, w.open(Accounts), "d", time.Minute, alice)
	recent("a minute later", one, time.Minute)
	third := w.open(Accounts)
	want(t, third, "d", time.Minute, alice)
	recent("a minute later, in a third instance,", third, time.Minute)
	want(t, third, "d", time.Minute, bob)
	recent("where the other is asked for", third, time.Minute, bob)
	want(t, third, "d", Accounts.Refresh+30*time.Second, alice)
	recent("when it is asked for again after a while", third, Accounts.Refresh+30*time.Second, alice)
}

// TestFewRequestsOfADistributorWaitAtATime has them ask in many instances at the same moment.
func TestFewRequestsOfADistributorWaitAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, after := range []time.Duration{0, Accounts.Wait, 2 * Accounts.Wait} {
		var waiting atomic.Int64
		var all sync.WaitGroup
		for range 10 {
			s := w.open(Accounts)
			all.Go(func() {
				for range 2 * Accounts.Waits {
					if s.MayWait(t.Context(), "loud", now.Add(after)) {
						waiting.Add(1)
					}
				}
			})
		}
		all.Wait()
		if n := int(waiting.Load()); n > Accounts.Waits || n < Accounts.Waits/2 {
			t.Errorf("time %d: %d requests wait, want %d", i, n, Accounts.Waits)
		}
		testenv.Until(t, "a neighbour may wait", func() bool { return w.open(Accounts).MayWait(t.Context(), "quiet", now.Add(after)) })
	}
}

func TestWhereNoPlaceIsFreeNothingIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(Accounts)
	testenv.Until(t, "no place is free", func() bool { s.MayWait(t.Context(), "d", now); return s.rememberedOf("d").isFull(now) })
	before := w.requests.Load()
	if s.MayWait(t.Context(), "d", now.Add(Accounts.Wait/2)) || w.requests.Load() > before {
		t.Errorf("%d requests to the store", w.requests.Load()-before)
	}
	testenv.Until(t, "places are free again", func() bool { return s.MayWait(t.Context(), "d", now.Add(Accounts.Wait)) })
	w.fails.Store(true)
	if w.open(Accounts).MayWait(t.Context(), "d", now.Add(Accounts.Wait)) {
		t.Error("a request waits though the store refuses")
	}
}
