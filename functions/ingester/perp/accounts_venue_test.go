package perp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quagmt/udecimal"

	"quotary/shared/data/openorders"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// figure names a figure of an account.
type figure struct{ coin, field string }

// figuresOf are the figures of an account as texts, to the last digit.
func figuresOf(states []market.AccountState, balances []market.SpotBalance) map[figure]string {
	all := map[figure]string{}
	for i := range states {
		s := &states[i]
		set := func(coin, field string, d market.Decimal) { all[figure{coin, field}] = market.Text(d) }
		for name, m := range map[string]*market.MarginSummary{"margin": &s.Margin, "cross margin": &s.CrossMargin} {
			set(s.Dex, name+" account value", m.AccountValue)
			set(s.Dex, name+" total notional", m.TotalNtlPos)
			set(s.Dex, name+" total raw usd", m.TotalRawUsd)
			set(s.Dex, name+" total margin used", m.TotalMarginUsed)
		}
		set(s.Dex, "cross maintenance", s.CrossMaintenance)
		set(s.Dex, "withdrawable", s.Withdrawable)
		for j := range s.Positions {
			p := &s.Positions[j]
			all[figure{p.Coin, "place"}] = fmt.Sprint(j)
			all[figure{p.Coin, "leverage"}] = fmt.Sprint(p.Leverage, " of ", p.MaxLeverage)
			for field, d := range map[string]market.Decimal{
				"size": p.Szi, "raw usd": p.RawUsd, "entry price": p.EntryPx, "position value": p.PositionValue, "unrealized pnl": p.UnrealizedPnl,
				"return on equity": p.ReturnOnEquity, "liquidation price": p.LiquidationPx, "margin used": p.MarginUsed,
				"funding all time": p.FundingAllTime, "funding since open": p.FundingSinceOpen, "funding since change": p.FundingSinceChange,
			} {
				set(p.Coin, field, d)
			}
		}
	}
	for i, b := range balances {
		all[figure{b.Coin, "balance"}] = fmt.Sprint("the ", i, ". ", market.Text(b.Total), ", entry ", market.Text(b.EntryNtl), ", lent ", market.Text(b.Lent), ", token ", b.Token)
		all[figure{b.Coin, "hold"}] = market.Text(b.Hold)
	}
	return all
}

// differ lists which figures differ, as "<coin> <field>: <got>, the venue says <want>".
func differ(got, want map[figure]string) (list []string) {
	for f := range want {
		if _, ok := got[f]; !ok {
			got[f] = "unknown"
		}
	}
	for f, have := range got {
		if want, ok := want[f]; !ok {
			list = append(list, fmt.Sprintf("%q %s: %s, of which the venue says nothing", f.coin, f.field, have))
		} else if have != want {
			list = append(list, fmt.Sprintf("%q %s: %s, the venue says %s", f.coin, f.field, have, want))
		}
	}
	slices.Sort(list)
	return list
}

// eventsOf lists the events of a batch by account, as a failure shows them.
func eventsOf(b *Batch) map[string][]string {
	all := map[string][]string{}
	for i := range b.Payments {
		p := &b.Payments[i]
		all[p.Address] = append(all[p.Address], fmt.Sprintf("%d %s funding %s for %s", p.Time, p.Coin, p.USDC, p.Szi))
	}
	for i := range b.Ledgers {
		l := &b.Ledgers[i]
		all[l.Address] = append(all[l.Address], fmt.Sprintf("%d ledger %s", l.Time, l.Delta))
	}
	for i := range b.Fills {
		f := &b.Fills[i]
		if f.Address == simDuster {
			continue
		}
		all[f.Address] = append(all[f.Address], fmt.Sprintf("%d %s fill %s %s@%s from %s, %s, pnl %s, fee %s %s, tid %d", f.Time, f.Coin, f.Side, f.Sz, f.Px, f.StartPosition, f.Dir, f.ClosedPnl, f.Fee, f.FeeToken, f.Tid))
	}
	return all
}

// derived is what the product knows of all accounts, to be compared with the venue.
type derived struct {
	sim      *simVenue
	accounts map[string]*market.Account
	trades   []*market.CompletedTrade
	markets  *market.Markets
	marks    market.Marks
	reserves openorders.Reserves
	stats    map[string]*market.TraderStats

	parted    map[string]bool           // accounts whose mode changed there and back unseen, or while they traded: which tokens stand behind positions is not known
	funds     map[string]market.Decimal // USDC deposited less withdrawn, by account
	flows     map[market.Mode]int64     // how many were compared, by the mode of their account
	payments  map[payee]payment
	hours     map[int64]market.Marks    // at which the points of curves are valued, by the full hour, ms
	lent      map[[2]string]bool        // tokens of accounts that came back out of lending: nobody tells what they cost, and of a part that was sold, rounded, not all
	netBefore map[string]market.Decimal // what had come into the perpetuals of an account before its mode was known, less what the venue says
}

// reducing are the orders of an account in perps that only reduced a position and were
// filled, by their ids, and whether each was one that takes a profit or stops a loss.
type reducing map[int64]bool

func (r reducing) add(o *market.OrderStatus) {
	if o.Status == "filled" && o.ReduceOnly && !strings.HasPrefix(o.Coin, "@") && !strings.Contains(o.Coin, "/") {
		r[o.Oid] = o.IsTrigger || o.IsPositionTpsl
	}
}

// checkReducing compares what is counted of such orders of all accounts with a list of
// them, and returns how many of these took a profit or stopped a loss.
func (d *derived) checkReducing(of map[string]reducing) (marked int64) {
	d.sim.t.Helper()
	for address, orders := range of {
		var want int64
		for _, tpsl := range orders {
			if tpsl {
				want++
			}
		}
		marked += want
		if stats := d.stats[address]; stats == nil {
			d.sim.t.Errorf("account %s has no statistics", address)
		} else if did := stats.Active(0, 1<<40); did.ReduceOnly != int64(len(orders)) || did.TakeProfitStop != want {
			d.sim.t.Errorf("account %s: %d reducing orders are counted, %d of them marked, of %d and %d", address, did.ReduceOnly, did.TakeProfitStop, len(orders), want)
		}
	}
	return marked
}

// pure folds accounts without an ingester: the arithmetic alone.
type pure struct {
	derived
	orders *market.OpenOrders
	events int
	kinds  map[string]int // of the events
}

// add folds what happened in a block, and anchors the accounts that are new.
func (p *pure) add(b *Batch) {
	t := p.sim.t
	t.Helper()
	p.events += len(b.Payments) + len(b.Ledgers) + len(b.Fills)
	fresh := map[string]bool{}
	of := func(address string) *market.Account {
		if p.accounts[address] == nil {
			p.accounts[address], fresh[address] = &market.Account{Address: address}, true
		}
		return p.accounts[address]
	}
	taken := func(got market.Outcome, what any) {
		if got != market.Applied {
			t.Errorf("%s: %+v", got, what)
		}
	}
	for i := range b.Payments {
		taken(of(b.Payments[i].Address).Payment(&b.Payments[i], p.sim.markets), b.Payments[i])
		p.kinds["funding"]++
	}
	for i := range b.Ledgers {
		l := &b.Ledgers[i]
		if got := of(l.Address).Ledger(l, p.sim.markets, p.marks); got == market.Unknown && untold[l.Type] {
			delete(p.netBefore, l.Address)
		} else {
			taken(got, *l)
		}
		p.kinds[l.Type]++
		if l.USDC != "" {
			amount := udecimal.MustParse(l.USDC)
			if l.Funds == market.LedgerWithdraw {
				amount = amount.Neg()
			}
			p.funds[l.Address] = p.funds[l.Address].Add(amount)
		}
	}
	for i := range b.Orders {
		p.orders.Add(&b.Orders[i], false)
	}
	for i := range b.Fills {
		f := &b.Fills[i]
		p.orders.AddFill(f, false)
		if f.Address == simDuster {
			continue
		}
		a := of(f.Address)
		p.count(f, a)
		got, trade := a.Fill(f, p.sim.markets, p.marks)
		taken(got, *f)
		if trade != nil {
			p.trades = append(p.trades, trade)
		}
	}
	for address, changes := range p.sim.adjusted(b) {
		p.kinds["leverage change"] += int(changes.leverage)
		p.kinds["margin added"] += int(changes.marginIn)
		p.kinds["margin removed"] += int(changes.marginOut)
		p.kinds["mode change"] += int(changes.mode)
		if !fresh[address] {
			p.anchorAgain(address, changes.untold > 0 || changes.mode > 1)
			traded := slices.ContainsFunc(b.Fills, func(f market.Fill) bool { return f.Address == address && !market.IsSpot(f.Coin) })
			p.parted[address] = p.parted[address] || changes.mode > 1 || changes.mode == 1 && traded
		}
	}
	for address := range fresh {
		anchor := p.sim.anchor(address)
		p.accounts[address].Anchor(&anchor, p.sim.markets, p.sim.marks())
	}
	p.marks, p.reserves.Coins = p.sim.marks(), map[string]openorders.ReserveColumn{}
	for _, coin := range p.orders.Rank(true) {
		if len(coin.Reserves) > 0 {
			p.reserves.Coins[coin.Coin] = openorders.NewReserveColumn(coin.Reserves)
		}
	}
}

// count counts a fill by its kind and by what it does to a position of a.
func (p *pure) count(f *market.Fill, a *market.Account) {
	mode := "cross"
	h, _ := a.Holding(f.Coin)
	if h.Leverage.Isolated {
		mode = "isolated"
	}
	switch {
	case f.Dir == "Auto-Deleveraging":
		p.kinds[mode+" "+f.Dir]++
	case f.Liquidation != nil:
		p.kinds["liquidation by "+f.Liquidation.Method]++
	default:
		p.kinds[f.Dir]++
	}
	switch start, end := udecimal.MustParse(f.StartPosition), f.EndPosition(); {
	case market.IsSpot(f.Coin) || start.IsZero():
	case f.Opens():
		p.kinds[mode+" flip"]++
	case end.Abs().Cmp(start.Abs()) > 0:
		p.kinds[mode+" add"]++
	case !end.IsZero():
		p.kinds[mode+" partial close"]++
	}
}

// anchorAgain takes over what the venue says of an account that changed a leverage, an
// isolated margin or its mode, and requires that only these differ, and no money comes of it,
// but where something happened to its money that no rule tells.
func (p *pure) anchorAgain(address string, money bool) {
	t := p.sim.t
	t.Helper()
	anchor := p.sim.anchor(address)
	moved := map[string]market.Decimal{} // by dex
	differences, _ := p.accounts[address].Anchor(&anchor, p.sim.markets, p.sim.marks())
	for _, d := range differences {
		switch d.Field {
		case "leverage":
		case "balance", "lent":
			if !money {
				t.Errorf("account %s has another balance: %+v", address, d)
			}
		case "margin":
			moved[market.DexOf(d.Coin)] = moved[market.DexOf(d.Coin)].Add(d.Actual).Sub(d.Folded)
		case "cash":
			moved[d.Coin] = moved[d.Coin].Add(d.Actual).Sub(d.Folded)
		default:
			t.Errorf("account %s changed a position: %+v", address, d)
		}
	}
	for dex, sum := range moved {
		if !sum.IsZero() && !money && !p.accounts[address].Mode.Joint() { // where margins are a part of the balance
			t.Errorf("account %s moved %s more into isolated positions of dex %q than out of its cash", address, sum, dex)
		}
	}
}

// isTold reports whether an account is one that can be compared: it stands for no other chain,
// and nothing happened to it of which nobody was told.
func (d *derived) isTold(address string) bool {
	return d.sim.venue.TruthOf(address).Joined && d.sim.adjustments(address) == d.sim.changes[address]
}

// check compares an account with what the venue says, and returns what differs.
func (d *derived) check(address string) []string {
	if !d.isTold(address) {
		return nil
	}
	a := d.accounts[address]
	if a == nil {
		return []string{"it is not known"}
	}
	var got, want []market.AccountState
	for _, dex := range d.sim.dexes {
		said := d.sim.state(address, dex)
		want = append(want, said)
		got = append(got, a.State(dex, d.markets, d.marks, said.Time))
	}
	reserves, err := d.reserves.Reserved(address)
	if err != nil {
		d.sim.t.Error(err)
	}
	balances, known := a.Balances(d.markets, d.marks, reserves)
	if !known {
		d.sim.t.Errorf("the balances of account %s are not known", address)
	}
	venue := d.sim.balances(address)
	for i := range balances {
		b := &balances[i]
		of := [2]string{address, b.Coin}
		if b.NoCost {
			if d.lent == nil {
				d.lent = map[[2]string]bool{}
			}
			d.lent[of] = true
		}
		if d.lent[of] && i < len(venue) && venue[i].Coin == b.Coin {
			b.EntryNtl = venue[i].EntryNtl
		}
	}
	have, said := figuresOf(got, balances), figuresOf(want, venue)
	unknownIn(a.Mode, got, have)
	unknownIn(a.Mode, got, said)
	list := differ(have, said)
	for i := range got { // which clients would get as null
		if s := &got[i]; s.Unfunded || s.Unvalued && a.Mode == market.ModeStandard {
			list = append(list, fmt.Sprintf("what it has in dex %q is not known: unfunded %t, unvalued %t", s.Dex, s.Unfunded, s.Unvalued))
		}
	}
	return append(list, d.inTable(a, got)...)
}

// inTable compares the positions of an account in the table of all with its states, and returns
// what differs.
func (d *derived) inTable(a *market.Account, states []market.AccountState) []string {
	var all market.Positions
	all.SetAccount(a, d.markets)
	table := all.Table(0).Mark(d.markets, d.marks)
	got, want := map[figure]string{}, map[figure]string{}
	for i, row := range table.Rows {
		coin, v := &table.Coins[row.Coin], &table.Values[i]
		leverage, _ := table.Leverage(i)
		entry, _ := table.EntryPx(i)
		got[figure{coin.Coin, "in the table"}] = fmt.Sprint(market.Leverage{Isolated: table.Isolated(i), Value: leverage}, table.Size(i), entry, v.Value.Decimal(), v.Unrealized.Decimal(), v.Used.Decimal(), row.Funding.Decimal())
		if v.Known {
			got[figure{coin.Coin, "liquidation price in the table"}] = market.Text(coin.Price(v.LiquidationPx))
		}
	}
	for i := range states {
		for _, p := range states[i].Positions {
			want[figure{p.Coin, "in the table"}] = fmt.Sprint(p.Leverage, p.Szi, p.EntryPx, p.PositionValue, p.UnrealizedPnl, p.MarginUsed, p.FundingSinceOpen)
			if p.Leverage.Isolated || a.Mode == market.ModeStandard || a.Mode == market.ModeUnified {
				want[figure{p.Coin, "liquidation price in the table"}] = market.Text(p.LiquidationPx)
			}
		}
	}
	return differ(got, want)
}

// unknownIn leaves out the figures that a mode does not let anyone know, and those that the
// venue alone can tell.
func unknownIn(mode market.Mode, states []market.AccountState, all map[figure]string) {
	if mode == market.ModeStandard {
		return
	}
	for i := range states {
		s := &states[i]
		for _, name := range []string{"margin", "cross margin"} {
			delete(all, figure{s.Dex, name + " account value"})
			delete(all, figure{s.Dex, name + " total raw usd"})
			if !mode.Explained() {
				delete(all, figure{s.Dex, name + " total margin used"})
			}
		}
		delete(all, figure{s.Dex, "withdrawable"})
		if !mode.Explained() {
			delete(all, figure{s.Dex, "cross maintenance"})
		}
		for k := range s.Positions {
			if p := &s.Positions[k]; mode != market.ModeUnified && !p.Leverage.Isolated {
				delete(all, figure{p.Coin, "liquidation price"})
			}
		}
	}
	if mode == market.ModePortfolio {
		for f := range all {
			if f.field == "hold" {
				delete(all, f)
			}
		}
	}
}

// longBlock is the longest step that is one block: no marks come and go within it.
const longBlock = 4 * time.Minute

// beforeHour is how long before a full hour blocks are quick again.
const beforeHour = time.Second

// steps make a venue go on until there is enough: quick blocks, then long ones to just before
// the next hour, and quick ones over it and at the end, which have fills behind the hour's
// funding, the last one too.
func steps(sim *simVenue, enough func() bool, each func(*Batch)) {
	quick := func() {
		for range 20 {
			each(sim.step(520 * time.Millisecond)) // a block or two
		}
	}
	for quick(); !enough(); quick() {
		hour := sim.venue.Now().Truncate(time.Hour).Add(time.Hour)
		for left := hour.Sub(sim.venue.Now()) - beforeHour; left > 0; left = hour.Sub(sim.venue.Now()) - beforeHour {
			d := min(left, longBlock)
			if rest := left - d; rest > 0 && rest < time.Minute {
				d = left / 2
			}
			each(sim.step(max(d, 520*time.Millisecond)))
		}
		for sim.venue.Now().Before(hour) {
			each(sim.block())
		}
	}
	for filled := false; !filled; {
		b := sim.step(520 * time.Millisecond)
		each(b)
		filled = len(b.Fills) > 0
	}
}

// leastKinds is how many of each kind there must be for a comparison to show anything.
var leastKinds = map[string]int{
	"Open Long": 100, "Open Short": 100, "Close Long": 100, "Close Short": 100, "Long > Short": 10, "Short > Long": 10,
	"cross flip": 10, "cross add": 50, "cross partial close": 50,
	"isolated flip": 4, "isolated add": 10, "isolated partial close": 10,
	"leverage change": 20, "margin added": 4, "margin removed": 4,
	"liquidation": 10, "liquidation by market": 10, "liquidation by backstop": 6,
	"cross Auto-Deleveraging": 6, "isolated Auto-Deleveraging": 2,
	"Buy": 50, "Sell": 50, "Spot Dust Conversion": 2,
	"funding": 500, "deposit": 50, "withdraw": 2, "accountClassTransfer": 10, "internalTransfer": 2, "send": 5, "spotGenesis": 2,
}

// TestAccountsAreWhatTheVenueSays folds what a node writes of a simulated venue over one
// anchor an account, and another each time it changed a leverage or an isolated margin,
// of which no stream tells. It compares every account that has changed after every block with
// what the venue says of it, and all accounts now and then.
func TestAccountsAreWhatTheVenueSays(t *testing.T) {
	t.Parallel()
	sim := newSimVenue(t, 14, testenv.Amount(120, 400), false)
	p := &pure{derived: derived{sim: sim, accounts: map[string]*market.Account{}, markets: sim.markets, parted: map[string]bool{}, funds: map[string]market.Decimal{}}, orders: new(market.OpenOrders), kinds: map[string]int{}}
	enough := testenv.Amount(5_000, 100_000)
	block := 0
	steps(sim, func() bool { return p.events >= enough || t.Failed() }, func(b *Batch) {
		if t.Failed() {
			return
		}
		p.add(b)
		block++
		events := eventsOf(b)
		for _, address := range slices.Sorted(maps.Keys(events)) {
			if list := p.check(address); len(list) > 0 {
				t.Fatalf("after event %d, account %s differs:\n%s\nsince its events\n%s", p.events, address, strings.Join(list, "\n"), strings.Join(events[address], "\n"))
			}
		}
	})
	for address := range p.accounts {
		if list := p.check(address); len(list) > 0 {
			t.Errorf("at the end, account %s differs:\n%s", address, strings.Join(list, "\n"))
		}
	}
	p.sums()
	if n := p.checkEarned(); n < 100 {
		t.Errorf("what %d accounts earned was compared", n)
	}
	t.Logf("%d blocks, %d events, %d accounts, %d trades", block, p.events, len(p.accounts), len(p.trades))
	for kind, least := range leastKinds {
		if least *= testenv.Amount(1, 4); p.kinds[kind] < least {
			t.Errorf("%d of kind %q happened, wanted are %d", p.kinds[kind], kind, least)
		}
	}
	t.Log(p.kinds)
}

// leastModes is how many of each kind of what belongs to modes there must be.
var leastModes = map[string]int{
	"mode change": 4, "borrowLend": 2, "activateDexAbstraction": 1, "simulatedGrant": 2, "spotTransfer": 10, "send": 20, "funding": 500,
	"Open Long": 50, "Close Short": 50, "Buy": 20, "Sell": 20, "isolated add": 2, "liquidation": 2, "margin added": 1,
}

// TestAccountsInEveryModeAreWhatTheVenueSays does the same with accounts in every mode, which
// trade in three dexes with two collaterals, change their modes, borrow and lend. Each is
// anchored anew after what no stream tells, and after ledger updates of which no rule tells.
func TestAccountsInEveryModeAreWhatTheVenueSays(t *testing.T) {
	t.Parallel()
	sim := newSimVenue(t, 17, testenv.Amount(120, 400), true)
	p := &pure{derived: derived{sim: sim, accounts: map[string]*market.Account{}, markets: sim.markets, parted: map[string]bool{}, funds: map[string]market.Decimal{}, netBefore: map[string]market.Decimal{}}, orders: new(market.OpenOrders), kinds: map[string]int{}}
	enough := testenv.Amount(20_000, 200_000)
	modes := map[market.Mode]int{}
	steps(sim, func() bool { return p.events >= enough || t.Failed() }, func(b *Batch) {
		if t.Failed() {
			return
		}
		p.add(b)
		events := eventsOf(b)
		for _, address := range slices.Sorted(maps.Keys(events)) {
			modes[p.accounts[address].Mode]++
			list := append(p.check(address), p.checkMoney(address)...)
			if len(list) > 0 {
				t.Fatalf("after event %d, account %s in mode %s differs:\n%s\nsince its events\n%s", p.events, address, sim.venue.TruthOf(address).Mode, strings.Join(list, "\n"), strings.Join(events[address], "\n"))
			}
		}
	})
	if t.Failed() {
		return
	}
	p.sums()
	t.Log(p.events, "events,", len(p.accounts), "accounts;", modes, p.kinds)
	for kind, least := range leastModes {
		if p.kinds[kind] < least {
			t.Errorf("%d of kind %q happened, wanted are %d", p.kinds[kind], kind, least)
		}
	}
	for _, mode := range []market.Mode{market.ModeStandard, market.ModeUnified, market.ModePortfolio, market.ModeOther} {
		if modes[mode] < 20 {
			t.Errorf("accounts in mode %d were compared %d times", mode, modes[mode])
		}
	}
}

// checkMoney compares what the two parts of an account are worth with the venue's books, and in
// modes in which balances stand behind positions what is left of them.
func (d *derived) checkMoney(address string) (list []string) {
	if !d.isTold(address) || d.parted[address] {
		return nil
	}
	a, truth := d.accounts[address], d.sim.venue.TruthOf(address)
	perp, perpKnown := a.PerpValue(d.markets, d.marks)
	spot, spotKnown := a.SpotValue(d.markets, d.marks)
	differs := func(what string, got, want market.Decimal, known bool) {
		if !known || !got.Equal(want) {
			list = append(list, fmt.Sprintf("%s: %s, known %t, the venue says %s", what, got, known, want))
		}
	}
	if a.Mode != market.ModeOther {
		differs("value of the perpetuals", perp, millionths(truth.PerpValue), perpKnown)
	} else if perpKnown {
		list = append(list, "the value of the perpetuals is known, in a mode that nobody explains")
	}
	differs("what was deposited less withdrawn", d.funds[address], millionths(truth.Deposited-truth.Withdrawn), true)
	differs("value of the spot part", spot, millionths(truth.SpotValue), spotKnown)
	if truth.Modes == 0 && a.Mode != market.ModeOther { // since the mode is known
		if _, ok := d.netBefore[address]; !ok {
			d.netBefore[address] = a.NetPerp.Sub(millionths(truth.NetPerp))
		}
		differs("what came into the perpetuals", a.NetPerp.Sub(d.netBefore[address]), millionths(truth.NetPerp), true)
	}
	if !a.Mode.Joint() {
		return list
	}
	var said struct{ TokenToAvailableAfterMaintenance [][2]any }
	must.Do(d.sim.t, json.Unmarshal(d.sim.askOf("spotClearinghouseState", address, ""), &said))
	left := map[string]string{}
	for _, one := range said.TokenToAvailableAfterMaintenance {
		left[fmt.Sprint(one[0])] = fmt.Sprint(one[1])
	}
	balances, _ := a.Balances(d.markets, d.marks, nil)
	for _, b := range balances {
		if want, ok := left[fmt.Sprint(b.Token)]; ok != b.Backs || ok && want != market.Text(b.AfterMaintenance) {
			list = append(list, fmt.Sprintf("%s after maintenance: %s, backs %t, the venue says %s", b.Coin, market.Text(b.AfterMaintenance), b.Backs, want))
		}
	}
	return list
}

// sums compares what was realised, paid and traded with the venue's books, by account
// and coin.
func (d *derived) sums() {
	t := d.sim.t
	t.Helper()
	type key struct{ address, coin string }
	type sum struct{ pnl, fees, funding market.Decimal }
	sums := map[key]*sum{}
	add := func(address, coin string, pnl, fees, funding market.Decimal) {
		k := key{address, coin}
		if sums[k] == nil {
			sums[k] = new(sum)
		}
		s := sums[k]
		s.pnl, s.fees, s.funding = s.pnl.Add(pnl), s.fees.Add(fees), s.funding.Add(funding)
	}
	for _, trade := range d.trades {
		add(trade.Address, trade.Coin, trade.Pnl, trade.Fee, trade.Funding)
	}
	for address, a := range d.accounts {
		for i := range a.Holdings {
			if h := &a.Holdings[i]; h.Open != nil {
				add(address, h.Coin, h.Open.Pnl, h.Open.Fee, h.Open.FundingSinceOpen.Neg())
			}
		}
	}
	for _, address := range d.sim.venue.Truth().Addresses {
		d.volumes(address)
		truth := d.sim.venue.TruthOf(address)
		for i := range truth.Positions {
			want := &truth.Positions[i]
			got := sums[key{address, want.Coin}]
			if got == nil {
				got = new(sum)
			}
			for what, figure := range map[string][2]market.Decimal{
				"realised": {got.pnl, millionths(want.Realized)}, "fees": {got.fees, millionths(want.Fees)}, "funding received": {got.funding, millionths(-want.Funding)},
			} {
				if !figure[0].Equal(figure[1]) {
					t.Errorf("account %s, %s, %s: %s, the venue says %s", address, want.Coin, what, figure[0], figure[1])
				}
			}
		}
	}
}

// checkEarned requires that what accounts in perpetuals earned, which is what they are worth
// less what came in, is what they realised and have unrealised, less fees, with funding. It
// returns of how many it did, which are those that never changed their mode and have one
// collateral.
func (d *derived) checkEarned() (compared int) {
	d.sim.t.Helper()
	earned := map[string]market.Decimal{}
	foreign := map[string]bool{}
	add := func(address, coin string, sums ...market.Decimal) {
		for _, sum := range sums {
			earned[address] = earned[address].Add(sum)
		}
		foreign[address] = foreign[address] || market.DexOf(coin) == simForeign
	}
	for _, trade := range d.trades {
		add(trade.Address, trade.Coin, trade.Pnl, trade.Fee.Neg(), trade.Funding)
	}
	for address, a := range d.accounts {
		for _, dex := range d.sim.dexes {
			for _, p := range a.State(dex, d.markets, d.marks, 0).Positions {
				add(address, p.Coin, p.UnrealizedPnl)
			}
		}
		for i := range a.Holdings {
			if h := &a.Holdings[i]; h.Open != nil {
				add(address, h.Coin, h.Open.Pnl, h.Open.Fee.Neg(), h.Open.FundingSinceOpen.Neg())
			}
		}
	}
	for address, a := range d.accounts {
		truth := d.sim.venue.TruthOf(address)
		if !d.isTold(address) || truth.Modes > 0 || a.Mode != market.ModeStandard || foreign[address] {
			continue
		}
		compared++
		worth, known := a.PerpValue(d.markets, d.marks)
		if got := worth.Sub(millionths(truth.NetPerp)); !known || !got.Equal(earned[address]) {
			d.sim.t.Errorf("account %s is worth %s more than came into its perpetuals, known %t, and earned %s by what it traded", address, got, known, earned[address])
		}
	}
	return compared
}

// volumes compares what an account traded by day with what the venue says: all its fills are in
// the node's files.
func (d *derived) volumes(address string) {
	t := d.sim.t
	t.Helper()
	stats := d.stats[address]
	if stats == nil {
		return
	}
	var fees struct {
		DailyUserVlm []struct{ Date, UserCross, UserAdd string }
	}
	must.Do(t, json.Unmarshal(d.sim.askOf("userFees", address, ""), &fees))
	for _, want := range fees.DailyUserVlm {
		day := must.Get(time.Parse(time.DateOnly, want.Date))(t)
		var got market.Activity
		for i := range stats.Days {
			if stats.Days[i].Day == day.Unix()/86_400 {
				got = stats.Days[i].Activity
			}
		}
		taken := got.Taken
		if made := got.Volume.Sub(taken); !taken.Equal(udecimal.MustParse(want.UserCross)) || !made.Equal(udecimal.MustParse(want.UserAdd)) {
			t.Errorf("account %s took %s and made %s on %s, the venue says %s and %s", address, taken, made, want.Date, want.UserCross, want.UserAdd)
		}
	}
}

// payee is who is paid funding at a full hour, ms.
type payee struct {
	address string
	hour    int64
}

// payment is what one is paid there, at the marks of the hour.
type payment struct {
	usdc    market.Decimal
	foreign bool // a part of it is in another token, so that usdc is not cut to a millionth
}

// checkCurves compares the curves of all accounts whose mode never changed with the portfolios
// of the venue, and returns how many points in which modes were compared. The venue takes a
// point behind the funding of its hour; a point of a curve is before all that happens at it.
//
// Both cut what a token other than USDC is worth to a millionth, one with the payments in it and
// one without. So the worth of these payments, which is not cut, is less than one millionth away
// from the difference of the two. Where nothing was paid in such a token they are equal.
//
// What the venue counts as come in where a token begins to back positions is worth the marks of
// that moment; in a curve it is worth those of the hour. This is the one difference, and known.
func (d *derived) checkCurves() map[market.Mode]int {
	d.sim.t.Helper()
	compared := map[market.Mode]int{}
	for address, stats := range d.stats {
		if truth := d.sim.venue.TruthOf(address); !d.isTold(address) || truth.Modes > 0 || d.sim.untold[address] > 0 {
			continue
		}
		windows := map[string]struct {
			AccountValueHistory, PnlHistory []venuePoint
		}{}
		var said [][2]json.RawMessage
		must.Do(d.sim.t, json.Unmarshal(d.sim.askOf("portfolio", address, ""), &said))
		for _, one := range said {
			window := windows[unquoted(one[0])]
			must.Do(d.sim.t, json.Unmarshal(one[1], &window))
			windows[unquoted(one[0])] = window
		}
		for name, scope := range map[string]market.Scope{"allTime": market.ScopeAll, "perpAllTime": market.ScopePerp} {
			var came *market.Micros // of what came in, as the venue counts it less as the curve does
			values := windows[name].AccountValueHistory
			for i, venue := range values[:max(0, len(values)-1)] { // the last one is of now
				hour := market.Hour1.StartMs(venue.ms)
				point, ok := stats.Curve.At(hour)
				if !ok || point.Time != hour {
					continue
				}
				got, ok := scope.Of(point)
				if !ok {
					continue
				}
				compared[d.accounts[address].Mode]++
				paid := d.payments[payee{address, hour}]
				if got := got.Value.Decimal().Add(paid.usdc); !got.Equal(venue.value) && (!paid.foreign || got.Sub(venue.value).Abs().Cmp(millionths(1)) >= 0) {
					d.sim.t.Errorf("account %s, %s, was worth %s at %d, the venue says %s", address, name, got, hour, venue.value)
				}
				in := market.MicrosOf(venue.value.Sub(windows[name].PnlHistory[i].value)) - got.NetIn
				if scope == market.ScopePerp {
					in -= d.revalued(address, hour)
				}
				if came != nil && in != *came {
					d.sim.t.Errorf("account %s, %s: %d millionths more came in until %d than the venue says", address, name, *came-in, hour)
				}
				came = &in
			}
		}
	}
	return compared
}

// revalued is by how much more came into the perpetuals of an account until a time, ms, as the
// venue counts what began to back positions than at the marks of the hours.
func (d *derived) revalued(address string, until int64) (more market.Micros) {
	d.sim.t.Helper()
	for _, b := range d.sim.venue.TruthOf(address).Backings {
		if b.Time >= until {
			break
		}
		worth, ok := d.sim.markets.Worth(b.Token, udecimal.MustFromInt64(b.Amount, 8), d.hours[market.Hour1.StartMs(b.Time)])
		if !ok {
			d.sim.t.Errorf("%s has no mark in the hour of %d", b.Token, b.Time)
		}
		more += market.Micros(b.Worth) - market.MicrosOf(worth)
	}
	return more
}

// venuePoint is a point of a portfolio.
type venuePoint struct {
	ms    int64
	value market.Decimal
}

// UnmarshalJSON reads [<ms>,"<value>"].
func (p *venuePoint) UnmarshalJSON(b []byte) error {
	var value string
	err := json.Unmarshal(b, &[]any{&p.ms, &value})
	if err == nil {
		p.value, err = udecimal.Parse(value)
	}
	return err
}

func unquoted(raw json.RawMessage) string { return strings.Trim(string(raw), `"`) }

// millionths is an amount of the venue's books.
func millionths(n int64) market.Decimal { return udecimal.MustFromInt64(n, 6) }
