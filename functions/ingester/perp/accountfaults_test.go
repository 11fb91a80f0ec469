package perp

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/completedtrades"
	"quotary/shared/data/wants"
	"quotary/shared/market"
	"quotary/shared/source/hyperliquid"
	"quotary/shared/source/hyperliquid/wire"
	"quotary/shared/store"
)

const (
	faultyAccount = "0xa11ce00000000000000000000000000000000001"
	soon          = 100 * time.Millisecond
)

// accountWorld is the projection of accounts over what it has written, with a clock.
type accountWorld struct {
	t     *testing.T
	disk  *disk
	set   *set
	p     *accountStates
	now   time.Time
	trade map[string]market.CompletedTrade // by coin and size, as written
}

func newAccountWorld(t *testing.T) *accountWorld {
	t.Helper()
	w := &accountWorld{t: t, disk: newDisk(), now: noon, trade: map[string]market.CompletedTrade{}}
	w.p = newAccountStates(newWantedAccounts(1_000_000), slog.New(slog.DiscardHandler))
	w.set = &set{all: []Projection{w.p}, logs: w.disk.part}
	w.p.Joined()
	return w
}

// apply applies a batch, and lets a time pass in which nothing comes.
func (w *accountWorld) apply(b *Batch, pass time.Duration) engine.Changes {
	w.t.Helper()
	w.disk.put(b)
	var c engine.Changes
	for step := 0; ; step++ {
		if _, err := w.set.apply(b, w.now, w.disk.load); err != nil {
			w.t.Fatal(err)
		}
		c = w.set.changes(w.now, true)
		for _, log := range c.Log {
			for _, r := range log.Rows {
				trade, err := completedtrades.Decode(r)
				if err != nil {
					w.t.Fatal(err)
				}
				w.trade[trade.Coin+" "+market.Text(trade.Size)] = trade
				w.disk.log[fmt.Sprintf("%s %q %d %q", log.Dataset, r.Subject, r.Time.UnixMilli(), r.ID)] = r
			}
		}
		if pass <= 0 && step > 0 {
			return c
		}
		b, w.now, pass = NewBatch(), w.now.Add(min(pass, time.Second)), pass-time.Second
	}
}

// lines reads lines of a node's files.
func lines(t *testing.T, read func(*market.Events, string, int64) (int, error), skipped int, list ...string) *Batch {
	t.Helper()
	b, n := NewBatch(), 0
	for _, line := range list {
		some, _ := read(&b.Events, line, 0)
		n += some
	}
	if n != skipped {
		t.Errorf("%d skipped, want %d", n, skipped)
	}
	return b
}

func readFillLine(e *market.Events, line string, at int64) (skipped int, err error) {
	e.Fills, skipped, err = wire.ParseFills(e.Fills, line, at)
	return skipped, err
}

// step is a fill of the account in BTC, n seconds after noon.
func step(n int64, side market.Side, size, start, pnl string) market.Fill {
	return market.Fill{
		Address: faultyAccount, Coin: "BTC", Px: "100.0", Sz: size, Side: side, Time: noon.UnixMilli() + 1000*n, StartPosition: start, ClosedPnl: pnl,
		Fee: "0.1", FeeToken: "USDC", Dir: "-", Hash: "0x0", Oid: n, Tid: n, Crossed: true, Seq: n * 1_000_000,
	}
}

func blockLine(n int64, list ...market.Fill) string {
	text := `{"local_time":"2026-11-22T12:00:00","block_time":"2026-11-22T12:00:00","block_number":` + strconv.FormatInt(n, 10) + `,"events":[`
	for i := range list {
		if i > 0 {
			text += ","
		}
		text += `["` + list[i].Address + `",` + string(wire.AppendFill(nil, &list[i])) + `]`
	}
	return text + `]}`
}

// TestFaultsOfSourcesMakeNoWrongAccount: whatever is wrong with what comes, the account
// ends as its events are, or as what is known of them, and each fault is counted.
func TestFaultsOfSourcesMakeNoWrongAccount(t *testing.T) {
	t.Parallel()
	open, add, flat := step(1, market.Buy, "2.0", "0.0", "0.0"), step(2, market.Buy, "1.0", "2.0", "0.0"), step(3, market.Sell, "3.0", "3.0", "5.0")
	of := func(past bool, list ...market.Fill) *Batch {
		return &Batch{Events: market.Events{Fills: list}, Past: past}
	}
	payment := func(second int64, szi string) *Batch {
		return &Batch{Events: market.Events{Payments: []market.FundingPayment{{Address: faultyAccount, Coin: "BTC", Time: noon.UnixMilli() + 1000*second + 1, USDC: "-0.5", Szi: szi, Rate: "0.0001", Seq: second}}}}
	}
	line := func(n int64, f market.Fill) string { return blockLine(n, f) }
	for name, c := range map[string]struct {
		batches []*Batch
		size    string // of the position at the end, "" is none
		trades  int
		funding string // of the completed trade
		count   func(*accountFigures) int64
		rebuilt bool
	}{
		"as it should be":               {batches: []*Batch{of(false, open), of(false, add), of(false, flat)}, trades: 1},
		"a torn last line":              {batches: []*Batch{lines(t, readFillLine, 1, line(1, open), line(2, add), line(3, flat)[:150])}, size: "3"},
		"a torn line that comes again":  {batches: []*Batch{lines(t, readFillLine, 1, line(1, open), line(2, add)[:150], line(2, add), line(3, flat))}, trades: 1},
		"a truncated file":              {batches: []*Batch{lines(t, readFillLine, 0, line(1, open))}, size: "2"},
		"an unknown member":             {batches: []*Batch{lines(t, readFillLine, 0, `{"new":[1],`+line(1, open)[1:])}, size: "2"},
		"an unknown kind of event":      {batches: []*Batch{of(false, open), lines(t, hyperliquid.ReadMisc, 0, `{"block_number":5,"events":[{"time":"2026-11-22T12:00:05","hash":"0x0","inner":{"NewThing":{"user":"`+faultyAccount+`"}}}]}`)}, size: "2"},
		"an unknown kind of ledger":     {batches: []*Batch{of(false, open), lines(t, hyperliquid.ReadMisc, 0, `{"block_number":5,"events":[{"time":"2026-11-22T12:00:05","hash":"0x0","inner":{"LedgerUpdate":{"users":["`+faultyAccount+`"],"delta":{"type":"newThing"}}}}]}`)}, size: "2", count: func(f *accountFigures) int64 { return f.unknown.Load() }},
		"a block twice":                 {batches: []*Batch{of(false, open, add), of(false, open, add), of(false, flat), of(false, flat)}, trades: 1},
		"a gap in the block numbers":    {batches: []*Batch{of(false, open), of(false, flat)}, size: "", trades: 1, count: func(f *accountFigures) int64 { return f.gaps.Load() }, rebuilt: true},
		"a gap that is filled later":    {batches: []*Batch{of(false, open), of(false, flat), of(true, add)}, trades: 1, count: func(f *accountFigures) int64 { return f.gaps.Load() }, rebuilt: true},
		"the beginning comes last":      {batches: []*Batch{of(false, add), of(false, flat), of(true, open)}, trades: 1, count: func(f *accountFigures) int64 { return f.late.Load() }, rebuilt: true},
		"a payment behind its position": {batches: []*Batch{of(false, open, add), payment(2, "3.0"), of(false, flat)}, trades: 1, funding: "-0.5"},
		"a payment ahead of its fills":  {batches: []*Batch{of(false, open), payment(2, "3.0"), of(false, add), of(false, flat)}, trades: 1, funding: "-0.5"},
		"a payment behind the trade":    {batches: []*Batch{of(false, open, add, flat), payment(2, "3.0")}, trades: 1, funding: "-0.5", count: func(f *accountFigures) int64 { return f.late.Load() }, rebuilt: true},
		"a round trip that was missing": {batches: []*Batch{of(false, open, add, flat), of(false, step(9, market.Buy, "1.0", "0.0", "0.0")), of(true, step(5, market.Buy, "4.0", "0.0", "0.0"), step(6, market.Sell, "4.0", "4.0", "1.0"))}, size: "1", trades: 2, rebuilt: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newAccountWorld(t)
			for _, b := range c.batches {
				w.apply(b, soon)
			}
			if c := w.apply(NewBatch(), time.Minute); c.Held {
				t.Error("something is held back for ever")
			}
			size := ""
			a := w.p.cache[faultyAccount]
			if h, ok := a.state.Holding("BTC"); ok && h.Open != nil {
				size = h.Open.Size.String()
			}
			if size != c.size || len(w.trade) != c.trades {
				t.Errorf("it holds %q and has completed %+v", size, w.trade)
			}
			if trade, ok := w.trade["BTC 3.0"]; c.funding != "" && (!ok || trade.Funding.String() != c.funding) {
				t.Errorf("the trade is %+v", trade)
			}
			if c.count != nil && c.count(&w.p.figures) == 0 {
				t.Error("it is not counted")
			}
			if rebuilt := w.p.figures.rebuilt.Load() > 0; rebuilt != c.rebuilt || len(w.p.broken) > 0 {
				t.Errorf("rebuilt: %t, still broken: %v", rebuilt, w.p.broken)
			}
		})
	}
}

// TestOrdersOfThePastAreCounted: where an order was filled as the streams begin to be
// followed, its fills may be of the past, so that no fill comes late, but the orders do.
func TestOrdersOfThePastAreCounted(t *testing.T) {
	t.Parallel()
	order := func(second int64, kind string) market.OrderStatus {
		return market.OrderStatus{Address: faultyAccount, Coin: "BTC", Side: "A", LimitPx: "1.0", Sz: "0.0", OrigSz: "1.0", Oid: second, OrderType: kind, ReduceOnly: true,
			Status: market.StatusFilled, Time: noon.UnixMilli() + 1000*second, Timestamp: noon.UnixMilli(), Seq: second * 1_000_000}
	}
	w := newAccountWorld(t)
	w.apply(&Batch{Events: market.Events{Orders: []market.OrderStatus{order(3, "Market")}}}, soon)
	w.apply(&Batch{Events: market.Events{Fills: []market.Fill{step(1, market.Buy, "3.0", "0.0", "0.0"), step(2, market.Sell, "1.0", "3.0", "0.0"), step(3, market.Sell, "1.0", "2.0", "0.0")}}, Past: true}, soon)
	w.apply(&Batch{Events: market.Events{Orders: []market.OrderStatus{order(1, "Market"), order(2, "Stop Market")}}, Past: true}, time.Minute)
	stats := w.p.cache[faultyAccount].stats.All()
	if did := stats.Active(0, 1<<40); did.Fills != 3 || did.ReduceOnly != 3 || did.TakeProfitStop != 1 {
		t.Errorf("%d fills, %d orders that only reduce, %d of which took a profit or stopped a loss", did.Fills, did.ReduceOnly, did.TakeProfitStop)
	}
}

// TestAnAccountIsBrokenUntilItsNewRowsAreWritten: where many accounts have changed, the
// rows of one that was made again come long after the views.
func TestAnAccountIsBrokenUntilItsNewRowsAreWritten(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.apply(&Batch{Events: market.Events{Fills: []market.Fill{step(2, market.Buy, "1.0", "2.0", "0.0")}}}, soon)
	late := &Batch{Events: market.Events{Fills: []market.Fill{step(1, market.Buy, "2.0", "0.0", "0.0")}}, Past: true}
	for i := range 1000 {
		other := step(1, market.Buy, "1.0", "0.0", "0.0")
		other.Address = fmt.Sprintf("0x%040d", i)
		late.Fills = append(late.Fills, other)
	}
	w.disk.put(late)
	var broken []string
	written := false
	for range 20 { // seconds pass only behind it
		if _, err := w.set.apply(late, w.now, w.disk.load); err != nil {
			t.Fatal(err)
		}
		late = NewBatch()
		written = w.publish(false, &broken) || written
	}
	if w.p.figures.rebuilt.Load() == 0 || written || !slices.Contains(broken, faultyAccount) {
		t.Fatalf("rebuilt %d times, rows written: %t, broken are %v", w.p.figures.rebuilt.Load(), written, broken)
	}
	w.now = w.now.Add(time.Minute)
	if written = w.publish(false, &broken); !written || len(broken) > 0 {
		t.Errorf("a minute later: rows written: %t, broken are %v", written, broken)
	}
}

// publish reports whether the account is written now, and reads who is broken.
func (w *accountWorld) publish(settle bool, broken *[]string) (written bool) {
	w.t.Helper()
	c := w.set.changes(w.now, settle)
	for _, v := range c.Views {
		list, err := accounts.DecodeBroken(v.Body)
		if err != nil {
			w.t.Fatal(err)
		}
		*broken = list
	}
	return slices.ContainsFunc(c.Fine, func(r store.SeriesRow) bool { return r.SeriesKey == accounts.At(faultyAccount).SeriesKey })
}

// TestMoreAccountsAreMadeAgainThanFitInMemory: before the projection has joined all of
// them are broken, and they are read again one after the other, also behind a restart.
func TestMoreAccountsAreMadeAgainThanFitInMemory(t *testing.T) {
	t.Parallel()
	const all, most = 300, 40
	w := newAccountWorld(t)
	start := func(views []engine.View) {
		w.p = newAccountStates(newWantedAccounts(1_000_000), slog.New(slog.DiscardHandler))
		w.p.most = most
		w.set.all = []Projection{w.p}
		for _, v := range views {
			if err := w.p.Restore(map[string][]byte{v.Name: v.Body}); err != nil {
				t.Fatal(err)
			}
		}
	}
	start(nil)
	b := NewBatch()
	for i := range all {
		f := step(1, market.Buy, "1.0", "0.0", "0.0")
		f.Address = fmt.Sprintf("0x%040d", i)
		b.Fills = append(b.Fills, f)
	}
	changes := w.apply(b, soon)
	if n := len(w.p.cache); n > most+most/8 || len(w.p.broken) != all || len(changes.Fine) > 0 {
		t.Fatalf("%d accounts are in memory, %d broken, %d rows", n, len(w.p.broken), len(changes.Fine))
	}
	start([]engine.View{{Name: accounts.BrokenName, Body: accounts.EncodeBroken(slices.Collect(maps.Keys(w.p.broken)))}})
	w.p.Joined()
	written := map[string]bool{}
	for range 1000 {
		if n := len(w.p.cache); n > most+most/8+rebuildsAtOnce {
			t.Fatalf("%d accounts are in memory", n)
		}
		if _, err := w.set.apply(NewBatch(), w.now, w.disk.load); err != nil {
			t.Fatal(err)
		}
		for _, r := range w.set.changes(w.now, true).Fine {
			written[r.Key] = true
		}
	}
	if len(w.p.broken) > 0 || len(written) != all {
		t.Errorf("%d are written, %d broken", len(written), len(w.p.broken))
	}
}

// TestTheCacheIsNotLookedThroughInVain: while no account in it is idle, it is not at every
// flush, and then those go that were idle for longest.
func TestTheCacheIsNotLookedThroughInVain(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.p.most = 80
	for i := range 200 {
		c := w.p.of(fmt.Sprintf("0x%040d", i))
		c.used, c.changed = w.now.Add(time.Duration(i)*time.Second), w.now
	}
	w.p.evict(w.now)
	for _, c := range w.p.cache {
		c.changed = time.Time{}
	}
	w.p.evict(w.now.Add(time.Second))
	if n := len(w.p.cache); n != 200 {
		t.Errorf("a second later it was looked through again: %d accounts are left", n)
	}
	w.p.evict(w.now.Add(evictEvery))
	if n := len(w.p.cache); n != 80 || w.p.cache[fmt.Sprintf("0x%040d", 120)] == nil {
		t.Errorf("%d accounts are left, not those that were used last", n)
	}
}

// said is what the venue says of the account at a second after noon.
func said(second int64, size, cost string) market.Anchor {
	at := noon.UnixMilli() + 1000*second
	a := market.Anchor{Address: faultyAccount, SpotTime: at, Dexes: []market.AccountState{{Time: at}}}
	if size != "" {
		szi, value := mustParse(size), mustParse(size).Mul(mustParse("100"))
		a.Dexes[0].Positions = []market.PositionState{{Coin: "BTC", Szi: szi, Leverage: market.Leverage{Value: 7}, PositionValue: value.Abs(), UnrealizedPnl: value.Sub(mustParse(cost))}}
	}
	return a
}

func mustParse(text string) market.Decimal {
	d, err := market.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

// TestAnchors: an answer is compared with what was folded up to its time, wins, and what
// came later is folded behind it; one that is late, wrong or refused does no harm.
func TestAnchors(t *testing.T) {
	t.Parallel()
	open, add, flat := step(1, market.Buy, "2.0", "0.0", "0.0"), step(2, market.Buy, "1.0", "2.0", "0.0"), step(3, market.Sell, "3.0", "3.0", "5.0")
	fills := func(list ...market.Fill) *Batch { return &Batch{Events: market.Events{Fills: list}} }
	anchor := func(list ...market.Anchor) *Batch { return &Batch{Events: market.Events{Anchors: list}} }
	asked := &Batch{Events: market.Events{AnchorRequests: []string{faultyAccount}}}
	refused := anchor(market.Anchor{Address: faultyAccount})
	for name, c := range map[string]struct {
		batches     []*Batch
		size        string
		trades      int
		leverage    int64
		anchored    int64
		differences int64
		refused     int64
		missed      int64
	}{
		"agrees":                    {batches: []*Batch{fills(open), asked, anchor(said(1, "2", "200"))}, size: "2", leverage: 7, anchored: 1},
		"before and behind":         {batches: []*Batch{fills(open), asked, fills(add, flat), anchor(said(2, "3", "300"))}, leverage: 7, trades: 1, anchored: 1},
		"in one batch":              {batches: []*Batch{{Events: market.Events{Fills: []market.Fill{open, add}, AnchorRequests: []string{faultyAccount}, Anchors: []market.Anchor{said(1, "2", "200")}}}}, size: "3", leverage: 7, anchored: 1},
		"differs":                   {batches: []*Batch{fills(open), asked, anchor(said(1, "5", "500"))}, size: "5", leverage: 7, anchored: 1, differences: 1},
		"of nobody known":           {batches: []*Batch{asked, anchor(said(1, "", ""))}, anchored: 1},
		"is the first that is seen": {batches: []*Batch{asked, anchor(said(1, "2", "200")), fills(add, flat)}, leverage: 7, trades: 1, anchored: 1},
		"refused":                   {batches: []*Batch{fills(open), asked, fills(add), refused, fills(flat)}, trades: 1, refused: 1},
		"never comes":               {batches: []*Batch{fills(open), asked, fills(add)}, size: "3", missed: 0},
		"was not announced":         {batches: []*Batch{fills(open), anchor(said(1, "5", "500"))}, size: "2", missed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newAccountWorld(t)
			for _, b := range c.batches {
				w.disk.put(b)
				if _, err := w.set.apply(b, w.now, w.disk.load); err != nil {
					t.Fatal(err)
				}
				w.now = w.now.Add(soon)
			}
			for range 40 {
				if _, err := w.set.apply(NewBatch(), w.now, w.disk.load); err != nil {
					t.Fatal(err)
				}
				w.now = w.now.Add(time.Second)
			}
			changes := w.apply(NewBatch(), time.Minute)
			state := w.p.cache[faultyAccount].state
			h, _ := state.Holding("BTC")
			size := ""
			if h.Open != nil {
				size = h.Open.Size.String()
			}
			f := &w.p.figures
			if size != c.size || len(w.trade) != c.trades || h.Leverage.Value != c.leverage || changes.Held {
				t.Errorf("it holds %q at leverage %d, and has completed %+v; held: %t", size, h.Leverage.Value, w.trade, changes.Held)
			}
			if f.anchored.Load() != c.anchored || f.differences.Load() != c.differences || f.refused.Load() != c.refused || f.missed.Load() < c.missed {
				t.Errorf("%d anchored, %d differences, %d refused, %d missed", f.anchored.Load(), f.differences.Load(), f.refused.Load(), f.missed.Load())
			}
		})
	}
	w := newAccountWorld(t)
	w.apply(asked, soon)
	if c := w.apply(anchor(said(1, "", "")), time.Minute); len(c.Fine) > 0 || len(w.disk.rows) > 0 {
		t.Errorf("a row of an account that the venue does not know: %+v", c.Fine)
	}
}

// TestFillsBehindTheAnchorThatKnowsThem are counted, and the anchor stays: to make the
// account again for them would lose it each time.
func TestFillsBehindTheAnchorThatKnowsThem(t *testing.T) {
	t.Parallel()
	open, add, flat := step(1, market.Buy, "2.0", "0.0", "0.0"), step(2, market.Buy, "1.0", "2.0", "0.0"), step(3, market.Sell, "3.0", "3.0", "5.0")
	fills := func(list ...market.Fill) *Batch { return &Batch{Events: market.Events{Fills: list}} }
	w := newAccountWorld(t)
	apply := func(b *Batch, pass time.Duration) {
		w.disk.put(b)
		for ; pass >= 0; pass -= time.Second {
			if _, err := w.set.apply(b, w.now, w.disk.load); err != nil {
				t.Fatal(err)
			}
			b, w.now = NewBatch(), w.now.Add(time.Second)
		}
	}
	apply(fills(open), 0)
	apply(&Batch{Events: market.Events{AnchorRequests: []string{faultyAccount}}}, 0)
	apply(&Batch{Events: market.Events{Anchors: []market.Anchor{said(2, "3", "300")}}}, 10*time.Second)
	apply(fills(add), time.Second)
	apply(fills(add), time.Second) // again, as after a crash
	apply(fills(flat), time.Second)
	w.apply(NewBatch(), time.Minute)
	f, a := &w.p.figures, w.p.cache[faultyAccount]
	if f.anchored.Load() != 1 || f.rebuilt.Load() != 0 || f.late.Load() != 1 || a.state.Anchored == 0 || len(w.p.broken) > 0 {
		t.Errorf("%d anchored, %d rebuilt, %d late, broken are %v", f.anchored.Load(), f.rebuilt.Load(), f.late.Load(), w.p.broken)
	}
	all := a.stats.All()
	if trade, ok := w.trade["BTC 3.0"]; len(w.trade) != 1 || !ok || !trade.Partial || all.Days[0].Fills != 3 {
		t.Errorf("completed are %+v, of %d fills", w.trade, all.Days[0].Fills)
	}
}

// TestARebuiltTradeKeepsItsLeverage, which an anchor has said and no log has.
func TestARebuiltTradeKeepsItsLeverage(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	open, flat := step(1, market.Buy, "2.0", "0.0", "0.0"), step(3, market.Sell, "2.0", "2.0", "5.0")
	w.apply(&Batch{Events: market.Events{Fills: []market.Fill{open}}}, soon)
	w.apply(&Batch{Events: market.Events{AnchorRequests: []string{faultyAccount}, Anchors: []market.Anchor{said(2, "2", "200")}}}, 10*time.Second)
	w.apply(&Batch{Events: market.Events{Fills: []market.Fill{flat}}}, soon)
	before := w.trade["BTC 2.0"]
	w.apply(&Batch{Events: market.Events{Fills: []market.Fill{step(-5, market.Buy, "1.0", "0.0", "0.0"), step(-4, market.Sell, "1.0", "1.0", "1.0")}}, Past: true}, 10*time.Second)
	if w.p.figures.rebuilt.Load() == 0 || len(w.trade) != 2 || before.Leverage != 7 || w.trade["BTC 2.0"].Leverage != 7 {
		t.Errorf("rebuilt %d times: %+v, before %+v", w.p.figures.rebuilt.Load(), w.trade, before)
	}
}

// TestAnAnswerIsNotTakenFarAheadOfTheFills: where they are read late, it waits for them, or
// is given up.
func TestAnAnswerIsNotTakenFarAheadOfTheFills(t *testing.T) {
	t.Parallel()
	for behind, want := range map[time.Duration]int64{20 * time.Second: 1, time.Hour: 0} {
		w := newAccountWorld(t)
		apply := func(b *Batch) {
			if _, err := w.set.apply(b, w.now, w.disk.load); err != nil {
				t.Fatal(err)
			}
			w.now = w.now.Add(time.Second)
		}
		w.now = noon.Add(time.Second + behind)
		apply(&Batch{Events: market.Events{Fills: []market.Fill{step(1, market.Buy, "2.0", "0.0", "0.0")}}})
		apply(&Batch{Events: market.Events{AnchorRequests: []string{faultyAccount}}})
		apply(&Batch{Events: market.Events{Anchors: []market.Anchor{said(int64(behind/time.Second), "3", "300")}}})
		for range 10 {
			apply(NewBatch())
		}
		if n := w.p.figures.anchored.Load(); n != 0 {
			t.Errorf("%s behind: it is taken over before the fills are there", behind)
		}
		apply(&Batch{Events: market.Events{Fills: []market.Fill{step(2, market.Buy, "1.0", "2.0", "0.0"), step(int64(behind/time.Second)+1, market.Buy, "1.0", "3.0", "0.0")}}})
		apply(NewBatch())
		if n := w.p.figures.anchored.Load(); n != want {
			t.Errorf("%s behind: %d anchored, want %d", behind, n, want)
		}
		if n := w.p.figures.late.Load() + w.p.figures.gaps.Load() + w.p.figures.differences.Load(); n > 0 {
			t.Errorf("%s behind: %d faults", behind, n)
		}
	}
}

// TestAnAnchoredAccountIsWrittenAtOnce: a client may wait for it, however many accounts
// have changed.
func TestAnAnchoredAccountIsWrittenAtOnce(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	b := NewBatch()
	for i := range 1000 {
		other := step(1, market.Buy, "1.0", "0.0", "0.0")
		other.Address = fmt.Sprintf("0x%040d", i)
		b.Fills = append(b.Fills, other)
	}
	b.AnchorRequests, b.Anchors = []string{faultyAccount}, []market.Anchor{said(0, "2", "200")}
	w.p.wanted.list(nil, []wants.Item{{ID: faultyAccount, Distributors: []string{"one"}}}, w.now)
	if w.p.Urgent() {
		t.Error("changes are urgent that nobody waits for")
	}
	if _, err := w.set.apply(b, w.now, w.disk.load); err != nil {
		t.Fatal(err)
	}
	if !w.p.Urgent() {
		t.Error("an account that a client waits for is not urgent")
	}
	var broken []string
	if !w.publish(false, &broken) || len(w.p.dirty) != 1000 || w.p.Urgent() {
		t.Errorf("it is not written; %d wait to be", len(w.p.dirty))
	}
}

// TestRebuildsThatWaitStopNoOthers: those that ended in a gap begin again after a while.
func TestRebuildsThatWaitStopNoOthers(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	for i := range 200 {
		c := w.p.of(fmt.Sprintf("0x%040d", i))
		c.state, c.stats = new(market.Account), new(accountstats.Kept)
		if i < 199 {
			c.retries = 1
		}
		w.p.broke(c, w.now)
	}
	if _, err := w.set.apply(NewBatch(), w.now, w.disk.load); err != nil {
		t.Fatal(err)
	}
	if b := w.p.begun(); len(b) != 1 || b[0].account.retries != 0 {
		t.Errorf("%d are begun", len(b))
	}
	w.now = w.now.Add(gapPause)
	w.apply(NewBatch(), 0)
	if b := w.p.begun(); len(b) == 0 {
		t.Error("the others do not begin")
	}
}

// TestThatTheVenueKnowsNothingOfAnAccountIsStored: who reads the row need not ask again.
func TestThatTheVenueKnowsNothingOfAnAccountIsStored(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	var rows []store.SeriesRow
	note := func(b *Batch) { rows = append(rows, w.apply(b, time.Second).Fine...) }
	note(&Batch{Events: market.Events{AnchorRequests: []string{faultyAccount}}})
	note(&Batch{Events: market.Events{Anchors: []market.Anchor{{Address: faultyAccount, Dexes: []market.AccountState{{Time: noon.UnixMilli()}}}}}})
	note(NewBatch())
	if len(rows) != 2 {
		t.Fatalf("%d rows are written, want two", len(rows))
	}
	if a, err := accounts.Decode(faultyAccount, rows[0].Point); err != nil || a.Anchored != noon.UnixMilli() || !a.IsEmpty() {
		t.Errorf("%+v is stored, %v", a, err)
	}
}

// TestWhoLostItsAnchorIsAskedForBesideThoseThatHoldMuch: these do not take all places.
func TestWhoLostItsAnchorIsAskedForBesideThoseThatHoldMuch(t *testing.T) {
	t.Parallel()
	wanted := newWantedAccounts(0) // everybody holds as much
	for i := range mostOwn {
		wanted.wantIfLarge(&market.Account{Address: fmt.Sprintf("0x%040d", i)}, new(market.Markets), market.Marks{}, noon)
	}
	wanted.again(faultyAccount, noon)
	list := wanted.list(nil, nil, noon)
	if len(list) != mostValued+1 || !slices.ContainsFunc(list, func(one hyperliquid.WantedAnchor) bool { return one.Address == faultyAccount && one.After.Equal(noon) }) {
		t.Errorf("%d are wanted", len(list))
	}
}
