package perp

import (
	"log/slog"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/contexts"
	"quotary/shared/data/hourmarks"
	"quotary/shared/data/meta"
	"quotary/shared/data/traderfacts"
	"quotary/shared/market"
	"quotary/shared/store"
)

// accountStates keeps the state of every account, how it trades and what it did lately, each as
// one row, what it did on each day before, and the log of completed trades.
//
// An account is folded from its fills, funding payments and ledger updates, which
// arrive by streams of their own, over what the venue said of it (see anchoring). Its
// rows are its state; memory is a cache of the accounts that were touched lately. Rows
// are written together: those of accounts that clients ask for within two seconds, all
// others within half a minute, for which the checkpoints wait. The three rows of an
// account have one version, so that a crash between them is noticed. That of what it did is
// written only where it has changed, as it is of an account that trades, and not of one that pays
// funding for what it holds; a day that is open no longer is written before, see traderfacts.
//
// What cannot be folded in order is made again from the logs: see rebuilding. So is
// every account without a row until the projection has joined, as the logs may have more
// of it. After that an account without a row is new.
type accountStates struct {
	engine.Defaults[*Batch]
	log     *slog.Logger
	wanted  *wantedAccounts
	told    bool          // no events of accounts come but what the venue says of them
	held    *openInterest // that is told of every state; nil for none
	figures accountFigures
	joined  bool

	baseEvery time.Duration // 0 without bases

	evicted   int       // accounts that were left in the cache
	evictedAt time.Time // when it was last looked through for idle ones

	cache    map[string]*account // by address
	most     int                 // accounts that stay in the cache
	selected []string            // whose rows are read for the batch at hand
	touched  []*account          // that have events which may be folded now
	waiting  []*account          // that have events and are in nobody's way: not read yet, or ahead of the fills
	dirty    map[*account]struct{}
	urgent   bool                    // a client may wait for the rows of one of them
	trades   []market.CompletedTrade // to be written
	rebuilds []*rebuild              // the first ones are at work
	broken   map[string]bool         // whom they are of or will be once their rows are read, until the new rows are written
	next     []string                // of the broken ones, who is read for the batch at hand
	listed   bool                    // the view of the broken ones is as they are
	awaiting map[*account]struct{}   // of which the venue is being asked
	leading  map[*account]struct{}   // of which it has said more than is folded
	types    map[string]bool         // of ledger updates that nobody knows, as the log says

	hours       hourmarks.View        // the marks of full hours, at which curves are valued
	hoursListed bool                  // the view of them is as they are
	valued      hourValued            // of the hour that was asked for last
	moving      map[*account]struct{} // whose older points are to be moved to their pasts
	chosen      map[*account]struct{} // of them, whose pasts are read for the batch at hand

	markets *market.Markets
	marks   market.Marks
	marked  int64 // ms of the newest marks
	fillsTo int64 // ms of the newest fill: what is not newer has been seen, but for what is late
}

func newAccountStates(wanted *wantedAccounts, log *slog.Logger) *accountStates {
	return &accountStates{
		log: log, wanted: wanted, most: cachedAccounts, cache: map[string]*account{}, dirty: map[*account]struct{}{}, awaiting: map[*account]struct{}{}, leading: map[*account]struct{}{},
		broken: map[string]bool{}, types: map[string]bool{}, marks: market.Marks{},
		hoursListed: true, moving: map[*account]struct{}{}, chosen: map[*account]struct{}{},
	}
}

// Name is that of the series of states.
func (p *accountStates) Name() string { return accounts.Name }

// Folds has all that accounts are folded from. A scan gives no order: who is found in it
// and has no row is made again.
func (p *accountStates) Folds() []engine.Fold[*Batch] {
	return slices.Concat(storedFills, storedPayments, storedLedgers)
}

// Restores has who is to be made again, the descriptions of the markets, the mark prices and
// those of full hours.
func (p *accountStates) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(accounts.PublishedBroken), engine.Restores(meta.Published), restoredContexts, engine.Restores(hourmarks.Published)}
}

// Restore takes broken accounts, markets and marks from the views.
func (p *accountStates) Restore(views map[string][]byte) error {
	broken, err := engine.Restored(views, accounts.PublishedBroken)
	if err != nil {
		return err
	}
	_, p.listed = views[accounts.BrokenName]
	for _, address := range broken {
		p.broken[address] = true
	}
	described, err := engine.Restored(views, meta.Published)
	if err != nil {
		return err
	}
	if described.Time > 0 {
		p.markets = described.Markets()
	}
	restored := marks{}
	v, err := engine.Restored(views, contexts.Published)
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
	p.hours, err = engine.Restored(views, hourmarks.Published)
	return err
}

// Joined lets what is to be made again begin.
func (p *accountStates) Joined() { p.joined = true }

// Prefetch asks for the rows of the accounts that a batch touches, and of some that wait,
// and for the log rows of accounts that are made again.
func (p *accountStates) Prefetch(b *Batch, r *engine.Reads) {
	p.selectAccounts(b)
	for _, address := range p.selected {
		wantAccount(r, address)
	}
	p.wantLogs(r)
	p.wantPasts(r)
}

// wantAccount asks for the rows of an account.
func wantAccount(r *engine.Reads, address string) {
	r.Prefetch(accounts.At(address), func(_ store.SeriesAt, point *store.Point) error {
		if _, err := accounts.BasesOf(*point); err != nil {
			return err
		}
		if _, err := accounts.AheadOf(address, *point); err != nil {
			return err
		}
		_, err := accounts.Decode(address, *point)
		return err
	})
	r.Prefetch(accountstats.At(address), func(_ store.SeriesAt, point *store.Point) error {
		_, err := accountstats.Decode(point.Extra)
		return err
	})
	r.Prefetch(traderfacts.OpenAt(address), func(_ store.SeriesAt, point *store.Point) error {
		_, err := traderfacts.DecodeOpen(point.Extra)
		return err
	})
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
	for _, address := range b.AnchorRequests {
		p.awaitAnchor(address, now)
	}
	p.enqueue(b, now)
	for i := range b.Anchors {
		p.receiveAnchor(&b.Anchors[i], now)
	}
	if err := p.readLogs(r, now); err != nil {
		return err
	}
	p.run(now)
	return p.movePoints(r, now)
}

// describe takes over markets and marks.
func (p *accountStates) describe(b *Batch) {
	if b.Meta != nil {
		p.markets = marketsOf(b.Meta)
	}
	newest := int64(0)
	for i := range b.Contexts {
		newest = max(newest, b.Contexts[i].Time)
	}
	p.keepMarks(newest) // before any of them: an hour has the marks of all dexes
	for i := range b.Contexts {
		c := &b.Contexts[i]
		for k := range c.Coins {
			p.marks[c.Coins[k].Coin] = c.Coins[k].Mark
		}
		p.marked = max(p.marked, c.Time)
	}
	p.keepMarks(p.marked)
}
