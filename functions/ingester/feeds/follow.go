package feeds

import (
	"context"
	"math"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/channel"
	"quotary/shared/connections"
)

// client is a connection as the table has it.
type client struct {
	connections.Connection
	subs      map[string]subscribed // by key of the subscription
	addresses map[string]bool
	sent      uint64    // frames delivered when the sweeper last looked
	there     time.Time // when the sweeper last had reason to think that the client is
}

// subscribed is a subscription of /ws; one that replaces another of the same key
// is another.
type subscribed struct {
	topic string
	at    time.Time
}

func (c *client) conn() hub.Conn { return hub.Conn{ID: c.ID, Endpoint: c.Endpoint, At: c.At} }

// follow does what the table of connections tells until ctx ends.
func (f *Feeds) follow(ctx context.Context) error {
	for event, err := range f.Follower.Follow(ctx) {
		if err != nil {
			f.Logger.Warn("cannot follow the connections; trying again", "error", err.Error())
			continue
		}
		f.apply(ctx, event)
	}
	return nil
}

func (f *Feeds) apply(ctx context.Context, event connections.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch e := event.(type) {
	case connections.Reset:
		if e.Cause != nil {
			f.Logger.Warn("a part of the connections' stream is lost; reading the table again", "error", e.Cause.Error())
		}
	case connections.Live:
		if !f.settled.Swap(true) {
			close(f.ready)
		}
	case connections.Connected:
		c := &client{Connection: e.Connection, subs: map[string]subscribed{}, addresses: map[string]bool{}}
		f.clients[e.ID] = c
		f.hub.Connect(c.conn())
	case connections.Disconnected:
		delete(f.clients, e.ID)
		f.hub.Disconnect(e.ID)
	case connections.Seen:
		if c := f.clients[e.Connection]; c != nil && e.At.After(c.Seen) {
			c.Seen = e.At
		}
	case connections.Subscribed:
		f.subscribe(ctx, &e)
	case connections.Unsubscribed:
		f.unsubscribe(&e)
	case connections.AddressesAdded:
		f.reply(e.Connection, f.unsent(e.Reply, e.At, e.Found))
		f.follows(e.Connection, e.Addresses, true)
	case connections.AddressesRemoved:
		f.follows(e.Connection, e.Addresses, false)
	case connections.Answer:
		f.reply(e.Connection, f.unsent(e.Reply, e.At, e.Found))
		f.done(e.Due)
	case connections.StatAsked:
		f.stat(e)
	}
}

// unsent is a reply, or nil where an earlier run of the feeds has sent it.
func (f *Feeds) unsent(reply []byte, at time.Time, found bool) []byte {
	if len(reply) == 0 || found && !f.settled.Load() && at.Before(f.before) {
		return nil
	}
	f.replied.Store(f.Now().UnixMilli())
	return reply
}

// reply sends a reply to a client, unless it is nil. The caller holds f.mu.
func (f *Feeds) reply(id string, reply []byte) {
	if reply != nil {
		_ = f.hub.Send(id, reply) // f is told of an overflow, and of an end by the table
	}
}

// subscribe begins a subscription of /ws: its reply, then the snapshot, then what
// comes. The caller holds f.mu.
func (f *Feeds) subscribe(ctx context.Context, e *connections.Subscribed) {
	c := f.clients[e.Connection]
	topic := channelTopic(&e.Subscription)
	if c == nil || topic == "" {
		return
	}
	sub := subscribed{topic, e.At}
	c.subs[e.Key()] = sub
	reply := f.unsent(e.Reply, e.At, e.Found)
	if e.Type == channel.L2Book {
		f.books.prepare(e.Coin, groupingOf(&e.Subscription))
	}
	prepare, release := f.preparation(&e.Subscription, topic)
	if prepare == nil {
		_ = f.hub.Subscribe(c.ID, topic, reply) // as in reply
		return
	}
	f.reply(c.ID, reply)
	// The stores are asked beside the loop: other clients do not wait for it.
	id, key := c.ID, e.Key()
	f.loads.Go(func() {
		f.loading <- struct{}{}
		defer func() { <-f.loading }()
		defer release()
		if err := prepare(ctx); err != nil && ctx.Err() == nil {
			f.Logger.Warn("a subscription starts without a snapshot", "topic", topic, "error", err.Error())
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if c := f.clients[id]; c != nil && c.subs[key] == sub {
			_ = f.hub.Subscribe(id, topic, nil) // as in reply
		}
	})
}

// preparation is what a topic's snapshot needs before anybody subscribes, nil
// for nothing, and what ends the need once somebody has.
func (f *Feeds) preparation(s *channel.Subscription, topic string) (prepare func(context.Context) error, release func()) {
	switch s.Type {
	case channel.Candle:
		return func(ctx context.Context) error { return f.candles.prepare(ctx, topic, s.Coin, s.Interval) },
			func() { f.candles.shelf.release(topic) }
	case channel.UserFills:
		return func(ctx context.Context) error { return f.fills.prepare(ctx, s.User) },
			func() { f.fills.shelf.release(s.User) }
	case channel.UserNonFundingLedgerUpdates:
		return func(ctx context.Context) error { return f.ledgers.prepare(ctx, s.User) },
			func() { f.ledgers.shelf.release(s.User) }
	}
	return nil, nil
}

// unsubscribe ends a subscription of /ws. The caller holds f.mu.
func (f *Feeds) unsubscribe(e *connections.Unsubscribed) {
	c := f.clients[e.Connection]
	if c == nil {
		return
	}
	delete(c.subs, e.Key())
	f.hub.Unsubscribe(c.ID, channelTopic(&e.Subscription))
}

// follows begins or ends to follow addresses on an address feed. The caller holds
// f.mu.
func (f *Feeds) follows(id string, addresses []string, on bool) {
	c := f.clients[id]
	if c == nil {
		return
	}
	for _, address := range addresses {
		topic := addressTopic(&c.Connection, address)
		switch {
		case topic == "":
		case on:
			c.addresses[address] = true
			_ = f.hub.Subscribe(id, topic, nil) // as in reply
		default:
			delete(c.addresses, address)
			f.hub.Unsubscribe(id, topic)
		}
	}
}

// stat answers a request for figures. The caller holds f.mu.
func (f *Feeds) stat(e connections.StatAsked) {
	c := f.clients[e.Connection]
	if c == nil {
		return
	}
	figures, ok := f.hub.Stats(c.ID)
	if !ok {
		return
	}
	f.reply(c.ID, statFrame(len(c.addresses), figures))
	f.done(e.Due)
}

// done has the table forget what was answered.
func (f *Feeds) done(due connections.Due) {
	select {
	case f.answered <- due:
	default:
		// A flood: it stays in the table, and its row expires there.
	}
}

// statFrame is the answer to {"type":"stat"}. The frame itself is not counted.
func statFrame(addresses int, s hub.Stats) []byte {
	b := strconv.AppendInt([]byte(`{"type":"stat","data":{"addressCount":`), int64(addresses), 10)
	b = append(append(b, `,"duration":"`...), s.Duration.Round(time.Millisecond).String()...)
	b = strconv.AppendUint(append(b, `","sentMsgCount":`...), s.Sent, 10)
	b = strconv.AppendFloat(append(b, `,"msgPerSecond":`...), math.Round(1000*s.PerSecond)/1000, 'f', -1, 64)
	b = strconv.AppendUint(append(b, `,"discardedCount":`...), s.Discarded, 10)
	b = strconv.AppendInt(append(b, `,"queueLen":`...), int64(s.QueueLen), 10)
	return append(b, `}}`...)
}

// forget deletes what was answered from the table.
func (f *Feeds) forget(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for range forgetAtOnce {
		group.Go(func() error {
			for {
				select {
				case <-ctx.Done():
					return nil
				case due := <-f.answered:
					if err := f.Connections.Answered(ctx, due); err != nil && ctx.Err() == nil {
						f.Logger.Warn("what was answered stays in the table", "error", err.Error())
					}
				}
			}
		})
	}
	return group.Wait()
}
