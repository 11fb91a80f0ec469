package lease

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/store"
	"quotary/shared/testing/testenv"
)

// pauses are for the most part just below and above what a lease lasts.
var pauses = []time.Duration{time.Second, 4 * time.Second, 5 * time.Second, 5500 * time.Millisecond, 6 * time.Second,
	6250 * time.Millisecond, 7 * time.Second, 8 * time.Second}

// simulation is processes that contend for a lease on the real engine, in a time
// of the simulation's own: while a request of one travels, the others go on.
type simulation struct {
	t     *testing.T
	rand  *rand.Rand
	db    *dynamodb.Client
	table string
	run   string // names what this run writes
	now   time.Duration
	procs []*proc
	calm  bool  // no more pauses, losses and deaths
	epoch int64 // the highest of a term so far
	row   int64 // the epoch that wrote the row last

	refused *int // writes that came too late, of all runs
	handed  *int // leases that were given back for who asked
}

// proc is a process. While it has no term it observes.
type proc struct {
	sim   *simulation
	lives int           // times that it was started
	shift time.Duration // what its clock showed when the simulation began
	rate  float64       // how fast its clock is
	next  time.Duration // when it acts again
	busy  bool          // a request of it travels
	rank  int64

	lease *Lease
	term  *Term
	late  int64 // epoch of a write that it is about to make, 0 for none
}

// GetItem and UpdateItem make a process the [DB] of its own lease.
func (p *proc) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (out *dynamodb.GetItemOutput, err error) {
	lost := p.sim.travel(func() { out, err = p.sim.db.GetItem(ctx, in) })
	return out, errors.Join(lost, err)
}

func (p *proc) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (out *dynamodb.UpdateItemOutput, err error) {
	if lost := p.sim.travel(func() { out, err = p.sim.db.UpdateItem(ctx, in) }); lost != nil {
		return nil, lost
	}
	return out, err
}

var errNoAnswer = errors.New("no answer in time")

// travel lets time pass before a request arrives and before its answer does. It
// may be lost before, or its answer after.
func (s *simulation) travel(request func()) error {
	fate, there, back := s.draw(16), s.way(), s.way()
	s.pass(there)
	if fate != 0 {
		request()
		s.check()
	}
	if fate <= 1 {
		s.pass(Standard.Request - there)
		return errNoAnswer
	}
	s.pass(back)
	return nil
}

// draw draws below n, of which the last is what happens when all is calm.
func (s *simulation) draw(n int) int {
	if s.calm {
		return n - 1
	}
	return s.rand.IntN(n)
}

// way is how long a request or its answer travels.
func (s *simulation) way() time.Duration {
	if s.calm {
		return 10 * time.Millisecond
	}
	return time.Duration(1+s.rand.IntN(450)) * time.Millisecond
}

// pass lets the others act for so long.
func (s *simulation) pass(d time.Duration) {
	for until := s.now + d; ; {
		var first *proc
		for _, p := range s.procs {
			if !p.busy && p.next <= until && (first == nil || p.next < first.next) {
				first = p
			}
		}
		if first == nil {
			s.now = max(s.now, until)
			return
		}
		s.now = max(s.now, first.next)
		first.busy = true
		first.act()
		first.busy = false
		s.check()
	}
}

// check holds what is against what is promised. A lease becomes valid only by
// an answer, so it is enough to look after each.
func (s *simulation) check() {
	valid := 0
	for _, p := range s.procs {
		if p.term == nil {
			continue
		}
		s.epoch = max(s.epoch, p.term.Epoch)
		if !p.term.Valid() {
			continue
		}
		if valid++; valid > 1 || p.term.Epoch < s.epoch {
			s.t.Fatalf("at %v %s holds a valid lease of epoch %d, beside another or after epoch %d", s.now, p.lease.Owner, p.term.Epoch, s.epoch)
		}
	}
}

// start makes p a process that knows of nothing.
func (p *proc) start() {
	p.lives++
	p.term, p.late = nil, 0
	p.lease = newLease(p, p.sim.table, fmt.Sprintf("%p/%d", p, p.lives))
	p.lease.Name = p.sim.run
	p.lease.Timing.Poll = 500 * time.Millisecond // half the requests to the engine
	p.lease.Rank = func() int64 { return p.rank }
	p.lease.clock = func() time.Duration { return p.shift + time.Duration(float64(p.sim.now)*p.rate) }
}

// act is one step of a process, after which it may stand still or die.
func (p *proc) act() {
	s := p.sim
	if !s.calm && s.rand.IntN(8) == 0 {
		p.rank = s.rand.Int64N(3)
	}
	switch {
	case p.late > 0:
		p.write()
	case p.term == nil:
		p.next = s.now + p.lease.Timing.Poll
		if term, _ := p.lease.look(s.t.Context()); term != nil { // a failed look is followed by another
			p.term, p.next = term, s.now+Standard.Beat
		}
	default:
		err := p.term.Confirm(s.t.Context())
		p.next = s.now + Standard.Beat
		switch {
		case errors.Is(err, ErrLost):
			p.term = nil
		case err != nil:
			p.next = s.now + Standard.Beat/4
		case p.wanted():
			*s.handed++
			term := p.term
			p.term = nil
			p.lease.release(s.t.Context(), term)
		case p.term.Valid():
			p.late, p.next = p.term.Epoch, s.now
			if s.draw(3) == 0 {
				p.next += 8 * time.Second // between looking at its clock and writing
			}
		}
	}
	switch pause := pauses[s.draw(len(pauses))]; s.draw(20) {
	case 0, 1, 2: // it stands still
		p.next += pause
	case 3:
		p.next += pause
		p.start()
	}
}

// wanted reports whether a process of a higher rank has asked for its lease.
func (p *proc) wanted() bool {
	select {
	case <-p.term.asked:
		return true
	default:
		return false
	}
}

// write writes the row, though much may have happened since it was allowed to.
func (p *proc) write() {
	s, epoch := p.sim, p.late
	p.late = 0
	series := store.NewSeries(s.db, s.table).Under(epoch)
	err := series.Put(s.t.Context(), []store.SeriesRow{{
		SeriesKey: store.SeriesKey{Name: "row", Key: s.run, Interval: "1s"},
		Point:     store.Point{Time: time.UnixMilli(1), Body: fmt.Append(nil, epoch)},
	}})
	refused := errors.Is(err, store.ErrFenced)
	if refused {
		*s.refused++
	}
	if refused != (epoch < s.row) || err != nil && !refused {
		s.t.Fatalf("at %v epoch %d writes over what %d wrote: error %v", s.now, epoch, s.row, err)
	}
	s.row = max(s.row, epoch)
}

// holder is who holds a valid lease, nil for nobody.
func (s *simulation) holder() *proc {
	for _, p := range s.procs {
		if p.term != nil && p.term.Valid() {
			return p
		}
	}
	return nil
}

// TestALeaseHasOneHolderWhateverHappens runs processes whose clocks show
// anything and run at different rates, that stand still for up to 8 s at any
// point and die, over requests that are slow or lost on either way.
func TestALeaseHasOneHolderWhateverHappens(t *testing.T) {
	t.Parallel()
	db, table := newTable(t)
	refused, handed := 0, 0
	for range testenv.Amount(4, 12) {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("seed %#x", seed), func(t *testing.T) {
			s := &simulation{t: t, rand: rand.New(rand.NewPCG(seed, 0)), db: db, table: table, run: fmt.Sprint(seed), refused: &refused, handed: &handed}
			for n := range 2 + s.draw(2) {
				p := &proc{sim: s, rank: int64(n % 3), shift: time.Duration(s.rand.Int64N(1e15)), rate: 0.92 + float64(s.draw(17))/100}
				p.start()
				s.procs = append(s.procs, p)
			}
			s.pass(15 * time.Second)
			s.calm = true
			s.pass(16 * time.Second) // pauses and terms end
			s.prefer()
			s.follow()
		})
	}
	t.Logf("%d writes came too late, %d leases were handed over", refused, handed)
}

// prefer holds that in calm, nobody is of a higher rank than the holder.
func (s *simulation) prefer() {
	s.pass(8 * time.Second) // who asked may be gone
	holder := s.holder()
	if holder == nil {
		s.t.Fatal("nobody holds the lease in calm")
	}
	for _, p := range s.procs {
		if p.rank > holder.rank {
			s.t.Fatalf("rank %d holds the lease beside rank %d", holder.rank, p.rank)
		}
	}
}

// follow holds that in calm, whoever dies is followed in less than 10 s.
func (s *simulation) follow() {
	dead := s.holder()
	if dead == nil {
		s.t.Fatal("nobody holds the lease in calm")
	}
	dead.start()
	dead.next = s.now + time.Hour
	died, epoch := s.now, s.epoch
	for s.holder() == nil {
		s.pass(10 * time.Millisecond)
		if s.now-died >= 10*time.Second {
			s.t.Fatalf("nobody holds the lease %v after the death of its holder", s.now-died)
		}
	}
	if s.epoch != epoch+1 {
		s.t.Fatalf("epoch %d follows %d", s.epoch, epoch)
	}
}
