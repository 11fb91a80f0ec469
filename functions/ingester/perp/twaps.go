package perp

import (
	"sync/atomic"
	"time"

	"quotary/functions/ingester/archive"
	"quotary/functions/ingester/engine"
	"quotary/shared/data/twaps"
	"quotary/shared/market"
	"quotary/shared/store"
)

// twapLog has a row of each status of a TWAP order: some 10,000 a day.
var twapLog = engine.Log[*Batch]{Dataset: twaps.StatusesName, Append: func(rows []store.Row, b *Batch) []store.Row {
	return twaps.AppendRows(rows, b.Twaps)
}, Archive: archive.NewDataset(twaps.Archive)}

// twapOrders keeps the TWAP orders that run, for the view of them.
//
// It is fed by the statuses that they come to and by the fills of all accounts, which only a
// node's files hold. Some hundreds run at the venue at one time, and make about seven fills a
// second. Those of the last two hours are kept one by one, 80 bytes each: 4 MB. The table is a
// snapshot as the positions of [openInterest] are, every 15 seconds.
type twapOrders struct {
	engine.Defaults[*Batch]
	table   *market.Twaps
	dirty   bool // something came since the snapshot
	saved   time.Time
	joined  bool // the past of the sources was read
	begun   bool // a status has come, in this life or before
	changed bool // since the view was published
	leftOut atomic.Int64

	published time.Time // zero before the first time in this life
}

func newTwapOrders() *twapOrders { return &twapOrders{table: new(market.Twaps)} }

// Name is that of the view of those that run.
func (p *twapOrders) Name() string { return twaps.RunningName }

// Restores has the table.
func (p *twapOrders) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(twaps.PublishedTable)}
}

// Restore takes the table from its view.
func (p *twapOrders) Restore(views map[string][]byte) error {
	table, err := engine.Restored(views, twaps.PublishedTable)
	if table != nil {
		p.table, p.begun = table, table.Newest > 0
	}
	return err
}

// Joined lets the view begin: before, TWAPs run that have ended in the part of the past that
// is still to be read, and fills of others are missing.
func (p *twapOrders) Joined() { p.joined = true }

// Apply takes statuses and fills.
func (p *twapOrders) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	changed := false
	for i := range b.Twaps {
		p.begun = true
		changed = p.table.Add(&b.Twaps[i]) || changed
	}
	for i := range b.Fills {
		changed = p.table.AddFill(&b.Fills[i]) || changed
	}
	p.leftOut.Store(p.table.LeftOut)
	p.dirty, p.changed = p.dirty || changed, p.changed || changed
	return nil
}

// Changes returns the view once the projection has joined, and the snapshot, each when its
// time has come. Held reports that checkpoints must wait for the next snapshot.
func (p *twapOrders) Changes(now time.Time, settle bool) (c engine.Changes) {
	// Once in each life also where nothing has changed since: the table may be restored of a
	// life that ended before it published.
	due := p.begun && (p.changed || p.published.IsZero())
	if p.joined && due && (settle || !now.Before(p.published.Add(publishEvery))) {
		p.changed, p.published = false, now
		c.Views = append(c.Views, engine.ViewOf(twaps.PublishedRunning, twaps.Running{Time: now.UnixMilli(), Since: p.table.FillsFrom, Twaps: p.table.Running()}))
	}
	if p.dirty && (settle || !now.Before(p.saved.Add(saveEvery))) {
		p.dirty, p.saved = false, now
		p.table.Prune(p.joined)
		c.Views = append(c.Views, engine.ViewOf(twaps.PublishedTable, p.table))
	}
	c.Held = p.dirty
	return c
}
