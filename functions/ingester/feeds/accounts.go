package feeds

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/functions/ingester/source"
	"quotary/shared/data/followrequests"
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
	// accountWeight is what may be spent on accounts a minute of the API's 1,200, by polls,
	// by reads of ledgers, and by anchors: the rest is for what everybody needs.
	accountWeight = 900
	// readWeight is what a read of an account's ledger updates costs, and readsMost how many
	// may wait of one distributor.
	readWeight = 70
	readsMost  = 2000
	// accountPolls is how many polls are under way at a time, so that some slow
	// answers leave room for the other accounts.
	accountPolls = 16
)

// accounts polls the state and the open orders of the accounts that are followed, for
// all views that show them.
type accounts struct {
	*Config
	hub    subscribers
	budget *source.Budget
	views  []*accountView

	mu      sync.Mutex
	polled  map[accountKey]*account
	polling int                  // polls under way
	reads   map[string][]*ticket // that wait, by distributor
	turns   source.Turns[line, asked]

	waiting int           // accounts that are to be polled and were not, when last looked
	longest time.Duration // for which one of them had waited

	// The hub asks for topics while it holds locks of its own, so what they want
	// polled waits under a lock that is held for nothing else.
	wantedMu sync.Mutex
	wanted   []accountKey
}

func newAccounts(config *Config, h subscribers) *accounts {
	return &accounts{Config: config, hub: h, budget: source.NewBudget(cmp.Or(config.VenueWeight, accountWeight), config.Now), polled: map[accountKey]*account{}, reads: map[string][]*ticket{}}
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

// line is one in which a distributor waits for the venue: for its polls, or its reads.
type line struct {
	distributor string
	what        string
}

const (
	polls = "polls"
	reads = "reads"
)

func (l line) compare(other line) int {
	return cmp.Or(strings.Compare(l.distributor, other.distributor), strings.Compare(l.what, other.what))
}

// asked is what the venue is asked for: a poll, or a read of ledger updates.
type asked struct {
	poll *dueAccount
	read *ticket
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

// lookShare is how many times as long as a look at the accounts took nobody looks again: of tens
// of thousands it takes long.
const lookShare = 20

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
	var next time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		began := time.Now()
		if began.Before(next) {
			continue
		}
		for _, k := range as.startable() {
			polls.Go(func() { as.poll(ctx, k) })
		}
		next = time.Now().Add(lookShare * time.Since(began))
	}
}

// dueAccount is one that is to be polled.
type dueAccount struct {
	accountKey
	*account
	since    time.Time
	followed bool
}

// startable returns the accounts to poll now, as under way and with their weight paid, and lets
// reads begin. Each distributor has its turns, by weight, with those that it follows, of which
// that goes first which has waited longest, and with its reads. Accounts are forgotten that
// nobody follows any longer. One goroutine calls it: nobody else begins a poll.
func (as *accounts) startable() (start []accountKey) {
	now := as.Now()
	due := as.due(now)
	lines := as.lines(due)
	as.mu.Lock()
	defer as.mu.Unlock()
	for distributor, list := range as.reads {
		of := line{distributor, reads}
		for _, r := range list {
			lines[of] = append(lines[of], asked{read: r})
		}
	}
	as.turns.Serve(lines, line.compare, func(one asked, _ line) (cost int, ok bool) {
		if one.read != nil {
			return as.letRead(one.read)
		}
		k, a := one.poll.accountKey, one.poll.account
		switch {
		case as.polling == accountPolls:
			return 0, false
		case a.polling:
			return 0, true // another distributor follows it too
		case !as.budget.TrySpend(k.weight()):
			return 0, false
		}
		as.polling++
		a.polling, a.next = true, now.Add(accountEvery)
		start = append(start, k)
		return k.weight(), true
	})
	clear(as.reads)
	for of, left := range lines {
		if of.what == reads {
			for _, one := range left {
				as.reads[of.distributor] = append(as.reads[of.distributor], one.read)
			}
		}
	}
	as.waiting, as.longest = 0, 0
	for _, one := range due {
		switch {
		case one.followed:
			one.wanted = now
			if !one.polling {
				as.waiting++
				as.longest = max(as.longest, now.Sub(one.since))
			}
		case now.Sub(one.wanted) > accountRest: // not just about to be followed
			delete(as.polled, one.accountKey)
		}
	}
	return start
}

// due are the accounts that are to be polled.
func (as *accounts) due(now time.Time) (due []*dueAccount) {
	as.mu.Lock()
	defer as.mu.Unlock()
	as.addWanted(now)
	for k, a := range as.polled {
		if !a.polling && !now.Before(a.next) {
			due = append(due, &dueAccount{accountKey: k, account: a, since: a.next})
		}
	}
	return due
}

// lines are those in which accounts wait, the first of each, so many as can be polled at a time.
// Of tens of thousands it takes long to see who follows them, so that is done without as.mu, for
// which snapshots wait.
func (as *accounts) lines(due []*dueAccount) map[line][]asked {
	lines := map[line][]asked{}
	for _, one := range due {
		for _, distributor := range as.followers(one.accountKey) {
			one.followed = true
			of := line{distributor, polls}
			lines[of] = first(lines[of], asked{poll: one})
		}
	}
	return lines
}

// first puts one among the first of a list, where it belongs there.
func first(list []asked, one asked) []asked {
	compare := func(a, b asked) int { return a.poll.since.Compare(b.poll.since) }
	if len(list) == accountPolls && compare(one, list[len(list)-1]) >= 0 {
		return list
	}
	at, _ := slices.BinarySearchFunc(list, one, compare)
	list = slices.Insert(list, at, one)
	return list[:min(len(list), accountPolls)]
}

// letRead lets a read begin that has its turn, where it is needed still and can be paid.
func (as *accounts) letRead(t *ticket) (cost int, ok bool) {
	if t.ended {
		return 0, true
	}
	if !as.budget.TrySpend(readWeight) {
		return 0, false
	}
	t.give()
	return readWeight, true
}

var errReads = errors.New("too many ledgers of accounts wait to be read")

// readTurn is a turn to read an account's ledger updates.
func (as *accounts) readTurn(ctx context.Context, distributor string, unless <-chan struct{}) (done func(), err error) {
	as.mu.Lock()
	if len(as.reads[distributor]) >= readsMost {
		as.mu.Unlock()
		return nil, errReads
	}
	t := &ticket{turn: make(chan struct{})}
	as.reads[distributor] = append(as.reads[distributor], t)
	as.mu.Unlock()
	err = t.wait(ctx, unless)
	as.mu.Lock()
	defer as.mu.Unlock()
	t.ended = true
	return func() {}, err
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

// followers are the distributors whose clients follow an account.
func (as *accounts) followers(k accountKey) []string {
	var topics []string
	for _, v := range as.views {
		if v.orders == k.orders {
			topics = append(topics, v.topicOf(k))
		}
	}
	return as.hub.Followers(topics...)
}

// addresses are those of the accounts that are polled.
func (as *accounts) addresses() followrequests.List[string] {
	as.mu.Lock()
	polled := slices.Collect(maps.Keys(as.polled))
	as.mu.Unlock()
	by := map[string][]string{}
	for _, k := range polled {
		for _, of := range as.followers(k) {
			by[of] = append(by[of], k.address)
		}
	}
	return followrequests.ListOf(by)
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
