package feeds

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"quotary/functions/ingester/feeds/hub"
	"quotary/functions/ingester/guard"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/data/arrivals"
	"quotary/shared/data/followrequests"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/keys"
	"quotary/shared/market"
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

// Keys says whether sub-keys of a distributor may be used; those that do not exist are
// absent. A [*keys.Store] does.
type Keys interface {
	Statuses(ctx context.Context, distributor string, accessKeys []string) (map[string]keys.Status, error)
}

// Config is what the feeds run on.
type Config struct {
	Connections *connections.Store
	Follower    *connections.Follower
	Gateway     Gateway
	Keys        Keys
	Log         *store.Log               // where the last fills are stored
	Series      *store.Series            // where the klines are stored
	PastRead    <-chan struct{}          // closed when what happened before the start is stored; nil: it is
	Venue       Venue                    // the public API; nil: no states and open orders of accounts
	Folds       bool                     // a node is followed, of whose events the pipeline folds accounts
	Hours       bool                     // the venue's hours are read
	VenueWeight int                      // what may be spent on accounts there a minute; 0 means 900
	Joined      *hyperliquid.JoinedBooks // the public API; nil: books are joined from their last twenty prices
	Logger      *slog.Logger
	Now         func() time.Time // nil means time.Now
	Rate        int              // requests a second to the gateway: posts, probes and closings; 0 means no limit
	ProbeAfter  time.Duration    // how long nothing was delivered to a connection that is probed; 0 means 10 s
	Idle        time.Duration    // after which a silent client is disconnected, up to [connections.SeenEvery] later; 0 means [connections.Idle]
	Silence     time.Duration    // after which a book that did not change is stale; 0 means [Silence]
	PastMost    time.Duration    // how long after the start snapshots wait for the past to be read; 0 means 10 s
}

// Feeds are the four WebSocket feeds. They are used once.
type Feeds struct {
	Config
	hub         *hub.Hub
	gatewayRate *rate.Limiter        // of all requests to the gateway
	publishers  map[string]publisher // by the name of the channel or feed
	consumers   []consumer
	late        []lateConsumer
	lateKept    []lateKeeper
	hourly      []hourConsumer
	arriving    *arriving
	resumes     *loads // of what is replayed
	accounts    *accounts
	snapshots   *loads // of what snapshots need
	removals    removals

	candles       *candles // of publishers
	whaleEvents   *whaleEvents
	userFills     *userFills
	userFundings  *userFundings
	ledgerUpdates *ledgerUpdates
	liquidations  *liquidations
	books         *books

	// Replies: those until repliedBefore were sent by the feeds of an earlier run.
	repliedBefore time.Time
	replied       atomic.Int64 // when this run last sent one, ms

	// The connections that were there at the start are known when caughtUp is true and
	// connected is closed; until waitUntil, events wait for that.
	caughtUp  atomic.Bool
	connected chan struct{}
	waitUntil time.Time

	// connectedSince is when the first of those connected who are there, or were lately,
	// ms: late events from before concern nobody.
	connectedSince atomic.Int64

	mu         sync.Mutex
	clients    map[string]*client
	counts     map[connections.CountAsked]bool // that are asked for
	counting   map[string]bool                 // distributors of whom one is under way
	addresses  map[string]int                  // that its connections follow, by distributor
	subscribed map[string]int                  // subscriptions of /ws that its connections have, by distributor
	keysUnread map[string]time.Time            // distributors whose keys the last look could not read, and since when
	pastWaited bool                            // nobody waits for the past any longer

	loads    guard.Tasks              // of what snapshots need, of what is refused, and of counts: at most one for each subscription, message, or distributor
	answered chan connections.Pending // what is to be forgotten
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
	if config.ProbeAfter <= 0 {
		config.ProbeAfter = probeAfter
	}
	if config.PastMost <= 0 {
		config.PastMost = pastMost
	}
	f := &Feeds{Config: config, clients: map[string]*client{}, counts: map[connections.CountAsked]bool{}, counting: map[string]bool{}, addresses: map[string]int{}, subscribed: map[string]int{}, connected: make(chan struct{}), waitUntil: time.Now().Add(catchUpMost),
		answered: make(chan connections.Pending, answeredMost)}
	f.arriving = &arriving{now: config.Now, begun: config.Now().UnixMilli(), late: arrivals.Late{Series: config.Series}}
	f.resumes = newLoads()
	f.connectedSince.Store(math.MaxInt64)
	f.removals = newRemovals()
	f.gatewayRate = newGatewayRate(config.Rate)
	f.hub = hub.New(hub.Config{Sink: config.Gateway, Admit: f.gatewayRate.Wait, Topic: f.topic, Gone: f.gone, Cursor: cursorText})
	f.accounts = newAccounts(&f.Config, f.hub)
	f.snapshots = newLoads()
	f.publishers = newPublishers(base{Config: &f.Config, hub: f.hub, accounts: f.accounts, loads: f.snapshots, arriving: f.arriving})
	for _, name := range slices.Sorted(maps.Keys(f.publishers)) {
		if c, ok := f.publishers[name].(consumer); ok {
			f.consumers = append(f.consumers, c)
		}
		if c, ok := f.publishers[name].(hourConsumer); ok {
			f.hourly = append(f.hourly, c)
		}
		switch c := f.publishers[name].(type) {
		case lateKeeper:
			f.lateKept = append(f.lateKept, c)
		case lateConsumer:
			f.late = append(f.late, c)
		}
		switch p := f.publishers[name].(type) {
		case *whaleEvents:
			f.whaleEvents = p
		case *userFills:
			f.userFills = p
		case *userFundings:
			f.userFundings = p
		case *ledgerUpdates:
			f.ledgerUpdates = p
		case *liquidations:
			f.liquidations = p
		case *candles:
			f.candles = p
		case *books:
			f.books = p
		}
	}
	return f
}

// WeightBeside is what may be spent on accounts at the public API a minute beside anchors that
// spend so much there.
func WeightBeside(anchors int) int { return max(accountWeight-anchors, accountWeight/9) }

// newGatewayRate is a bucket of tokens, one for each request to the gateway: those of a twentieth
// of a second may come at once.
func newGatewayRate(perSecond int) *rate.Limiter {
	if perSecond <= 0 {
		return rate.NewLimiter(rate.Inf, 0)
	}
	return rate.NewLimiter(rate.Limit(perSecond), max(perSecond/20, 1))
}

// Silence is how long a source may deliver nothing of a book before the book is stale.
const Silence = 15 * time.Second

const (
	answeredMost = 1024 // that wait to be forgotten
	forgetAtOnce = 8
	// catchUpMost is how long events of accounts wait at the start until it is known
	// who follows them.
	catchUpMost = 5 * time.Second
	pruneEvery  = 30 * time.Second
	// saveEvery is how often it may be saved up to when replies were sent, and
	// how long a message may take from the table to its reply: one that came so
	// shortly before a crash may be replied to twice.
	saveEvery = 500 * time.Millisecond
	// pastMost is how long after the start snapshots wait for the past to be read.
	pastMost = 10 * time.Second
	// closeAfter is how long a client that asks to be closed is still sent what comes:
	// API Gateway hands messages to the function side by side, so that the one before
	// may reach the table a little later.
	closeAfter = 250 * time.Millisecond
	// repliesSource names what is saved of replies among the checkpoints.
	repliesSource = "feeds"
)

// Run serves the feeds until ctx ends. It owns all goroutines of the feeds, and
// they have ended when it returns.
func (f *Feeds) Run(ctx context.Context) error {
	if err := f.restore(ctx); err != nil {
		return unlessEnded(ctx, err)
	}
	group, ctx := guard.WithContext(ctx)
	group.Go(func() error { f.hub.Run(ctx); return nil })
	group.Go(func() error { return f.follow(ctx) })
	group.Go(func() error { return f.awaitPast(ctx) })
	group.Go(func() error { return f.accounts.run(ctx) })
	for _, p := range f.publishers {
		if r, ok := p.(runner); ok {
			group.Go(func() error { return r.run(ctx) })
		}
	}
	group.Go(func() error { return f.sweep(ctx) })
	group.Go(func() error { return f.remove(ctx) })
	group.Go(func() error { return f.forget(ctx) })
	group.Go(func() error { return f.save(ctx) })
	group.Go(func() error { return f.loads.Watch(ctx) })
	err := group.Wait()
	f.loads.Wait() // they end with ctx
	return err
}

// unlessEnded is err, or nil where ctx has ended: then whatever failed was to end.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// restore reads up to when an earlier run has sent replies and published events.
func (f *Feeds) restore(ctx context.Context) error {
	body, err := f.claim(ctx, repliesSource)
	if err != nil {
		return err
	}
	if ms, err := strconv.ParseInt(string(body), 10, 64); err == nil {
		f.repliedBefore = time.UnixMilli(ms)
	}
	return f.restorePositions(ctx)
}

// save saves up to when replies and events of accounts were sent, and forgets what
// nobody follows, until ctx ends.
func (f *Feeds) save(ctx context.Context) error {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	var saved time.Time
	savePositions, saveStored := f.savePositions(), f.saveStored()
	pruned := f.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := f.Now()
		if upTo := now.Add(-saveEvery); time.UnixMilli(f.replied.Load()).After(saved) {
			err := f.Series.SaveCheckpoint(ctx, repliesSource, strconv.AppendInt(nil, upTo.UnixMilli(), 10))
			if err == nil {
				saved = upTo
			} else if ctx.Err() == nil {
				f.Logger.Warn("cannot save which replies were sent", "error", err.Error())
			}
		}
		savePositions(ctx)
		saveStored(ctx)
		if now.Sub(pruned) >= pruneEvery {
			pruned = now
			f.prune()
		}
	}
}

func (f *Feeds) prune() {
	f.mu.Lock()
	since := int64(math.MaxInt64)
	for _, c := range f.clients {
		since = min(since, c.since())
	}
	f.connectedSince.Store(since)
	f.mu.Unlock()
	for _, p := range f.publishers {
		if p, ok := p.(pruner); ok {
			p.prune()
		}
	}
}

// Tap is a sink that shows the feeds what a source delivers and passes on to next
// what is to be stored. Where positions do not count, deliveries with nothing to
// store end here.
func (f *Feeds) Tap(next hyperliquid.Sink, positions bool) hyperliquid.Sink {
	return func(ctx context.Context, d hyperliquid.Delivery) error {
		if len(d.Events.Fills)+len(d.Events.Provisional)+len(d.Events.Orders) > 0 {
			f.awaitConnections(ctx)
		}
		f.publish(&d.Events)
		if err := f.noteLate(ctx, func() error { return f.arriving.noteLate(ctx, &d.Events) }); err != nil {
			return err
		}
		d.Events.BBOs = nil
		if !positions && d.Events.Len() == 0 {
			return nil
		}
		return next(ctx, d)
	}
}

// noteLate has noted how far back late events lie, for those who resume. It tries until ctx ends:
// what is stored before that is noted may never be found.
func (f *Feeds) noteLate(ctx context.Context, note func() error) error {
	for try := 0; ; try++ {
		err := note()
		if err == nil || ctx.Err() != nil {
			return err
		}
		f.Logger.Warn("cannot note that events are late; trying again", "error", err.Error())
		if err := claims.Wait(ctx, try); err != nil {
			return err
		}
	}
}

// awaitConnections waits until it is known who follows whom, so that nothing is
// published to nobody at the start, but not for long: events are stored only after
// they were shown.
func (f *Feeds) awaitConnections(ctx context.Context) {
	if f.caughtUp.Load() {
		return
	}
	late := time.NewTimer(time.Until(f.waitUntil))
	defer late.Stop()
	select {
	case <-f.connected:
	case <-late.C:
	case <-ctx.Done():
	}
}

// publish brings the state of the market up to date and publishes what changed.
func (f *Feeds) publish(e *market.Events) {
	if len(e.Fills)+len(e.Provisional)+len(e.Orders)+len(e.Ledgers)+len(e.Trades) == 0 {
		for _, c := range f.consumers {
			c.consume(e)
		}
		return
	}
	f.arriving.mu.Lock()
	defer f.arriving.mu.Unlock()
	since := f.connectedSince.Load() // under the lock: whoever begins with what came before has said so
	events, late := f.arriving.arrive(e, f.Now().Add(-freshFor).UnixMilli())
	for _, c := range f.consumers {
		c.consume(&events)
	}
	f.keepLate(&late)
	f.publishLate(between(&late, since, math.MaxInt64), false)
}

// Applied takes a batch that the pipeline has applied to its projections. It is
// called by the pipeline, to which what is folded belongs.
func (f *Feeds) Applied(e *market.Events, folded Folded) {
	f.arriving.stored(e)
	f.candles.applied(e, folded)
	f.whaleEvents.applied(folded)
	f.accounts.applied(e, folded)
}

// Accounts are the addresses of the accounts whose state or orders somebody follows. It may be
// called at any time.
func (f *Feeds) Accounts() followrequests.List[string] { return f.accounts.addresses() }

// Waiting is what followers wait for as the limits of the venue and the feeds have it.
type Waiting struct {
	Accounts  int           // that are to be polled
	Longest   time.Duration // for which one of them has waited
	Snapshots int           // reads for them, of the stores or at the venue, that wait for their turn
	Books     int           // that the venue does not join, though they are followed so
}

// Waiting is what waits now.
func (f *Feeds) Waiting() Waiting {
	waiting, longest := f.accounts.waits()
	return Waiting{waiting, longest, f.snapshots.waits() + f.accounts.readsWaiting(), int(f.books.notJoined.Load())}
}

// KeysUnread is of how many distributors the last look at keys could read none, so that the
// connections of a key that was revoked stay.
func (f *Feeds) KeysUnread() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.keysUnread)
}

// Totals are the figures of the feeds.
func (f *Feeds) Totals() hub.Totals { return f.hub.Totals() }

// gone is called by the hub with a connection that it gave up.
func (f *Feeds) gone(c hub.Conn, why error) {
	reason := connections.ReasonGone
	if errors.Is(why, hub.ErrFinished) {
		reason = connections.ReasonAsked
	}
	f.removals.add(c, reason, !errors.Is(why, hub.ErrGone))
}
