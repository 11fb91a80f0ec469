package feeds

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/source/hyperliquid"
)

// Venue is what is asked of the public API about accounts; a
// [*hyperliquid.Info] is one.
type Venue interface {
	ClearinghouseState(ctx context.Context, user, dex string) (json.RawMessage, error)
	OpenOrders(ctx context.Context, user, dex string) ([]json.RawMessage, error)
	LedgerUpdates(ctx context.Context, user string, since time.Time) ([]json.RawMessage, error)
}

const (
	// accountEvery is the least time between two looks at an account.
	accountEvery = 2 * time.Second
	// accountRest is how long an account is left alone after a failed look.
	accountRest = 5 * time.Second
	// accountWeight is what looks at accounts may spend a minute of the API's
	// 1,200: the rest is for what everybody needs.
	accountWeight = 900
	// accountLooks is how many looks are under way at a time.
	accountLooks = 4
)

// accounts polls the state and the open orders of the accounts that are
// followed.
type accounts struct {
	hub    *hub.Hub
	venue  Venue // nil polls nothing
	log    *slog.Logger
	now    func() time.Time
	budget *hyperliquid.Budget

	mu     sync.Mutex
	polled map[accountKey]*account

	// The hub tells of wanted topics while it holds locks of its own, so they
	// wait under a lock that is held for nothing else.
	wantedMu sync.Mutex
	wanted   []accountKey
}

type accountKey struct {
	orders  bool // the open orders, else the state
	address string
	dex     string
}

type account struct {
	due    time.Time
	wanted time.Time // when it was last subscribed to, or seen to be followed
	last   []byte    // what the venue said
	frames map[string][]byte
}

// topics are those that show what is polled under the key.
func (k accountKey) topics() []string {
	if k.orders {
		return []string{topicOf(ordersTopic, k.address, k.dex)}
	}
	return []string{topicOf(accountTopic, k.address, k.dex), topicOf(stateTopic, k.address, k.dex)}
}

// weight is what a look costs.
func (k accountKey) weight() int {
	if k.orders {
		return 20
	}
	return 2
}

// want has an account polled for as long as somebody follows it.
func (as *accounts) want(k accountKey) {
	as.wantedMu.Lock()
	defer as.wantedMu.Unlock()
	as.wanted = append(as.wanted, k)
}

// admit begins to poll what is wanted.
func (as *accounts) admit(now time.Time) {
	as.wantedMu.Lock()
	wanted := as.wanted
	as.wanted = nil
	as.wantedMu.Unlock()
	for _, k := range wanted {
		if a := as.polled[k]; a != nil {
			a.wanted = now
			continue
		}
		as.polled[k] = &account{due: now, wanted: now}
	}
}

// run polls until ctx ends.
func (as *accounts) run(ctx context.Context) error {
	if as.venue == nil {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var looks errgroup.Group
	looks.SetLimit(accountLooks)
	defer func() { _ = looks.Wait() }() // the looks return no errors
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for _, k := range as.dueNow() {
			if as.budget.Spend(ctx, k.weight()) != nil {
				return nil
			}
			looks.Go(func() error {
				as.look(ctx, k)
				return nil
			})
		}
	}
}

// dueNow takes the accounts whose turn it is, and forgets those that nobody
// follows any longer.
func (as *accounts) dueNow() (due []accountKey) {
	as.mu.Lock()
	defer as.mu.Unlock()
	now := as.now()
	as.admit(now)
	for k, a := range as.polled {
		if now.Before(a.due) {
			continue
		}
		watched := false
		for _, topic := range k.topics() {
			watched = watched || as.hub.Watched(topic)
		}
		switch {
		case watched:
			a.wanted = now
		case now.Sub(a.wanted) > accountRest: // not just about to be followed
			delete(as.polled, k)
			continue
		}
		a.due = now.Add(accountEvery)
		due = append(due, k)
	}
	return due
}

// look asks the venue and pushes what it says.
func (as *accounts) look(ctx context.Context, k accountKey) {
	said, err := as.ask(ctx, k)
	as.mu.Lock()
	defer as.mu.Unlock()
	a := as.polled[k]
	switch {
	case a == nil || ctx.Err() != nil:
		return
	case err != nil:
		a.due = as.now().Add(accountRest)
		as.log.Warn("cannot look at an account", "address", k.address, "dex", k.dex, "error", err.Error())
		return
	case a.last != nil && bytes.Equal(a.last, said):
		return
	}
	a.last, a.frames = said, map[string][]byte{}
	for _, topic := range k.topics() {
		if as.hub.Watched(topic) {
			a.frames[topic] = k.frame(topic, said)
			as.hub.Publish(topic, a.frames[topic], hub.State)
		}
	}
}

func (as *accounts) ask(ctx context.Context, k accountKey) ([]byte, error) {
	if !k.orders {
		return as.venue.ClearinghouseState(ctx, k.address, k.dex)
	}
	orders, err := as.venue.OpenOrders(ctx, k.address, k.dex)
	if err != nil {
		return nil, err
	}
	b := []byte{'['}
	for i, o := range orders {
		if len(b)+len(o) > frameMost {
			break // the venue lists the newest first
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, o...)
	}
	return append(b, ']'), nil
}

// frame is what the venue said, as a topic shows it.
func (k accountKey) frame(topic string, said []byte) []byte {
	switch {
	case k.orders:
		b := appendText(append(inChannel("openOrders"), `{"dex":`...), k.dex)
		b = appendText(append(b, `,"user":`...), k.address)
		return append(append(append(b, `,"orders":`...), said...), `}}`...)
	case topic == topicOf(stateTopic, k.address, k.dex):
		b := appendText(append(inChannel("clearinghouseState"), `{"address":`...), k.address)
		return append(append(append(b, `,"state":`...), said...), `}}`...)
	}
	b := appendText(append(inChannel("clearinghouseState"), `{"dex":`...), k.dex)
	b = appendText(append(b, `,"user":`...), k.address)
	return append(append(append(b, `,"clearinghouseState":`...), said...), `}}`...)
}

// snapshot is the last that the venue said, nil before it said anything: then
// the first look makes the first frame. The hub holds the lock.
func (as *accounts) snapshot(k accountKey, topic string) []byte {
	a := as.polled[k]
	if a == nil || a.last == nil {
		return nil
	}
	if a.frames[topic] == nil {
		a.frames[topic] = k.frame(topic, a.last)
	}
	return a.frames[topic]
}
