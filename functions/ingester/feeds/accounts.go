package feeds

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/functions/ingester/source"
	"quotary/shared/gate/channel"
)

// Venue is what is asked of the public API about accounts; a
// [*hyperliquid.Info] is one. Each call has a deadline of its own.
type Venue interface {
	ClearinghouseState(ctx context.Context, user, dex string) (json.RawMessage, error)
	OpenOrders(ctx context.Context, user, dex string) ([]json.RawMessage, error)
	LedgerUpdates(ctx context.Context, user string, since time.Time) ([]json.RawMessage, error)
}

const (
	// accountEvery is the least time between two polls of an account.
	accountEvery = 2 * time.Second
	// accountRest is how long an account is left alone after a failed poll.
	accountRest = 5 * time.Second
	// accountTimeout is how long a poll waits for its answer.
	accountTimeout = 10 * time.Second
	// accountWeight is what polls of accounts may spend a minute of the API's
	// 1,200: the rest is for what everybody needs.
	accountWeight = 900
	// accountPolls is how many polls are under way at a time, so that some slow
	// answers leave room for the other accounts.
	accountPolls = 16
)

// accounts polls the state and the open orders of the accounts that are followed, for
// all views that show them.
type accounts struct {
	*Config
	hub    *hub.Hub
	budget *source.Budget
	views  []*accountView

	mu      sync.Mutex
	polled  map[accountKey]*account
	polling int // polls under way

	// The hub asks for topics while it holds locks of its own, so what they want
	// polled waits under a lock that is held for nothing else.
	wantedMu sync.Mutex
	wanted   []accountKey
}

func newAccounts(config *Config, h *hub.Hub) *accounts {
	return &accounts{Config: config, hub: h, budget: source.NewBudget(accountWeight, config.Now), polled: map[accountKey]*account{}}
}

// accountKey is what one poll is about.
type accountKey struct {
	orders  bool // the open orders, else the state
	address string
	dex     string
}

// weight is what a poll costs.
func (k accountKey) weight() int {
	if k.orders {
		return 20
	}
	return 2
}

type account struct {
	next    time.Time // poll
	polling bool      // a poll is under way
	wanted  time.Time // when it was last subscribed to, or seen to be followed
	last    []byte    // what the venue answered
	frames  map[*accountView][]byte
}

// accountView is the publisher of one channel or feed that shows what is polled.
type accountView struct {
	base
	orders bool // it shows the open orders, else the state
	// frame makes the frame of what the venue answered.
	frame func(k accountKey, body []byte) []byte
}

func newAccountView(b base, orders bool, frame func(accountKey, []byte) []byte) publisher {
	v := &accountView{base: b, orders: orders, frame: frame}
	b.accounts.views = append(b.accounts.views, v)
	return v
}

func (v *accountView) about(s *channel.Subscription) string { return s.User + " " + s.Dex }

// topic has the account polled for as long as somebody follows it. Without an answer
// there is no snapshot: then the first poll makes the first frame.
func (v *accountView) topic(about string) hub.Topic {
	address, dex, _ := strings.Cut(about, " ")
	k := accountKey{orders: v.orders, address: address, dex: dex}
	v.accounts.want(k)
	return hub.Topic{Guard: &v.accounts.mu, Snapshot: func() [][]byte {
		a := v.accounts.polled[k]
		if a == nil || a.last == nil {
			return nil
		}
		if a.frames[v] == nil {
			a.frames[v] = v.frame(k, a.last)
		}
		return hub.Single(a.frames[v])
	}}
}

// topicOf is the name of the topic that shows an account.
func (v *accountView) topicOf(k accountKey) string { return v.topicName(k.address + " " + k.dex) }

func (as *accounts) want(k accountKey) {
	as.wantedMu.Lock()
	defer as.wantedMu.Unlock()
	as.wanted = append(as.wanted, k)
}

// run polls until ctx ends. A poll starts only when the budget and the number of
// polls under way allow it, so nothing waits that might be forgotten meanwhile, and
// a slow answer holds up its own account only.
func (as *accounts) run(ctx context.Context) error {
	if as.Venue == nil {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var polls sync.WaitGroup
	defer polls.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for _, k := range as.startable() {
			polls.Go(func() { as.poll(ctx, k) })
		}
	}
}

// startable returns the accounts to poll now, those that waited longest first, as
// under way and with their weight paid. It forgets those that nobody follows any
// longer.
func (as *accounts) startable() (start []accountKey) {
	as.mu.Lock()
	defer as.mu.Unlock()
	now := as.Now()
	as.addWanted(now)
	for k, a := range as.polled {
		if a.polling || now.Before(a.next) {
			continue
		}
		switch {
		case as.watched(k):
			a.wanted = now
		case now.Sub(a.wanted) > accountRest: // not just about to be followed
			delete(as.polled, k)
			continue
		}
		start = append(start, k)
	}
	slices.SortFunc(start, func(a, b accountKey) int { return as.polled[a].next.Compare(as.polled[b].next) })
	for i, k := range start {
		if as.polling == accountPolls || !as.budget.TrySpend(k.weight()) {
			return start[:i]
		}
		as.polling++
		as.polled[k].polling, as.polled[k].next = true, now.Add(accountEvery)
	}
	return start
}

func (as *accounts) addWanted(now time.Time) {
	as.wantedMu.Lock()
	wanted := as.wanted
	as.wanted = nil
	as.wantedMu.Unlock()
	for _, k := range wanted {
		if a := as.polled[k]; a != nil {
			a.wanted = now
			continue
		}
		as.polled[k] = &account{next: now, wanted: now}
	}
}

func (as *accounts) watched(k accountKey) bool {
	for _, v := range as.views {
		if v.orders == k.orders && as.hub.Watched(v.topicOf(k)) {
			return true
		}
	}
	return false
}

// addresses are those of the accounts that are polled.
func (as *accounts) addresses() []string {
	as.mu.Lock()
	defer as.mu.Unlock()
	list := make([]string, 0, len(as.polled))
	for k := range as.polled {
		list = append(list, k.address)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// poll asks the venue and publishes what changed.
func (as *accounts) poll(ctx context.Context, k accountKey) {
	body, err := as.fetch(ctx, k)
	as.mu.Lock()
	defer as.mu.Unlock()
	a := as.polled[k] // not forgotten while its poll is under way
	a.polling = false
	as.polling--
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		a.next = as.Now().Add(accountRest)
		as.Logger.Warn("cannot poll an account", "address", k.address, "dex", k.dex, "error", err.Error())
		return
	case a.last != nil && bytes.Equal(a.last, body):
		return
	}
	a.last, a.frames = body, map[*accountView][]byte{}
	for _, v := range as.views {
		if topic := v.topicOf(k); v.orders == k.orders && as.hub.Watched(topic) {
			a.frames[v] = v.frame(k, body)
			as.hub.Publish(topic, a.frames[v], hub.State)
		}
	}
}

func (as *accounts) fetch(ctx context.Context, k accountKey) ([]byte, error) {
	ctx, done := context.WithTimeout(ctx, accountTimeout)
	defer done()
	if !k.orders {
		return as.Venue.ClearinghouseState(ctx, k.address, k.dex)
	}
	orders, err := as.Venue.OpenOrders(ctx, k.address, k.dex)
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
