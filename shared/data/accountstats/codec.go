package accountstats

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/quagmt/udecimal"

	"quotary/shared/market"
)

// version opens an encoded row.
const version = 1

const (
	dayMs  = 86_400_000
	hourMs = 3_600_000
)

// Parts of a day that are there, as bits of one byte.
const (
	hasFills = 1 << iota
	hasAddOns
	hasOrders
	hasDeposits
	hasTrades
	hasEach // the trades one by one, as many as there are
)

// Append appends the row. Whole numbers are varints, decimals as [writer.decimal] has
// them, times differences: the days and hours to the one before, the trades of a day to
// the one before or the beginning of the day. An hour takes about five bytes, as it
// mostly follows the one before without anything having come in or left.
func Append(b []byte, s *market.TraderStats) []byte {
	w := writer{append(b, version)}
	w.decimal(s.NetIn)
	w.int(s.LastOrder.Time, s.LastOrder.Seq, s.LastOrder.Tid, s.LastOperation)
	w.uint(len(s.Days))
	last := int64(0)
	for i := range s.Days {
		d := &s.Days[i]
		w.int(d.Day - last)
		last = d.Day
		w.day(d)
	}
	w.uint(len(s.Hours))
	at := market.AccountValue{}
	for _, v := range s.Hours {
		w.hour(v, at)
		at = v
	}
	w.report(&s.All)
	return w.b
}

type writer struct{ b []byte }

func (w *writer) uint(n int) { w.b = binary.AppendUvarint(w.b, uint64(n)) }

func (w *writer) int(numbers ...int64) {
	for _, n := range numbers {
		w.b = binary.AppendVarint(w.b, n)
	}
}

func (w *writer) bool(is bool) {
	n := byte(0)
	if is {
		n = 1
	}
	w.b = append(w.b, n)
}

func (w *writer) text(s string) {
	w.uint(len(s))
	w.b = append(w.b, s...)
}

// How a decimal goes on after its first byte, whose lower five bits are the decimal
// places and whose sixth is set of a negative one.
const (
	zero    = iota << 6 // it does not
	short               // its digits as one varint
	long                // the upper and the lower 64 bits of its digits
	written             // as text
)

const negative = 1 << 5

func (w *writer) decimal(decimals ...market.Decimal) {
	for _, d := range decimals {
		w.one(d)
	}
}

func (w *writer) one(d market.Decimal) {
	if d.IsZero() {
		w.b = append(w.b, zero)
		return
	}
	neg, hi, lo, places, ok := d.ToHiLo()
	if !ok {
		w.b = append(w.b, written)
		w.text(market.Text(d))
		return
	}
	head := byte(0)
	if neg {
		head = negative
	}
	if hi != 0 {
		w.b = append(w.b, long|head|places)
		w.b = binary.AppendUvarint(binary.AppendUvarint(w.b, hi), lo)
		return
	}
	for places > 0 && lo%10 == 0 {
		lo, places = lo/10, places-1
	}
	w.b = binary.AppendUvarint(append(w.b, short|head|places), lo)
}

func (w *writer) day(d *market.TradingDay) {
	each := int64(len(d.Each)) == d.Trades.Count()
	parts := byte(0)
	has := func(bit byte, is bool) {
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
	w.b = append(w.b, parts)
	if parts&hasFills != 0 {
		w.int(d.Fills, d.Wins, d.Losses)
		w.decimal(d.Volume, d.Fee, d.Profit, d.Loss)
	}
	if parts&hasAddOns != 0 {
		w.int(d.AddOns, d.ProfitableAddOns)
	}
	if parts&hasOrders != 0 {
		w.int(d.ReduceOnly, d.TakeProfitStop)
	}
	if parts&hasDeposits != 0 {
		w.decimal(d.Deposits)
	}
	if parts&hasTrades != 0 {
		w.sum(&d.Trades, d.Day*dayMs)
	}
	if parts&hasEach != 0 {
		at := d.Day * dayMs
		for _, t := range d.Each {
			w.int(t.End-at, t.Orders, t.Duration)
			w.bool(t.Long)
			w.decimal(t.Pnl)
			at = t.End
		}
	}
}

// What follows the change of an hour's value, as the two lowest bits of it.
const (
	afterGap = 1 << iota // hours since the one before, if it is not one
	withFlow             // what came in or left
	flagBits = iota
)

func (w *writer) hour(v, before market.AccountValue) {
	step, flow := (v.Time-before.Time)/hourMs, int64(v.NetIn-before.NetIn)
	head := int64(v.Value-before.Value) << flagBits
	if step != 1 {
		head |= afterGap
	}
	if flow != 0 {
		head |= withFlow
	}
	w.int(head)
	if step != 1 {
		w.int(step)
	}
	if flow != 0 {
		w.int(flow)
	}
}

func (w *writer) sum(s *market.TradeSum, from int64) {
	w.int(s.Long.Count, s.Long.Wins, s.Short.Count, s.Short.Wins, s.Orders, s.Duration, s.First-from, s.Last-s.First)
	w.decimal(s.Long.Pnl, s.Short.Pnl)
}

func (w *writer) report(r *market.TradeReport) {
	w.sum(&r.Sum, 0)
	w.decimal(r.LongFee, r.ShortFee)
	w.int(r.MinDuration, r.MaxDuration)
	w.uint(len(r.Coins))
	for _, c := range r.Coins {
		w.text(c.Coin)
		w.int(c.Trades)
		w.decimal(c.Pnl, c.Fee)
	}
	w.uint(len(r.Best))
	for _, t := range r.Best {
		w.text(t.Coin)
		w.bool(t.Long)
		w.int(t.End, t.End-t.Start, t.Tid)
		w.decimal(t.Pnl)
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
	each []market.TradeEnd // of all days
}

// decode reads a row into s, whose slices it overwrites.
func (d *decoder) decode(b []byte, s *market.TraderStats) error {
	r := reader{b: b, each: d.each[:0]}
	r.check(r.byte() == version)
	days, hours, coins, best := s.Days[:0], s.Hours[:0], s.All.Coins[:0], s.All.Best[:0]
	*s = market.TraderStats{NetIn: r.decimal(), LastOrder: market.Order{Time: r.int(), Seq: r.int(), Tid: r.int()}, LastOperation: r.int()}
	last := int64(0)
	n := r.length(2)
	days = slices.Grow(days, n)
	for i := range n {
		day := market.TradingDay{Day: last + r.int()}
		r.check(i == 0 || day.Day > last)
		last = day.Day
		r.day(&day)
		days = append(days, day)
	}
	at := market.AccountValue{}
	n = r.length(1)
	hours = slices.Grow(hours, n)
	for i := range n {
		before := at.Time
		r.hour(&at)
		r.check(i == 0 || at.Time > before)
		hours = append(hours, at)
	}
	s.Days, s.Hours, s.All = days, hours, market.TradeReport{Coins: coins, Best: best}
	r.report(&s.All)
	d.each = r.each
	if r.broken || len(r.b) > 0 {
		*s = market.TraderStats{}
		return errRow
	}
	return nil
}

func within(m market.Micros) bool { return m <= market.MaxMicros && m >= -market.MaxMicros }

// reader reads until something is broken; from then on it reads zeros.
type reader struct {
	b      []byte
	broken bool
	each   []market.TradeEnd // of all days
}

func (r *reader) check(ok bool) {
	if !ok {
		r.b, r.broken = nil, true
	}
}

func (r *reader) byte() (n byte) {
	if len(r.b) == 0 {
		r.broken = true
		return 0
	}
	n, r.b = r.b[0], r.b[1:]
	return n
}

func (r *reader) bool() bool {
	n := r.byte()
	r.check(n <= 1)
	return n == 1
}

func (r *reader) int() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.check(false)
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) uint() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.check(false)
		return 0
	}
	r.b = r.b[size:]
	return n
}

// length is the number of things of which each takes so many bytes at least.
func (r *reader) length(least int) int {
	n := r.uint()
	if n > uint64(len(r.b)/least) {
		r.check(false)
		return 0
	}
	return int(n)
}

func (r *reader) text() string {
	n := r.length(1)
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *reader) decimal() (d market.Decimal) {
	head := r.byte()
	var hi uint64
	switch head &^ (negative | 0x1f) {
	case zero:
		r.check(head == zero)
		return d
	case written:
		d, err := market.ParseDecimal(r.text())
		r.check(err == nil)
		return d
	case long:
		hi = r.uint()
	}
	lo := r.uint()
	d, err := udecimal.NewFromHiLo(head&negative != 0, hi, lo, head&0x1f)
	r.check(err == nil)
	return d
}

func (r *reader) day(d *market.TradingDay) {
	parts := r.byte()
	if parts&hasFills != 0 {
		d.Active = 1
		d.Fills, d.Wins, d.Losses = r.int(), r.int(), r.int()
		d.Volume, d.Fee, d.Profit, d.Loss = r.decimal(), r.decimal(), r.decimal(), r.decimal()
	}
	if parts&hasAddOns != 0 {
		d.AddOns, d.ProfitableAddOns = r.int(), r.int()
	}
	if parts&hasOrders != 0 {
		d.ReduceOnly, d.TakeProfitStop = r.int(), r.int()
	}
	if parts&hasDeposits != 0 {
		d.Deposits = r.decimal()
	}
	if parts&hasTrades != 0 {
		d.Trades = r.sum(d.Day * dayMs)
	}
	if parts&hasEach == 0 {
		return
	}
	const least = 5 // bytes of one
	n := d.Trades.Count()
	r.check(n > 0 && n <= int64(len(r.b)/least))
	if r.broken {
		return
	}
	at, from := d.Day*dayMs, len(r.each)
	for range n {
		at += r.int()
		r.each = append(r.each, market.TradeEnd{End: at, Orders: r.int(), Duration: r.int(), Long: r.bool(), Pnl: r.decimal()})
	}
	d.Each = slices.Clip(r.each[from:])
}

// hour moves on to the next hour.
func (r *reader) hour(v *market.AccountValue) {
	head, step, flow := r.int(), int64(1), int64(0)
	if head&afterGap != 0 {
		step = r.int()
	}
	if head&withFlow != 0 {
		flow = r.int()
	}
	v.Time += step * hourMs
	v.Value += market.Micros(head >> flagBits)
	v.NetIn += market.Micros(flow)
	r.check(within(v.Value) && within(v.NetIn))
}

func (r *reader) sum(from int64) (s market.TradeSum) {
	s.Long.Count, s.Long.Wins, s.Short.Count, s.Short.Wins, s.Orders, s.Duration = r.int(), r.int(), r.int(), r.int(), r.int(), r.int()
	s.First = from + r.int()
	s.Last = s.First + r.int()
	s.Long.Pnl, s.Short.Pnl = r.decimal(), r.decimal()
	r.check(s.Long.Count >= 0 && s.Short.Count >= 0 && s.Long.Count+s.Short.Count >= 0)
	return s
}

func (r *reader) report(to *market.TradeReport) {
	to.Sum = r.sum(0)
	to.LongFee, to.ShortFee = r.decimal(), r.decimal()
	to.MinDuration, to.MaxDuration = r.int(), r.int()
	n := r.length(4)
	to.Coins = slices.Grow(to.Coins, n)
	for i := range n {
		to.Coins = append(to.Coins, market.CoinSum{Coin: r.text(), Trades: r.int(), Pnl: r.decimal(), Fee: r.decimal()})
		r.check(i == 0 || to.Coins[i].Coin > to.Coins[i-1].Coin)
	}
	n = r.length(6)
	to.Best = slices.Grow(to.Best, n)
	for range n {
		t := market.TradeRef{Coin: r.text(), Long: r.bool(), End: r.int()}
		t.Start = t.End - r.int()
		t.Tid, t.Pnl = r.int(), r.decimal()
		to.Best = append(to.Best, t)
	}
}
