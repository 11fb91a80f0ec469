package traders

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/othervenues"
	"quotary/shared/data/routes"
	"quotary/shared/data/traderfacts"
	"quotary/shared/data/traders"
	"quotary/shared/data/vaults"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/traderfields"
)

// prices are those at which is valued what accounts hold, and what lists say of addresses.
type prices struct {
	markets *market.Markets
	marks   market.Marks
	vaults  vaults.Roles
	others  othervenues.Index
}

// listed is what lists say of an address.
func (p *prices) listed(a table.Address) traderfields.Trader {
	return traderfields.Trader{Vault: p.vaults.Of(a), Other: p.others.Of(a)}
}

// summary is what an account holds; nil while no prices are known.
func (p *prices) summary(of *market.Account, ms int64) *market.AccountSummary {
	if p.markets == nil || len(p.marks) == 0 {
		return nil
	}
	s := of.Summary(p.markets, p.marks, ms)
	return &s
}

// prices are the newest ones, as far as there are any.
func (w *Work) prices(ctx context.Context) (*prices, error) {
	markets, err := w.markets.Get(ctx)
	if err != nil && !errors.Is(err, store.ErrNoView) {
		return nil, fmt.Errorf("read the markets: %w", err)
	}
	marks, err := w.marks.Get(ctx)
	if err != nil && !errors.Is(err, store.ErrNoView) {
		return nil, fmt.Errorf("read the marks: %w", err)
	}
	roles, err := w.vaults.Get(ctx)
	if err != nil && !errors.Is(err, store.ErrNoView) {
		return nil, fmt.Errorf("read the vaults: %w", err)
	}
	others, err := w.others.Get(ctx)
	if err != nil && !errors.Is(err, store.ErrNoView) {
		return nil, fmt.Errorf("read the other venues: %w", err)
	}
	return &prices{markets, marks.Px, roles, others}, nil
}

// trader is a row of the table, and the stored state of its account.
type trader struct {
	traders.Trader
	state   store.Point
	version string // of its rows
	broken  bool   // some of its rows cannot be read
}

// didNothing reports whether that it has no row of what it did says that it did nothing: its rows are
// complete without.
func (t *trader) didNothing() bool {
	return t.version == accountstats.VersionOf(t.state.Extra, new(traderfacts.Kept).Stored())
}

// isHot reports whether the row changes all the time, at a time, ms.
func (t *trader) isHot(ms int64) bool {
	if t.Holds != nil && t.Holds.Long.Count+t.Holds.Short.Count > 0 {
		return true
	}
	day, ever := t.Did[traderfields.Day], t.Did[traderfields.AllTime]
	return day != nil && (ms-ever.Did.Placed.Last < 24*hourMs ||
		day.Did.Perp.All().Count+day.Did.Spot.All().Count+day.Did.Closed.All().Count+day.Did.Filled.Count > 0)
}

// making makes the rows of a version.
type making struct {
	*Work
	previous tablefile.Manifest // the version before
	hour     int64              // that runs, ms
	whole    bool               // a new one has begun: all hot rows are made anew
	until    int64              // up to when all is stored that accounts did, ms, where that comes some time later; else 0
	wanted   addresses          // who is made anew

	at       *prices
	ms       int64                         // as of when
	hot      map[table.Address]store.Point // it is noted who is, and who no more
	past     *history                      // takes in what accounts did, once
	routes   *routes.Routes                // likewise
	made     addresses
	rerouted bool // what builders routed has changed
}

// rows makes the rows of accounts, and then those of the builders that routed something else of them than
// was known: these are made once more where they were among them.
func (m *making) rows(ctx context.Context, wanted addresses) (*traders.Rows, error) {
	rows := new(traders.Rows)
	for len(wanted) > 0 {
		sorted := slices.SortedFunc(maps.Keys(wanted), market.CompareAccounts)
		for some := range slices.Chunk(sorted, atOnce) {
			if err := m.add(ctx, rows, some); err != nil {
				return nil, err
			}
		}
		wanted = addresses{}
		for _, b := range m.routes.Changed() {
			wanted[b], m.rerouted = true, true
		}
		rows.Drop(func(a table.Address) bool { return wanted[a] })
	}
	return rows, nil
}

// add adds the rows of those of some accounts that are known.
func (m *making) add(ctx context.Context, rows *traders.Rows, some []table.Address) error {
	read, err := m.read(ctx, some)
	if err != nil {
		return err
	}
	list := make([]traders.Trader, len(read))
	for i := range read {
		one := &read[i]
		for n, p := range traderfields.Periods {
			if w := one.Did[p]; w != nil {
				w.Did.Routed = m.routes.Of(one.Address, n)
			}
		}
		list[i] = one.Trader
		delete(m.hot, one.Address)
		if one.isHot(m.ms) {
			m.hot[one.Address] = one.state
		}
	}
	for _, a := range some {
		m.made[a] = true
	}
	return rows.Add(list)
}

// read is what the rows of those of some accounts are made of that are known and can be read. What they did is
// taken in, of accounts that were not made before.
func (m *making) read(ctx context.Context, some []table.Address) ([]trader, error) {
	texts, keys := make([]string, len(some)), make([]store.SeriesAt, len(some))
	for i, a := range some {
		texts[i] = market.AddressOf(a)
		keys[i] = accounts.At(texts[i])
	}
	states, err := m.Series.Load(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read the states of accounts: %w", err)
	}
	end := market.Hour1.StartMs(m.ms) + hourMs // of the hour that runs
	var list []trader
	var known []string
	for i := range some {
		if state, ok := states[keys[i]]; ok {
			list, known = append(list, trader{Trader: traders.Trader{Address: some[i], Trader: m.at.listed(some[i])}, state: state}), append(known, texts[i])
		}
	}
	for i := range list {
		state, err := accounts.Decode(known[i], list[i].state)
		if err != nil {
			if err := m.breaks(known[i], &list[i].broken, err); err != nil {
				return nil, err
			}
			continue
		}
		list[i].Holds = m.at.summary(state, m.ms)
	}
	i := 0
	for stats, err := range accountstats.ReadAll(ctx, m.Series, known) {
		if err == nil {
			err = m.breaks(known[i], &list[i].broken, stats.Broken)
		}
		if err != nil {
			return nil, fmt.Errorf("read how accounts trade: %w", err)
		}
		if stats.TraderStats != nil {
			list[i].setWorth(&stats, end-hourMs, m.ms)
			if !m.made[list[i].Address] {
				m.past.value(list[i].Address, stats.Curve)
			}
		}
		list[i].version = stats.Version
		i++
	}
	i = 0
	since := func(i int) int64 { return min(from(traderfields.Month, end), m.past.sinceOf(list[i].Address)) }
	for did, err := range traderfacts.Read(ctx, m.Series, known, since, end) {
		if err == nil {
			err = m.breaks(known[i], &list[i].broken, did.Broken)
		}
		if err != nil {
			return nil, fmt.Errorf("read what accounts did: %w", err)
		}
		if did.Stored || did.Broken == nil && list[i].didNothing() {
			list[i].setDid(did, end)
		}
		if err := m.take(ctx, &list[i], did); err != nil {
			return nil, err
		}
		i++
	}
	return slices.DeleteFunc(list, func(t trader) bool { return t.broken }), nil
}

// mostBroken is how many accounts a publication goes on without: with more, something is wrong with all of them.
const mostBroken = 100

// breaks notes that rows of an account cannot be read, if an error says so: it keeps the row that it had, and
// holds up that of nobody else.
func (w *Work) breaks(address string, broken *bool, err error) error {
	if err == nil {
		return nil
	}
	*broken = true
	if w.broken[address] {
		return nil //nolint:nilerr // it is noted already
	}
	w.broken[address] = true
	if len(w.broken) > mostBroken {
		return fmt.Errorf("the rows of more than %d accounts cannot be read, the last of them %s: %w", mostBroken, address, err)
	}
	if len(w.broken) == 1 {
		w.Logger.Error("the rows of an account cannot be read; its row of the trader table stays as it was, and further ones are only counted", "address", address, "error", err.Error())
	}
	return nil
}

// take takes in what an account did, once.
func (m *making) take(ctx context.Context, of *trader, did *traderfacts.Did) error {
	if m.made[of.Address] {
		return nil
	}
	if did.Broken != nil {
		m.past.leave(of.Address)
		return nil //nolint:nilerr // which is noted
	}
	if of.Did != nil {
		times := make([][]market.BuilderFacts, len(traderfields.Periods))
		for n, p := range traderfields.Periods {
			times[n] = of.Did[p].Did.Builders
		}
		m.routes.Set(of.Address, times...)
	}
	return m.past.add(ctx, of.Address, did)
}

// from is when a period begins, ms, where the hour that runs ends at a time: so many days of full
// hours before that hour. All time begins at 0.
func from(p traderfields.Period, end int64) int64 {
	if p == traderfields.AllTime {
		return 0
	}
	return end - hourMs - int64(p)*24*hourMs
}

// setWorth sets what the account was worth at the ends of each period, up to the last full hour, and
// how its value fell, up to a time, ms.
func (t *trader) setWorth(stats *accountstats.WithCurve, hour, ms int64) {
	t.Worth, t.Fell = map[traderfields.Period]traderfields.Worth{}, map[traderfields.Period]*market.Drawdown{}
	for _, p := range traderfields.Periods {
		begin := from(p, hour+hourMs)
		if p != traderfields.AllTime {
			t.Worth[p] = traderfields.WorthOf(stats.Curve, &stats.Venue, begin, hour)
		}
		if d, known := market.MaxDrawdown(stats.Worth(nil, market.ScopePerp, begin, ms).Values); known {
			t.Fell[p] = &d
		}
	}
}

// setDid sets what the account did in each period, up to the end of the hour that runs, ms.
func (t *trader) setDid(did *traderfacts.Did, end int64) {
	t.Did = map[traderfields.Period]*market.Window{}
	for _, p := range traderfields.Periods {
		w := market.Window{Did: did.AllTime()}
		if p != traderfields.AllTime {
			w = did.Within(from(p, end), end)
		}
		t.Did[p] = &w
	}
}
