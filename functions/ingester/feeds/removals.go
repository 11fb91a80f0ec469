package feeds

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/gate/connections"
)

// removals are the connections to be removed. Each stands there once, so there
// are never more than there are connections.
type removals struct {
	wake    chan struct{} // holds one
	mu      sync.Mutex
	pending map[string]removal
}

type removal struct {
	conn  hub.Conn
	why   connections.Reason
	close bool // the client may still be there
	began bool // the table has it as being removed, by this ingester
}

func (r *removals) add(c hub.Conn, why connections.Reason, closing bool) {
	r.mu.Lock()
	if _, ok := r.pending[c.ID]; !ok {
		r.pending[c.ID] = removal{conn: c, why: why, close: closing}
	}
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *removals) drain() []removal {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]removal, 0, len(r.pending))
	for _, one := range r.pending {
		list = append(list, one)
	}
	return list
}

// began notes that a removal is to be finished by this ingester.
func (r *removals) began(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.pending[id]
	one.began = true
	r.pending[id] = one
}

func (r *removals) done(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pending, id)
}

const (
	// removeAgain is the pause before what could not be removed is tried again.
	removeAgain = time.Second
	// removeWait is for one removal, of all that a connection has.
	removeWait = 30 * time.Second
)

// remove removes what is pending until ctx ends. What fails is tried again.
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
		for _, r := range f.removals.drain() {
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
	key := f.keyOf(r.conn.ID) // before the table forgets it
	removing, cancel := context.WithTimeout(ctx, removeWait)
	defer cancel()
	removed := true
	var err error
	switch {
	case r.began:
		err = f.Connections.FinishRemoval(removing, r.conn.ID)
	case r.why == connections.ReasonIdle:
		removed, err = f.Connections.RemoveIdle(removing, r.conn.ID, f.idleBefore())
	default:
		removed, err = f.Connections.Remove(removing, r.conn.ID)
	}
	if err != nil && removed {
		f.removals.began(r.conn.ID)
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
	if err := f.gatewayRate.Wait(ctx); err != nil {
		return err
	}
	ctx, cancel = context.WithTimeout(ctx, sweepWait)
	defer cancel()
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
