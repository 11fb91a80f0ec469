package accountstats

import (
	"errors"
	"slices"

	"quotary/shared/data/internal/packed"
	"quotary/shared/market"
)

// version opens an encoded row.
const version = 4

const (
	dayMs  = 86_400_000
	hourMs = 3_600_000
)

// Parts of a day that are there, as bits of a number.
const (
	hasFills = 1 << iota
	hasAddOns
	hasOrders
	hasDeposits
	hasTrades
	hasEach // the trades one by one, as many as there are
	hasFlows
	hasFlowsByHour // these are by full hours
	hasTaken
	hasSpot
)

// Append appends the row. Whole numbers are varints, decimals as [packed.Writer.Decimal]
// has them, times differences: the days and points to the one before, the trades and
// flows of a day to the one before or the beginning of the day.
func Append(b []byte, s *market.TraderStats) []byte {
	w := writer{packed.Writer{B: append(b, version)}}
	w.Decimal(s.NetIn, s.NetSpot, s.Volume, s.SpotVolume)
	w.Int(s.Began, s.Sampled, s.CurveSince, s.Apart, s.VenueUntil)
	w.flow(s.Flows)
	w.Int(s.LastOrder.Time, s.LastOrder.Seq, s.LastOrder.Tid, s.LastOperation)
	w.Length(len(s.Days))
	last := int64(0)
	for i := range s.Days {
		d := &s.Days[i]
		w.Int(d.Day - last)
		last = d.Day
		w.day(d)
	}
	w.curve(s.Curve)
	w.report(&s.All)
	return w.B
}

type writer struct{ packed.Writer }

func (w *writer) day(d *market.TradingDay) {
	each := int64(len(d.Each)) == d.Trades.Count()
	parts := uint64(0)
	has := func(bit uint64, is bool) {
		if is {
			parts |= bit
		}
	}
	has(hasFills, d.Fills != 0)
	has(hasAddOns, d.AddOns != 0)
	has(hasOrders, d.ReduceOnly != 0)
	has(hasDeposits, !d.Deposits.IsZero())
	has(hasTrades, d.Trades.Count() != 0)
	has(hasEach, d.Trades.Count() != 0 && each)
	has(hasFlows, len(d.Flows) != 0)
	has(hasFlowsByHour, d.FlowsByHour)
	has(hasTaken, !d.Taken.IsZero())
	has(hasSpot, !d.SpotVolume.IsZero())
	w.Uint(parts)
	if parts&hasFills != 0 {
		w.Int(d.Fills, d.Wins, d.Losses)
		w.Decimal(d.Volume, d.Fee, d.Profit, d.Loss)
	}
	if parts&hasTaken != 0 {
		w.Decimal(d.Taken)
	}
	if parts&hasSpot != 0 {
		w.Decimal(d.SpotVolume, d.SpotTaken)
	}
	if parts&hasAddOns != 0 {
		w.Int(d.AddOns, d.ProfitableAddOns)
	}
	if parts&hasOrders != 0 {
		w.Int(d.ReduceOnly, d.TakeProfitStop)
	}
	if parts&hasDeposits != 0 {
		w.Decimal(d.Deposits)
	}
	if parts&hasTrades != 0 {
		w.sum(&d.Trades, d.Day*dayMs)
	}
	if parts&hasEach != 0 {
		at := d.Day * dayMs
		for _, t := range d.Each {
			w.Int(t.End-at, t.Orders, t.Duration)
			w.Bool(t.Long)
			w.Decimal(t.Pnl)
			at = t.End
		}
	}
	if parts&hasFlows != 0 {
		w.Length(len(d.Flows))
		at := d.Day * dayMs
		for _, f := range d.Flows {
			w.Int(f.Time - at)
			w.flow(f.FlowSum)
			at = f.Time
		}
	}
}

func (w *writer) flow(f market.FlowSum) {
	w.Int(f.Count)
	w.Decimal(f.Perp, f.Spot)
}

func (w *writer) sum(s *market.TradeSum, from int64) {
	w.Int(s.Long.Count, s.Long.Wins, s.Short.Count, s.Short.Wins, s.Orders, s.Duration, s.First-from, s.Last-s.First)
	w.Decimal(s.Long.Pnl, s.Short.Pnl)
}

func (w *writer) report(r *market.TradeReport) {
	w.sum(&r.Sum, 0)
	w.Decimal(r.LongFee, r.ShortFee)
	w.Int(r.MinDuration, r.MaxDuration)
	w.Length(len(r.Coins))
	for _, c := range r.Coins {
		w.Text(c.Coin)
		w.Int(c.Trades)
		w.Decimal(c.Pnl, c.Fee)
	}
	w.Length(len(r.Best))
	for _, t := range r.Best {
		w.Text(t.Coin)
		w.Bool(t.Long)
		w.Int(t.End, t.End-t.Start, t.Tid)
		w.Decimal(t.Pnl)
	}
}

var errRow = errors.New("the statistics of an account cannot be read")

// Decode reads what [Append] wrote.
func Decode(b []byte) (market.TraderStats, error) {
	var s market.TraderStats
	err := new(decoder).decode(b, &s)
	return s, err
}

// decoder keeps what it decoded into for the next row.
type decoder struct {
	each  []market.TradeEnd // of all days
	flows []market.Flow     // likewise
	older market.Curve      // of a row of the past
}

// decode reads a row into s, whose slices it overwrites.
func (d *decoder) decode(b []byte, s *market.TraderStats) error {
	r := reader{Reader: packed.Reader{B: b}, decoder: decoder{d.each[:0], d.flows[:0], d.older}}
	r.Check(r.Byte() == version)
	days, curve, coins, best := s.Days[:0], s.Curve[:0], s.All.Coins[:0], s.All.Best[:0]
	*s = market.TraderStats{NetIn: r.Decimal(), NetSpot: r.Decimal(), Volume: r.Decimal(), SpotVolume: r.Decimal()}
	s.Began, s.Sampled, s.CurveSince, s.Apart, s.VenueUntil = r.Int(), r.Int(), r.Int(), r.Int(), r.Int()
	s.Flows = r.flow()
	s.LastOrder, s.LastOperation = market.Order{Time: r.Int(), Seq: r.Int(), Tid: r.Int()}, r.Int()
	last := int64(0)
	n := r.Length(2)
	days = slices.Grow(days, n)
	for i := range n {
		day := market.TradingDay{Day: last + r.Int()}
		r.Check(i == 0 || day.Day > last)
		last = day.Day
		r.day(&day)
		days = append(days, day)
	}
	curve = r.curve(curve)
	s.Days, s.Curve, s.All = days, curve, market.TradeReport{Coins: coins, Best: best}
	r.report(&s.All)
	*d = r.decoder
	if !r.Done() {
		*s = market.TraderStats{}
		return errRow
	}
	return nil
}

type reader struct {
	packed.Reader
	decoder
}

func (r *reader) day(d *market.TradingDay) {
	parts := r.Uint()
	if parts&hasFills != 0 {
		d.Active = 1
		d.Fills, d.Wins, d.Losses = r.Int(), r.Int(), r.Int()
		d.Volume, d.Fee, d.Profit, d.Loss = r.Decimal(), r.Decimal(), r.Decimal(), r.Decimal()
	}
	if parts&hasTaken != 0 {
		d.Taken = r.Decimal()
	}
	if parts&hasSpot != 0 {
		d.SpotVolume, d.SpotTaken = r.Decimal(), r.Decimal()
	}
	if parts&hasAddOns != 0 {
		d.AddOns, d.ProfitableAddOns = r.Int(), r.Int()
	}
	if parts&hasOrders != 0 {
		d.ReduceOnly, d.TakeProfitStop = r.Int(), r.Int()
	}
	if parts&hasDeposits != 0 {
		d.Deposits = r.Decimal()
	}
	if parts&hasTrades != 0 {
		d.Trades = r.sum(d.Day * dayMs)
	}
	if parts&hasEach != 0 {
		r.trades(d)
	}
	if d.FlowsByHour = parts&hasFlowsByHour != 0; parts&hasFlows != 0 {
		r.dayFlows(d)
	}
}

// trades reads the trades of a day one by one.
func (r *reader) trades(d *market.TradingDay) {
	const least = 5 // bytes of one
	n := d.Trades.Count()
	r.Check(n > 0 && n <= int64(len(r.B)/least))
	if r.Broken {
		return
	}
	at, from := d.Day*dayMs, len(r.each)
	for range n {
		at += r.Int()
		r.each = append(r.each, market.TradeEnd{End: at, Orders: r.Int(), Duration: r.Int(), Long: r.Bool(), Pnl: r.Decimal()})
	}
	d.Each = slices.Clip(r.each[from:])
}

func (r *reader) dayFlows(d *market.TradingDay) {
	const least = 4 // bytes of one
	at, from := d.Day*dayMs, len(r.flows)
	for i := range r.Length(least) {
		step := r.Int()
		at += step
		r.Check(step > 0 || i == 0 && step == 0)
		r.flows = append(r.flows, market.Flow{Time: at, FlowSum: r.flow()})
	}
	d.Flows = slices.Clip(r.flows[from:])
}

func (r *reader) flow() market.FlowSum {
	return market.FlowSum{Count: r.Int(), Perp: r.Decimal(), Spot: r.Decimal()}
}

func (r *reader) sum(from int64) (s market.TradeSum) {
	s.Long.Count, s.Long.Wins, s.Short.Count, s.Short.Wins, s.Orders, s.Duration = r.Int(), r.Int(), r.Int(), r.Int(), r.Int(), r.Int()
	s.First = from + r.Int()
	s.Last = s.First + r.Int()
	s.Long.Pnl, s.Short.Pnl = r.Decimal(), r.Decimal()
	r.Check(s.Long.Count >= 0 && s.Short.Count >= 0 && s.Long.Count+s.Short.Count >= 0)
	return s
}

func (r *reader) report(to *market.TradeReport) {
	to.Sum = r.sum(0)
	to.LongFee, to.ShortFee = r.Decimal(), r.Decimal()
	to.MinDuration, to.MaxDuration = r.Int(), r.Int()
	n := r.Length(4)
	to.Coins = slices.Grow(to.Coins, n)
	for i := range n {
		to.Coins = append(to.Coins, market.CoinSum{Coin: r.Text(), Trades: r.Int(), Pnl: r.Decimal(), Fee: r.Decimal()})
		r.Check(i == 0 || to.Coins[i].Coin > to.Coins[i-1].Coin)
	}
	n = r.Length(6)
	to.Best = slices.Grow(to.Best, n)
	for range n {
		t := market.TradeRef{Coin: r.Text(), Long: r.Bool(), End: r.Int()}
		t.Start = t.End - r.Int()
		t.Tid, t.Pnl = r.Int(), r.Decimal()
		to.Best = append(to.Best, t)
	}
}
