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
	until   int64  // as [hotRow] has it
	busy    bool   // likewise
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
	ever := t.Did[traderfields.AllTime]
	return ever != nil && (t.busy || ms-ever.Did.Placed.Last < 24*hourMs)
}

// making makes the rows of a version.
type making struct {
	*Work
	previous tablefile.Manifest // the version before
	hour     int64              // that runs, ms
	whole    bool               // a new one has begun: all hot rows are made anew
	until    int64              // up to when all is stored that accounts did, ms, where that comes some time later; else 0
	wanted   addresses          // who is made anew
	moved    addresses          // who is not, but for what changes while it does nothing; true of who holds something else

	at       *prices
	ms       int64                    // as of when
	hot      map[table.Address]hotRow // it is noted who is, and who no more
	past     *history                 // takes in what accounts did, once
	routes   *routes.Routes           // likewise
	made     addresses
	rerouted bool // what builders routed has changed
}

// move makes of the rows of those who are moved what changes while an account does nothing. Who is hot no
// more by that is wanted.
func (m *making) move(ctx context.Context) (*traders.Rows, error) {
	rows := &traders.Rows{Which: (*traderfields.Field).Moves}
	sorted := slices.SortedFunc(maps.Keys(m.moved), market.CompareAccounts)
	for some := range slices.Chunk(sorted, atOnce) {
		read, err := m.readHeld(ctx, some, m.stateOf)
		if err != nil {
			return nil, err
		}
		placed, err := traderfacts.ReadPlaced(ctx, m.Series, textsOf(some))
		if err != nil {
			return nil, fmt.Errorf("read which orders accounts placed: %w", err)
		}
		var list []traders.Trader
		for i := range read {
			one, row := &read[i], m.hot[read[i].Address]
			text := market.AddressOf(one.Address)
			orders := placed[text]
			if err := m.breaks(text, &one.broken, orders.Broken); err != nil {
				return nil, err
			}
			one.busy = row.busy
			one.Did = map[traderfields.Period]*market.Window{traderfields.AllTime: {Did: market.Facts{Placed: orders.Placed}}}
			switch {
			case one.broken:
			case one.isHot(m.ms):
				row.state = one.state
				m.hot[one.Address] = row
				list = append(list, one.Trader)
			default:
				m.wanted[one.Address] = true
			}
		}
		if err := rows.Add(list); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// stateOf is the state of an account as it was read for the last version, where it is the same by now.
func (m *making) stateOf(a table.Address) (store.Point, bool) {
	return m.hot[a].state, !m.moved[a]
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
	for _, a := range some {
		if row, isHot := m.hot[a]; isHot && m.broken[market.AddressOf(a)] {
			row.until = 0
			m.hot[a] = row
		} else {
			delete(m.hot, a)
		}
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
		if one.isHot(m.ms) {
			m.hot[one.Address] = hotRow{one.state, one.until, one.busy}
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
	list, err := m.readHeld(ctx, some, func(table.Address) (store.Point, bool) { return store.Point{}, false })
	if err != nil {
		return nil, err
	}
	end := market.Hour1.StartMs(m.ms) + hourMs // of the hour that runs
	known := make([]string, len(list))
	for i := range list {
		known[i] = market.AddressOf(list[i].Address)
	}
	i := 0
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

// readHeld is what those of some accounts hold that are known, and what they were worth, as far as that can be
// read. The state of an account is read where it is not at hand.
func (m *making) readHeld(ctx context.Context, some []table.Address, atHand func(table.Address) (store.Point, bool)) (list []trader, err error) {
	var keys []store.SeriesAt
	for _, a := range some {
		if _, ok := atHand(a); !ok {
			keys = append(keys, accounts.At(market.AddressOf(a)))
		}
	}
	states, err := m.Series.Load(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read the states of accounts: %w", err)
	}
	var known []string
	for _, a := range some {
		text := market.AddressOf(a)
		point, ok := atHand(a)
		if !ok {
			point, ok = states[accounts.At(text)]
		}
		if !ok {
			continue
		}
		one := trader{Trader: traders.Trader{Address: a, Trader: m.at.listed(a)}, state: point}
		state, err := accounts.Decode(text, point)
		if err == nil {
			one.Holds = m.at.summary(state, m.ms)
		}
		if err := m.breaks(text, &one.broken, err); err != nil {
			return nil, err
		}
		list, known = append(list, one), append(known, text)
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
			list[i].setWorth(&stats, m.hour, m.ms)
			m.past.value(list[i].Address, stats.Curve)
		}
		list[i].version = stats.Version
		i++
	}
	return list, nil
}

// textsOf are accounts as texts.
func textsOf(list []table.Address) []string {
	texts := make([]string, len(list))
	for i, a := range list {
		texts[i] = market.AddressOf(a)
	}
	return texts
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
	day := &t.Did[traderfields.Day].Did
	t.busy = day.Perp.All().Count+day.Spot.All().Count+day.Closed.All().Count+day.Filled.Count > 0
	t.until = untilOf(did, end)
}

// untilOf is the first hour behind the one that runs (which ends at a time, ms) in which something that an
// account did leaves a window, or comes into one; [market.MaxTime] where nothing does.
func untilOf(did *traderfacts.Did, end int64) int64 {
	until := int64(market.MaxTime)
	for _, hours := range [...]market.FactsByHour{did.Days, did.Hours} {
		for hour := range hours {
			if hour >= end {
				until = min(until, hour)
			}
			for _, p := range traderfields.Periods {
				if p != traderfields.AllTime && hour >= from(p, end) {
					until = min(until, hour+hourMs+int64(p)*24*hourMs)
				}
			}
		}
	}
	return until
}
