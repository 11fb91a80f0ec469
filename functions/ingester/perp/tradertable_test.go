package perp

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/functions/ingester/traders"
	"quotary/shared/data/datatest"
	"quotary/shared/data/drop"
	"quotary/shared/data/othervenues"
	tradertable "quotary/shared/data/traders"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
	"quotary/shared/traderfields"
	"quotary/shared/traderfields/fieldstest"
)

// tabled is the domain on a simulated venue, and the trader table that is published of what it stored.
type tabled struct {
	*ingested
	objects *s3.Client
	began   int64                        // ms
	placed  map[int64]market.OrderStatus // the first status of each order of the node's files
	now     time.Time                    // of the publisher
	work    *traders.Work                // its term
	before  int64                        // ms: when it published last
	others  map[string]*[]string         // the other venues that are known of traders
	other   map[traderfields.Column]bool // columns that were something else than 0 or not known
}

// TestEveryColumnOfEveryTraderIsWhatItsRowsComeTo has the events of a venue folded and stored by the engine,
// the trader table published of what was stored, and each figure of each row compared with what
// plain loops ([fieldstest]) make of the rows of fills, filled orders and completed trades, of the orders in the
// node's files, of what the rows of statistics have of flows and curves, the latter of which are
// compared with the venue's portfolios, and of what the venue says that its accounts hold. The table
// is published while the venue goes on, and at times at which the windows of each period begin amid
// its events.
func TestEveryColumnOfEveryTraderIsWhatItsRowsComeTo(t *testing.T) {
	t.Parallel()
	if names := fieldstest.Unchecked(); len(names) > 0 {
		t.Fatalf("columns without a check: %v", names)
	}
	const lives = 2
	points := 0 // of curves that are what the venue says
	g := newTabled(newSimVenue(t, 31, testenv.Amount(60, 300), true))
	events, enough := 0, testenv.Amount(5_000, 100_000)
	step := func(b *Batch) (asks bool) {
		events += len(b.Fills) + len(b.Payments) + len(b.Ledgers)
		g.see(b)
		return g.take(b)
	}
	for life := range lives {
		stop := g.begin()
		g.held = true
		steps(g.sim, func() bool { return events >= enough*(life+1)/lives }, func(b *Batch) { step(b) })
		g.held = false
		g.calm(step)
		g.tell()
		must.Do(t, stop())
		g.compare(g.sim.venue.Now())
		points += g.load().checkCurves()[market.ModeStandard]
	}
	if points < 100 {
		t.Errorf("%d points of curves were compared with the venue", points)
	}
	end := g.sim.venue.Now()
	for _, p := range traderfields.Periods {
		if amid := time.UnixMilli((g.began+end.UnixMilli())/2).AddDate(0, 0, int(p)); amid.After(g.now) {
			g.compare(amid)
		}
	}
	for _, c := range traderfields.Columns() {
		if !g.other[c] {
			t.Errorf("%s was 0 or not known of every trader", c.Name())
		}
	}
	t.Logf("%d events", events)
}

func newTabled(sim *simVenue) *tabled {
	g := &tabled{ingested: newIngested(sim), began: sim.venue.Now().UnixMilli(), placed: map[int64]market.OrderStatus{}, other: map[traderfields.Column]bool{}}
	g.objects = g.stores.Quarantine.Objects.(*s3.Client)
	g.clock = sim.venue.Now // at which it is noted who has changed
	g.work = traders.Config{
		Every: time.Hour, Now: func() time.Time { return g.now }, Log: g.stores.Log, Series: g.stores.Series, Views: g.stores.Views,
		Objects: g.objects, Bucket: g.stores.Quarantine.Bucket, Logger: quiet,
	}.Begin()
	return g
}

// see notes the orders that are placed, of which no log has those that were never filled.
func (g *tabled) see(b *Batch) {
	for i := range b.Orders {
		o := &b.Orders[i]
		if _, known := g.placed[o.Oid]; !known && o.Time-o.Timestamp < 60_000 {
			g.placed[o.Oid] = *o
		}
	}
}

// compare publishes the table at a time, and compares all of it.
func (g *tabled) compare(at time.Time) {
	t := g.sim.t
	t.Helper()
	g.now = at
	g.sayOthers()
	must.Do(t, g.work.Publish(t.Context()))
	reader := datatest.OpenTraders(g.stores.Views, g.objects, g.stores.Quarantine.Bucket)
	version, rows := datatest.ReadTraders(t, reader)
	if version != at.UnixMilli() {
		t.Fatalf("the newest version is of %d, want %d", version, at.UnixMilli())
	}
	traders, columns, differ := g.traders(), traderfields.Columns(), map[string][]string{}
	hour := market.Hour1.StartMs(at.UnixMilli())
	for _, address := range sorted(traders) {
		of := traders[address]
		account, _ := market.ParseAccount(address)
		row, ok := rows[account]
		if !ok {
			t.Errorf("%s has no row", address)
			continue
		}
		delete(rows, account)
		for _, p := range traderfields.Periods {
			e := of.within(p, hour)
			for i, c := range columns {
				if c.Period != p || g.mayBeOld(c, of, hour) {
					continue
				}
				want, known := fieldstest.Figure(c, e)
				if got := row.Values[i]; got != (tablefile.Value{Value: want, Known: known}) {
					differ[c.Name()] = append(differ[c.Name()], fmt.Sprintf("of %s it is %d (known %t), want %d (known %t): %s", address, got.Value, got.Known, want, known, c.Field.Formula))
				}
				g.other[c] = g.other[c] || known && want != 0
			}
		}
	}
	for _, name := range sorted(differ) {
		t.Errorf("at %s, %s is another figure of %d traders; %s", at, name, len(differ[name]), differ[name][0])
	}
	for a := range rows {
		t.Errorf("%s has a row, and is in no log", market.AddressOf(a))
	}
	g.compareCoins(reader, traders, hour)
	g.compareTexts(reader, traders)
	g.before = at.UnixMilli()
	t.Logf("at %s %d rows of %d columns were compared, what %d of them hold with the venue", at, len(traders), len(columns), g.byVenue(traders))
}

// sayOthers says of two in three of the traders that are known on which other venues they trade.
func (g *tabled) sayOthers() {
	book, all := othervenues.NewBook(), []string{"Alpha", "Beta", "Gamma"}
	g.others = map[string]*[]string{}
	for i, address := range sorted(g.traders()) {
		if i%3 == 0 {
			continue
		}
		venues := all[i%4:]
		g.others[address] = &venues
		book.Take(&othervenues.Dropped{Entry: othervenues.Entry{Address: address, Venues: venues}, Place: drop.Place{Time: 1, File: "a", Line: int64(i)}})
	}
	storetest.Publish(g.sim.t, g.stores.Views, othervenues.Published, book.View())
}

// compareTexts compares the texts of every trader.
func (g *tabled) compareTexts(reader *tablefile.Reader, traders map[string]*tabledTrader) {
	t := g.sim.t
	t.Helper()
	for _, f := range traderfields.TextFields() {
		column, _ := tradertable.Column(f.Name)
		a := must.Get(reader.Ask(t.Context(), &table.Query{Unordered: true, Limit: 1 << 20}, []int{column}))(t)
		some := 0
		for i := range a.Rows {
			of := traders[market.AddressOf(a.Rows[i].Address)]
			want := fieldstest.Texts(f.Name, of.within(traderfields.AllTime, 0))
			if got := a.Rows[i].NamesAt(0); !slices.Equal(got, want) {
				t.Errorf("%s of %s is %q, want %q", f.Name, of.address, got, want)
			}
			some += len(want)
		}
		if some == 0 {
			t.Errorf("%s is not known of any trader", f.Name)
		}
	}
}

// byVenue is how many traders hold what the venue says.
func (g *tabled) byVenue(traders map[string]*tabledTrader) (n int) {
	for _, of := range traders {
		if of.told {
			n++
		}
	}
	if n < len(traders)/2 {
		g.sim.t.Errorf("what %d of %d traders hold is compared with the venue", n, len(traders))
	}
	return n
}

// mayBeOld reports whether a figure may be as old as a day: what an account was worth that rests.
func (g *tabled) mayBeOld(c traderfields.Column, of *tabledTrader, hour int64) bool {
	if g.before == 0 || hour-g.before > dayMs || len(of.held.Positions) > 0 {
		return false
	}
	day := of.did.Within(hour-dayMs, market.MaxTime)
	rests := len(day.Fills)+len(day.Trades)+len(day.Orders)+len(day.Placed) == 0
	return rests && (c.Field.Group == "account value change" || c.Field.Group == "max drawdown")
}

// compareCoins compares who traded a perpetual in each period.
func (g *tabled) compareCoins(reader *tablefile.Reader, traders map[string]*tabledTrader, hour int64) {
	t := g.sim.t
	t.Helper()
	for _, p := range traderfields.Periods {
		for _, coin := range g.sim.coins {
			want := 0
			for _, of := range traders {
				if slices.ContainsFunc(of.within(p, hour).Fills, func(f market.Fill) bool { return f.Coin == coin && f.Tid != 0 }) {
					want++
				}
			}
			q := table.Query{Sets: []table.SetFilter{{Column: tradertable.Coins(p), Names: []string{coin}, Kind: table.All}}}
			if a := must.Get(reader.Ask(t.Context(), &q, nil))(t); a.Total != want {
				t.Errorf("%d traded %s within %d days, want %d", a.Total, coin, p, want)
			}
		}
	}
}
