package perp

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/traders"
	"quotary/localstack/sim/venue"
	"quotary/shared/catalog"
	"quotary/shared/data/accountchanges"
	"quotary/shared/data/contexts"
	"quotary/shared/data/datatest"
	"quotary/shared/data/meta"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/traderquery"
)

// TestEachTagIsWornBySomeTradersOfTheVenueAndNotByAll folds the accounts of a venue whose traders are busy,
// quiet for five weeks, and busy again, and publishes the table: then, and a month later, in which nobody did
// anything.
func TestEachTagIsWornBySomeTradersOfTheVenueAndNotByAll(t *testing.T) {
	t.Parallel()
	v := newLongVenue(t)
	v.busy()
	for range 35 * 8 {
		v.step(3 * time.Hour)
	}
	v.busy()
	stores := newStores(t)
	v.store(stores)

	now, objects := v.sim.venue.Now(), stores.Quarantine.Objects.(*s3.Client)
	work := traders.Config{
		Every: time.Hour, Now: func() time.Time { return now }, Log: stores.Log, Series: stores.Series, Views: stores.Views,
		Objects: objects, Bucket: stores.Quarantine.Bucket, Logger: quiet,
	}.Begin()
	rows, worn := 0, map[string]int{}
	for range 2 {
		must.Do(t, work.Publish(t.Context()))
		q := traderquery.Tagged(v.addresses(), "en")
		a := must.Get(datatest.OpenTraders(stores.Views, objects, stores.Quarantine.Bucket).Ask(t.Context(), &q.Query, q.Show))(t)
		rows += len(a.Rows)
		for i := range a.Rows {
			for _, name := range q.Tags(&a.Rows[i]) {
				worn[name]++
			}
		}
		now = now.AddDate(0, 0, 31)
	}
	for _, tag := range traderquery.Tags {
		if n := worn[tag.En]; n == 0 || n == rows {
			t.Errorf("%s, which is %s, is worn in %d of %d rows", tag.En, tag.Means, n, rows)
		}
	}
}

// longVenue is a venue that goes on for weeks, and the accounts that are folded of it in memory.
type longVenue struct {
	sim      *simVenue
	disk     *disk
	accounts *set
}

func newLongVenue(t *testing.T) *longVenue {
	began := time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC)
	v := &longVenue{disk: newDisk(), sim: openSimVenue(t, began, venue.Config{Seed: 7, Traders: 150, FillsPerSecond: 100, JumpEvery: 12 * time.Hour, HistoryFills: 300, Modes: true})}
	states := newAccountStates(newWantedAccounts(1_000_000), quiet)
	states.Joined()
	v.accounts = &set{all: []Projection{states}, logs: v.disk.part}
	b := NewBatch()
	b.Meta = v.sim.meta()
	v.fold(b)
	return v
}

func (v *longVenue) fold(b *Batch) {
	v.disk.put(b)
	must.Get(v.accounts.apply(b, v.sim.venue.Now(), v.disk.load))(v.sim.t)
	c := v.accounts.changes(v.sim.venue.Now(), true)
	for _, row := range slices.Concat(c.Coarse, c.Fine) {
		v.disk.rows[store.SeriesAt{SeriesKey: row.SeriesKey, Time: row.Time}] = row.Point
	}
}

func (v *longVenue) step(d time.Duration) {
	b := v.sim.step(d)
	b.Contexts = v.sim.contexts()
	v.fold(b)
}

// busy has the venue go on by short blocks, asks what it says of the accounts, and goes on to the next hour.
func (v *longVenue) busy() {
	for range 15 {
		v.step(29 * time.Second)
	}
	asked, answered := NewBatch(), NewBatch()
	asked.AnchorRequests = v.sim.venue.Truth().Addresses
	for _, address := range asked.AnchorRequests {
		answered.Anchors = append(answered.Anchors, v.sim.anchor(address))
	}
	v.fold(asked)
	v.fold(answered)
	now := v.sim.venue.Now()
	v.step(now.Truncate(time.Hour).Add(time.Hour).Sub(now))
}

func (v *longVenue) addresses() (list []catalog.Address) {
	for _, address := range v.sim.venue.Truth().Addresses {
		list = append(list, catalog.Address(address))
	}
	return list
}

// store writes what a table of traders is made of: the rows of the accounts, who changed, markets and marks.
func (v *longVenue) store(stores engine.Stores) {
	t, ms := v.sim.t, v.sim.venue.Now().UnixMilli()
	var rows []store.SeriesRow
	for at, point := range v.disk.rows {
		rows = append(rows, store.SeriesRow{SeriesKey: at.SeriesKey, Point: point})
	}
	storetest.PutSeries(t, stores.Series, rows...)
	var changes accountchanges.Changes
	for _, address := range v.addresses() {
		a, _ := market.ParseAccount(string(address))
		changes.Others = append(changes.Others, a)
	}
	must.Do(t, stores.Log.Put(t.Context(), accountchanges.Name, accountchanges.Rows(time.UnixMilli(ms), &changes)))
	m, marks := v.sim.meta(), map[string]string{}
	for coin, mark := range v.sim.marks() {
		marks[coin] = market.Text(mark)
	}
	storetest.Publish(t, stores.Views, meta.Published, meta.View{Time: m.Time, Perps: m.Perps, Spot: m.Spot})
	storetest.Publish(t, stores.Views, contexts.Published, contexts.View{Time: ms, Marks: marks})
}
