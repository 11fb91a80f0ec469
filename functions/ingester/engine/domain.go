package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"quotary/functions/ingester/guard"
	"quotary/functions/ingester/lease"
	"quotary/functions/ingester/source"
	"quotary/shared/aws/metrics"
	"quotary/shared/backoff"
	"quotary/shared/store"
	"quotary/shared/store/retention"
)

// Domain is one pipeline of a process: it has a lease, queues, a flush and troubles
// of its own.
type Domain struct {
	Name string

	// Rank says how well this process can do the domain's work at this moment; see
	// [lease.Lease]. Nil means 0.
	Rank func() int64

	// Watch runs as long as the process does, whether it holds the lease or not,
	// e.g. to keep Rank up to date; nil is not run.
	Watch func(context.Context)

	// Begin makes the work of one term of the lease, and may look at the stores for
	// that. Where it fails, the Runner lets others try, and begins again after a pause.
	Begin func(ctx context.Context, term *lease.Term) (Work, error)
}

// Host is what a process gives to each of its domains.
type Host struct {
	Stores    Stores
	Objects   DropObjects // where drops lie
	Bucket    string      // of Objects
	Retention retention.Setting
	Logger    *slog.Logger
}

// Work is what a domain does while this process holds its lease. A [*Pipeline] is
// one.
type Work interface {
	Run(context.Context) error
	Status() Status
}

// Status is how a work fares. Times are Unix milliseconds, 0 while there is none.
type Status struct {
	Began       int64
	Sources     []SourceStatus
	Queued      int64 // deliveries that wait for a batch
	Batches     int64
	Events      int64
	Rows        int64
	Quarantined int64 // rows that were left out
	CatchingUp  int64 // projections that are being folded from the logs
	Archived    int64 // rows that were archived
	ArchiveDue  int64 // when the next day is to be archived; 0 where none ever is
	PastLeft    int64 // sources that are still to deliver of their past
	Flushed     int64
	Refused     func(since time.Time) []string // what the stores have refused since a time or longer
	Unpublished []string                       // views whose newest version no store takes
	Figures     []Figure
	Parts       map[string]map[string]string // of the domain's own, by name and part: those of /metrics that are no metrics
}

// SourceStatus is how a source fares.
type SourceStatus struct {
	Name, Group string
	Awaited     bool // until it has said anything
	Stats       *source.Stats
}

// Figure is a metric of the domain's own.
type Figure struct {
	Name  string
	Unit  metrics.Unit
	Value int64
	Grows bool // it counts since the start: metrics report by how much it has grown
}

// Status may be asked for at any time.
func (p *Pipeline[B]) Status() Status {
	s := Status{
		Began: p.began.Load(), Queued: p.Stats.Queued.Load(), Batches: p.Stats.Batches.Load(), Events: p.Stats.Events.Load(), Rows: p.Stats.Rows.Load(),
		Quarantined: p.Stats.Quarantined.Load(), CatchingUp: p.Stats.CatchingUp.Load(), PastLeft: p.pastLeft(),
		Archived: p.Stats.Archived.Load(), ArchiveDue: p.archiveDue(), Flushed: p.Stats.Flushed.Load(), Refused: p.trouble.before,
		Unpublished: p.unpublished.all(),
	}
	for _, one := range p.Sources {
		s.Sources = append(s.Sources, SourceStatus{one.Name, one.Group, one.Awaited, one.Stats})
	}
	if p.Figures != nil {
		s.Figures = p.Figures()
	}
	if p.Parts != nil {
		s.Parts = p.Parts()
	}
	return s
}

// Runner does the work of a domain whenever this process holds its lease.
type Runner struct {
	Domain Domain
	Lease  *lease.Lease
	Logger *slog.Logger

	mu     sync.Mutex
	work   Work  // nil while this process stands by
	failed error // why the last work ended, nil where it was to end
}

// LeaseName is the name of a domain's lease.
func LeaseName(domain string) string { return "ingester/" + domain }

// restarts are the pauses of a domain whose work has failed, before it tries to
// hold the lease again: others may do better.
var restarts = backoff.Backoff{Min: time.Second, Max: time.Minute}

// failuresForgotten is how long a work must have lasted for its failure to be a new
// one.
const failuresForgotten = 5 * time.Minute

// Run holds the lease and works, again and again as others take it and leave it
// and as work fails, until ctx ends. The error is that of a work that could not
// finish when ctx ended.
func (r *Runner) Run(ctx context.Context) error {
	if r.Domain.Watch != nil {
		watching, stop := context.WithCancel(ctx)
		var watch sync.WaitGroup
		defer watch.Wait()
		defer stop()
		watch.Go(func() { r.watch(watching) })
	}
	for failures := 0; ctx.Err() == nil; {
		began := time.Now()
		err := r.Lease.Hold(ctx, r.hold)
		switch {
		case errors.Is(err, lease.ErrAsked):
			r.Logger.Info("another ingester takes over; standing by", "why", err.Error())
			continue
		case errors.Is(err, lease.ErrLost):
			r.Logger.Warn("another ingester has taken over; standing by", "error", err.Error())
			continue
		case ctx.Err() != nil:
			return err
		}
		if time.Since(began) > failuresForgotten {
			failures = 0
		}
		pause := restarts.Delay(failures)
		failures++
		if errors.Is(err, store.ErrFenced) {
			// The lease does not say so yet, and would be taken again at once.
			r.Logger.Warn("another ingester has taken over; standing by", "error", err.Error(), "in", pause.String())
		} else {
			err = cmp.Or(err, errEnded)
			r.set(nil, err)
			log := r.Logger
			if crash := new(guard.Crash); errors.As(err, &crash) {
				log = log.With("stack", crash.Stack)
			}
			log.Error("the work failed; beginning again", "error", err.Error(), "in", pause.String())
		}
		_ = backoff.Sleep(ctx, pause) // the loop sees that ctx ended
	}
	return nil
}

// watch watches until ctx ends, and again after a pause where that crashes.
func (r *Runner) watch(ctx context.Context) {
	for try := 0; ; try++ {
		err := guard.Do(func() error { r.Domain.Watch(ctx); return nil })
		if err == nil || ctx.Err() != nil {
			return
		}
		pause := restarts.Delay(try)
		r.Logger.Error("what ranks this process crashed; beginning again", "error", err.Error(), "in", pause.String())
		if backoff.Sleep(ctx, pause) != nil {
			return
		}
	}
}

var errEnded = errors.New("all its sources have ended")

func (r *Runner) hold(ctx context.Context, term *lease.Term) error {
	var work Work
	err := guard.Do(func() (err error) {
		work, err = r.Domain.Begin(ctx, term)
		return err
	})
	if ctx.Err() != nil {
		return nil // it was to end, or the lease says why
	}
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	r.set(work, nil)
	defer r.set(nil, nil)
	return guard.Do(func() error { return work.Run(ctx) })
}

func (r *Runner) set(work Work, failed error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.work, r.failed = work, failed
}

// now returns the current work, nil while this process stands by, and why the last
// one failed, as long as no other process has taken over.
func (r *Runner) now() (Work, error) {
	holder := r.Lease.Holder()
	r.mu.Lock()
	defer r.mu.Unlock()
	if holder.Owner != "" && holder.Owner != r.Lease.Owner {
		return r.work, nil
	}
	return r.work, r.failed
}

// encode writes what can always be encoded: structs of texts and numbers.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("engine: encode %T: %v", v, err))
	}
	return b
}
