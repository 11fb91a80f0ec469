package perp

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/contexts"
	"quotary/shared/data/meta"
	"quotary/shared/data/openinterest"
	"quotary/shared/data/openpositions"
	"quotary/shared/data/positions"
	"quotary/shared/data/tickers"
	"quotary/shared/data/whales"
	"quotary/shared/market"
	"quotary/shared/store"
)

// openInterest keeps the positions of all accounts, as their fills show them, marked with
// the prices of the coins' contexts, else with the last trade: the view of open
// interest, its history once a minute, and the positions themselves.
//
// It is made of the fills of all accounts, which a node's files hold, or the hours that the venue publishes: with these
// the public trades since are on top, see [market.LivePositions]. What is stored of a time, and what a restart begins
// with, is of fills alone. It covers the accounts that have traded since fills were followed.
//
// The positions are more than rows could hold cheaply, so they are a snapshot in a
// view of their own, every 15 seconds while they are few and less often the more
// they are. Until it is written, the checkpoints of the sources wait: after a
// crash the fills since the snapshot come again.
//
// What no fill tells of a position (its leverage, its margin, what is behind it) comes from
// the states of accounts as they are folded: see [openInterest.setAccount]. With that the open
// positions are a view for functions, every 5 seconds while they are few and a second less often for
// each 30,000: of 300,000 it takes 0.2 s to make and has 12 MB, so that it is 1 % of a core.
// After a crash it is what was published last, and made good as the accounts come by again,
// within the hour at which everything open pays funding.
type openInterest struct {
	engine.Defaults[*Batch]
	positions *market.Positions
	late      bool                  // fills come some time later
	live      *market.LivePositions // what stands then, over positions; nil where these stand
	settled   time.Time
	trimmed   time.Time
	dirty     bool // fills came since the snapshot
	saved     time.Time
	joined    bool // the positions are of all fills that are stored

	changed bool // something came since the view of the open positions
	shown   time.Time
	leftOut atomic.Int64 // positions that are not in that view
	noRoom  atomic.Int64 // see [market.LivePositions.LeftOut]

	marks marks       // of the coins' contexts
	last  *lastPrices // the last trade of each coin

	history   sampler
	hour      hourSamples
	whales    whaleWatch
	markets   *market.Markets
	published time.Time
	view      []openinterest.Coin // as last published, by coin

	covered atomic.Pointer[map[string]string] // which part of the venue's open interest that is, by coin
}

const (
	saveEvery    = 15 * time.Second // and a second more for every savePer positions
	savePer      = 5000
	publishEvery = 5 * time.Second
	// behindAfter is how long after the newest fill the positions count as being
	// caught up with, or their source as silent: no history is made of them.
	behindAfter = 2 * time.Minute
	// saidFor is for how long what the venue has said of an account counts where no fills come, and tailFor for how
	// long the trades are kept of accounts of which it may say something.
	saidFor = 2 * time.Hour
	tailFor = 5 * time.Minute
	// showPer is for how many positions their view is published a second less often.
	showPer = 30_000
)

func newOpenInterest() *openInterest {
	return &openInterest{positions: new(market.Positions), marks: marks{}, last: noPrices(), history: newSampler(market.SampleTiers[:]...), whales: newWhaleWatch()}
}

// Name is that of the series and of its view.
func (p *openInterest) Name() string { return openinterest.Name }

// Folds has the fills.
func (p *openInterest) Folds() []engine.Fold[*Batch] { return storedFills }

// Restores has its own views, and those that hold the prices.
func (p *openInterest) Restores() []engine.RestoredView {
	return []engine.RestoredView{
		engine.Restores(openinterest.Published), engine.Restores(positions.Published), engine.Restores(openpositions.Published),
		engine.Restores(meta.Published), engine.Restores(whales.PublishedEvents),
		restoredContexts, engine.Restores(tickers.Published),
	}
}

// Restore takes positions and prices from the views.
func (p *openInterest) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, openinterest.Published)
	if err != nil {
		return err
	}
	p.view = v.Coins
	slices.SortFunc(p.view, func(a, b openinterest.Coin) int { return cmp.Compare(a.Coin, b.Coin) })
	current, err := engine.Restored(views, contexts.Published)
	if err != nil {
		return err
	}
	if err := p.marks.restore(current); err != nil {
		return err
	}
	traded, err := engine.Restored(views, tickers.Published)
	if err != nil {
		return err
	}
	if err := p.last.Restore(traded); err != nil {
		return err
	}
	if body, ok := views[positions.Name]; ok {
		if p.positions, err = positions.Published.Decode(body); err != nil {
			return err
		}
	}
	if body, ok := views[openpositions.Name]; ok {
		if table, err := openpositions.Published.Decode(body); err == nil { // what another version wrote is said again by the states of accounts
			p.positions.RestoreTable(table)
		}
	}
	happened, err := engine.Restored(views, whales.PublishedEvents)
	if err != nil {
		return err
	}
	p.whales.newest = happened.Newest()
	described, err := engine.Restored(views, meta.Published)
	if err != nil {
		return err
	}
	if described.Time > 0 {
		p.markets = described.Markets()
	}
	p.changed = p.positions.Len() > 0 // the view may be of before
	return nil
}

// setAccount takes over what the state of an account says of its positions. A nil p has none.
func (p *openInterest) setAccount(a *market.Account, m *market.Markets) {
	if p != nil {
		p.changed = p.positions.SetAccount(a, m) || p.changed
		if p.live != nil {
			p.live.Confirm(a.Address)
		}
	}
}

// say takes over what the venue has said of an account behind its fills; nil is nothing any more.
func (p *openInterest) say(address string, a *market.Account, m *market.Markets) {
	if p != nil && p.live != nil {
		p.live.Say(address, a, m)
		p.changed = true
	}
}

// now are the positions that stand.
func (p *openInterest) now() *market.Positions {
	if p.live != nil {
		return p.live.Now
	}
	return p.positions
}

// moveOn takes in the public trades of accounts whose fills come later, and how far these have come.
func (p *openInterest) moveOn(b *Batch, now time.Time) {
	for _, one := range b.TradesWhole {
		p.live.Whole(one.Coin, one.Since)
		p.changed = true
	}
	for i := range b.Provisional {
		f := &b.Provisional[i]
		was, _ := p.live.Now.Held(f.Address, f.Coin)
		if before, known := p.live.Trade(f); known {
			one := *f
			one.StartPosition = market.Text(before)
			p.whales.add(&one, was)
			p.changed = true
		}
	}
	if b.Until > 0 {
		p.live.Until(b.Until)
		p.changed = true
	}
	if p.positions.Newest() == 0 && now.Sub(p.trimmed) >= time.Minute { // no fills come: what the venue says is all
		p.trimmed = now
		p.live.Forget(now.Add(-saidFor).UnixMilli(), now.Add(-tailFor).UnixMilli())
	}
}

// Joined lets the samples and the view begin: those of some of the stored fills
// would be wrong, and samples stay for ever.
func (p *openInterest) Joined() { p.joined = true }

// Apply takes fills, trades and mark prices.
func (p *openInterest) Apply(b *Batch, _ *engine.Reads, now time.Time) error {
	add := p.positions.Add
	if b.Stored {
		add = p.positions.AddStored
	}
	if b.Meta != nil {
		p.markets = marketsOf(b.Meta)
	}
	if p.late && p.live == nil {
		p.live = market.NewLivePositions(p.positions)
	}
	for i := range b.Fills {
		if b.Hourly && p.joined {
			p.sampleHour(&b.Fills[i])
		}
		if !b.Stored { // also before it has joined: after a restart what was not kept of whales comes again
			was, _ := p.positions.Held(b.Fills[i].Address, b.Fills[i].Coin)
			p.whales.add(&b.Fills[i], was)
		}
		if add(&b.Fills[i]) {
			p.dirty, p.changed = true, true
			if p.live != nil {
				p.live.Confirm(b.Fills[i].Address)
			}
		}
	}
	if p.live != nil {
		p.moveOn(b, now)
	}
	trades := b.AllTrades()
	for i := range trades {
		p.last.add(&trades[i])
	}
	for i := range b.Contexts {
		p.marks.add(&b.Contexts[i])
	}
	return nil
}

// Changes returns the samples of the minute and the view once the projection has
// joined, and the snapshot, each when its time has come. Held reports that checkpoints
// must wait for the next snapshot.
func (p *openInterest) Changes(now time.Time, settle bool) (c engine.Changes) {
	if p.live != nil && (settle || !now.Before(p.settled.Add(publishEvery))) {
		p.settled = now
		p.live.Settle()
		p.noRoom.Store(p.live.LeftOut)
	}
	c.Views = append(p.show(now, settle), p.watch(now, settle)...)
	c.Held = p.whales.unshown
	c.Fine, p.hour.rows = p.hour.rows, nil
	if p.now().Newest() == 0 {
		return c
	}
	if p.joined {
		c.Fine = append(append(c.Fine, p.samples(now)...), p.sides(now)...)
	}
	if p.joined && (settle || !now.Before(p.published.Add(publishEvery))) {
		list := []openinterest.Coin{}
		for _, coin := range p.now().Coins() {
			if one, _, ok := p.of(p.now(), coin, p.price); ok {
				list = append(list, one)
			}
		}
		if p.view == nil || !slices.Equal(list, p.view) {
			p.view, p.published = list, now
			p.cover()
			c.Views = append(c.Views, engine.ViewOf(openinterest.Published, openinterest.View{Time: now.UnixMilli(), Coins: list}))
		}
	}
	pause := saveEvery + time.Duration(p.positions.Len()/savePer)*time.Second
	if p.dirty && (settle || !now.Before(p.saved.Add(pause))) {
		p.dirty, p.saved = false, now
		c.Views = append(c.Views, engine.ViewOf(positions.Published, p.positions))
	}
	c.Held = c.Held || p.dirty
	return c
}

// cover notes which part of the open interest in each coin, and in all for "", the view holds: see [market.Covered].
func (p *openInterest) cover() {
	interests, prices, held := map[string]market.Decimal{}, p.marks.prices(), map[string]market.Decimal{}
	for coin, m := range p.marks {
		if m.interest.IsPos() {
			interests[coin] = m.interest
		}
	}
	for i := range p.view {
		c := &p.view[i]
		if value, err := market.ParseStored(c.TotalPv); err == nil && interests[c.Coin].IsPos() {
			held[c.Coin], held[""] = held[c.Coin].Add(value), held[""].Add(value)
		}
	}
	covered := map[string]string{}
	for coin := range interests {
		if part, known := market.Covered(held[coin], coin, map[string]market.Decimal{coin: interests[coin]}, prices); known {
			covered[coin] = market.Text(part)
		}
	}
	if part, known := market.Covered(held[""], "", interests, prices); known {
		covered["all"] = market.Text(part)
	}
	p.covered.Store(&covered)
}

// whaleEvents calls take with each event of a whale that is new, before it is kept.
func (p *openInterest) whaleEvents(take func(*whales.Event)) {
	if len(p.whales.changes) > 0 && p.markets != nil {
		prices := p.marks.prices()
		p.whales.settle(false, p.positions, p.markets, prices, take)
		p.whales.settle(true, p.now(), p.markets, prices, take)
	}
}

// watch returns the view of what whales did when its time has come and something did.
func (p *openInterest) watch(now time.Time, settle bool) []engine.View {
	p.whaleEvents(func(*whales.Event) {})
	w := &p.whales
	if !w.unshown || !settle && now.Before(w.shown.Add(publishEvery)) {
		return nil
	}
	w.unshown, w.shown = false, now
	return []engine.View{engine.ViewOf(whales.PublishedEvents, whales.Events{Time: now.UnixMilli(), Events: w.newest.All()})}
}

// sides are the samples of the sides of whales.
func (p *openInterest) sides(now time.Time) []store.SeriesRow {
	if p.markets == nil || now.Sub(time.UnixMilli(p.positions.Newest())) > behindAfter {
		return nil
	}
	return p.sidesAt(now, p.marks.prices)
}

// sidesAt are the samples of the sides of whales at a time that have none yet, at some prices.
func (p *openInterest) sidesAt(at time.Time, prices func() market.Marks) []store.SeriesRow {
	return p.whales.samples(at, func() market.WhaleSides {
		return p.positions.Table(at.UnixMilli()).Mark(p.markets, prices()).Whales("")
	})
}

// show returns the view of the open positions when its time has come.
func (p *openInterest) show(now time.Time, settle bool) []engine.View {
	pause := publishEvery + time.Duration(p.now().Len()/showPer)*time.Second
	if !p.joined || !p.changed || !settle && now.Before(p.shown.Add(pause)) {
		return nil
	}
	p.changed, p.shown = false, now
	table := p.now().Table(now.UnixMilli())
	p.leftOut.Store(int64(table.LeftOut))
	return []engine.View{engine.ViewOf(openpositions.Published, table)}
}

// samples are the rows of the coins that have none of the minute.
func (p *openInterest) samples(now time.Time) []store.SeriesRow {
	if now.Sub(time.UnixMilli(p.positions.Newest())) > behindAfter {
		return nil
	}
	return p.samplesAt(nil, now, p.price)
}

// samplesAt appends the rows of the coins that have none of the minute of a time, at some prices.
func (p *openInterest) samplesAt(rows []store.SeriesRow, at time.Time, price func(coin string) (market.Decimal, bool)) []store.SeriesRow {
	for _, coin := range p.positions.Coins() {
		if !p.history.missing(coin, at) {
			continue
		}
		if c, open, ok := p.of(p.positions, coin, price); ok {
			sample := c.Sample(at.UnixMilli(), open.Longs)
			rows = p.history.add(rows, coin, at, func(i market.Interval, start int64) store.SeriesRow {
				return openinterest.Row(i, start, &sample)
			})
		}
	}
	return rows
}

// of values the positions of a coin.
func (p *openInterest) of(list *market.Positions, coin string, price func(coin string) (market.Decimal, bool)) (openinterest.Coin, market.OpenInterest, bool) {
	open := list.OpenInterest(coin)
	px, ok := price(coin)
	if !ok {
		return openinterest.Coin{}, open, false
	}
	c, ok := openinterest.NewCoin(coin, open, px, p.last.last[coin].Time)
	return c, open, ok
}

// price is that of a coin's positions; false when there is none.
func (p *openInterest) price(coin string) (market.Decimal, bool) {
	if mark, ok := p.marks[coin]; ok {
		return mark.px, true
	}
	px, err := market.ParseStored(p.last.last[coin].Price)
	return px, err == nil
}
