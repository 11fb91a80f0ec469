package perp

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quagmt/udecimal"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/completedtrades"
	"quotary/shared/data/contexts"
	"quotary/shared/data/meta"
	"quotary/shared/data/openorders"
	"quotary/shared/data/orders"
	"quotary/shared/data/traderfacts"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// ingested is the domain on the files of a simulated venue's node, through its own
// sources, in one life after another.
type ingested struct {
	sim      *simVenue
	stores   engine.Stores
	server   *httptest.Server
	accounts *accountStates   // of the life
	clock    func() time.Time // of the pipeline; nil is the machine's
	held     bool             // accounts of which no stream tells what they changed are not asked about for now

	written int64        // events that the node has written
	applied atomic.Int64 // events that the projections have taken
	told    atomic.Int64 // ms of the newest description and marks that they have taken
	says    chan *Batch  // what the venue says of its markets

	rebuilt int64 // accounts that were made from the logs in this life

	mu       sync.Mutex
	seen     map[string]bool // accounts that had an event, and whether they are anchored
	payments map[payee]payment
	hours    map[int64]market.Marks // of full hours, ms, before them
	adjusted int                    // how often accounts changed what only a new anchor tells
	untold   int                    // ledger updates of which nobody tells what they move
	changed  map[string]bool        // accounts that changed so, and were not asked about since
	asked    []string               // accounts that were asked about in this moment
	after    time.Time              // when they were
	from     int64                  // and by the venue's clock, ms
	awaited  time.Time              // of the venue, when all that was written had been taken
}

// newIngested is the domain on the files of a venue that has not begun, with stores of its own.
func newIngested(sim *simVenue) *ingested {
	g := &ingested{
		sim: sim, stores: newStores(sim.t), says: make(chan *Batch), seen: map[string]bool{}, changed: map[string]bool{},
		payments: map[payee]payment{}, hours: map[int64]market.Marks{},
	}
	g.server = httptest.NewServer(sim.answers)
	sim.t.Cleanup(g.server.Close)
	return g
}

// info asks the venue without limits.
func (g *ingested) info() *hyperliquid.Info { return hyperliquid.NewNodeInfo(g.server.URL) }

// begin starts a life, and returns what ends it.
func (g *ingested) begin() (stop func() error) {
	t := g.sim.t
	var sources []engine.Source[*Batch]
	for _, stream := range nodeStreams {
		files := &hyperliquid.Files{Dir: folder(g.sim.dir, stream.dir), Stats: new(hyperliquid.Stats), Log: quiet, Poll: 2 * time.Millisecond, Read: stream.read}
		sources = append(sources, Config{Logger: quiet}.stream(stream.dir, "", files, nil)...)
	}
	anchors := &hyperliquid.Anchors{Info: g.info(), Stats: new(hyperliquid.Stats), Log: quiet, Wanted: g.wanted, Poll: 2 * time.Millisecond}
	sources = append(sources, live("anchors", anchors.Stats, func(ctx context.Context, sink hyperliquid.Sink) error {
		return anchors.Follow(ctx, func(ctx context.Context, d hyperliquid.Delivery) error {
			if err := sink(ctx, d); err != nil || len(d.Events.Anchors) == 0 {
				return err
			}
			g.answer(&d.Events.Anchors[0])
			return nil
		})
	}), engine.Source[*Batch]{Name: "figures", Stats: new(hyperliquid.Stats), NoCheckpoint: true, Follow: func(ctx context.Context, _ engine.Position, sink engine.Sink[*Batch]) error {
		for {
			select {
			case b := <-g.says:
				if err := sink(ctx, engine.Delivery[*Batch]{Batch: b}); err != nil {
					return err
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}})
	g.accounts = newAccountStates(nil, quiet)
	p := newPipeline(g.stores, sources...)
	p.Now = g.clock
	p.Projections, _ = projections(g.accounts, newOpenOrders(nil), newTwapOrders(), newVaultQuestions(), new(liquidationCounts))
	p.Applied = func(b *Batch) {
		g.applied.Add(counted(b))
		if b.Meta != nil {
			g.told.Store(b.Meta.Time)
		}
	}
	stop = run(t, p)
	<-p.PastRead()
	if len(g.seen) == 0 {
		// What happened before the first life is made from the logs, with which anchors
		// would be lost.
		past := int64(len(g.sim.venue.Truth().Addresses))
		f := &g.accounts.figures // of those that stand for other chains, too
		testenv.Until(t, "the past is made of the logs", func() bool { return f.rebuilt.Load() >= past && f.rebuilding.Load() == 0 })
		g.rebuilt = f.rebuilt.Load()
	}
	g.tell()
	if hour := market.Hour1.StartMs(g.sim.venue.Now().UnixMilli()); len(g.hours) == 0 {
		g.hours[hour] = g.sim.marks() // the venue has just begun
	}
	return stop
}

// counted is how many events of the node's streams a batch has.
func counted(b *Batch) int64 {
	return int64(len(b.Fills) + len(b.Payments) + len(b.Ledgers) + len(b.Orders))
}

// tell has the venue's description and marks stored.
func (g *ingested) tell() {
	b := NewBatch()
	b.Meta, b.Contexts = g.sim.meta(), g.sim.contexts()
	list, _, err := g.info().VaultSummaries(g.sim.t.Context())
	if err != nil {
		g.sim.t.Fatal(err)
	}
	b.Vaults = []market.Vaults{{Time: b.Meta.Time, Vaults: list}}
	g.says <- b
	testenv.Until(g.sim.t, "the marks are taken", func() bool { return g.told.Load() == b.Meta.Time })
}

// wanted are the accounts to be anchored.
func (g *ingested) wanted(context.Context) ([]hyperliquid.WantedAnchor, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []hyperliquid.WantedAnchor
	for address, anchored := range g.seen {
		if !anchored {
			list = append(list, hyperliquid.WantedAnchor{Address: address, Every: time.Second, After: g.after, Coins: g.sim.coins})
		}
	}
	return list, nil
}

// answer notes that an account is anchored. An answer to a question of before it was asked for,
// or without a mode, which is asked for seldom otherwise, leaves it wanted.
func (g *ingested) answer(a *market.Anchor) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if a.Mode != market.ModeUnknown && newestOf(a) >= g.from {
		g.seen[a.Address] = true
	}
}

// take lets a step of the venue pass by, and has accounts that are new or changed what no
// stream tells anchored before the next. It reports whether there were any.
func (g *ingested) take(b *Batch) (asks bool) {
	g.written += counted(b)
	for i := range b.Payments {
		paid := &b.Payments[i]
		to := payee{paid.Address, market.Hour1.StartMs(paid.Time)}
		amount := must.Get(udecimal.Parse(paid.USDC))(g.sim.t)
		worth, token := amount, g.sim.markets.Collaterals[market.DexOf(paid.Coin)]
		if token != market.USDC {
			mark, ok := g.hours[to.hour][g.sim.markets.SpotCoins[token]]
			if worth = amount.Mul(mark); !ok {
				g.sim.t.Errorf("%s has no collateral with a price", paid.Coin)
			}
		}
		had := g.payments[to]
		g.payments[to] = payment{had.usdc.Add(worth), had.foreign || token != market.USDC}
	}
	if now := g.sim.venue.Now(); now.Truncate(time.Hour).Add(time.Hour).Sub(now) < beforeHour {
		g.await()
		g.tell()
		g.hours[market.Hour1.StartMs(now.UnixMilli())+time.Hour.Milliseconds()] = g.sim.marks()
	}
	changed := g.sim.adjusted(b)
	for address, c := range changed {
		g.untold += int(c.untold)
		g.changed[address] = true
	}
	g.adjusted += len(changed)
	var fresh, again []string
	if !g.held {
		again = slices.Collect(maps.Keys(g.changed))
		clear(g.changed)
	}
	g.mu.Lock()
	for address := range eventsOf(b) {
		if _, known := g.seen[address]; !known {
			fresh = append(fresh, address)
		}
	}
	g.mu.Unlock()
	if len(fresh)+len(again) == 0 {
		return false
	}
	// An account must be there, and an answer is of no use far ahead of the fills.
	if len(fresh) > 0 || g.sim.venue.Now().Sub(g.awaited) > 20*time.Second {
		g.await()
	}
	g.ask(slices.Concat(fresh, again))
	return true
}

// ask has accounts anchored.
func (g *ingested) ask(addresses []string) {
	g.asked = append(g.asked, addresses...)
	g.mu.Lock()
	g.after, g.from = time.Now(), g.sim.venue.Now().UnixMilli()
	for _, address := range addresses {
		g.seen[address] = false
	}
	g.mu.Unlock()
	testenv.Until(g.sim.t, "the accounts are anchored", func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return !slices.Contains(slices.Collect(maps.Values(g.seen)), false)
	})
}

// await waits until all that the node has written was taken.
func (g *ingested) await() {
	g.sim.t.Helper()
	testenv.Until(g.sim.t, "all events are taken", func() bool { return g.applied.Load() >= g.written })
	g.awaited = g.sim.venue.Now()
}

// calm takes steps until the answers about all accounts are taken over, as an answer is when a later
// fill has come, and returns how often one was missed or something came late. On a slow machine answers are missed, and
// what one stream says comes after what another said later: those accounts are made from the
// logs, without anchors, and are asked about again.
func (g *ingested) calm(step func(*Batch) (asks bool)) (missed int64) {
	g.sim.t.Helper()
	f := &g.accounts.figures
	for calm := false; !calm; {
		b := g.sim.step(520 * time.Millisecond)
		calm = !step(b) && len(b.Fills) > 0
		g.await()
		if now := f.missed.Load() + f.late.Load(); now > missed {
			missed, calm = now, false
			g.ask(g.sim.venue.Truth().Addresses)
		}
	}
	return missed
}

// load reads what the functions read.
func (g *ingested) load() *derived {
	t := g.sim.t
	t.Helper()
	d := &derived{sim: g.sim, payments: g.payments, hours: g.hours, stats: map[string]*market.TraderStats{}}
	addresses := g.sim.venue.Truth().Addresses
	var err error
	if d.accounts, err = accounts.Load(t.Context(), g.stores.Series, addresses...); err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		for stats := range must.All(t, accountstats.ReadCurves(t.Context(), g.stores.Series, []string{address})) {
			if stats.TraderStats != nil {
				d.stats[address] = stats.TraderStats
			}
		}
		for trade := range must.All(t, completedtrades.Oldest(t.Context(), g.stores.Log, completedtrades.Selection{Address: address})) {
			d.trades = append(d.trades, &trade)
		}
	}
	d.markets = must.Get(meta.Markets.Open(g.stores.Views, time.Now).Get(t.Context()))(t)
	marks := must.Get(contexts.MarksOnly.Open(g.stores.Views, time.Now).Get(t.Context()))(t)
	d.marks = marks.Px
	if d.reserves, err = openorders.PublishedReserves.Open(g.stores.Views, time.Now).Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

// reduced are the reducing orders of all accounts in the log.
func (g *ingested) reduced() map[string]reducing {
	all := map[string]reducing{}
	for _, address := range g.sim.venue.Truth().Addresses {
		all[address] = reducing{}
		list := must.Get(orders.Filled(g.sim.t.Context(), g.stores.Log, orders.OfAccount(address, ""), 100_000))(g.sim.t)
		for i := range list {
			all[address].add(&list[i])
		}
	}
	return all
}

// deeds are the rows of the logs, by account.
func (g *ingested) deeds() deeds {
	t := g.sim.t
	t.Helper()
	rows := deeds{}
	for _, from := range rebuiltFrom {
		for cursor, more := "", true; more; more = cursor != "" {
			page := must.Get(g.stores.Log.Scan(t.Context(), []string{from.dataset}, cursor, 0))(t)
			rows.add(t, from.dataset, page.Rows[from.dataset])
			cursor = page.Next
		}
	}
	return rows
}

// checkFacts compares what is stored of what accounts did with the rows of the logs.
func (g *ingested) checkFacts() {
	t := g.sim.t
	t.Helper()
	rows := g.deeds()
	addresses := sorted(rows) // more of them than the venue has traders
	stats, stop := iter.Pull2(accountstats.Read(t.Context(), g.stores.Series, addresses))
	defer stop()
	n := 0
	for did := range must.All(t, traderfacts.Read(t.Context(), g.stores.Series, addresses, func(int) int64 { return 0 }, market.MaxTime)) {
		of, err, _ := stats()
		must.Do(t, err)
		did.Placed = market.OrderTimes{} // which no log tells
		if diff := compareFacts(t, did, rows[addresses[n]], of); diff != "" {
			t.Errorf("what %s did %s", addresses[n], diff)
		}
		n++
	}
}

// TestStoredAccountsAreWhatTheVenueSays reads the files of a simulated venue's node
// through the domain's own sources and pipeline into the tables, and compares the stored
// rows of all accounts with what the venue says of them, in several lives of the pipeline. Each seed
// is a venue of its own; they take little but time, most of it to wait for answers.
func TestStoredAccountsAreWhatTheVenueSays(t *testing.T) {
	t.Parallel()
	seeds := []uint64{15, 22}
	if testenv.Prove() {
		seeds = []uint64{11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			storedAccountsAreWhatTheVenueSays(t, seed)
		})
	}
}

func storedAccountsAreWhatTheVenueSays(t *testing.T, seed uint64) {
	t.Helper()
	g := newIngested(newSimVenue(t, seed, 60, true))
	const moments = 4
	accountEvents, marked := 0, int64(0)
	points := map[market.Mode]int{} // of curves
	waits := map[string]bool{}      // accounts whose orders were not all known at the moment before
	for moment := range moments {
		stop := g.begin()
		latest := map[string][]string{}
		step := func(b *Batch) (asks bool) {
			accountEvents += len(b.Fills) + len(b.Payments) + len(b.Ledgers)
			maps.Copy(latest, eventsOf(b))
			return g.take(b)
		}
		steps(g.sim, func() bool { return accountEvents >= 5_000*(moment+1)/moments }, func(b *Batch) { step(b) })
		missed := g.calm(step)
		g.await()
		g.tell()
		must.Do(t, stop())
		d := g.load()
		for _, address := range slices.Sorted(maps.Keys(latest)) {
			list := d.check(address)
			// On a slow machine an order may be told by the next answer about its account alone.
			held := len(list) > 0 && !slices.ContainsFunc(list, func(line string) bool { return !strings.Contains(line, " hold: ") })
			if held && !waits[address] {
				waits[address] = true
				continue
			}
			waits[address] = false
			if len(list) > 0 {
				t.Errorf("after event %d, account %s differs:\n%s\nafter its last events\n%s", accountEvents, address, strings.Join(list, "\n"), strings.Join(latest[address], "\n"))
			}
		}
		d.sums()
		for mode, n := range d.checkCurves() {
			points[mode] += n
		}
		marked = d.checkReducing(g.reduced())
		g.checkFacts()
		if f := &g.accounts.figures; f.late.Load() == 0 && f.rebuilt.Load() != g.rebuilt || f.gaps.Load()+f.refused.Load() > 0 || f.unknown.Load() > 0 && g.untold == 0 || missed == 0 && f.differences.Load() > int64(3*g.adjusted) {
			t.Errorf("some events could not be folded in order: %+v; %d adjustments", f.figures(nil), g.adjusted)
		}
		g.rebuilt, g.adjusted, g.untold, g.asked = 0, 0, 0, nil
		t.Logf("%d events, %d accounts, %d trades", accountEvents, len(d.accounts), len(d.trades))
		if t.Failed() {
			return
		}
	}
	if t.Logf("points of curves by mode: %v", points); points[market.ModeStandard] < 100 {
		t.Error("next to no points of curves were compared")
	}
	if marked == 0 {
		t.Error("no order took a profit or stopped a loss")
	}
}
