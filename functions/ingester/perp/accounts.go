package perp

import (
	"cmp"
	"hash/fnv"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/completedtrades"
	"quotary/shared/data/contexts"
	"quotary/shared/data/meta"
	"quotary/shared/market"
	"quotary/shared/store"
)

// accountStates keeps the state of every account and how it trades, each as one row, and
// the log of completed trades.
//
// An account is folded from its fills, funding payments and ledger updates, which
// arrive by streams of their own, over what the venue said of it (see anchoring). Its
// rows are its state; memory is a cache of the accounts that were touched lately. Rows
// are written together: those of accounts that clients ask for within two seconds, all
// others within half a minute, for which the checkpoints wait. The two rows of an
// account have one version, so that a crash between them is noticed.
//
// What cannot be folded in order is made again from the logs: see rebuilding. So is
// every account without a row until the projection has joined, as the logs may have more
// of it. After that an account without a row is new.
type accountStates struct {
	engine.Defaults[*Batch]
	log     *slog.Logger
	wanted  *wantedAccounts
	figures accountFigures
	joined  bool

	cache    map[string]*account // by address
	most     int                 // accounts that stay in the cache
	selected []string            // whose rows are read for the batch at hand
	touched  []*account          // that have events which may be folded now
	waiting  []*account          // that have events and are in nobody's way: not read yet, or ahead of the fills
	dirty    map[*account]struct{}
	trades   []market.CompletedTrade // to be written
	rebuilds []*rebuild              // the first ones are at work
	broken   map[string]bool         // whom they are of or will be once their rows are read, until the new rows are written
	next     []string                // of the broken ones, who is read for the batch at hand
	listed   bool                    // the view of the broken ones is as they are
	asking   map[*account]struct{}   // of which the venue is asked

	markets *market.Markets
	marks   market.Marks
	marked  int64 // ms of the newest marks
	fillsTo int64 // ms of the newest fill: what is not newer has been seen, but for what is late
}

// account is one in the cache.
type account struct {
	address string
	state   *market.Account    // nil until it is read
	stats   *accountstats.Kept // likewise
	queue   []accountEvent     // not folded yet
	listed  bool               // in touched or waiting

	changed time.Time // when it first differed from its rows; zero while it does not
	used    time.Time

	asked   *askedAnchor // nil but while the venue is asked
	rebuild *rebuild     // nil but while it is made again from the logs
	retries int          // rebuilds in a row that ended in a gap
	soon    bool         // it is written with the next flush: somebody may wait for what the venue said
}

const (
	// cachedAccounts is how many accounts stay in memory between their events: some 10 KB each.
	cachedAccounts = 50_000

	// loadMost is of how many accounts that nobody waits for the rows are read for one
	// batch: at a full hour, every open position pays.
	loadMost = 1000

	// writeWanted is after what time an account is written that somebody follows. All
	// others are written the later the more of them have changed: writeEach for each of
	// them, up to writeOthers.
	writeWanted = 2 * time.Second
	writeOthers = 30 * time.Second
	writeEach   = 5 * time.Millisecond
	// writeMost bounds the accounts that are written at once before all must be.
	writeMost = 5000

	// aheadFor is how long a payment waits for the fills before it.
	aheadFor = 30 * time.Second
)

func newAccountStates(wanted *wantedAccounts, log *slog.Logger) *accountStates {
	return &accountStates{
		log: log, wanted: wanted, most: cachedAccounts, cache: map[string]*account{}, dirty: map[*account]struct{}{}, asking: map[*account]struct{}{},
		broken: map[string]bool{}, marks: market.Marks{},
	}
}

// Name is that of the series of states.
func (p *accountStates) Name() string { return accounts.Name }

// Folds has all that accounts are folded from. A scan gives no order: who is found in it
// and has no row is made again.
func (p *accountStates) Folds() []engine.Fold[*Batch] {
	return slices.Concat(storedFills, storedPayments, storedLedgers)
}

// Restores has who is to be made again, the descriptions of the markets and the mark
// prices.
func (p *accountStates) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(accounts.BrokenName, accounts.DecodeBroken), engine.Restores(meta.Name, meta.Decode), restoredContexts}
}

// Restore takes broken accounts, markets and marks from the views.
func (p *accountStates) Restore(views map[string][]byte) error {
	broken, err := engine.Restored(views, accounts.BrokenName, accounts.DecodeBroken)
	if err != nil {
		return err
	}
	_, p.listed = views[accounts.BrokenName]
	for _, address := range broken {
		p.broken[address] = true
	}
	described, err := engine.Restored(views, meta.Name, meta.Decode)
	if err != nil {
		return err
	}
	if described.Time > 0 {
		p.markets = described.Markets()
	}
	restored := marks{}
	v, err := engine.Restored(views, contexts.Name, contexts.Decode)
	if err != nil {
		return err
	}
	if err := restored.restore(v); err != nil {
		return err
	}
	for coin, mark := range restored {
		p.marks[coin] = mark.px
	}
	p.marked = v.Time
	return nil
}

// Joined lets what is to be made again begin.
func (p *accountStates) Joined() { p.joined = true }

// Wants asks for the rows of the accounts that a batch touches, and of some that wait,
// and for the log rows of accounts that are made again.
func (p *accountStates) Wants(b *Batch, r *engine.Reads) {
	p.selectAccounts(b)
	for _, address := range p.selected {
		r.Want(accounts.At(address), func(_ store.SeriesAt, point *store.Point) error {
			_, err := accounts.Decode(address, *point)
			return err
		})
		r.Want(accountstats.At(address), func(_ store.SeriesAt, point *store.Point) error {
			_, err := accountstats.Decode(point.Extra)
			return err
		})
	}
	p.wantLogs(r)
}

// selectAccounts chooses the accounts to read: all that somebody waits for, and a number
// of the others. It chooses the same again until the batch is applied.
func (p *accountStates) selectAccounts(b *Batch) {
	p.selected = p.selected[:0]
	chosen := map[string]bool{}
	choose := func(address string) bool {
		if c := p.cache[address]; c != nil && c.state != nil || chosen[address] {
			return false
		}
		chosen[address] = true
		p.selected = append(p.selected, address)
		return true
	}
	last := ""
	for i := range b.Fills {
		if address := b.Fills[i].Address; address != last {
			choose(address)
			last = address
		}
	}
	for i := range b.Ledgers {
		choose(b.Ledgers[i].Address)
	}
	for i := range b.Orders {
		if b.Orders[i].Status == market.StatusFilled {
			choose(b.Orders[i].Address)
		}
	}
	for i := range b.Anchors {
		choose(b.Anchors[i].Address)
	}
	p.chooseBroken()
	for _, address := range p.next {
		choose(address)
	}
	some := loadMost
	for i := 0; i < len(p.waiting) && some > 0; i++ {
		if choose(p.waiting[i].address) {
			some--
		}
	}
	for i := 0; i < len(b.Payments) && some > 0; i++ {
		if choose(b.Payments[i].Address) {
			some--
		}
	}
}

// chooseBroken chooses who is made again next of those that are not in memory.
func (p *accountStates) chooseBroken() {
	some := rebuildsAtOnce - len(p.rebuilds)
	if !p.joined || len(p.next) > 0 || len(p.broken) <= len(p.rebuilds) {
		return
	}
	for address := range p.broken {
		if len(p.next) >= some {
			return
		}
		if p.cache[address] == nil {
			p.next = append(p.next, address)
		}
	}
}

// Apply folds the events of accounts whose rows were read, and keeps the others.
func (p *accountStates) Apply(b *Batch, r *engine.Reads, now time.Time) error {
	p.describe(b)
	for _, address := range p.selected {
		if err := p.open(address, r, now); err != nil {
			return err
		}
	}
	p.selected, p.next = p.selected[:0], p.next[:0]
	for i := range b.Anchors {
		if b.Anchors[i].Asked {
			p.ask(&b.Anchors[i], now)
		}
	}
	p.enqueue(b, now)
	for i := range b.Anchors {
		if !b.Anchors[i].Asked {
			p.answer(&b.Anchors[i], now)
		}
	}
	p.readLogs(r, now)
	p.run(now)
	return nil
}

// describe takes over markets and marks.
func (p *accountStates) describe(b *Batch) {
	if b.Meta != nil {
		p.markets = (&meta.View{Time: b.Meta.Time, Perps: b.Meta.Perps, Spot: b.Meta.Spot}).Markets()
	}
	for i := range b.Contexts {
		c := &b.Contexts[i]
		for k := range c.Coins {
			p.marks[c.Coins[k].Coin] = c.Coins[k].Mark
		}
		p.marked = max(p.marked, c.Time)
	}
}

// open takes an account from its rows.
func (p *accountStates) open(address string, r *engine.Reads, now time.Time) error {
	c := p.of(address)
	if c.state != nil {
		return nil
	}
	own, other := r.Row(accounts.At(address)), r.Row(accountstats.At(address))
	c.state, c.stats, c.used = &market.Account{Address: c.address}, new(accountstats.Kept), now
	if own == nil && other == nil {
		if !p.joined || p.broken[address] {
			p.broke(c, now)
		}
		return nil
	}
	torn := own == nil || other == nil
	if own != nil {
		state, err := accounts.Decode(address, *own)
		if err != nil {
			return err
		}
		c.state = state
		torn = torn || accountstats.Version(*other) != version(own.Extra)
	}
	if other != nil {
		stats, err := accountstats.Keep(other.Extra)
		if err != nil {
			return err
		}
		c.stats = stats
	}
	if torn || p.broken[address] {
		p.broke(c, now)
	}
	return nil
}

// of is the account in the cache, made where it is not there.
func (p *accountStates) of(address string) *account {
	c := p.cache[address]
	if c == nil {
		c = &account{address: strings.Clone(address)}
		p.cache[c.address] = c
	}
	return c
}

// version identifies what is stored of an account.
func version(row []byte) string {
	h := fnv.New64a()
	_, _ = h.Write(row)
	return strconv.FormatUint(h.Sum64(), 36)
}

// Changes returns the rows of the accounts whose time has come, and the completed trades.
// Held reports that something is in memory only.
func (p *accountStates) Changes(now time.Time, settle bool) (c engine.Changes) {
	if settle {
		p.release(now)
	}
	if len(p.trades) > 0 {
		c.Log = []engine.LogRows{{Dataset: completedtrades.Name, Rows: completedtrades.AppendRows(nil, p.trades)}}
		p.trades = nil
	}
	for _, one := range p.due(now, settle) {
		c.Fine = append(c.Fine, p.rows(one, now)...)
	}
	if !p.listed && (settle || len(p.broken) <= writeMost) {
		p.listed = true
		c.Views = []engine.View{{Name: accounts.BrokenName, Body: accounts.EncodeBroken(slices.Collect(maps.Keys(p.broken)))}}
	}
	p.evict(now)
	p.figures.show(p)
	c.Held = len(p.dirty) > 0 || !p.listed || p.unfolded()
	return c
}

// due are the accounts to write now, in the order of their addresses.
func (p *accountStates) due(now time.Time, all bool) (list []*account) {
	others := min(writeOthers, time.Duration(len(p.dirty))*writeEach)
	for c := range p.dirty {
		after := others
		if p.wanted.has(c.address) {
			after = min(others, writeWanted)
		}
		if all || c.soon || now.Sub(c.changed) >= after {
			list = append(list, c)
		}
	}
	if !all && len(list) > writeMost {
		slices.SortFunc(list, func(a, b *account) int { return a.changed.Compare(b.changed) })
		list = list[:writeMost]
	}
	slices.SortFunc(list, func(a, b *account) int { return cmp.Compare(a.address, b.address) })
	return list
}

// rows are those of an account, which counts as written.
func (p *accountStates) rows(c *account, now time.Time) []store.SeriesRow {
	delete(p.dirty, c)
	c.changed, c.soon = time.Time{}, false
	p.value(c, now)
	own := accounts.Row(c.state)
	switch {
	case c.rebuild != nil: // its rows stay as they are until it ends
		return nil
	case p.broken[c.address]: // it was made again; a flush writes rows before views
		delete(p.broken, c.address)
		p.listed = false
	}
	if c.state.Time == 0 { // nothing is known of it
		return nil
	}
	return []store.SeriesRow{own, c.stats.Row(c.address, version(own.Extra))}
}

// marksFor is how old the marks may be at which an account is valued.
const marksFor = 2 * time.Minute

// value notes what an account is worth at this hour, where that is known, and wants it
// anchored if it holds much.
func (p *accountStates) value(c *account, now time.Time) {
	if p.markets == nil || now.Sub(time.UnixMilli(p.marked)) > marksFor || now.Sub(time.UnixMilli(c.state.Time)) > marksFor {
		return
	}
	if c.state.Anchored > 0 && c.rebuild == nil {
		c.stats.Value(now.UnixMilli(), c.state.PerpValue(p.markets, p.marks))
	}
	p.wanted.holds(c.state, p.markets, p.marks, now)
}

// unfolded reports whether the events of an account wait for its rows, for the fills or
// for the answer of the venue.
func (p *accountStates) unfolded() bool {
	for c := range p.asking {
		if len(c.queue) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(p.waiting, func(c *account) bool { return len(c.queue) > 0 })
}

// change notes that an account differs from its rows.
func (p *accountStates) change(c *account, now time.Time) {
	if c.changed.IsZero() {
		c.changed = now
		p.dirty[c] = struct{}{}
	}
}

// evict drops accounts that have been idle for longest from the cache, as it grows. One
// that waits to be made again is among the broken ones, and is read again for that.
func (p *accountStates) evict(now time.Time) {
	if len(p.cache) <= p.most+p.most/8 {
		return
	}
	for idle := 5 * time.Minute; idle >= 0 && len(p.cache) > p.most; idle -= time.Minute {
		for address, c := range p.cache {
			if len(p.cache) > p.most && c.isIdle() && now.Sub(c.used) >= idle {
				delete(p.cache, address)
				c.rebuild = nil
			}
		}
	}
	p.dropRebuilds()
}

// isIdle reports whether an account can be read again from its rows as it is.
func (c *account) isIdle() bool {
	waits := c.rebuild != nil && (c.rebuild.begun || c.retries > 0)
	return c.changed.IsZero() && len(c.queue) == 0 && !c.listed && c.asked == nil && !waits
}
