package feeds

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/functions/ingester/guard"
	"quotary/shared/backoff"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
)

// client is a connection as the table has it.
type client struct {
	connections.Connection
	subs      map[string]subscribed // by key of the subscription
	addresses map[string]bool
	waiting   map[string]func()    // what begins the subscriptions that wait for the past, by key
	sent      uint64               // frames delivered when the sweeper last looked
	alive     time.Time            // when the sweeper last had reason to think that the client is there
	active    map[channel.Name]int // subscriptions, by channel
	resumed   bool                 // it asked for what came before
}

// since is from when on what happened concerns the client, ms.
func (c *client) since() int64 {
	if c.resumed {
		return 0
	}
	return c.At.UnixMilli()
}

// hasCursors reports whether replies to the client carry a cursor.
func (c *client) hasCursors() bool {
	return c.Feed == channel.FeedChannels || c.Feed.EventsOf() != ""
}

// subscribed is a subscription of /ws; one that replaces another of the same key
// is another.
type subscribed struct {
	topic string
	at    time.Time
}

func (c *client) conn() hub.Conn { return connOf(&c.Connection) }

// follow follows the table of connections until ctx ends.
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
		if !f.caughtUp.Swap(true) {
			close(f.connected)
		}
	case connections.Connected:
		c := &client{Connection: e.Connection, subs: map[string]subscribed{}, addresses: map[string]bool{}, active: map[channel.Name]int{}}
		f.clients[e.ID] = c
		f.connectedSince.Store(min(f.connectedSince.Load(), c.At.UnixMilli())) // all stores are under f.mu
		f.hub.Connect(c.conn())
	case connections.Disconnected:
		if c := f.clients[e.ID]; c != nil {
			addTo(f.addresses, c.Distributor, -len(c.addresses))
			addTo(f.subscribed, c.Distributor, -len(c.subs))
		}
		delete(f.clients, e.ID)
		f.hub.Disconnect(e.ID)
	case connections.Seen:
		if c := f.clients[e.Connection]; c != nil && e.At.After(c.Seen) {
			c.Seen = e.At
		}
	case connections.Pinged:
		if c := f.clients[e.Connection]; c != nil { // of one that is found what it follows is not known yet
			f.reply(c, f.unsent(c.pong(), e.At, e.Found), !e.Found)
		}
	case connections.Subscribed:
		f.subscribe(ctx, &e)
	case connections.Unsubscribed:
		f.unsubscribe(&e)
	case connections.AddressesAdded:
		f.addAddresses(ctx, &e)
	case connections.AddressesRemoved:
		if c := f.clients[e.Connection]; c != nil {
			f.follows(c, e.Addresses, false, false)
		}
	case connections.Answer:
		if c := f.clients[e.Connection]; c != nil {
			f.reply(c, f.unsent(e.Reply.Counting(c.active[e.Reply.Count]), e.At, e.Found), false)
		}
		f.done(e.Pending)
	case connections.StatAsked:
		f.stat(e)
	case connections.CloseAsked:
		f.hub.Finish(e.Connection, closeAfter)
	case connections.CountAsked:
		f.counts[e] = true
	case connections.Stray:
		f.removals.add(hub.Conn{ID: e.Connection}, connections.ReasonStray, false)
	}
}

// begunBefore reports whether an earlier run of the feeds has replied to a message.
func (f *Feeds) begunBefore(at time.Time, found bool) bool {
	return found && !f.caughtUp.Load() && at.Before(f.repliedBefore)
}

// unsent is a reply, or nil where an earlier run of the feeds has sent it.
func (f *Feeds) unsent(reply []byte, at time.Time, found bool) []byte {
	if len(reply) == 0 || f.begunBefore(at, found) {
		return nil
	}
	f.replied.Store(f.Now().UnixMilli())
	return reply
}

// reply sends a reply to a client, unless it is nil: with the present cursor, or without. The
// caller holds f.mu.
func (f *Feeds) reply(c *client, reply []byte, cursor bool) {
	f.arriving.mu.Lock()
	defer f.arriving.mu.Unlock()
	f.send(c, reply, cursor)
}

// send is reply of a caller who holds the lock of [arriving] too.
func (f *Feeds) send(c *client, reply []byte, cursor bool) {
	switch {
	case reply == nil:
	case cursor && c.hasCursors():
		_ = f.hub.SendAt(c.ID, reply, int64(f.arriving.next(false))) // an overflow calls f.gone, an end is in the table
	default:
		_ = f.hub.Send(c.ID, reply) // likewise
	}
}

// pong is the answer to a ping.
func (c *client) pong() []byte {
	if c.Feed == channel.FeedChannels {
		return []byte(`{"channel":"pong"}`)
	}
	return []byte(`{"type":"pong"}`)
}

// subscribe begins a subscription of /ws: its reply, then the snapshot, then what
// comes; unless the connections of the distributor would have too many together. The caller
// holds f.mu.
func (f *Feeds) subscribe(ctx context.Context, e *connections.Subscribed) {
	c := f.clients[e.Connection]
	topic, p := f.topicOf(string(e.Type), &e.Subscription)
	if c == nil || p == nil {
		return
	}
	if f.subscribed[c.Distributor] >= connections.MostSubscriptionsTogether {
		f.loads.Go(func() {
			f.refuse(ctx, c.ID, func() error { return f.Connections.RefuseSubscription(ctx, *e) }, tooManySubscriptions)
		})
		return
	}
	sub, before := subscribed{topic, e.At}, len(c.subs)
	c.subs[e.Key()] = sub
	addTo(f.subscribed, c.Distributor, len(c.subs)-before)
	c.active[e.Type]++
	reply := f.unsent(e.Reply.Counting(c.active[e.Type]), e.At, e.Found)
	var load func(context.Context) error
	var release func()
	if p, ok := p.(preparer); ok {
		load, release = p.prepare(c.Distributor, &e.Subscription)
	}
	id, key := c.ID, e.Key()
	still := func(c *client) []string {
		if c.subs[key] != sub {
			return nil
		}
		return []string{topic}
	}
	resume := f.newResume(string(e.Type), p, e.Reply.From, []string{p.about(&e.Subscription)}, e.At, e.Found)
	cursor := e.EventsOf() != ""
	if load == nil {
		f.arriving.mu.Lock()
		defer f.arriving.mu.Unlock()
		f.send(c, reply, cursor && resume == nil)
		if cursor {
			f.hub.Await(id, topic)
		}
		if resume != nil {
			f.resume(ctx, c, resume, nil, nil, still)
		} else {
			_ = f.hub.Subscribe(id, topic, nil) // as in reply
		}
		return
	}
	f.reply(c, reply, cursor && resume == nil)
	if cursor {
		f.hub.Await(id, topic)
	}
	// The stores are asked beside the loop: other clients do not wait for it.
	begin := func() {
		f.loads.Go(func() {
			defer release()
			if err := load(ctx); err != nil && ctx.Err() == nil {
				f.Logger.Warn("a subscription starts without a snapshot", "topic", topic, "error", err.Error())
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			if c := f.clients[id]; c != nil && c.subs[key] == sub {
				_ = f.hub.Subscribe(id, topic, nil) // as in reply
			}
		})
	}
	if resume != nil {
		begin = func() {
			f.resume(ctx, c, resume, load, release, still)
		}
	}
	if h, ok := p.(historian); ok && h.history() && !f.pastWaited {
		c.wait(key, begin)
		return
	}
	begin()
}

// wait keeps what begins a subscription until the past is read, or until the
// subscription or the connection ends.
func (c *client) wait(key string, begin func()) {
	if c.waiting == nil {
		c.waiting = map[string]func(){}
	}
	c.waiting[key] = begin
}

// unsubscribe ends a subscription of /ws. The caller holds f.mu.
func (f *Feeds) unsubscribe(e *connections.Unsubscribed) {
	c := f.clients[e.Connection]
	if c == nil {
		return
	}
	if _, ok := c.subs[e.Key()]; ok {
		delete(c.subs, e.Key())
		addTo(f.subscribed, c.Distributor, -1)
		c.active[e.Type]--
	}
	delete(c.waiting, e.Key())
	if topic, p := f.topicOf(string(e.Type), &e.Subscription); p != nil {
		f.hub.Unsubscribe(c.ID, topic)
	}
}

// addAddresses begins to follow addresses on an address feed, unless the connections of the
// distributor would follow too many together. The caller holds f.mu.
func (f *Feeds) addAddresses(ctx context.Context, e *connections.AddressesAdded) {
	c := f.clients[e.Connection]
	if c != nil && len(e.Addresses) > 0 && f.addresses[c.Distributor]+len(e.Addresses) > connections.MostAddressesTogether {
		added := e.Pending
		f.loads.Go(func() {
			f.refuse(ctx, added.Connection, func() error { return f.Connections.RefuseAddresses(ctx, added) }, tooManyAddresses)
		})
		return
	}
	if c == nil {
		return
	}
	reply := f.unsent(e.Reply.Frame, e.At, e.Found)
	var resume *replay
	if len(e.Addresses) > 0 {
		resume = f.newResume(string(c.Feed), f.publishers[string(c.Feed)], e.Reply.From, e.Addresses, e.At, e.Found)
	}
	f.arriving.mu.Lock() // the reply's cursor is that with which the events begin
	defer f.arriving.mu.Unlock()
	f.send(c, reply, resume == nil)
	f.follows(c, e.Addresses, true, resume == nil)
	if resume != nil {
		f.resume(ctx, c, resume, nil, nil, func(c *client) (topics []string) {
			for _, address := range e.Addresses {
				if topic, _ := f.topicOf(string(c.Feed), &channel.Subscription{User: address, Dex: c.Dex}); c.addresses[address] {
					topics = append(topics, topic)
				}
			}
			return topics
		})
	}
}

// newResume is nil where a subscription begins now, or has begun under an earlier run so long
// before that ended that all was shown.
func (f *Feeds) newResume(name string, p publisher, from channel.Resume, subjects []string, at time.Time, found bool) *replay {
	if f.begunBefore(at.Add(replayMay), found) {
		return nil
	}
	return newReplay(name, p, from, subjects)
}

// What is sent to a client whose distributor's connections would follow, or have, too much
// together.
var (
	tooManyAddresses = fmt.Appendf(nil,
		`{"error":"address would make the distributor's connections follow more than %d addresses together, the most that are accepted: unsubscribe from others first"}`,
		connections.MostAddressesTogether)
	tooManySubscriptions = fmt.Appendf(nil,
		`{"error":"subscription limit exceeded","limit":%d,"current":%[1]d}`, connections.MostSubscriptionsTogether)
)

// refuse takes back what a message has added. The client is sent the error when that is done: to
// a message that comes later it is new.
func (f *Feeds) refuse(ctx context.Context, connection string, takeBack func() error, why []byte) {
	for try := 0; ; try++ {
		err := takeBack()
		if err == nil {
			break
		}
		if ctx.Err() == nil {
			f.Logger.Warn("cannot take back what is beyond the distributor's most; trying again", "error", err.Error())
		}
		if refusePauses.Wait(ctx, try) != nil {
			return // the next run finds it
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.clients[connection]; c != nil {
		f.reply(c, why, false)
	}
}

// refusePauses are between tries to take back what is refused.
var refusePauses = backoff.Backoff{Min: 100 * time.Millisecond, Max: 10 * time.Second}

// addTo counts n more of a distributor.
func addTo(counts map[string]int, distributor string, n int) {
	if counts[distributor] += n; counts[distributor] == 0 {
		delete(counts, distributor)
	}
}

// follows begins or ends to follow addresses on an address feed: what begins with what came
// before is not published yet. The caller holds f.mu.
func (f *Feeds) follows(c *client, addresses []string, on, published bool) {
	before := len(c.addresses)
	for _, address := range addresses {
		topic, p := f.topicOf(string(c.Feed), &channel.Subscription{User: address, Dex: c.Dex})
		switch {
		case p == nil:
		case on:
			c.addresses[address] = true
			if published {
				_ = f.hub.Subscribe(c.ID, topic, nil) // as in reply
			}
		default:
			delete(c.addresses, address)
			f.hub.Unsubscribe(c.ID, topic)
		}
	}
	addTo(f.addresses, c.Distributor, len(c.addresses)-before)
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
	f.reply(c, statFrame(len(c.addresses), figures), false)
	f.done(e.Pending)
}

// done has what was answered deleted from the table.
func (f *Feeds) done(pending connections.Pending) {
	select {
	case f.answered <- pending:
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
	group, ctx := guard.WithContext(ctx)
	for range forgetAtOnce {
		group.Go(func() error {
			for {
				select {
				case <-ctx.Done():
					return nil
				case pending := <-f.answered:
					if err := f.Connections.Answered(ctx, pending); err != nil && ctx.Err() == nil {
						f.Logger.Warn("what was answered stays in the table", "error", err.Error())
					}
				}
			}
		})
	}
	return group.Wait()
}
