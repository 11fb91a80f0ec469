package market

import (
	"cmp"
	"slices"
)

// eachFlows is how many flows of a UTC day are kept one by one, those of one millisecond
// together. A day with more has one for each full hour, whichever order they came in: so a
// window is exact to the hour at its edge there, and to the millisecond else.
const eachFlows = 16

// FlowSum is what ledger updates moved into the two parts of an account less what they moved
// out, USDC. What moves between the parts by an update counts in both. What moves by none, as
// by a spot trade of an account of which balances stand behind positions, is in
// [Account.NetPerp] and [Account.NetSpot], and not in here.
type FlowSum struct {
	Count      int64 // of the updates that moved something
	Perp, Spot Decimal
}

// Flow is what came in and left at a time.
type Flow struct {
	Time int64 // ms; of more than one, that of the newest
	FlowSum
}

func (s *FlowSum) add(o FlowSum) {
	s.Count, s.Perp, s.Spot = s.Count+o.Count, s.Perp.Add(o.Perp), s.Spot.Add(o.Spot)
}

// Flow takes in what a ledger update moved into the perpetuals of the account and into its
// spot part, negative of what it moved out, USDC.
func (s *TraderStats) Flow(ms int64, perp, spot Decimal) {
	if perp.IsZero() && spot.IsZero() {
		return
	}
	one := Flow{ms, FlowSum{1, perp, spot}}
	s.Flows.add(one.FlowSum)
	if d := s.day(ms); d != nil {
		d.flow(one)
	}
}

// flow adds a flow to those of the day.
func (d *TradingDay) flow(one Flow) {
	width := int64(1) // of what is kept as one, ms
	if d.FlowsByHour {
		width = hourMs
	}
	at, known := slices.BinarySearchFunc(d.Flows, one.Time/width, func(f Flow, n int64) int { return cmp.Compare(f.Time/width, n) })
	if known {
		d.Flows[at].Time = max(d.Flows[at].Time, one.Time)
		d.Flows[at].add(one.FlowSum)
		return
	}
	if d.Flows = slices.Insert(d.Flows, at, one); !d.FlowsByHour && len(d.Flows) > eachFlows {
		d.joinFlows()
	}
}

// joinFlows keeps the flows of the day by full hours from now on.
func (d *TradingDay) joinFlows() {
	each := d.Flows
	d.Flows, d.FlowsByHour = nil, true
	for _, one := range each {
		d.flow(one)
	}
}

// mergeFlows adds the flows of a day to those of a day.
func (d *TradingDay) mergeFlows(of *TradingDay) {
	if of.FlowsByHour && !d.FlowsByHour {
		d.joinFlows()
	}
	for _, one := range of.Flows {
		d.flow(one)
	}
}

// NetFlow sums up what came in and left after from and up to to, ms, of the days that are
// kept; [TraderStats.Flows] is of all time.
func (s *TraderStats) NetFlow(from, to int64) (sum FlowSum) {
	for i := range s.Days {
		for _, one := range s.Days[i].Flows {
			if one.Time > from && one.Time <= to {
				sum.add(one.FlowSum)
			}
		}
	}
	return sum
}
