package feeds

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/functions/ingester/guard"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/keys"
)

const (
	idleEvery   = time.Second / 4  // between looks for idle clients
	keysEvery   = 2 * time.Second  // between looks at the keys of all clients
	goneEvery   = time.Second      // between looks for connections to be probed
	countsEvery = time.Second / 2  // between looks for what is to be counted under a new cap
	probeAfter  = 10 * time.Second // a connection is probed to which nothing was delivered
	probeShare  = 20               // of the requests to the gateway one in so many may be a probe
	atOnce      = 16               // requests to the stores or the gateway
	sweepWait   = 5 * time.Second  // for one request
	keysWait    = time.Second      // for the keys of one distributor, its throttled requests made again included
)

// sweep ends the connections that must end, until ctx does. Its looks have
// a goroutine each, so that a slow answer to one does not delay the others.
func (f *Feeds) sweep(ctx context.Context) error {
	group, ctx := guard.WithContext(ctx)
	for _, look := range [...]struct {
		every time.Duration
		at    func(context.Context)
	}{{idleEvery, f.sweepIdle}, {keysEvery, f.sweepKeys}, {goneEvery, f.sweepGone}, {countsEvery, f.sweepCounts}} {
		group.Go(func() error {
			tick := time.NewTicker(look.every)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return nil
				case <-tick.C:
					if f.caughtUp.Load() {
						look.at(ctx)
					}
				}
			}
		})
	}
	return group.Wait()
}

// connections is every connection at this moment.
func (f *Feeds) connections() []connections.Connection {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]connections.Connection, 0, len(f.clients))
	for _, c := range f.clients {
		list = append(list, c.Connection)
	}
	return list
}

// idleBefore is the time before which the last recorded message of an idle client was:
// a later one may not be recorded yet.
func (f *Feeds) idleBefore() time.Time { return f.Now().Add(-f.Idle - connections.SeenEvery) }

// sweepIdle ends connections without a message of their client.
func (f *Feeds) sweepIdle(context.Context) {
	before := f.idleBefore()
	for _, c := range f.connections() {
		if !c.Seen.After(before) {
			f.removals.add(connOf(&c), connections.ReasonIdle, true)
		}
	}
}

func connOf(c *connections.Connection) hub.Conn {
	return hub.Conn{ID: c.ID, Endpoint: c.Endpoint, At: c.At, Of: c.Distributor}
}

// sweepKeys ends connections whose sub-key may not connect any longer. Each distributor's
// keys are read on their own: where they cannot be, its connections stay until the next look,
// and nobody else's wait for that.
func (f *Feeds) sweepKeys(ctx context.Context) {
	of := map[string][]connections.Connection{}
	for _, c := range f.connections() {
		of[c.Distributor] = append(of[c.Distributor], c)
	}
	var mu sync.Mutex
	unread := map[string]error{}
	var group guard.Group
	group.SetLimit(atOnce)
	for distributor, all := range of {
		group.Go(func() error {
			if err := guard.Do(func() error { return f.sweepKeysOf(ctx, distributor, all) }); err != nil {
				mu.Lock()
				defer mu.Unlock()
				unread[distributor] = err
			}
			return nil
		})
	}
	_ = group.Wait() // failures are in unread
	if ctx.Err() == nil {
		f.noteUnread(unread)
	}
}

// sweepKeysOf is sweepKeys of one distributor.
func (f *Feeds) sweepKeysOf(ctx context.Context, distributor string, all []connections.Connection) error {
	used := map[string]bool{}
	for i := range all {
		used[all[i].Key] = true
	}
	ctx, cancel := context.WithTimeout(ctx, keysWait)
	defer cancel()
	statuses, err := f.Keys.Statuses(ctx, distributor, slices.Collect(maps.Keys(used)))
	if err != nil {
		return err
	}
	now := f.Now()
	for i := range all {
		c := &all[i]
		s, known := statuses[c.Key]
		why := c.CloseReason(now, c.StateOf(s, known))
		if (why == "" || why == connections.ReasonIdle) && !f.mayFollow(c.ID, s.Level) {
			why = connections.ReasonNotPermitted
		}
		if why != "" && why != connections.ReasonIdle {
			f.removals.add(connOf(c), why, true)
		}
	}
	return nil
}

// mayFollow reports whether a level lists the actions of all that a client follows, beside that of
// its feed.
func (f *Feeds) mayFollow(id string, level *keys.Level) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.clients[id]
	if c == nil {
		return true
	}
	for name, n := range c.active {
		if shows := name.Channel().Shows; n > 0 && shows != nil && !level.Permits(shows.Access.Name) {
			return false
		}
	}
	return true
}

// noteUnread notes, and logs, of which distributors a look could not read the keys.
func (f *Feeds) noteUnread(unread map[string]error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.Now()
	since, oldest := make(map[string]time.Time, len(unread)), now
	var sample error
	for distributor, err := range unread {
		began, ok := f.keysUnread[distributor]
		if !ok {
			began = now
		}
		since[distributor] = began
		if sample == nil || began.Before(oldest) {
			oldest, sample = began, err
		}
	}
	f.keysUnread = since
	if len(unread) > 0 {
		f.Logger.Warn("cannot look at the keys of distributors, whose connections stay until the next look",
			"distributors", len(unread), "longest", now.Sub(oldest).String(), "error", sample.Error())
	}
}

// sweepCounts has what was made without a cap counted under one that was set since, as
// requests under it have asked: of each distributor one after another, beside those of others,
// as one that has much takes long.
func (f *Feeds) sweepCounts(ctx context.Context) {
	now := f.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	for a := range f.counts {
		if of := a.Distributor; a.Overdue(now) && !f.counting[of] {
			f.counting[of] = true
			f.loads.Go(func() { f.count(ctx, a) })
		}
	}
}

// count has what was made without a cap counted. What fails is asked for again.
func (f *Feeds) count(ctx context.Context, a connections.CountAsked) {
	var ids []string
	for _, c := range f.connections() {
		if a.Concerns(&c) {
			ids = append(ids, c.ID)
		}
	}
	err := f.Connections.CountAll(ctx, a, ids)
	if err != nil && ctx.Err() == nil {
		f.Logger.Warn("cannot count connections under a new cap; trying again", "error", err.Error())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.counting, a.Distributor)
	if err == nil {
		delete(f.counts, a)
	}
}

// sweepGone probes the connections to which nothing was delivered for a while: of
// the others it is known that their client is there. Those that are due are probed in
// rounds of one of each distributor, in the order of when they were known to be there, as many
// a look as the limit of requests leaves for it: the more are quiet, the more seldom each is
// probed.
func (f *Feeds) sweepGone(ctx context.Context) {
	var quiet []*client
	now := f.Now()
	f.mu.Lock()
	for _, c := range f.clients {
		s, ok := f.hub.Stats(c.ID)
		if ok && s.Sent != c.sent {
			c.sent, c.alive = s.Sent, now
			continue
		}
		if now.Sub(c.At) >= f.ProbeAfter && now.Sub(c.alive) >= f.ProbeAfter {
			quiet = append(quiet, c)
		}
	}
	if most := f.probesALook(); len(quiet) > most {
		slices.SortFunc(quiet, func(a, b *client) int { return a.alive.Compare(b.alive) })
		rounds, of := make(map[*client]int, len(quiet)), map[string]int{}
		for _, c := range quiet {
			rounds[c] = of[c.Distributor]
			of[c.Distributor]++
		}
		slices.SortStableFunc(quiet, func(a, b *client) int { return rounds[a] - rounds[b] })
		quiet = quiet[:most]
	}
	probed := make([]hub.Conn, len(quiet))
	for i, c := range quiet {
		c.alive = now // it will turn out if it is not
		probed[i] = c.conn()
	}
	f.mu.Unlock()
	var group guard.Group
	group.SetLimit(atOnce)
	for _, c := range probed {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, sweepWait)
			defer cancel()
			if f.gatewayRate.Wait(ctx) != nil {
				return nil // it is probed again
			}
			if err := f.Gateway.Probe(ctx, c); errors.Is(err, hub.ErrGone) {
				f.removals.add(c, connections.ReasonGone, false)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil { // the probes return no errors
		f.Logger.Error("a probe of connections failed", "error", err.Error())
	}
}

// probesALook is how many connections one look may probe.
func (f *Feeds) probesALook() int {
	if f.Rate <= 0 {
		return math.MaxInt
	}
	return max(f.Rate*int(goneEvery/time.Second)/probeShare, 1)
}
