package perp

import (
	"math/big"
	"slices"
	"time"

	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/fills"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/testing/must"
	"quotary/shared/traderfields"
	"quotary/shared/traderfields/fieldstest"
)

// tabledTrader is a trader by the rows of logs and of its curve, and by what the venue says of it.
type tabledTrader struct {
	did   *markettest.Deeds
	curve market.Curve
	venue market.VenueCurve
	held  *fieldstest.Held
	told  bool // held is what the venue says

	address string
	other   *[]string      // the other venues on which it trades; nil where they are not known
	vaults  []market.Vault // all of the venue
}

// within is what there is of the trader in a period that ends with the hour that runs, ms.
func (of *tabledTrader) within(p traderfields.Period, hour int64) *fieldstest.Events {
	from := hour - int64(p)*dayMs
	if p == traderfields.AllTime {
		from = 0
	}
	return &fieldstest.Events{Deeds: of.did.Within(from, hour+hourMs), Curve: of.curve, Venue: of.venue, From: from, Hour: hour, Holds: of.held, Address: of.address, Vaults: of.vaults, Other: of.other}
}

// traders are all that are in a log.
func (g *tabled) traders() map[string]*tabledTrader {
	t := g.sim.t
	t.Helper()
	all, vaults := map[string]*tabledTrader{}, g.sim.vaults()
	for address, did := range g.deeds() {
		all[address] = &tabledTrader{did: did, address: address, vaults: vaults, other: g.others[address]}
	}
	for _, o := range g.placed {
		if of := all[o.Address]; of != nil {
			of.did.Placed = append(of.did.Placed, o)
		}
	}
	d := g.load()
	var err error
	if d.accounts, err = accounts.Load(t.Context(), g.stores.Series, sorted(all)...); err != nil {
		t.Fatal(err)
	}
	for address, of := range all {
		for f := range must.All(t, fills.ByBuilder(t.Context(), g.stores.Log, address, time.Time{}, 0)) {
			of.did.Routed = append(of.did.Routed, f)
		}
		for stats := range must.All(t, accountstats.ReadCurves(t.Context(), g.stores.Series, []string{address})) {
			if stats.TraderStats == nil {
				continue
			}
			of.curve, of.venue = slices.Clone(stats.Curve), stats.Venue
			for _, day := range stats.Days {
				of.did.Flows = append(of.did.Flows, day.Flows...)
			}
		}
		if of.told = d.isTold(address); of.told {
			of.held = d.heldAtVenue(address)
		} else {
			of.held = fieldstest.HeldBy(d.accounts[address], d.markets, d.marks, 0)
		}
	}
	return all
}

// heldAtVenue is what an account holds as the venue says it, but for what it says nobody: how an account is
// worth whose mode has changed or has no rules, and what tokens cost that came back out of lending.
func (d *derived) heldAtVenue(address string) *fieldstest.Held {
	a, truth := d.accounts[address], d.sim.venue.TruthOf(address)
	stored := fieldstest.HeldBy(a, d.markets, d.marks, 0)
	said := &fieldstest.Held{Perp: stored.Perp, Spot: stored.Spot, Margins: a.Mode.Explained()}
	if truth.Modes == 0 {
		said.Spot = big.NewRat(truth.SpotValue, 1_000_000)
	}
	if truth.Modes == 0 && a.Mode != market.ModeOther {
		said.Perp = big.NewRat(truth.PerpValue, 1_000_000)
	}
	said.Balances(d.sim.balances(address))
	if stored.Paid == nil {
		said.Paid = nil
	}
	for _, lent := range []map[string]int64{truth.Supplied, truth.Borrowed} {
		for _, amount := range lent {
			if amount != 0 {
				said.Paid = stored.Paid
			}
		}
	}
	for _, dex := range d.sim.dexes {
		for _, p := range d.sim.state(address, dex).Positions {
			said.Positions = append(said.Positions, fieldstest.PositionOf(&p, d.sim.markets, d.marks))
		}
	}
	return said
}
