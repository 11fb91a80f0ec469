package market

import (
	"cmp"
	"slices"
	"strings"
)

// StatDays is how far back [TraderStats] reaches.
const StatDays = 91 // UTC days, the newest included: what 90 days touch

// Of the newest eachDays days the completed trades are kept one by one, where a day
// has no more than eachTrades: then a window of up to 30 days is exact at its edges
// without its trades being read again.
const (
	eachDays   = 32
	eachTrades = 16
)

// TraderStats is how an account trades in perpetuals: what it did by UTC day, what it was
// worth at the newest full hours, and what all its completed trades and net flows come to.
// It is folded from the account's events, each given once and in the order in which they
// happened, and answers for any window without them. The zero value knows nothing.
//
// It is bounded: an account with 100,000 completed trades in 30 days takes about as
// much as one with 500, and one with any number of flows a day has 24 of them. What such an account completed at the edges of a window has to
// be read again: see [TraderStats.Within].
type TraderStats struct {
	Days          []TradingDay // in which something happened, oldest first
	Curve         Curve        // its newest points: the older ones are kept apart
	All           TradeReport  // every completed trade
	Flows         FlowSum      // every flow
	Began         int64        // ms of the account's first event, as [Account.Since] was when it was noted last; 0 before
	NetIn         Decimal      // what came into the perpetuals account less what left it, USDC
	NetSpot       Decimal      // likewise of the spot part
	Volume        Decimal      // of fills of perpetuals, quote units
	SpotVolume    Decimal      // likewise of spot
	Sampled       int64        // ms of the full hour up to which the curve was sampled
	CurveSince    int64        // ms before which points are of another curve: 0 for none
	Apart         int64        // ms up to which points are kept apart
	VenueUntil    int64        // ms up to which the venue's own curve is kept apart; 0 without it
	LastOrder     Order        // newest order that was counted; Tid is its id
	LastOperation int64        // newest fill or filled order, ms
}

// TradingDay is what an account did in one UTC day.
type TradingDay struct {
	Day int64 // since 1970-01-01
	Activity

	// Each are the trades that were completed, in the order of their ends; nil where
	// they are too many or too old to be kept one by one.
	Each []TradeEnd

	// Flows are what came in and left, oldest first and each of a time of its own; by
	// full hours where there are too many to be kept one by one.
	Flows       []Flow
	FlowsByHour bool
}

// Activity sums up what an account did in a time.
type Activity struct {
	Fills            int64   // of perpetuals
	Volume, Taken    Decimal // of fills, quote units, and of those that took
	SpotVolume       Decimal // of fills of spot, quote units
	SpotTaken        Decimal // and of those that took
	Fee              Decimal // of fills, quote units; negative is a rebate
	Wins, Losses     int64   // fills with a positive and a negative closedPnl
	Profit, Loss     Decimal // closedPnl of these, neither is negative
	AddOns           int64   // fills that added to a position of which the cost is known
	ProfitableAddOns int64   // those made while the position was in profit
	ReduceOnly       int64   // orders that were filled and could only reduce a position
	TakeProfitStop   int64   // those that took a profit or stopped a loss
	Deposits         Decimal // what came from outside the venue, USDC
	Active           int64   // days with a fill
	Trades           TradeSum
}

// TradeEnd is what a completed trade adds to a [TradeSum].
type TradeEnd struct {
	End      int64 // ms
	Long     bool
	Pnl      Decimal
	Orders   int64
	Duration int64 // ms
}

// AddOn is whether a fill added to a position, and how that stood.
type AddOn int

// What a fill may be.
const (
	NoAddOn         AddOn = iota // it opened, reduced, closed or turned a position, or the cost of the position is not known
	AddOnAtLoss                  // the position was not in profit
	ProfitableAddOn              // the position was in profit
)

// AddOnOf tells from the signed entry cost of the position before a fill: the sum of
// price x size of what opened it, negative of a short.
func AddOnOf(f *Fill, cost Decimal) AddOn {
	start := mustDecimal(f.StartPosition)
	if start.IsZero() || start.IsPos() != (f.Side == Buy) {
		return NoAddOn
	}
	if Notional(mustDecimal(f.Px), start).GreaterThan(cost) {
		return ProfitableAddOn
	}
	return AddOnAtLoss
}

// Fill takes a fill in. One of spot is an operation, has a volume and is nothing else, and rows
// without a trade id change nothing.
func (s *TraderStats) Fill(f *Fill, a AddOn) {
	if f.Tid == 0 {
		return
	}
	s.LastOperation = max(s.LastOperation, f.Time)
	notional, taken := f.Notional(), Decimal{}
	if f.Crossed {
		taken = notional
	}
	d := s.day(f.Time)
	if IsSpot(f.Coin) {
		s.SpotVolume = s.SpotVolume.Add(notional)
		if d != nil {
			d.SpotVolume, d.SpotTaken = d.SpotVolume.Add(notional), d.SpotTaken.Add(taken)
		}
		return
	}
	s.Volume = s.Volume.Add(notional)
	if d == nil {
		return
	}
	d.Fills++
	d.Active = 1
	d.Volume, d.Taken = d.Volume.Add(notional), d.Taken.Add(taken)
	d.Fee = d.Fee.Add(mustDecimal(f.Fee))
	switch pnl := mustDecimal(f.ClosedPnl); pnl.Sign() {
	case 1:
		d.Wins++
		d.Profit = d.Profit.Add(pnl)
	case -1:
		d.Losses++
		d.Loss = d.Loss.Sub(pnl)
	}
	if a != NoAddOn {
		d.AddOns++
	}
	if a == ProfitableAddOn {
		d.ProfitableAddOns++
	}
}

// Complete takes a completed trade in.
func (s *TraderStats) Complete(t *CompletedTrade) {
	s.All.Add(t)
	d := s.day(t.End)
	if d == nil {
		return
	}
	one := TradeEnd{End: t.End, Long: t.Long, Pnl: t.Pnl, Orders: t.Orders(), Duration: t.Duration()}
	s.complete(d, TradingDay{Activity: Activity{Trades: sumOf(one)}, Each: []TradeEnd{one}})
}

// complete adds the trades of a day to a day, one by one while that has few.
func (s *TraderStats) complete(d *TradingDay, of TradingDay) {
	oneByOne := d.kept() && of.kept()
	d.Trades.Merge(of.Trades)
	if !oneByOne || d.Trades.Count() > eachTrades || s.newestDay()-d.Day >= eachDays {
		d.Each = nil
		return
	}
	for _, one := range of.Each {
		at, _ := slices.BinarySearchFunc(d.Each, one.End+1, func(e TradeEnd, end int64) int { return cmp.Compare(e.End, end) })
		d.Each = slices.Insert(d.Each, at, one)
	}
}

// kept reports whether all trades of the day are there one by one.
func (d *TradingDay) kept() bool { return int64(len(d.Each)) == d.Trades.Count() }

// Order counts an order that was filled; other statuses, and orders that come again,
// change nothing.
func (s *TraderStats) Order(o *OrderStatus) {
	at := Order{o.Time, o.Seq, o.Oid}
	if o.Status != StatusFilled || IsSpot(o.Coin) || at.Compare(s.LastOrder) <= 0 {
		return
	}
	s.LastOrder = at
	s.LastOperation = max(s.LastOperation, o.Time)
	d := s.day(o.Time)
	if d == nil || !o.ReduceOnly {
		return
	}
	d.ReduceOnly++
	if o.IsPositionTpsl || strings.HasPrefix(o.OrderType, "Take Profit") || strings.HasPrefix(o.OrderType, "Stop") {
		d.TakeProfitStop++
	}
}

// Moved takes in what came into the account's perpetuals and into its spot part from
// elsewhere, the other part included, negative of what left, USDC.
func (s *TraderStats) Moved(perpIn, spotIn Decimal) {
	s.NetIn, s.NetSpot = s.NetIn.Add(perpIn), s.NetSpot.Add(spotIn)
}

// Ledger takes a ledger update in, but for what it moves. A deposit of another token counts
// with what it was worth when it came, see [Ledger.Worth].
func (s *TraderStats) Ledger(l *Ledger, m *Markets, marks Marks) {
	if l.Funds != LedgerDeposit {
		return
	}
	value, ok := l.Worth(m, marks)
	if !ok {
		return
	}
	if d := s.day(l.Time); d != nil {
		d.Deposits = d.Deposits.Add(value)
	}
}

// Since returns what folds on from s without what s holds: what it takes in can be
// merged into s. It is much smaller than s.
func (s *TraderStats) Since() TraderStats {
	since := *s
	since.Days, since.Curve, since.All, since.Flows = nil, nil, TradeReport{}, FlowSum{}
	return since
}

// Merge takes in what was folded on from s, see [TraderStats.Since]: then s is as if it
// had taken in the events itself.
func (s *TraderStats) Merge(since *TraderStats) {
	of := *s
	*s = *since
	s.Days, s.Curve, s.All, s.Flows = of.Days, of.Curve.Merge(since.Curve), of.All, of.Flows
	s.All.Merge(&since.All)
	s.Flows.add(since.Flows)
	for i := range since.Days {
		day := &since.Days[i]
		d := s.day(day.Day * dayMs)
		if d == nil {
			continue
		}
		did := day.Activity
		did.Trades, did.Active = TradeSum{}, max(d.Active, did.Active)-d.Active
		d.merge(&did)
		s.complete(d, *day)
		d.mergeFlows(day)
	}
}

// day is the day that holds a time, made where it is not there; nil where it is older
// than what is kept.
func (s *TraderStats) day(ms int64) *TradingDay {
	n := DayOf(ms)
	at, known := slices.BinarySearchFunc(s.Days, n, func(d TradingDay, day int64) int { return cmp.Compare(d.Day, day) })
	if known {
		return &s.Days[at]
	}
	if n <= s.newestDay()-StatDays {
		return nil
	}
	s.Days = slices.Insert(s.Days, at, TradingDay{Day: n})
	newest, old := s.newestDay(), 0
	for i := range s.Days {
		if s.Days[i].Day <= newest-StatDays {
			old = i + 1
		}
		if s.Days[i].Day <= newest-eachDays {
			s.Days[i].Each = nil
		}
	}
	s.Days = slices.Delete(s.Days, 0, old)
	return &s.Days[at-old]
}

// newestDay is that of the newest event; 0 without any.
func (s *TraderStats) newestDay() int64 {
	if len(s.Days) == 0 {
		return 0
	}
	return s.Days[len(s.Days)-1].Day
}

// DayOf is the UTC day that holds a time in ms, in days since 1970-01-01.
func DayOf(ms int64) int64 { return Day1.StartMs(ms) / dayMs }

// Span is a time, both ends inclusive, ms.
type Span struct{ From, To int64 }

// Within sums up the trades that were completed after from and up to to, ms. Where it
// knows only the sum of a day at the edge, or nothing of the days before those it
// keeps, it leaves that out and returns the spans of which the trades are to be read
// from where they are stored, and added.
func (s *TraderStats) Within(from, to int64) (sum TradeSum, unknown []Span) {
	kept := int64(0)
	for i := range s.Days {
		d := &s.Days[i]
		n := d.Trades.Count()
		kept += n
		switch {
		case n == 0 || d.Trades.Last <= from || d.Trades.First > to:
		case d.Trades.First > from && d.Trades.Last <= to:
			sum.Merge(d.Trades)
		case d.kept():
			for _, t := range d.Each {
				if t.End > from && t.End <= to {
					sum.add(t)
				}
			}
		default:
			unknown = append(unknown, Span{max(from+1, d.Trades.First), min(to, d.Trades.Last)})
		}
	}
	if all := &s.All.Sum; all.Count() > kept { // the others are older
		oldest := (s.newestDay() - StatDays + 1) * dayMs
		if before := (Span{max(from+1, all.First), min(to, oldest-1)}); before.From <= before.To {
			unknown = append(unknown, before)
		}
	}
	return sum, unknown
}

// Completed is how many trades were completed from one time to another, both inclusive,
// ms. What has to be counted where they are stored it leaves out and returns the spans of.
func (s *TraderStats) Completed(from, to int64) (n int64, unknown []Span) {
	sum, unknown := s.Within(from-1, to)
	n, all := sum.Count(), &s.All.Sum
	older := all.Count()
	for i := range s.Days {
		older -= s.Days[i].Trades.Count()
	}
	if last := len(unknown) - 1; older > 0 && last >= 0 && unknown[last].From <= all.First && unknown[last].To == (s.newestDay()-StatDays+1)*dayMs-1 {
		n, unknown = n+older, unknown[:last] // all of those that are older than its days
	}
	if next := max(from, all.Last+1); next <= to { // of which it may not know yet
		unknown = append(unknown, Span{next, to})
	}
	return n, unknown
}

// Skip is how the first n of the trades that were completed from one time to another, both
// inclusive, ms, are left out without being read: those completed before start are skipped,
// at most n, whole days of them, and the others are to be read.
func (s *TraderStats) Skip(from, to, n int64) (start, skipped int64) {
	start = from
	older := s.All.Sum.Count()
	for i := range s.Days {
		older -= s.Days[i].Trades.Count()
	}
	if oldest := (s.newestDay() - StatDays + 1) * dayMs; older > 0 && start < oldest {
		if from > s.All.Sum.First || oldest > to || older > n {
			return start, 0
		}
		start, skipped = oldest, older
	}
	for i := range s.Days {
		d := &s.Days[i]
		count, end := d.Trades.Count(), (d.Day+1)*dayMs
		switch {
		case end <= start:
			continue
		case d.Trades.First < start && !d.kept(), end > to:
			return start, skipped
		case d.Trades.First < start:
			for _, t := range d.Each {
				if t.End < start {
					count--
				}
			}
		}
		if skipped+count > n {
			return start, skipped
		}
		start, skipped = end, skipped+count
	}
	return start, skipped
}

// Active sums up the days from first to last, both inclusive and in days since
// 1970-01-01.
func (s *TraderStats) Active(first, last int64) (sum Activity) {
	for i := range s.Days {
		if d := &s.Days[i]; d.Day >= first && d.Day <= last {
			sum.merge(&d.Activity)
		}
	}
	return sum
}

func (a *Activity) merge(o *Activity) {
	a.Fills += o.Fills
	a.Volume, a.Taken, a.Fee = a.Volume.Add(o.Volume), a.Taken.Add(o.Taken), a.Fee.Add(o.Fee)
	a.SpotVolume, a.SpotTaken = a.SpotVolume.Add(o.SpotVolume), a.SpotTaken.Add(o.SpotTaken)
	a.Wins, a.Losses = a.Wins+o.Wins, a.Losses+o.Losses
	a.Profit, a.Loss = a.Profit.Add(o.Profit), a.Loss.Add(o.Loss)
	a.AddOns, a.ProfitableAddOns = a.AddOns+o.AddOns, a.ProfitableAddOns+o.ProfitableAddOns
	a.ReduceOnly, a.TakeProfitStop = a.ReduceOnly+o.ReduceOnly, a.TakeProfitStop+o.TakeProfitStop
	a.Deposits = a.Deposits.Add(o.Deposits)
	a.Active += o.Active
	a.Trades.Merge(o.Trades)
}

// Return is a profit made since a time relative to the capital behind it: what the
// perpetuals account was worth at that time, or when it was first valued where no
// trade had been completed before, with what has come in since, less what has left,
// where that is more. It is nil where the worth was not known or there was no capital.
func (s *TraderStats) Return(profit Decimal, from int64) *float64 {
	start, ok := AccountValue{}, false
	for i := range s.Curve {
		v, known := ScopePerp.Of(&s.Curve[i])
		if known && ok && v.Time > from {
			break
		}
		if known {
			start, ok = v, true
		}
	}
	if all := &s.All.Sum; !ok || start.Time > from && all.Count() > 0 && all.First < start.Time {
		return nil
	}
	capital := (start.Value + max(0, MicrosOf(s.NetIn)-start.NetIn)).Decimal()
	if !capital.IsPos() {
		return nil
	}
	return Ratio(profit, capital)
}
