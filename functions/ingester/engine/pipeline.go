package engine

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"quotary/functions/ingester/guard"
	"quotary/functions/ingester/lease"
	"quotary/shared/catalog"
	"quotary/shared/store"
	"quotary/shared/store/retention"
)

// Sizes of a batch and of the queues before it. A delivery holds about 1,000
// events at most, a queue therefore about 16,000.
const (
	batchEvents = 5000
	batchLinger = 250 * time.Millisecond
	flushEvery  = time.Second
	flushEvents = 20_000                 // between two flushes at most
	urgentEvery = 100 * time.Millisecond // see [Urgent]

	// backgroundEvents is about how many events of sources that give way a batch has at
	// most: for so many writes a live event waits.
	backgroundEvents = 1000

	// heldFor is how long checkpoints wait before all projections are settled, and again
	// where that did not help.
	heldFor = 30 * time.Second

	queueLength = 16
	stopWithin  = 20 * time.Second

	// storedTurn is for how long stored rows are folded after a batch of the
	// sources: these may never pause. With storedEvents, that of one fold, it bounds
	// by how much catching up delays a live event.
	storedTurn   = 250 * time.Millisecond
	storedEvents = 100
)

// Pipeline is the one writer of a domain's rows and views. It is used once. All
// fields but Stats are set before it runs.
type Pipeline[B Batch[B]] struct {
	Domain      string // names the checkpoints and the quarantine
	Stores      Stores
	NewBatch    func() B // an empty one
	Sources     []Source[B]
	Logs        []Log[B]
	Projections []Projection[B]
	Logger      *slog.Logger
	Now         func() time.Time // nil means time.Now

	// Term is the lease under which the pipeline is the one writer: it writes
	// only while that is valid, and ends without another write when it is lost.
	// Nil is for who knows to be alone.
	Term *lease.Term

	// Holds says of which datasets a batch holds something; nil is for a domain without.
	Holds func(b B, say func(catalog.Need))

	// Applied is called with each batch of the sources that the projections have
	// taken, by the goroutine that owns the projections. Nil is not called.
	Applied func(b B)

	// Beside runs as long as the pipeline does and ends after it; its error ends
	// the pipeline. Figures are what it has to report. Both may be nil.
	Beside  func(context.Context) error
	Figures func() []Figure
	// Parts are figures for GET /metrics alone: see [Status.Parts]. Nil has none.
	Parts func() map[string]map[string]string

	// Retention is for how long rows of logs stay in the table; what of them can be
	// archived is archived before. The zero value is for ever.
	Retention retention.Setting

	// ArchiveEvery is how often the clock is looked at for a day to archive; 0 means
	// once a minute.
	ArchiveEvery time.Duration

	// StopWithin is how long the stores are given to take what is on its way when
	// the context ends; 0 means 20 s.
	StopWithin time.Duration

	Stats Stats

	began       atomic.Int64 // when Run was called, ms
	trouble     trouble
	unpublished trouble // views whose newest version no store takes

	live       chan message[B]
	background chan message[B] // of sources that give way
	stored     chan message[B] // of projections that are caught up

	reads     *Reads
	positions map[string]checkpointed // by checkpoint, to be saved by the next flush
	stop      map[string]func()       // ends a source, by its name
	consumed  []chan struct{}         // to be closed by the next flush
	flushed   time.Time
	urgent    time.Time // when urgent changes were written
	held      time.Time // since when checkpoints wait, or all was settled for it; zero while none do
	unflushed int       // events since the last flush

	delivered deliveries // what sources have spoken of

	pastRead int // sources whose past the batch at hand completes
	past     pastSignal

	progress      map[string]progress // of the projections, by name
	progressDirty bool
	savedProgress map[string]progress
	refold        map[string]bool // projections that have to be folded again, before progress is known
	views         map[string]bool // that projections are restored from, and that are there
	lostRows      map[store.SeriesAt]bool

	catchUps     sync.WaitGroup // the archiver among them; begun and waited for by the goroutine of Run
	beginCatchUp func(Projection[B], progress)

	quarantined quarantineWindow // of what is written and read
	scanned     quarantineWindow // of what is scanned to catch up, so that this cannot stop the rest
}

// Stats are the figures of a pipeline. They may be read at any time.
type Stats struct {
	Batches, Events, Rows atomic.Int64 // of the sources; rows of the projections included
	Queued                atomic.Int64 // deliveries that wait for a batch, when the last was made
	Flushed               atomic.Int64 // when everything was last written, ms
	Quarantined           atomic.Int64 // rows that were left out
	CatchingUp            atomic.Int64 // projections that are being folded from the logs
	Archived              atomic.Int64 // rows that were archived
	ArchivedUntil         atomic.Int64 // the first day that is not archived, ms; 0 before the first is
	PastRead              atomic.Int64 // sources whose past was read
}

// message is a delivery on its way into a batch.
type message[B any] struct {
	batch      B
	source     string // whose it is
	checkpoint string // "" has none
	position   Position
	consumed   chan struct{} // closed when the checkpoint is saved; nil is fine
	background bool          // the source gives way to others
	pastRead   bool          // the source has delivered all of its past
	spoken     []catalog.Need
	until      int64   // see [Delivery.Until]
	missing    []int64 // see [Delivery.Missing]

	// Of a projection that is caught up: which, and where it stands behind the
	// batch. The batch is for nobody else.
	projection Projection[B]
	progress   progress
	failed     error // why it cannot be caught up, or without a projection why nothing is archived
}

// checkpointed is where a source stands.
type checkpointed struct {
	source   string
	position Position
}

// Run starts the sources and writes what they emit until ctx ends; then it writes
// what is on its way and returns nil. The error is [lease.ErrLost] when somebody
// else has become the writer. It owns a goroutine for each source, for each
// projection that is caught up and for Beside; all of them have ended when it
// returns.
func (p *Pipeline[B]) Run(ctx context.Context) error {
	if p.Now == nil {
		p.Now = time.Now
	}
	p.began.Store(p.Now().UnixMilli())
	if p.Beside == nil {
		return p.run(ctx)
	}
	group, ctx := guard.WithContext(ctx)
	beside, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	group.Go(func() error { return p.Beside(beside) })
	group.Go(func() error {
		defer stop()
		return p.run(ctx)
	})
	return group.Wait()
}

func (p *Pipeline[B]) run(ctx context.Context) error {
	p.reads = NewReads()
	p.live = make(chan message[B], queueLength)
	p.background = make(chan message[B], queueLength)
	p.stored = make(chan message[B], queueLength)
	p.positions, p.stop = map[string]checkpointed{}, map[string]func(){}
	p.refold, p.views, p.lostRows = map[string]bool{}, map[string]bool{}, map[store.SeriesAt]bool{}

	work, cancel := p.outlive(ctx)
	defer cancel()
	from, err := p.restore(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return p.lost()
		}
		return err
	}
	following, halt := context.WithCancel(ctx)
	defer halt()
	sources, ended := p.follow(ctx, following, from)
	err = guard.Do(func() error { return p.loop(work, ctx.Done(), ended) })
	halt()
	_ = sources.Wait() // why they ended was reported, or is the end of the loop
	p.catchUps.Wait()
	if lost := p.lost(); lost != nil {
		return lost
	}
	if work.Err() != nil {
		return fmt.Errorf("stop: %w within %s: what was not written comes again at the next start", context.DeadlineExceeded, p.stopWithin())
	}
	return err
}

func (p *Pipeline[B]) stopWithin() time.Duration {
	if p.StopWithin > 0 {
		return p.StopWithin
	}
	return stopWithin
}

// outlive returns a context for the stores, which have some time to finish after
// ctx has ended, but none after the lease is lost.
func (p *Pipeline[B]) outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(p.stopWithin(), cancel) })
	if p.Term != nil {
		go func() {
			select {
			case <-p.Term.Lost():
				cancel()
			case <-work.Done():
			}
		}()
	}
	return work, func() {
		stop()
		cancel()
	}
}

// lost is lease.ErrLost once somebody else is the writer.
func (p *Pipeline[B]) lost() error {
	if p.Term == nil {
		return nil
	}
	select {
	case <-p.Term.Lost():
		return lease.ErrLost
	default:
		return nil
	}
}

// follow starts the sources from their positions, and the catching up. The
// returned channel says why all of them have ended; it is nil where there is
// nothing to wait for.
func (p *Pipeline[B]) follow(ctx, following context.Context, from map[string]Position) (*guard.Group, <-chan error) {
	sources, sourceCtx := guard.WithContext(following)
	for _, s := range p.Sources {
		queue := p.live
		if s.Background {
			queue = p.background
		}
		p.Logger.Info("following", "source", s.Name, "from", fmt.Sprintf("%.200s", from[s.Name]))
		own, stop := context.WithCancel(sourceCtx)
		p.stop[s.Name] = stop
		sources.Go(func() error {
			defer stop()
			err := p.followSource(own, s, from[s.Name], queue)
			if s.Stats.Failed.Load() {
				<-sourceCtx.Done() // the others go on
				return nil
			}
			return err
		})
	}
	p.startCatchUp(following)
	p.startArchive(following)
	if len(p.Sources) == 0 {
		return sources, nil
	}
	ended := make(chan error, 1)
	go func() {
		err := sources.Wait()
		if ctx.Err() != nil {
			err = nil // they were to end, and however they say so is no fault
		}
		ended <- err
	}()
	return sources, ended
}

// enqueue waits while the queue is full.
func enqueue[B any](ctx context.Context, queue chan<- message[B], m message[B]) error {
	select {
	case queue <- m:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// loop makes batches until the sources have ended, or until done is closed when
// there are none, and flushes what is left.
func (p *Pipeline[B]) loop(ctx context.Context, done <-chan struct{}, ended <-chan error) error {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		var m message[B]
		select {
		case m = <-p.live:
		default:
			select {
			case m = <-p.live:
			case m = <-p.background:
			case m = <-p.stored:
			case <-tick.C:
				if err := p.readOn(ctx); err != nil {
					return err
				}
				if err := p.flush(ctx, len(p.consumed) > 0); err != nil {
					return err
				}
				continue
			case err := <-ended:
				return p.finish(ctx, err)
			case <-done:
				if ended != nil {
					done = nil // the sources end by themselves now
					continue
				}
				return p.finish(ctx, nil)
			}
		}
		if err := p.accept(ctx, m); err != nil {
			return err
		}
		if err := p.takeStored(ctx); err != nil {
			return err
		}
	}
}

// finish writes what the sources left in the queues. Stored rows that wait there
// are left: they are scanned again. The reason is the fault for which the sources
// ended, nil where they were to end.
func (p *Pipeline[B]) finish(ctx context.Context, reason error) error {
	for _, queue := range [...]chan message[B]{p.live, p.background} {
		for len(queue) > 0 {
			if err := p.accept(ctx, <-queue); err != nil {
				return err
			}
		}
	}
	if err := p.flush(ctx, true); err != nil {
		return err
	}
	if reason != nil {
		return fmt.Errorf("a source failed: %w", reason)
	}
	return nil
}

// accept writes a batch that begins with a message.
func (p *Pipeline[B]) accept(ctx context.Context, m message[B]) error {
	if m.projection != nil || m.failed != nil {
		return p.writeCatchUp(ctx, m)
	}
	batch := p.collect(m)
	p.Stats.Queued.Store(int64(len(p.live) + len(p.background)))
	return p.write(ctx, batch)
}

// takeStored gives the projections that are caught up their turn: it folds what
// waits for them, for storedTurn and one fold more at most.
func (p *Pipeline[B]) takeStored(ctx context.Context) error {
	for began := time.Now(); time.Since(began) < storedTurn; {
		select {
		case m := <-p.stored:
			if err := p.writeCatchUp(ctx, m); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

// collect makes a batch of m and of what comes within the linger time. Of sources that
// give way it holds little, and does not wait for more: live events wait for it.
func (p *Pipeline[B]) collect(m message[B]) B {
	batch, background := p.NewBatch(), 0
	linger := time.NewTimer(batchLinger)
	defer linger.Stop()
	for {
		before := batch.Len()
		batch.Merge(m.batch)
		if m.background {
			background += batch.Len() - before
		}
		if p.note(m) || batch.Len() >= batchEvents || background >= backgroundEvents {
			return batch
		}
		// A file that is read as fast as it can need not wait for more.
		select {
		case m = <-p.live:
			continue
		default:
		}
		if background > 0 {
			select {
			case m = <-p.background:
				continue
			default:
				return batch
			}
		}
		select {
		case m = <-p.live:
		case m = <-p.background:
		case <-linger.C:
			return batch
		}
	}
}

// note keeps the checkpoint behind m and reports whether somebody waits for it.
func (p *Pipeline[B]) note(m message[B]) bool {
	if m.checkpoint != "" {
		p.positions[m.checkpoint] = checkpointed{m.source, m.position}
	}
	if m.consumed != nil {
		p.consumed = append(p.consumed, m.consumed)
	}
	if m.pastRead {
		p.pastRead++
	}
	for _, need := range m.spoken {
		p.delivered.say(need)
	}
	p.delivered.reach(m.source, m.until, m.missing)
	return m.consumed != nil
}
