package perp

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/traderfacts"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

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
	ofNobody := func(f market.Fill) market.Fill {
		f.Liquidation = &market.Liquidation{MarkPx: "99.0", Method: "market"}
		return f
	}
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
		"a liquidation of nobody":       {batches: []*Batch{lines(t, readFillLine, 0, line(1, ofNobody(open)))}, size: "2"},
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

// TestAPaymentCountsWhenTheFillBeforeItComesAtLast: where a payment was of a position that no
// fill had told for so long that it was given up, the fill brings it back.
func TestAPaymentCountsWhenTheFillBeforeItComesAtLast(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.apply(&Batch{Events: market.Events{Fills: []market.Fill{step(1, market.Buy, "1.0", "0.0", "0.0")}}}, soon)
	w.apply(&Batch{Events: market.Events{Payments: []market.FundingPayment{{Address: faultyAccount, Coin: "BTC", Time: noon.UnixMilli() + 3000, USDC: "-0.25", Szi: "3.0", Rate: "0.0001"}}}}, time.Minute)
	c := w.p.cache[faultyAccount]
	if h, _ := c.state.Holding("BTC"); c.rebuild != nil || h.Paid != 0 {
		t.Fatalf("it is made again: %t, paid at %d: want that the payment was given up", c.rebuild != nil, h.Paid)
	}
	w.apply(&Batch{Events: market.Events{Fills: []market.Fill{step(2, market.Buy, "2.0", "1.0", "0.0")}}, Past: true}, time.Minute)
	if h, _ := w.p.cache[faultyAccount].state.Holding("BTC"); market.Text(h.FundingAllTime) != "0.25" || market.Text(h.Open.Size) != "3.0" {
		t.Errorf("funding %s of a position of %s, want 0.25 of 3.0", market.Text(h.FundingAllTime), market.Text(h.Open.Size))
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
		must.Get(w.set.apply(late, w.now, w.disk.load))(t)
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
			must.Do(t, w.p.Restore(map[string][]byte{v.Name: v.Body}))
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
	start([]engine.View{engine.ViewOf(accounts.PublishedBroken, slices.Collect(maps.Keys(w.p.broken)))})
	w.p.Joined()
	written := map[string]bool{}
	for range 1000 {
		if n := len(w.p.cache); n > most+most/8+rebuildsAtOnce {
			t.Fatalf("%d accounts are in memory", n)
		}
		must.Get(w.set.apply(NewBatch(), w.now, w.disk.load))(t)
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

// TestRebuildsThatWaitStopNoOthers: those that ended in a gap begin again after a while.
func TestRebuildsThatWaitStopNoOthers(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	for i := range 200 {
		c := w.p.of(fmt.Sprintf("0x%040d", i))
		c.state, c.stats, c.facts = new(market.Account), new(accountstats.Kept), new(traderfacts.Kept)
		if i < 199 {
			c.retries = 1
		}
		w.p.broke(c, w.now)
	}
	must.Get(w.set.apply(NewBatch(), w.now, w.disk.load))(t)
	if b := w.p.begun(); len(b) != 1 || b[0].account.retries != 0 {
		t.Errorf("%d are begun", len(b))
	}
	w.now = w.now.Add(gapPause)
	w.apply(NewBatch(), 0)
	if b := w.p.begun(); len(b) == 0 {
		t.Error("the others do not begin")
	}
}
