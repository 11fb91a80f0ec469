package perp

import (
	"errors"
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/openorders"
	"quotary/shared/market"
)

// openOrders keeps all orders that rest in the books, for the views of the largest and
// of the values of all.
//
// It is fed by the statuses that orders come to and by fills, which only a node's files
// hold of all accounts: the orders' end, tif, reduce-only mark and original size are in
// their statuses alone, and what was executed is in the fills, which are read anyway.
// The node's book diffs say what rests as well, but lack all of that, so that they would
// have to be read beside the statuses: a third stream for nothing. Orders that were
// placed before the node's files begin come from the anchors of their accounts; those of
// accounts that nobody wants anchored are missing until they have ended.
//
// # What it costs
//
// Measured on one core (go test -bench OpenOrders, here and in the package market): an
// order takes 124 bytes of memory, 2,000,000 orders 257 MB with what is encoded of them;
// a status takes 1.5 us to read and 0.4 us to fold, so that one core takes 500,000 a
// second. The venue has some 25,000: its order ids grow by 12,800 a second.
//
// A publish ranks the coins that have changed. Of 2,000,000 orders, all coins changed,
// that is 0.3 s and two PUTs, of 9 MB for the values and 3 MB for the largest orders of
// 700 coins. So it happens every 5 seconds while orders are few and a second less often
// for each 200,000: every 15 s for 2,000,000, which is 2 % of a core and 350,000 PUTs a
// month (2 USD); 1,040,000 (5 USD) are the most.
//
// The table itself is a snapshot as the positions of [openInterest] are, every 15
// seconds while they are few and a second less often for each 5,000: of 2,000,000 orders
// it has 42 MB and 20 MB packed, takes 0.7 s to write and 2 s to read. As orders come all
// the time, the checkpoints of the sources wait for it all the time, and the pipeline lets
// them wait for half a minute at most: from 75,000 orders on it is written every 30
// seconds, 86,400 times a month (0.5 USD), which is another 2 % of a core. After a crash,
// the events of half a minute come again.
type openOrders struct {
	engine.Defaults[*Batch]
	table  *market.OpenOrders
	dirty  bool // something came since the snapshot
	saved  time.Time
	joined bool // the past of the sources was read
	begun  bool // something has come, in this life or before

	published time.Time                           // zero before the first time in this life
	top       map[string]market.CoinOrders        // by coin, without the values
	rows      map[string]openorders.Rows          // encoded
	columns   map[string]openorders.Column        // encoded
	reserves  map[string]openorders.ReserveColumn // likewise, of spot markets
	reserved  bool                                // the view of the reserves is as they are
	accounts  accountOrders
}

// rankPer is for how many orders the views are published a second less often.
const rankPer = 200_000

// newOpenOrders keeps all of the orders of the accounts that somebody follows, nil for nobody.
func newOpenOrders(wanted *wantedAccounts) *openOrders {
	return &openOrders{accounts: accountOrders{wanted: wanted}, table: new(market.OpenOrders), top: map[string]market.CoinOrders{}, rows: map[string]openorders.Rows{}, columns: map[string]openorders.Column{}, reserves: map[string]openorders.ReserveColumn{}}
}

// Name is that of the view of the largest orders.
func (p *openOrders) Name() string { return openorders.TopName }

// Restores has the table.
func (p *openOrders) Restores() []engine.RestoredView {
	views := []engine.RestoredView{engine.Restores(openorders.PublishedTable)}
	for part := range openorders.Parts {
		views = append(views, engine.Restores(openorders.PublishedAccounts(part)))
	}
	return views
}

// Restore takes the table from its view, and the orders of followed accounts from theirs.
func (p *openOrders) Restore(views map[string][]byte) error {
	table, err := engine.Restored(views, openorders.PublishedTable)
	if table != nil {
		p.table, p.begun = table, true
	}
	return errors.Join(err, p.accounts.restore(p.table, views))
}

// Joined lets the views begin: before, orders are open that have ended in the part of
// the past that is still to be read. From then on ends are forgotten.
func (p *openOrders) Joined() { p.joined = true }

// Apply takes statuses, fills, and what the venue lists of accounts.
func (p *openOrders) Apply(b *Batch, _ *engine.Reads, now time.Time) error {
	p.accounts.follow(p.table, b)
	for i := range b.Orders {
		p.dirty = p.table.Add(&b.Orders[i], b.Stored) || p.dirty
	}
	for i := range b.Fills {
		p.dirty = p.table.AddFill(&b.Fills[i], b.Stored) || p.dirty
	}
	if len(b.Anchors) > 0 {
		p.dirty = p.table.AddAnchors(b.Anchors) || p.dirty
	}
	p.accounts.note(p.table, now)
	return nil
}

// Changes returns the views once the projection has joined, and the snapshot, each when
// its time has come. Held reports that checkpoints must wait for the next snapshot.
func (p *openOrders) Changes(now time.Time, settle bool) (c engine.Changes) {
	seconds := func(per int) time.Duration { return time.Duration(p.table.Len()/per) * time.Second }
	// Once in each life also where nothing has changed since: the table may be restored of a
	// life that ended before it published that nothing rests.
	p.begun = p.begun || p.dirty
	due := p.table.Changed() || p.begun && p.published.IsZero()
	if p.joined && due && (settle || !now.Before(p.published.Add(publishEvery+seconds(rankPer)))) {
		p.published = now
		c.Views = p.rank(now.UnixMilli())
	}
	if p.dirty && (settle || !now.Before(p.saved.Add(saveEvery+seconds(savePer)))) {
		p.dirty, p.saved = false, now
		if p.joined {
			p.table.Prune()
		}
		c.Views = append(c.Views, engine.ViewOf(openorders.PublishedTable, p.table))
	}
	c.Views = append(c.Views, p.accounts.views(p.table, now, settle)...)
	c.Held = p.dirty || p.accounts.pending()
	return c
}

// rank encodes the coins that have changed, and returns the views.
func (p *openOrders) rank(ms int64) []engine.View {
	for _, coin := range p.table.Rank(false) {
		if market.IsSpot(coin.Coin) {
			p.reserved = false
		}
		if len(coin.Reserves) > 0 {
			p.reserves[coin.Coin] = openorders.NewReserveColumn(coin.Reserves)
		} else {
			delete(p.reserves, coin.Coin)
		}
		if coin.Bids.Count()+coin.Asks.Count() == 0 {
			delete(p.top, coin.Coin)
			delete(p.rows, coin.Coin)
			delete(p.columns, coin.Coin)
			continue
		}
		p.rows[coin.Coin], p.columns[coin.Coin] = openorders.NewRows(coin.Top), openorders.NewColumn(&coin)
		coin.Bids, coin.Asks, coin.Reserves = market.OrderValues{}, market.OrderValues{}, nil
		p.top[coin.Coin] = coin
	}
	all := market.TopOf(slices.Collect(maps.Values(p.top)))
	views := []engine.View{
		engine.ViewOf(openorders.PublishedTop, openorders.Top{Time: ms, All: openorders.NewRows(all), Coins: p.rows}),
		{Name: openorders.ValuesName, Body: openorders.EncodeValues(ms, p.columns)},
	}
	if !p.reserved {
		p.reserved = true
		views = append(views, engine.ViewOf(openorders.PublishedReserves, openorders.Reserves{Time: ms, Coins: p.reserves}))
	}
	return views
}
