package relaybudget_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"quotary/shared/aws/attr"
	"quotary/shared/catalog"
	"quotary/shared/data/relaybudget"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testclock"
)

const perMinute = 1200

// open opens budgets over one table, as instances of a function do.
func open(t testing.TB, clock *testclock.Clock) func() *relaybudget.Budget {
	return openOf(t, clock, perMinute)
}

func openOf(t testing.TB, clock *testclock.Clock, perMinute int) func() *relaybudget.Budget {
	db := storetest.DynamoDB(t)
	table := storetest.Tables(t, db) + schema.DocumentsTable
	return func() *relaybudget.Budget {
		return relaybudget.Open(func(kind string, limits store.DocumentLimits) *store.Documents {
			return store.NewDocuments(db, table, kind, limits)
		}, perMinute, clock.Now)
	}
}

func newClock() *testclock.Clock { return testclock.At(time.Unix(1_800_000_000, 0)) }

func TestALoneDistributorSpendsAllButWhatIsKeptAndANewOneHasItsShareFromTheNextSlotOn(t *testing.T) {
	t.Parallel()
	clock := newClock()
	b := open(t, clock)()
	spend := func(distributor string) (n int) {
		t.Helper()
		for ; must.Get(b.Spend(t.Context(), distributor, 20))(t) == 0; n++ {
		}
		return n
	}
	const shared = perMinute/7 - perMinute/7/4
	const slot = shared / 20
	if n := spend("a"); n != slot {
		t.Errorf("a lone one was granted %d, want %d", n, slot)
	}
	if n := spend("b"); n != 1 {
		t.Errorf("of what is kept %d were granted", n)
	}
	clock.Move(10 * time.Second)
	if a, b := spend("a"), spend("b"); a != shared/2/20 || b != a {
		t.Errorf("two were granted %d and %d, want %d each", a, b, shared/2/20)
	}
	clock.Move(time.Minute)
	if n := spend("a"); n != slot {
		t.Errorf("a minute after the other asked, one was granted %d, want %d", n, slot)
	}
}

func TestOneThatAsksRarelyIsServedBesideOneThatAsksAllTheTime(t *testing.T) {
	t.Parallel()
	for _, perMinute := range []int{catalog.LeastRelayWeight, perMinute} {
		clock := newClock()
		b := openOf(t, clock, perMinute)()
		for minute := range 10 {
			for range 7 { // after the last of which the other counts no longer
				for must.Get(b.Spend(t.Context(), "loud", 20))(t) == 0 {
				}
				clock.Move(10 * time.Second)
			}
			for must.Get(b.Spend(t.Context(), "loud", 20))(t) == 0 {
			}
			if wait := must.Get(b.Spend(t.Context(), "rare", 20))(t); wait != 0 {
				t.Errorf("of %d, in minute %d: it waits for %v", perMinute, minute, wait)
			}
		}
	}
}

func TestTheLeastSettingGrantsTheDearestQuestion(t *testing.T) {
	t.Parallel()
	b := openOf(t, newClock(), catalog.LeastRelayWeight)()
	dearest := 0
	for _, kind := range catalog.InfoTypes {
		dearest = max(dearest, kind.Weight)
	}
	if wait := must.Get(b.Spend(t.Context(), "a", dearest))(t); wait != 0 {
		t.Errorf("a question of %d is never granted", dearest)
	}
}

func TestWhatIsRefusedSaysHowLongItIsUntilTheNextSlot(t *testing.T) {
	t.Parallel()
	clock := newClock()
	b := open(t, clock)()
	clock.Move(3 * time.Second)
	if wait := must.Get(b.Spend(t.Context(), "a", 1_000_000))(t); wait != 7*time.Second {
		t.Errorf("the wait is %v", wait)
	}
}

// However many instances ask at once, at most the budget is granted in any minute.
func TestNoMinuteIsGrantedMoreThanTheBudget(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		clock := newClock()
		openOne := open(t, clock)
		type grant struct {
			at     time.Time
			weight int
		}
		var grants []grant
		instances := []*relaybudget.Budget{openOne(), openOne(), openOne()}
		for range rapid.IntRange(1, 40).Draw(rt, "rounds") {
			clock.Move(time.Duration(rapid.IntRange(0, 9000).Draw(rt, "ms")) * time.Millisecond)
			weight := rapid.SampledFrom([]int{2, 20, 60}).Draw(rt, "weight")
			distributor := fmt.Sprint(rapid.IntRange(0, 3).Draw(rt, "distributor"))
			if must.Get(rapid.SampledFrom(instances).Draw(rt, "instance").Spend(t.Context(), distributor, weight))(t) == 0 {
				grants = append(grants, grant{clock.Now(), weight})
			}
		}
		for i, first := range grants {
			sum := 0
			for _, g := range grants[i:] {
				if g.at.Sub(first.at) < time.Minute {
					sum += g.weight
				}
			}
			if sum > perMinute {
				rt.Fatalf("%d were granted in a minute", sum)
			}
		}
	})
}

func TestInstancesThatAskAtOnceAreGrantedNoMoreThanOne(t *testing.T) {
	t.Parallel()
	openOne := open(t, newClock())
	var granted atomic.Int64
	var asking sync.WaitGroup
	for n := range 16 {
		b := openOne()
		asking.Go(func() {
			for range 4 {
				if wait, err := b.Spend(t.Context(), fmt.Sprint(n), 20); err != nil {
					t.Error(err)
				} else if wait == 0 {
					granted.Add(1)
				}
			}
		})
	}
	asking.Wait()
	if n := granted.Load(); n > perMinute/7/20 || n == 0 {
		t.Errorf("%d were granted", n)
	}
}

// However many instances of a distributor ask at once, few of them write what another depends on.
func TestOneDistributorHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	written := map[string]int{} // by partition
	note := func(of map[string]types.AttributeValue) {
		mu.Lock()
		defer mu.Unlock()
		written[attr.Text(of, "pk")]++
	}
	db := storetest.DynamoDB(t)
	table := storetest.Tables(t, db) + schema.DocumentsTable
	db = storetest.Intercept(db, func(in any, send func() (any, error)) (any, error) {
		switch in := in.(type) {
		case *dynamodb.PutItemInput:
			note(in.Item)
		case *dynamodb.TransactWriteItemsInput:
			for _, one := range in.TransactItems {
				note(one.Put.Item)
			}
		}
		return send()
	})
	clock := newClock()
	instance := func() *relaybudget.Budget {
		return relaybudget.Open(func(kind string, limits store.DocumentLimits) *store.Documents {
			return store.NewDocuments(db, table, kind, limits)
		}, perMinute, clock.Now)
	}
	var granted atomic.Int64
	var asking sync.WaitGroup
	for range 100 {
		b := instance()
		asking.Go(func() {
			for range 10 {
				if wait, err := b.Spend(t.Context(), "loud", 2); err != nil {
					t.Error(err)
				} else if wait == 0 {
					granted.Add(1)
				}
			}
		})
	}
	quiet := instance()
	if wait := must.Get(quiet.Spend(t.Context(), "quiet", 20))(t); wait != 0 {
		t.Errorf("another waits for %v", wait)
	}
	asking.Wait()
	const most = 20 // a turn doubles what was taken, or halves what is asked for
	if n := written["relayed#venue"]; n == 0 || n > most {
		t.Errorf("what all depend on is written %d times, at most %d may be: %v", n, most, written)
	}
	if n := granted.Load(); n < 20 {
		t.Errorf("%d are granted", n)
	}
}
