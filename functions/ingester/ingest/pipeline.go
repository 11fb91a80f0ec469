package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/functions/ingester/lease"
	"quotary/functions/ingester/projection"
	"quotary/shared/market"
	"quotary/shared/source/hyperliquid"
	"quotary/shared/store"
)

// Stores is what a pipeline writes to.
type Stores struct {
	Log    *store.Log
	Series *store.Series
	Views  *store.Views
}

// Under returns the stores for the writer of a term: what it writes too late is
// refused, or harmless; see package lease.
func (s Stores) Under(t *lease.Term) Stores {
	return Stores{Log: s.Log, Series: s.Series.Under(t.Epoch), Views: s.Views.Owned(t.Confirm)}
}

// Source tells events until its context ends.
type Source struct {
	Name  string // of its checkpoint
	Group string // sources of which one that speaks is enough, for readiness; "" needs none
	Stats *hyperliquid.Stats

	// Follow delivers what comes after a position until ctx ends; see
	// [hyperliquid.Files.Follow].
	Follow func(ctx context.Context, from hyperliquid.Position, sink hyperliquid.Sink) error

	// NoCheckpoint is set for a source without positions.
	NoCheckpoint bool
}

// Sizes of a batch and of the queues before it. A delivery holds about 1,000
// fills at most, a queue therefore about 16,000.
const (
	batchEvents   = 5000
	batchLinger   = 250 * time.Millisecond
	flushEvery    = time.Second
	queueLength   = 16
	stopWithin    = 20 * time.Second
	openAtOnce    = 50 // coins whose buckets are derived anew in one step at the start
	retryCeiling  = 30 * time.Second
	retryFirst    = 100 * time.Millisecond
	batchesBehind = 4 // batches between two flushes at most
)

// Pipeline is the one writer of the stores. It is used once.
type Pipeline struct {
	Stores  Stores
	Sources []Source
	Spool   *Spool // nil without
	Log     *slog.Logger
	Now     func() time.Time // nil means time.Now

	// Term is the lease under which the pipeline is the one writer: it writes
	// only while that is valid, and ends without another write when it is lost.
	// Nil is for who knows to be alone.
	Term *lease.Term

	// Applied is called with each batch that the projections have taken, by the
	// only goroutine that may touch the set; nil is not called.
	Applied func(e *market.Events, set *projection.Set)

	Stats PipelineStats

	set     *projection.Set
	live    chan message
	spooled chan message

	positions map[string][]byte // by source, to be saved by the next flush
	consumed  []chan struct{}   // to be closed by the next flush
	flushed   time.Time
	behind    int // batches since the last flush
}

// PipelineStats may be read at any time.
type PipelineStats struct {
	Batches, Fills, Trades, Orders, Rows atomic.Int64
	Queued                               atomic.Int64 // deliveries that wait for a batch, when the last was made
	Flushed                              atomic.Int64 // when everything was last written, ms
	TroubleSince                         atomic.Int64 // when the stores began to refuse, ms; 0 while they do not
}

// message is a delivery on its way into a batch.
type message struct {
	source   string // "" has no checkpoint
	events   market.Events
	position []byte        // the checkpoint behind the events
	consumed chan struct{} // closed when the checkpoint is saved; nil is fine
}

// Run starts the sources and writes what they tell until ctx ends; then it
// writes what is on its way and returns nil. The error is [lease.ErrLost] when
// somebody else has become the writer. It owns one goroutine for each
// source and all of them have ended when it returns.
func (p *Pipeline) Run(ctx context.Context) error {
	if p.Now == nil {
		p.Now = time.Now
	}
	p.set = projection.New()
	p.live = make(chan message, queueLength)
	p.spooled = make(chan message, queueLength)
	p.positions = map[string][]byte{}

	// The stores are given some time to finish after ctx has ended.
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(stopWithin, cancel) })
	defer stop()
	if p.Term != nil {
		go func() {
			select {
			case <-p.Term.Lost():
				cancel()
			case <-work.Done():
			}
		}()
	}

	if err := p.restore(ctx); err != nil {
		if ctx.Err() != nil {
			return p.lost()
		}
		return err
	}
	following, halt := context.WithCancel(ctx)
	defer halt()
	sources, sourceCtx := errgroup.WithContext(following)
	for _, s := range p.Sources {
		sources.Go(func() error { return p.follow(sourceCtx, s) })
	}
	if p.Spool != nil {
		sources.Go(func() error { return p.Spool.run(sourceCtx, p.Stores.Series, p.spooled) })
	}
	ended := make(chan error, 1)
	go func() {
		err := sources.Wait()
		if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
			err = nil // whatever it is for which they were to end
		}
		ended <- err
	}()
	if len(p.Sources) == 0 && p.Spool == nil {
		ended = nil // nothing to wait for but ctx
	}

	err := p.loop(work, ctx.Done(), ended)
	halt()
	_ = sources.Wait() // their reason to end was told, or is the end of the loop
	if lost := p.lost(); lost != nil {
		return lost
	}
	if work.Err() != nil {
		return fmt.Errorf("stop: %w within %s: what was not written comes again at the next start", context.DeadlineExceeded, stopWithin)
	}
	return err
}

// lost is lease.ErrLost once somebody else is the writer.
func (p *Pipeline) lost() error {
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

// restore brings back the views and derives the buckets anew that may have
// closed while nothing was running.
func (p *Pipeline) restore(ctx context.Context) error {
	bodies := map[string][]byte{}
	for _, name := range projection.Restored {
		err := p.retry(ctx, "fetch view "+name, func() error {
			body, _, _, err := p.Stores.Views.Fetch(ctx, name, "")
			if errors.Is(err, store.ErrNoView) {
				return nil
			}
			if err == nil {
				bodies[name] = body
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	coins, err := p.set.Restore(bodies)
	if err != nil {
		return err
	}
	for len(coins) > 0 {
		n := min(openAtOnce, len(coins))
		p.set.Open(coins[:n])
		if err := p.apply(ctx, &market.Events{}); err != nil {
			return err
		}
		coins = coins[n:]
	}
	return nil
}

// follow runs a source from its checkpoint.
func (p *Pipeline) follow(ctx context.Context, s Source) error {
	var from hyperliquid.Position
	if !s.NoCheckpoint {
		err := p.retry(ctx, "claim the checkpoint of "+s.Name, func() error {
			body, err := p.Stores.Series.ClaimCheckpoint(ctx, s.Name)
			if err != nil || body == nil {
				return err
			}
			return json.Unmarshal(body, &from)
		})
		if err != nil {
			return err
		}
	}
	p.Log.Info("following", "source", s.Name, "file", from.File, "offset", from.Offset)
	return s.Follow(ctx, from, func(ctx context.Context, d hyperliquid.Delivery) error {
		m := message{events: d.Events}
		if !s.NoCheckpoint {
			m.source, m.position = s.Name, encode(d.Position)
		}
		return put(ctx, p.live, m)
	})
}

// put queues a message; it waits while the queue is full.
func put(ctx context.Context, queue chan<- message, m message) error {
	select {
	case queue <- m:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("ingest: encode %T: %v", v, err)) // structs of texts and numbers only
	}
	return b
}

// loop makes batches until the sources have ended, or until done is closed when
// there are none, and flushes what is left.
func (p *Pipeline) loop(ctx context.Context, done <-chan struct{}, ended <-chan error) error {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		var m message
		select {
		case m = <-p.live:
		default:
			select {
			case m = <-p.live:
			case m = <-p.spooled:
			case <-tick.C:
				if err := p.flush(ctx, false); err != nil {
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
		batch := p.collect(m)
		p.Stats.Queued.Store(int64(len(p.live) + len(p.spooled)))
		if err := p.write(ctx, &batch); err != nil {
			return err
		}
	}
}

// finish writes what the sources left in the queues. The reason is the fault for
// which they ended, nil where they were to end.
func (p *Pipeline) finish(ctx context.Context, reason error) error {
	for {
		select {
		case m := <-p.live:
			batch := p.collect(m)
			if err := p.write(ctx, &batch); err != nil {
				return err
			}
			continue
		case m := <-p.spooled:
			batch := p.collect(m)
			if err := p.write(ctx, &batch); err != nil {
				return err
			}
			continue
		default:
		}
		break
	}
	if err := p.flush(ctx, true); err != nil {
		return err
	}
	if reason != nil {
		return fmt.Errorf("a source failed: %w", reason)
	}
	return nil
}

// collect makes a batch of m and of what comes within the linger time.
func (p *Pipeline) collect(m message) market.Events {
	batch := m.events
	p.note(m)
	linger := time.NewTimer(batchLinger)
	defer linger.Stop()
	for batch.Len() < batchEvents {
		// A file that is read as fast as it can need not wait for more.
		select {
		case m = <-p.live:
		default:
			select {
			case m = <-p.live:
			case m = <-p.spooled:
			case <-linger.C:
				return batch
			}
		}
		batch.Fills = append(batch.Fills, m.events.Fills...)
		batch.Trades = append(batch.Trades, m.events.Trades...)
		batch.Mids = append(batch.Mids, m.events.Mids...)
		batch.Books = append(batch.Books, m.events.Books...)
		batch.Contexts = append(batch.Contexts, m.events.Contexts...)
		batch.Funding = append(batch.Funding, m.events.Funding...)
		batch.Orders = append(batch.Orders, m.events.Orders...)
		if m.events.Meta != nil {
			batch.Meta = m.events.Meta
		}
		if p.note(m) {
			return batch
		}
	}
	return batch
}

// note keeps the checkpoint behind m and tells whether somebody waits for it.
func (p *Pipeline) note(m message) bool {
	if m.source != "" {
		p.positions[m.source] = m.position
	}
	if m.consumed != nil {
		p.consumed = append(p.consumed, m.consumed)
	}
	return m.consumed != nil
}
