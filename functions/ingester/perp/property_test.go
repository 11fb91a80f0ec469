package perp

import (
	gocmp "cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/shared/data/accounts"
	"quotary/shared/data/bookdepth"
	"quotary/shared/data/books"
	"quotary/shared/data/contexts"
	"quotary/shared/data/funding"
	"quotary/shared/data/klines"
	"quotary/shared/data/liquidations"
	"quotary/shared/data/meta"
	"quotary/shared/data/mids"
	"quotary/shared/data/openinterest"
	"quotary/shared/data/openorders"
	"quotary/shared/data/pairliquidations"
	"quotary/shared/data/pairseries"
	"quotary/shared/data/tickers"
	"quotary/shared/data/topfills"
	"quotary/shared/data/twaps"
	"quotary/shared/data/vaults"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

// generator is what the properties need to know of a projection.
type generator struct {
	// draw makes batches that end in one state in whatever order they come, and
	// however often.
	draw func(*rapid.T) []*Batch

	// stored makes batches of which all is in the logs, for a projection that takes more than these
	// hold; nil for those of draw.
	stored func(*rapid.T) []*Batch

	// variant is a batch as another source may emit it too; nil for the same.
	variant func(*Batch) *Batch

	// rows are all rows of the projection's series, made at once of all batches
	// without its machinery; nil leaves that to the comparison of runs.
	rows func([]*Batch) map[store.SeriesAt]store.Point

	// sampled is set where rows are taken by the clock: what they hold depends on
	// when.
	sampled bool
}

// generators has one entry for each projection, by name.
var generators = map[string]generator{
	klines.Name:       {draw: drawFills, variant: asPublicTrades, rows: klinesOf},
	topfills.Name:     {draw: drawFills, rows: topFillsOf},
	tickers.Name:      {draw: drawFills, variant: asPublicTrades},
	openinterest.Name: {draw: drawFills, sampled: true},
	accounts.Name:     {draw: drawAccounts, rows: accountsOf},
	fundsIndexName:    {draw: drawAccounts}, // deposits by the bridge, which have their place
	accountNotesName:  {draw: drawAccounts},
	mids.Name:         {draw: drawMids},
	meta.Name:         {draw: drawMeta},
	contexts.Name:     {draw: drawContexts},
	funding.Name:      {draw: drawFunding},
	books.Name:        {draw: drawBooks},
	bookdepth.Name:    {draw: drawBooks, sampled: true},

	openorders.TopName: {draw: drawOrders},
	placedOrdersName:   {draw: drawPlaced},
	twaps.RunningName:  {draw: drawTwaps},
	vaults.Name:        {draw: drawVaults, stored: drawVaultUpdates},

	pairseries.Interest.Name(): {draw: drawContexts, sampled: true},
	pairseries.Funding.Name():  {draw: drawContexts, sampled: true},
	pairliquidations.PerpName:  {draw: drawLiquidations},
	liquidations.Name:          {draw: drawLiquidations, rows: liquidationsOf},
}

func TestEveryProjectionHasAGenerator(t *testing.T) {
	t.Parallel()
	all, _ := Projections()
	names := map[string]bool{}
	for _, one := range all {
		if names[one.Name()] {
			t.Errorf("two projections are called %s", one.Name())
		}
		names[one.Name()] = true
		if generators[one.Name()].draw == nil {
			t.Errorf("%s has no generator: crashes and order are not tested", one.Name())
		}
	}
	for name := range generators {
		if !names[name] {
			t.Errorf("%s is listed no more", name)
		}
	}
}

// only is a projection and those whose views it restores from.
func only(name string) *set {
	all, _ := Projections()
	var restores []string
	for _, one := range all {
		if one.Name() == name {
			for _, view := range one.Restores() {
				restores = append(restores, view.Name)
			}
		}
	}
	return &set{all: slices.DeleteFunc(all, func(one Projection) bool {
		return one.Name() != name && !slices.Contains(restores, one.Name())
	})}
}

// TestRowsAndViewsEndTheSameWhateverHappens lets a life of each projection crash
// after any write, again and again, over batches that are late, doubled and of two
// sources, and wants the rows and views of one clean run.
func TestRowsAndViewsEndTheSameWhateverHappens(t *testing.T) {
	t.Parallel()
	for name, g := range generators {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				drawn := g.draw(t)
				r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
				clean := newDisk()
				must.Do(t, lives(clean, name, drawn, r))
				torn := newDisk()
				torn.joins = true
				crash(t, torn, name, g.muddle(t, drawn, r), r)
				clean.compare(t, "after crashes", torn, g.sampled)
				if g.rows != nil {
					want := newDisk()
					want.rows = g.rows(drawn)
					want.compareRows(t, "from scratch", clean, func(series string) bool { return series == name || name == accounts.Name || name == liquidations.Name })
				}
			})
		})
	}
}

// TestAProjectionThatIsAddedLaterEndsTheSame gives each projection that is folded
// from the logs the later batches live and all stored rows beside them, as a scan
// reads them, in lives that crash after any write.
func TestAProjectionThatIsAddedLaterEndsTheSame(t *testing.T) {
	t.Parallel()
	all, _ := Projections()
	for _, one := range all {
		if len(one.Folds()) == 0 {
			continue
		}
		g := generators[one.Name()]
		if g.stored != nil {
			g.draw = g.stored
		}
		t.Run(one.Name(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				drawn := g.draw(t)
				r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
				clean, late := newDisk(), newDisk()
				must.Do(t, lives(clean, one.Name(), drawn, r))
				for _, b := range drawn {
					late.put(b)
				}
				live := drawn[rapid.IntRange(0, len(drawn)).Draw(t, "stored before"):]
				crash(t, late, one.Name(), interleave(r, live, scanned(t, one, drawn)), r)
				clean.compare(t, "caught up", late, g.sampled)
			})
		})
	}
}

// scanned is what the logs hold of batches, as catching up reads it: subject after
// subject, each in order of time, a few rows a batch.
func scanned(t *rapid.T, p Projection, batches []*Batch) (pages []*Batch) {
	for _, fold := range p.Folds() {
		var rows []store.Row
		for _, log := range Logs {
			if log.Dataset != fold.Dataset {
				continue
			}
			for _, b := range batches {
				rows = log.Append(rows, b)
			}
		}
		slices.SortStableFunc(rows, func(a, b store.Row) int {
			return gocmp.Or(gocmp.Compare(a.Subject, b.Subject), a.Time.Compare(b.Time), gocmp.Compare(a.ID, b.ID))
		})
		for page := range slices.Chunk(rows, 5) {
			b := NewBatch()
			for _, row := range page {
				must.Do(t, fold.Append(b, row))
			}
			pages = append(pages, b)
		}
	}
	return pages
}

// interleave mixes two runs of batches, each in its order.
func interleave(r *rand.Rand, a, b []*Batch) (all []*Batch) {
	for len(a)+len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && r.IntN(2) == 0 {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return all
}

// muddle doubles some batches and mixes their order.
func (g generator) muddle(t *rapid.T, drawn []*Batch, r *rand.Rand) []*Batch {
	all := slices.Clone(drawn)
	for _, b := range drawn {
		switch r.IntN(4) {
		case 0:
			all = append(all, b)
		case 1:
			if g.variant != nil {
				all = append(all, g.variant(b))
			}
		}
	}
	if rapid.Bool().Draw(t, "shuffle") {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for i, b := range all {
			past := *b
			past.Past = true
			all[i] = &past
		}
	}
	return all
}

// crash runs the batches in lives that crash, until one comes to their end.
func crash(t *rapid.T, d *disk, name string, batches []*Batch, r *rand.Rand) {
	for {
		d.writes = rapid.IntRange(0, 120).Draw(t, "writes before the crash")
		err := lives(d, name, batches, r)
		if err == nil {
			return
		}
		if !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		if rapid.IntRange(0, 3).Draw(t, "heal") == 0 {
			d.writes = 1 << 30
			must.Do(t, lives(d, name, batches, r))
			return
		}
	}
}

func TestASecondRunOverTheSameFillsWritesNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{klines.Name, topfills.Name, tickers.Name, openinterest.Name} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				batches := drawFills(t)
				r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
				d := newDisk()
				must.Do(t, lives(d, name, batches, r))
				now := time.UnixMilli(base).UTC().Add(40 * 24 * time.Hour)
				p := must.Get(begin(d, only(name), r, now))(t)
				for _, b := range batches {
					must.Do(t, p.apply(b))
				}
				if c := p.set.changes(now, true); len(c.Log)+len(c.Coarse)+len(c.Fine)+len(c.Views) > 0 {
					t.Fatalf("written again: %+v", c)
				}
			})
		})
	}
}

// TestABucketThatClosedDuringADowntimeIsWritten: the coin never trades again.
func TestABucketThatClosedDuringADowntimeIsWritten(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	d := newDisk()
	now := time.UnixMilli(base).UTC()
	p, err := begin(d, newSet(), r, now)
	if err != nil {
		t.Fatal(err)
	}
	f := market.Fill{Address: "0x1", Coin: "BTC", Px: "2.5", Sz: "1.0", Side: market.Buy, Time: base + 5, StartPosition: "0.0", ClosedPnl: "0.0", Fee: "0.0", Oid: 1, Tid: 9, Crossed: true}
	must.Do(t, p.apply(&Batch{Events: market.Events{Fills: []market.Fill{f}}}))
	must.Do(t, p.flush(1, false))
	minute := topfills.At("BTC", market.Minute1, base)
	if _, ok := d.rows[minute]; ok {
		t.Fatal("the minute was written while open")
	}
	if p, err = begin(d, newSet(), r, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	must.Do(t, p.flush(1, false))
	if got := string(d.rows[minute].Body); got != string(topfills.Append(nil, market.Top{f.Rank()})) {
		t.Fatalf("the minute is %s", got)
	}
}
