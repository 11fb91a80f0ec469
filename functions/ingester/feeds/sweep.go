package feeds

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/connections"
)

const (
	idleEvery  = time.Second     // between looks for idle clients
	keysEvery  = 2 * time.Second // between looks at the keys of all clients
	goneEvery  = time.Second     // between looks for connections to be probed
	probeAfter = 3 * time.Second // a connection is probed to which nothing was delivered
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

// sweepIdle ends connections without a message of their client.
func (f *Feeds) sweepIdle(context.Context) {
	before := f.Now().Add(-f.Idle)
	for _, c := range f.connections() {
		if !c.Seen.After(before) {
			f.removals.add(connOf(&c), connections.ReasonIdle, true)
		}
	}
}

func connOf(c *connections.Connection) hub.Conn {
	return hub.Conn{ID: c.ID, Endpoint: c.Endpoint, At: c.At}
}

// sweepKeys ends connections whose sub-key may not connect any longer. While keys
// cannot be read they keep their connections.
func (f *Feeds) sweepKeys(ctx context.Context) {
	all := f.connections()
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
		if why := c.CloseReason(now, c.StateOf(s, known)); why != "" && why != connections.ReasonIdle {
			f.removals.add(connOf(c), why, true)
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
			c.sent, c.alive = s.Sent, now
			continue
		}
		if now.Sub(c.At) >= probeAfter && now.Sub(c.alive) >= probeAfter {
			c.alive = now // it will turn out if it is not
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
