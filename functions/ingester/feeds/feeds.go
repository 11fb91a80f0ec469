package feeds

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/connections"
	"quotary/shared/keys"
	"quotary/shared/market"
	"quotary/shared/source/hyperliquid"
	"quotary/shared/store"
)

// Gateway reaches the clients.
type Gateway interface {
	hub.Sink
	// Disconnect closes a connection; its error is [hub.ErrGone] when it was
	// closed before.
	Disconnect(ctx context.Context, c hub.Conn) error
	// Probe asks whether a connection is still there; its error is
	// [hub.ErrGone] when it is not.
	Probe(ctx context.Context, c hub.Conn) error
}

// Keys tells whether sub-keys may be used, each given with its distributor; those
// that do not exist are absent. A [*keys.Store] does.
type Keys interface {
	Statuses(ctx context.Context, distributorOf map[string]string) (map[string]keys.Status, error)
}

// Config is what the feeds run on.
type Config struct {
	Connections *connections.Store
	Follower    *connections.Follower
	Gateway     Gateway
	Keys        Keys
	Log         *store.Log               // where the last fills are stored
	Series      *store.Series            // where the klines are stored
	Venue       Venue                    // the public API; nil: no states and open orders of accounts
	Joined      *hyperliquid.JoinedBooks // the public API; nil: books are joined from their last twenty prices
	Logger      *slog.Logger
	Now         func() time.Time // nil means time.Now
	Idle        time.Duration    // after which a silent client is disconnected; 0 means [connections.Idle]
	Silence     time.Duration    // after which a book that did not change is stale; 0 means [Silence]
}

// Feeds are the four WebSocket feeds. They are used once.
type Feeds struct {
	Config
	hub      *hub.Hub
	books    books
	trades   trades
	candles  candles
	fills    fills
	orders   orders
	ledgers  ledgers
	accounts accounts
	removals removals

	// before is up to when the feeds of an earlier run have sent replies.
	before  time.Time
	replied atomic.Int64  // when this run last sent one, ms
	settled atomic.Bool   // the connections that were there at the start are known
	ready   chan struct{} // closed then
	patient time.Time     // until when events wait for that

	mu      sync.Mutex
	clients map[string]*client

	loads    sync.WaitGroup       // of what snapshots need: at most one for each subscription
	loading  chan struct{}        // holds one for each load that is under way
	answered chan connections.Due // what is to be forgotten
}

// New returns feeds that wait to be run.
func New(config Config) *Feeds {
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Idle <= 0 {
		config.Idle = connections.Idle
	}
	if config.Silence <= 0 {
		config.Silence = Silence
	}
	f := &Feeds{Config: config, clients: map[string]*client{}, ready: make(chan struct{}), patient: time.Now().Add(settleMost),
		answered: make(chan connections.Due, answeredMost), loading: make(chan struct{}, loadsAtOnce)}
	f.hub = hub.New(hub.Config{Sink: config.Gateway, Topic: f.topic, Gone: f.gone})
	f.books = books{hub: f.hub, now: config.Now, silence: config.Silence, joined: config.Joined, coins: map[string]*coinBook{}}
	f.trades = trades{hub: f.hub, now: config.Now, coins: map[string]*tape{}}
	f.candles = candles{hub: f.hub, rows: config.Series}
	f.candles.shelf = shelf[*liveCandle]{&f.candles.mu, map[string]*entry[*liveCandle]{}}
	f.fills = fills{hub: f.hub, log: config.Log, now: config.Now}
	f.fills.shelf = shelf[*fillList]{&f.fills.mu, map[string]*entry[*fillList]{}}
	f.orders = orders{hub: f.hub, now: config.Now}
	f.ledgers = ledgers{hub: f.hub, venue: config.Venue, now: config.Now}
	f.ledgers.shelf = shelf[*ledgerList]{&f.ledgers.mu, map[string]*entry[*ledgerList]{}}
	f.accounts = accounts{hub: f.hub, venue: config.Venue, log: config.Logger, now: config.Now,
		budget: hyperliquid.NewBudget(accountWeight, config.Now), polled: map[accountKey]*account{}}
	f.removals = removals{due: map[string]removal{}, wake: make(chan struct{}, 1)}
	return f
}

// Silence is how long a source may tell nothing of a book before the book is
// stale.
const Silence = 15 * time.Second

const (
	loadsAtOnce  = 16
	answeredMost = 1024 // that wait to be forgotten
	forgetAtOnce = 8
	// settleMost is how long events of accounts wait at the start until it is known
	// who follows them.
	settleMost = 5 * time.Second
	pruneEvery = 30 * time.Second
	// noteEvery is how often it may be noted up to when replies were sent, and
	// how long a message may take from the table to its reply: one that came so
	// shortly before a crash may be replied to twice.
	noteEvery = 500 * time.Millisecond
	// noteSource names the note among the checkpoints.
	noteSource = "feeds"
)

// Run serves the feeds until ctx ends. It owns all goroutines of the feeds, and
// they have ended when it returns.
func (f *Feeds) Run(ctx context.Context) error {
	if err := f.remember(ctx); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { f.hub.Run(ctx); return nil })
	group.Go(func() error { return f.follow(ctx) })
	group.Go(func() error { return f.accounts.run(ctx) })
	if f.Joined != nil {
		group.Go(func() error { return f.Joined.Run(ctx, f.books.takeJoined) })
	}
	group.Go(func() error { return f.sweep(ctx) })
	group.Go(func() error { return f.remove(ctx) })
	group.Go(func() error { return f.forget(ctx) })
	group.Go(func() error { return f.note(ctx) })
	err := group.Wait()
	f.loads.Wait() // they end with ctx
	return err
}

// remember reads up to when an earlier run has sent replies.
func (f *Feeds) remember(ctx context.Context) error {
	body, err := f.Series.ClaimCheckpoint(ctx, noteSource)
	if err != nil {
		return fmt.Errorf("start the feeds: %w", err)
	}
	if ms, err := strconv.ParseInt(string(body), 10, 64); err == nil {
		f.before = time.UnixMilli(ms)
	}
	return f.resume(ctx)
}

// note writes down up to when replies and events of accounts were sent, asks for the
// books that the venue is to join, and forgets what nobody follows.
func (f *Feeds) note(ctx context.Context) error {
	tick := time.NewTicker(noteEvery)
	defer tick.Stop()
	var noted time.Time
	events := f.noteEvents()
	pruned := f.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		f.books.join()
		now := f.Now()
		if upTo := now.Add(-noteEvery); time.UnixMilli(f.replied.Load()).After(noted) {
			err := f.Series.SaveCheckpoint(ctx, noteSource, strconv.AppendInt(nil, upTo.UnixMilli(), 10))
			if err == nil {
				noted = upTo
			} else if ctx.Err() == nil {
				f.Logger.Warn("cannot note which replies were sent", "error", err.Error())
			}
		}
		events(ctx)
		if now.Sub(pruned) >= pruneEvery {
			pruned = now
			f.candles.shelf.prune(f.hub.Watched)
			f.fills.shelf.prune(func(address string) bool { return f.hub.Watched(topicOf(userFillsTopic, address)) })
			f.ledgers.shelf.prune(func(address string) bool { return f.hub.Watched(topicOf(ledgerTopic, address)) })
		}
	}
}

// Tap is a sink that shows the feeds what a source tells and passes on to next
// what is to be stored. Where positions do not count, deliveries with nothing to
// store end here.
func (f *Feeds) Tap(next hyperliquid.Sink, positions bool) hyperliquid.Sink {
	return func(ctx context.Context, d hyperliquid.Delivery) error {
		if len(d.Events.Fills)+len(d.Events.Orders) > 0 {
			f.settle(ctx)
		}
		f.take(&d.Events)
		d.Events.BBOs, d.Events.Ledgers = nil, nil
		if !positions && d.Events.Len() == 0 {
			return nil
		}
		return next(ctx, d)
	}
}

// take brings the state of the market up to date and pushes what changed.
func (f *Feeds) take(e *market.Events) {
	for i := range e.Books {
		f.books.take(&e.Books[i])
	}
	for i := range e.BBOs {
		f.books.takeBBO(&e.BBOs[i])
	}
	f.trades.take(e.Trades)
	if len(e.Fills) > 0 {
		f.trades.take(market.AppendTrades(nil, e.Fills))
		f.fills.take(e.Fills)
	}
	f.orders.take(e.Orders)
	if len(e.Ledgers) > 0 {
		f.ledgers.take(e.Ledgers)
	}
}

// Applied takes a batch that the pipeline has applied to its projections. It is
// called by the pipeline, to which the candles belong.
func (f *Feeds) Applied(e *market.Events, folded Candles) { f.candles.applied(e, folded) }

// Totals are the figures of the feeds.
func (f *Feeds) Totals() hub.Totals { return f.hub.Totals() }

// gone is told by the hub of a connection that it gave up.
func (f *Feeds) gone(c hub.Conn, why error) {
	f.removals.add(c, connections.ReasonGone, !errors.Is(why, hub.ErrGone))
}
