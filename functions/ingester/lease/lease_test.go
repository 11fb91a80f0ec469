package lease

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"go.uber.org/goleak"

	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

// stopped is a clock that the test moves.
type stopped struct{ ns atomic.Int64 }

func (c *stopped) now() time.Duration   { return time.Duration(c.ns.Load()) }
func (c *stopped) set(at time.Duration) { c.ns.Store(int64(at)) }

func newTable(t *testing.T) (*dynamodb.Client, string) {
	t.Helper()
	db := storetest.DynamoDB(t)
	return db, storetest.Tables(t, db) + schema.SeriesTable
}

func newLease(db DB, table, owner string) *Lease {
	return &Lease{DB: db, Table: table, Name: "work", Owner: owner, Timing: Standard, Log: slog.New(slog.DiscardHandler)}
}

// stepped is a lease by a clock of its own that the test moves.
func stepped(db DB, table, owner string) (*Lease, *stopped) {
	l, c := newLease(db, table, owner), new(stopped)
	l.clock = c.now
	return l, c
}

func look(t *testing.T, l *Lease) *Term {
	t.Helper()
	return must.Get(l.look(t.Context()))(t)
}

func confirm(t *testing.T, term *Term) {
	t.Helper()
	must.Do(t, term.Confirm(t.Context()))
}

func TestTheStandardTimingKeepsItsPromise(t *testing.T) {
	t.Parallel()
	s := Standard
	if takeover := 2*s.Poll + s.Patience + 3*s.Request; takeover >= 10*time.Second {
		t.Errorf("a standby may take %v to take over", takeover)
	}
	if s.Patience < s.Term*6/5 {
		t.Errorf("patience %v leaves too little for clocks beyond the term %v", s.Patience, s.Term)
	}
	if s.Beat+s.Request > s.Term/2 {
		t.Errorf("two renewals that fail end a term of %v", s.Term)
	}
}

func TestATermCountsFromTheStartOfItsRenewal(t *testing.T) {
	t.Parallel()
	db, table := newTable(t)
	slow := &hooked{DB: db}
	l, clock := stepped(slow, table, "one")
	slow.after = func() { clock.set(clock.now() + 400*time.Millisecond) } // every answer takes so long
	term := look(t, l)                                                    // read, then taken from 400 ms on
	valid := func(at time.Duration, want bool) {
		t.Helper()
		clock.set(at)
		if term.Valid() != want {
			t.Errorf("at %v the lease is valid: %t", at, term.Valid())
		}
	}
	valid(400*time.Millisecond+Standard.Term-1, true)
	valid(400*time.Millisecond+Standard.Term, false)
	clock.set(4 * time.Second)
	confirm(t, term)
	valid(4*time.Second+Standard.Term-1, true)
	valid(4*time.Second+Standard.Term, false)
	// Nobody has taken it: it can be renewed after its end.
	clock.set(time.Hour)
	confirm(t, term)
	valid(time.Hour+Standard.Term-1, true)
	if term.Epoch != 1 {
		t.Errorf("epoch %d", term.Epoch)
	}
}

func TestAnObserverTakesOverWhenItHasSeenNoBeatForItsPatience(t *testing.T) {
	t.Parallel()
	db, table := newTable(t)
	one, _ := stepped(db, table, "one")
	first := look(t, one)
	slow := &hooked{DB: db}
	two, clock := stepped(slow, table, "two")
	clock.set(time.Hour) // clocks have nothing in common
	slow.after = func() { clock.set(clock.now() + 300*time.Millisecond); slow.after = nil }
	seen := time.Hour + 300*time.Millisecond // when the first read had ended
	refuse := func(at time.Duration) {
		t.Helper()
		clock.set(at)
		if look(t, two) != nil {
			t.Fatalf("it took the lease at %v", at)
		}
	}
	refuse(time.Hour)
	refuse(seen + Standard.Patience - 1)
	confirm(t, first)
	refuse(seen + Standard.Patience) // sees the beat
	seen += Standard.Patience
	refuse(seen + Standard.Patience - 1)
	clock.set(seen + Standard.Patience)
	second := look(t, two)
	if second == nil || second.Epoch != 2 || !second.Valid() {
		t.Fatalf("the standby holds %+v", second)
	}
	if err := first.Confirm(t.Context()); !errors.Is(err, ErrLost) || first.Valid() {
		t.Errorf("the first holder renews with %v and is valid: %t", err, first.Valid())
	}
	if err := first.Await(t.Context()); !errors.Is(err, ErrLost) {
		t.Errorf("the first holder waits and gets %v", err)
	}
	if h := two.Holder(); h != (Holder{Owner: "two", Epoch: 2, Held: true}) || one.Holder().Held {
		t.Errorf("holders are %+v and %+v", h, one.Holder())
	}
}

func TestABeatBetweenLookAndTakeKeepsTheLease(t *testing.T) {
	t.Parallel()
	db, table := newTable(t)
	one, _ := stepped(db, table, "one")
	first := look(t, one)
	behind := &hooked{DB: db}
	two, clock := stepped(behind, table, "two")
	look(t, two)
	clock.set(Standard.Patience)
	behind.after = func() { behind.after = nil; confirm(t, first) } // after the read, before the take
	if look(t, two) != nil {
		t.Fatal("it took a lease whose holder is alive")
	}
	if !first.Valid() || first.Confirm(t.Context()) != nil {
		t.Error("the holder lost its lease")
	}
}

func TestAProcessTakesWhatAnEarlierOneOfItsNameHeld(t *testing.T) {
	t.Parallel()
	db, table := newTable(t)
	one, _ := stepped(db, table, "one")
	first := look(t, one)
	again, _ := stepped(db, table, "one")
	second := look(t, again)
	if second == nil || second.Epoch != 2 {
		t.Fatalf("it holds %+v", second)
	}
	if err := first.Confirm(t.Context()); !errors.Is(err, ErrLost) {
		t.Errorf("the earlier one renews with %v", err)
	}
}

// hooked lets a test act between requests.
type hooked struct {
	DB
	refuse atomic.Pointer[error] // instead of an answer
	after  func()                // behind each request
}

func (h *hooked) done(err error) error {
	if h.after != nil {
		h.after()
	}
	return err
}

func (h *hooked) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if err := h.refuse.Load(); err != nil {
		return nil, *err
	}
	out, err := h.DB.GetItem(ctx, in, o...)
	return out, h.done(err)
}

func (h *hooked) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if err := h.refuse.Load(); err != nil {
		return nil, *err
	}
	out, err := h.DB.UpdateItem(ctx, in, o...)
	return out, h.done(err)
}

// quick is a timing for tests that wait for it, which a busy machine keeps.
var quick = Timing{Beat: 20 * time.Millisecond, Term: 10 * time.Second, Patience: 12 * time.Second, Poll: 10 * time.Millisecond, Request: 5 * time.Second}

// held is what a test sees of a running holder.
type held struct {
	term *Term
	end  context.CancelFunc // of its ctx
	done chan error         // what Hold returned
	work chan error         // what its work returns
}

// hold has a lease held until the test says otherwise, and returns once it is.
func hold(t *testing.T, l *Lease) *held {
	t.Helper()
	h, holds := try(t, l)
	return await(t, h, holds)
}

// try has a lease waited for.
func try(t *testing.T, l *Lease) (h *held, holds chan *Term) {
	l.Timing = quick
	ctx, cancel := context.WithCancel(context.Background())
	h = &held{end: cancel, done: make(chan error, 1), work: make(chan error, 1)}
	holds = make(chan *Term, 1)
	var running sync.WaitGroup
	running.Go(func() {
		h.done <- l.Hold(ctx, func(ctx context.Context, term *Term) error {
			holds <- term
			select {
			case err := <-h.work:
				return err
			case <-ctx.Done():
				return nil
			}
		})
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return h, holds
}

func await(t *testing.T, h *held, holds chan *Term) *held {
	t.Helper()
	select {
	case h.term = <-holds:
	case <-time.After(5 * time.Minute):
		t.Fatal("the lease is not held after five minutes")
	}
	return h
}

func TestALeaseThatIsGivenBackIsTakenAtOnce(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*held) error{
		"by a stop":  func(h *held) error { h.end(); return nil },
		"by a fault": func(h *held) error { h.work <- errors.ErrUnsupported; return errors.ErrUnsupported },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, table := newTable(t)
			first := hold(t, newLease(db, table, "one"))
			second, holds := try(t, newLease(db, table, "two"))
			select {
			case <-holds:
				t.Fatal("two hold it")
			case <-time.After(50 * time.Millisecond):
			}
			began := time.Now()
			want := end(first)
			if err := <-first.done; !errors.Is(err, want) {
				t.Fatalf("it ended with %v, want %v", err, want)
			}
			await(t, second, holds)
			t.Logf("handed over within %v", time.Since(began))
			if second.term.Epoch != 2 {
				t.Errorf("epoch %d", second.term.Epoch)
			}
			// That it was given back, and not taken from a dead holder, shows in
			// what the standby has seen.
			if h := first.term.lease.Holder(); h.Held {
				t.Errorf("the first still thinks that it holds the lease: %+v", h)
			}
		})
	}
}

func TestAProcessOfAHigherRankIsGivenTheLease(t *testing.T) {
	t.Parallel()
	db, table := newTable(t)
	var rank [3]atomic.Int64
	leased := func(i int, name string) *Lease {
		l := newLease(db, table, name)
		l.Rank = rank[i].Load
		return l
	}
	one := hold(t, leased(0, "one"))
	two, twoHolds := try(t, leased(1, "two"))
	_, threeHolds := try(t, leased(2, "three"))
	select {
	case err := <-one.done:
		t.Fatalf("all are of one rank, and it ends with %v", err)
	case <-twoHolds:
		t.Fatal("two hold it")
	case <-time.After(100 * time.Millisecond):
	}
	rank[1].Store(2)
	if err := <-one.done; !errors.Is(err, ErrAsked) {
		t.Fatalf("the work of the first ended with %v", err)
	}
	await(t, two, twoHolds) // and not the third, which looks as often
	if two.term.Epoch != 2 {
		t.Errorf("epoch %d", two.term.Epoch)
	}
	rank[2].Store(2) // as high as the holder's: no reason to change
	select {
	case err := <-two.done:
		t.Fatalf("the work of the second ended with %v", err)
	case <-threeHolds:
		t.Fatal("two hold it")
	case <-time.After(100 * time.Millisecond):
	}
	rank[1].Store(1)
	if err := <-two.done; !errors.Is(err, ErrAsked) {
		t.Fatalf("the work of the second ended with %v", err)
	}
	if third := <-threeHolds; third.Epoch != 3 {
		t.Errorf("epoch %d", third.Epoch)
	}
}

// Who asked may be gone when the lease is free: others wait for it, but not for long.
func TestALeaseIsNotKeptForWhoAskedAndIsGone(t *testing.T) {
	t.Parallel()
	db, table := newTable(t)
	one, _ := stepped(db, table, "one")
	first := look(t, one)
	gone, _ := stepped(db, table, "gone")
	gone.Rank = func() int64 { return 1 }
	if look(t, gone) != nil {
		t.Fatal("it took a lease whose holder is alive")
	}
	confirm(t, first)
	select {
	case <-first.asked:
	default:
		t.Fatal("the holder was not asked")
	}
	one.release(t.Context(), first)
	two, clock := stepped(db, table, "two")
	for _, at := range []time.Duration{0, Standard.Patience - 1} {
		if clock.set(at); look(t, two) != nil {
			t.Fatalf("it took the lease at %v, before who had asked for it", at)
		}
	}
	clock.set(Standard.Patience)
	second := look(t, two)
	if second == nil || second.Epoch != 2 {
		t.Fatalf("it holds %+v", second)
	}
	confirm(t, second)
	select {
	case <-second.asked:
		t.Error("what was asked of the first is taken for asked of the second")
	default:
	}
}

// A holder whose rank has risen since it was asked keeps the lease, and can be asked
// again.
func TestWhatWasAskedIsForgottenWhenTheHoldersRankHasRisen(t *testing.T) {
	t.Parallel()
	db, table := newTable(t)
	one, _ := stepped(db, table, "one")
	rank := int64(0)
	one.Rank = func() int64 { return rank }
	term := look(t, one)
	asks := func(by int64) bool {
		t.Helper()
		two, _ := stepped(db, table, "two")
		two.Rank = func() int64 { return by }
		look(t, two)
		r := must.Get(two.read(t.Context()))(t)
		return r.asker == "two"
	}
	if asks(0) || !asks(1) {
		t.Error("one of the same rank asks, or one of a higher does not")
	}
	rank = 1
	confirm(t, term)
	if asks(1) {
		t.Error("it asks a holder of its own rank")
	}
	select {
	case <-term.asked:
		t.Error("the holder is to give way")
	default:
	}
	if !asks(2) {
		t.Error("it cannot be asked again")
	}
	confirm(t, term)
	<-term.asked
}

func TestTheWorkOfAHolderEndsWhenItsLeaseIsLost(t *testing.T) {
	t.Parallel()
	db, table := newTable(t)
	first := hold(t, newLease(db, table, "one"))
	second := hold(t, newLease(db, table, "one")) // takes it at once, as its name is the same
	if err := <-first.done; !errors.Is(err, ErrLost) {
		t.Errorf("the first holder ended with %v", err)
	}
	if first.term.Valid() || !second.term.Valid() || second.term.Epoch != 2 {
		t.Errorf("valid: %t and %t, epoch %d", first.term.Valid(), second.term.Valid(), second.term.Epoch)
	}
}

// An outage of the table that lasts longer than a term stops the work, and its
// end lets the same term go on, as nobody else could take the lease meanwhile.
func TestATermGoesOnAfterAnOutageOfTheTable(t *testing.T) {
	t.Parallel()
	db, table := newTable(t)
	outage := &hooked{DB: db}
	holder := hold(t, newLease(outage, table, "one"))
	down := errors.ErrUnsupported
	outage.refuse.Store(&down)
	testenv.Until(t, "the lease has ended without a renewal", func() bool { return !holder.term.Valid() })
	waited := make(chan error, 1)
	go func() { waited <- holder.term.Await(context.Background()) }()
	select {
	case err := <-waited:
		t.Fatalf("work may go on without a valid lease (error %v)", err)
	case <-time.After(50 * time.Millisecond):
	}
	outage.refuse.Store(nil)
	if err := <-waited; err != nil {
		t.Fatal(err)
	}
	holder.end()
	if err := <-holder.done; err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	holder.term.until.Store(0)
	if err := holder.term.Await(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that was ended returns %v", err)
	}
}

func TestWhoWaitsInVainEndsWithItsContext(t *testing.T) {
	t.Parallel()
	db, table := newTable(t)
	hold(t, newLease(db, table, "one"))
	second, _ := try(t, newLease(db, table, "two"))
	second.end()
	if err := <-second.done; err != nil {
		t.Error(err)
	}
}
