package feeds

import (
	"bytes"
	"cmp"
	"container/heap"
	"container/list"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/functions/ingester/guard"
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

	mu       sync.Mutex
	polled   map[accountKey]*account
	of       map[string][]*account // the same, by address
	folds    []*account            // whose turn it is to be shown as the pipeline has folded them
	foldsAt  time.Time             // when the first of them had its turn
	sleeping accountHeap           // those that are followed, and are to be polled later
	due      map[string]*list.List // of *follow: those that are to be polled, by distributor
	waiting  int                   // accounts in due
	left     []leaving             // that nobody follows, about in the order of time
	polling  int                   // polls under way
	reads    map[string][]*ticket  // that wait, by distributor
	turns    source.Turns[line, asked]

	answered room[*account] // those whose answers are kept, by when they came

	// The hub says who follows what while it holds locks of its own, so that waits under a
	// lock that is held for nothing else.
	changesMu sync.Mutex
	changes   map[string][]change // by distributor
}

func newAccounts(config *Config, h subscribers) *accounts {
	return &accounts{Config: config, hub: h, answered: room[*account]{most: snapshotRoom}, budget: source.NewBudget(cmp.Or(config.VenueWeight, accountWeight), config.Now), polled: map[accountKey]*account{}, of: map[string][]*account{}, due: map[string]*list.List{}, changes: map[string][]change{}, reads: map[string][]*ticket{}}
}

// change is that a distributor's clients begin or end to follow an account in a view.
type change struct {
	accountKey
	follows bool
	at      time.Time
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
	poll *account
	read *ticket
}

type account struct {
	accountKey
	next      time.Time // poll
	polling   bool      // a poll is under way, or it is folding
	folding   bool      // it is to be shown as the pipeline has folded it
	unfolded  time.Time // until then it is polled: it is not folded
	due       bool      // it is in the lists of those who follow it
	at        int       // in the heap of those that sleep; -1: it is not there
	followers []*follow
	left      time.Time       // when the last of them did
	last      []byte          // what the venue answered; nil where it was not asked yet, or there was no room
	kept      place[*account] // among those whose answers are kept
}

// follow is that a distributor's clients follow an account.
type follow struct {
	*account
	distributor string
	views       int           // in which they do
	inDue       *list.Element // while the account is due
}

// leaving is an account that nobody has followed since.
type leaving struct {
	*account
	since time.Time
}

// accountHeap is a heap.Interface with the account first that is to be polled first.
type accountHeap []*account

func (h accountHeap) Len() int           { return len(h) }
func (h accountHeap) Less(i, j int) bool { return h[i].next.Before(h[j].next) }

func (h accountHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

func (h *accountHeap) Push(x any) {
	a := x.(*account)
	a.at = len(*h)
	*h = append(*h, a)
}

func (h *accountHeap) Pop() any {
	last := len(*h) - 1
	a := (*h)[last]
	(*h)[last], a.at = nil, -1
	*h = (*h)[:last]
	return a
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
	t := hub.Topic{Guard: &v.accounts.mu, Snapshot: func() [][]byte {
		a := v.accounts.polled[k]
		if a == nil || a.last == nil {
			return nil
		}
		return hub.Single(v.frame(k, a.last))
	}}
	if v.Venue != nil || v.Folds {
		t.Followed = func(of string, follows bool) { v.accounts.followed(of, change{k, follows, v.Now()}) }
	}
	return t
}

// topicOf is the name of the topic that shows an account.
func (v *accountView) topicOf(k accountKey) string { return v.topicName(k.address + " " + k.dex) }

func (as *accounts) followed(distributor string, c change) {
	as.changesMu.Lock()
	defer as.changesMu.Unlock()
	as.changes[distributor] = append(as.changes[distributor], c)
}

// changesAtOnce is how many changes a look applies at least, where there are as many, and about
// how many at most: a connection may begin to follow tens of thousands of accounts at once.
const changesAtOnce = 2000

// takeChanges takes the oldest changes of each distributor, as many of one as of another.
func (as *accounts) takeChanges() map[string][]change {
	as.changesMu.Lock()
	defer as.changesMu.Unlock()
	taken := map[string][]change{}
	each := changesAtOnce/max(len(as.changes), 1) + 1
	for distributor, list := range as.changes {
		n := min(each, len(list))
		taken[distributor] = list[:n]
		if as.changes[distributor] = list[n:]; n == len(list) {
			delete(as.changes, distributor)
		}
	}
	return taken
}

// lookShare is how many times as long as a look at the accounts took nobody looks again: a slow
// machine has other things to do.
const lookShare = 20

// run polls until ctx ends. A poll starts only when the budget and the number of
// polls under way allow it, so nothing waits that might be forgotten meanwhile, and
// a slow answer holds up its own account only.
func (as *accounts) run(ctx context.Context) error {
	if as.Venue == nil && !as.Folds {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	polls, ctx := guard.WithContext(ctx)
	var next time.Time
	for {
		select {
		case <-ctx.Done():
			return polls.Wait()
		case <-tick.C:
		}
		began := time.Now()
		if began.Before(next) {
			continue
		}
		for _, k := range as.startable() {
			polls.Go(func() error { as.poll(ctx, k); return nil })
		}
		next = time.Now().Add(lookShare * time.Since(began))
	}
}

// startable returns the accounts to poll now, as under way and with their weight paid, and lets
// reads begin. Each distributor has its turns, by weight, with those that it follows, of which
// that goes first which has waited longest, and with its reads. Accounts are forgotten that
// nobody follows any longer. What it costs grows with what begins or ends to be followed, to be
// due, or to be polled, not with all that is followed. One goroutine calls it: nobody else begins
// a poll.
func (as *accounts) startable() (start []accountKey) {
	now := as.Now()
	as.mu.Lock()
	defer as.mu.Unlock()
	as.applyChanges(now)
	as.unfold(now)
	as.wake(now)
	lines := map[line][]asked{}
	addFirst := func(of line) {
		if one := as.first(of); one != (asked{}) {
			lines[of] = append(lines[of], one)
		}
	}
	for distributor := range as.due {
		addFirst(line{distributor, polls})
	}
	for distributor := range as.reads {
		addFirst(line{distributor, reads})
	}
	as.turns.Serve(lines, line.compare, func(one asked, of line) (cost int, ok bool) {
		if one.read != nil {
			cost, ok = as.letRead(one.read)
		} else {
			cost, ok = as.letPoll(one.poll, now)
		}
		if !ok {
			return 0, false
		}
		if one.read != nil {
			as.endRead(of.distributor)
		} else if cost > 0 && !one.poll.folding {
			start = append(start, one.poll.accountKey)
		}
		addFirst(of)
		return cost, true
	})
	return start
}

// first is who is first in a line, nobody where it is empty.
func (as *accounts) first(of line) (one asked) {
	switch {
	case of.what == polls && as.due[of.distributor] != nil:
		one.poll = as.due[of.distributor].Front().Value.(*follow).account
	case of.what == reads && len(as.reads[of.distributor]) > 0:
		one.read = as.reads[of.distributor][0]
	}
	return one
}

// letPoll lets a poll begin that has its turn.
func (as *accounts) letPoll(a *account, now time.Time) (cost int, ok bool) {
	switch {
	case a.polling:
		return 0, true // another distributor follows it too
	case as.Folds && (as.Venue == nil || !now.Before(a.unfolded)):
		return as.letFold(a, now)
	case as.polling == accountPolls, !as.budget.TrySpend(a.weight()):
		return 0, false
	}
	as.rest(a)
	as.polling++
	a.polling, a.next = true, now.Add(accountEvery)
	return a.weight(), true
}

// ended is called at the end of a poll.
func (as *accounts) ended(a *account) {
	a.polling = false
	as.polling--
	as.sleep(a)
}

// sleep has an account wait for its next poll, where it is followed.
func (as *accounts) sleep(a *account) {
	if len(a.followers) > 0 {
		heap.Push(&as.sleeping, a)
	}
}

// wake has those polled, in their turns, whose time has come.
func (as *accounts) wake(now time.Time) {
	for len(as.sleeping) > 0 && !now.Before(as.sleeping[0].next) {
		a := heap.Pop(&as.sleeping).(*account)
		a.due = true
		as.waiting++
		for _, f := range a.followers {
			as.pushDue(f)
		}
	}
}

func (as *accounts) pushDue(f *follow) {
	due := as.due[f.distributor]
	if due == nil {
		due = list.New()
		as.due[f.distributor] = due
	}
	f.inDue = due.PushBack(f)
}

func (as *accounts) removeDue(f *follow) {
	due := as.due[f.distributor]
	if due.Remove(f.inDue); due.Len() == 0 {
		delete(as.due, f.distributor)
	}
	f.inDue = nil
}

// rest has nobody wait for the next poll of an account.
func (as *accounts) rest(a *account) {
	if a.at >= 0 {
		heap.Remove(&as.sleeping, a.at)
	}
	if !a.due {
		return
	}
	a.due = false
	as.waiting--
	for _, f := range a.followers {
		as.removeDue(f)
	}
}

// applyChanges notes who follows what, and forgets accounts that nobody has followed for a while.
func (as *accounts) applyChanges(now time.Time) {
	for distributor, changes := range as.takeChanges() {
		for _, c := range changes {
			a := as.polled[c.accountKey]
			if a == nil {
				a = &account{accountKey: c.accountKey, next: now, at: -1}
				as.polled[c.accountKey] = a
				as.of[a.address] = append(as.of[a.address], a)
			}
			if c.follows {
				as.follow(a, distributor)
			} else {
				as.unfollow(a, distributor, c.at)
			}
		}
	}
	for len(as.left) > 0 && now.Sub(as.left[0].since) > accountRest {
		one := as.left[0]
		as.left[0] = leaving{}
		as.left = as.left[1:]
		switch {
		case len(one.followers) > 0 || one.since != one.left: // it was followed again
		case one.polling:
			as.leave(one.account, now)
		default:
			as.forget(one.account)
		}
	}
}

func (a *account) follower(distributor string) int {
	return slices.IndexFunc(a.followers, func(f *follow) bool { return f.distributor == distributor })
}

func (as *accounts) follow(a *account, distributor string) {
	if i := a.follower(distributor); i >= 0 {
		a.followers[i].views++
		return
	}
	f := &follow{account: a, distributor: distributor, views: 1}
	a.followers = append(a.followers, f)
	switch {
	case a.due:
		as.pushDue(f)
	case !a.polling && a.at < 0:
		as.sleep(a)
	}
}

func (as *accounts) unfollow(a *account, distributor string, at time.Time) {
	i := a.follower(distributor)
	f := a.followers[i]
	if f.views--; f.views > 0 {
		return
	}
	if len(a.followers) == 1 {
		as.rest(a)
		as.leave(a, at)
	} else if a.due {
		as.removeDue(f)
	}
	a.followers = slices.Delete(a.followers, i, i+1)
}

func (as *accounts) leave(a *account, at time.Time) {
	a.left = at
	as.left = append(as.left, leaving{a, at})
}

// waits returns how many accounts are to be polled, and for how long one of them has waited.
func (as *accounts) waits() (n int, longest time.Duration) {
	as.mu.Lock()
	defer as.mu.Unlock()
	now := as.Now()
	for distributor := range as.due {
		longest = max(longest, now.Sub(as.first(line{distributor, polls}).poll.next))
	}
	return as.waiting, longest
}

// readsWaiting returns how many reads of ledgers wait for their turn.
func (as *accounts) readsWaiting() int {
	as.mu.Lock()
	defer as.mu.Unlock()
	return stillWaiting(as.reads)
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

// endRead takes the first read of a distributor out of its line.
func (as *accounts) endRead(distributor string) {
	if as.reads[distributor] = as.reads[distributor][1:]; len(as.reads[distributor]) == 0 {
		delete(as.reads, distributor)
	}
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
	if err != nil {
		a.next = as.Now().Add(accountRest)
	}
	as.ended(a)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		as.Logger.Warn("cannot poll an account", "address", k.address, "dex", k.dex, "error", err.Error())
		return
	}
	as.show(a, body)
}

// show publishes what an account is where that is new. The caller holds as.mu.
func (as *accounts) show(a *account, body []byte) {
	if a.last != nil && bytes.Equal(a.last, body) {
		return
	}
	as.keep(a, body)
	for _, v := range as.views {
		if topic := v.topicOf(a.accountKey); v.orders == a.orders && as.hub.Watched(topic) {
			as.hub.Publish(topic, v.frame(a.accountKey, body), hub.State)
		}
	}
}

// keep keeps what the venue answered about an account, and drops the oldest answers about others
// that leave it no room: those accounts' next polls make the first frames of who follows them then.
func (as *accounts) keep(a *account, body []byte) {
	a.last = body
	as.answered.use(&a.kept, a, len(body))
	for oldest := range as.answered.excess() {
		as.drop(oldest)
	}
}

// forget lets go of an account that nobody follows.
func (as *accounts) forget(a *account) {
	as.drop(a)
	delete(as.polled, a.accountKey)
	as.of[a.address] = slices.DeleteFunc(as.of[a.address], func(other *account) bool { return other == a })
	if len(as.of[a.address]) == 0 {
		delete(as.of, a.address)
	}
}

// drop forgets what the venue answered about an account.
func (as *accounts) drop(a *account) {
	as.answered.leave(&a.kept)
	a.last = nil
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
	for _, o := range orders {
		if len(b)+len(o) > frameMost {
			break // the venue lists the newest first
		}
		b = append(append(b, o...), ',')
	}
	return closeList(b), nil
}

// closeList ends a list of which each element has a comma behind it.
func closeList(b []byte) []byte { return append(bytes.TrimSuffix(b, []byte{','}), ']') }
