package feeds

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/connections"
)

const (
	idleEvery  = time.Second     // between looks for idle clients
	keysEvery  = 2 * time.Second // between looks at the keys of all clients
	goneEvery  = time.Second     // between looks for connections to be probed
	probeAfter = 3 * time.Second // a connection is probed that nothing was heard of
	atOnce     = 16              // requests to the stores or the gateway
	sweepWait  = 5 * time.Second // for one request
)

// sweep ends the connections that must end, until ctx does. Its three looks have
// a goroutine each, so that a slow answer to one does not delay the others.
func (f *Feeds) sweep(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, look := range [...]struct {
		every time.Duration
		at    func(context.Context)
	}{{idleEvery, f.sweepIdle}, {keysEvery, f.sweepKeys}, {goneEvery, f.sweepGone}} {
		group.Go(func() error {
			tick := time.NewTicker(look.every)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return nil
				case <-tick.C:
					if f.settled.Load() {
						look.at(ctx)
					}
				}
			}
		})
	}
	return group.Wait()
}

// connected is every connection at this moment.
func (f *Feeds) connected() []connections.Connection {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]connections.Connection, 0, len(f.clients))
	for _, c := range f.clients {
		list = append(list, c.Connection)
	}
	return list
}

// sweepIdle ends connections without a message of their client.
func (f *Feeds) sweepIdle(context.Context) {
	before := f.Now().Add(-f.Idle)
	for _, c := range f.connected() {
		if !c.Seen.After(before) {
			f.removals.add(feedConn(&c), connections.ReasonIdle, true)
		}
	}
}

func feedConn(c *connections.Connection) hub.Conn {
	return hub.Conn{ID: c.ID, Endpoint: c.Endpoint, At: c.At}
}

// sweepKeys ends connections whose sub-key may not connect any longer. While keys
// cannot be read they keep their connections.
func (f *Feeds) sweepKeys(ctx context.Context) {
	all := f.connected()
	distributorOf := map[string]string{}
	for i := range all {
		distributorOf[all[i].Key] = all[i].Distributor
	}
	reading, cancel := context.WithTimeout(ctx, sweepWait)
	defer cancel()
	statuses, err := f.Keys.Statuses(reading, distributorOf)
	if err != nil {
		if ctx.Err() == nil {
			f.Logger.Warn("cannot look at the keys of connections", "error", err.Error())
		}
		return
	}
	now := f.Now()
	for i := range all {
		c := &all[i]
		s, known := statuses[c.Key]
		state := connections.KeyState{Unknown: !known, Disabled: s.Disabled, DistributorDisabled: s.DistributorDisabled, ExpiresAt: s.ExpiresAt}
		if why := c.Due(now, state); why != "" && why != connections.ReasonIdle {
			f.removals.add(feedConn(c), why, true)
		}
	}
}

// sweepGone probes the connections to which nothing was delivered for a while: of
// the others it is known that their client is there.
func (f *Feeds) sweepGone(ctx context.Context) {
	var quiet []hub.Conn
	now := f.Now()
	f.mu.Lock()
	for _, c := range f.clients {
		s, ok := f.hub.Stats(c.ID)
		if ok && s.Sent != c.sent {
			c.sent, c.there = s.Sent, now
			continue
		}
		if now.Sub(c.At) >= probeAfter && now.Sub(c.there) >= probeAfter {
			c.there = now // it will turn out if it is not
			quiet = append(quiet, c.conn())
		}
	}
	f.mu.Unlock()
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, c := range quiet {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, sweepWait)
			defer cancel()
			if err := f.Gateway.Probe(ctx, c); errors.Is(err, hub.ErrGone) {
				f.removals.add(c, connections.ReasonGone, false)
			}
			return nil
		})
	}
	_ = group.Wait() // the probes return no errors
}

// removals are the connections to be removed. Each stands there once, so there
// are never more than there are connections.
type removals struct {
	wake chan struct{} // holds one
	mu   sync.Mutex
	due  map[string]removal
}

type removal struct {
	conn  hub.Conn
	why   connections.Reason
	close bool // the client may still be there
}

func (r *removals) add(c hub.Conn, why connections.Reason, closing bool) {
	r.mu.Lock()
	if _, ok := r.due[c.ID]; !ok {
		r.due[c.ID] = removal{c, why, closing}
	}
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *removals) take() []removal {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]removal, 0, len(r.due))
	for _, one := range r.due {
		list = append(list, one)
	}
	return list
}

func (r *removals) done(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.due, id)
}

// removeAgain is the pause before what could not be removed is tried again.
const removeAgain = time.Second

// remove removes what is due until ctx ends. What fails is tried again.
func (f *Feeds) remove(ctx context.Context) error {
	again := time.NewTicker(removeAgain)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.removals.wake:
		case <-again.C:
		}
		var group errgroup.Group
		group.SetLimit(atOnce)
		for _, r := range f.removals.take() {
			group.Go(func() error {
				if err := f.removeOne(ctx, r); err != nil {
					if ctx.Err() == nil {
						f.Logger.Warn("cannot remove a connection; trying again", "reason", string(r.why), "error", err.Error())
					}
					return nil
				}
				f.removals.done(r.conn.ID)
				return nil
			})
		}
		_ = group.Wait() // failures were logged
	}
}

// removeOne frees what a connection holds, then closes it.
func (f *Feeds) removeOne(ctx context.Context, r removal) error {
	ctx, cancel := context.WithTimeout(ctx, sweepWait)
	defer cancel()
	key := f.keyOf(r.conn.ID) // before the table forgets it
	var removed bool
	var err error
	if r.why == connections.ReasonIdle {
		removed, err = f.Connections.RemoveIdle(ctx, r.conn.ID, f.Now().Add(-f.Idle))
	} else {
		removed, err = f.Connections.Remove(ctx, r.conn.ID)
	}
	if err != nil {
		return err
	}
	if !removed {
		return nil // somebody else did, or its client spoke at the last moment
	}
	f.Logger.Info("removed a connection", "reason", string(r.why), "key", key)
	if !r.close {
		return nil
	}
	if err := f.Gateway.Disconnect(ctx, r.conn); err != nil && !errors.Is(err, hub.ErrGone) {
		// Its slot is free; the gateway ends an idle connection by itself.
		f.Logger.Warn("a removed connection could not be closed", "error", err.Error())
	}
	return nil
}

func (f *Feeds) keyOf(id string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.clients[id]; c != nil {
		return c.Key
	}
	return ""
}
