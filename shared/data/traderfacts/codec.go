package traderfacts

import (
	"maps"
	"slices"

	"quotary/shared/data/internal/packed"
	"quotary/shared/market"
)

// Parts of the facts of an hour that are there, as bits of a number.
const (
	hasClosed = 1 << iota
	hasPerp
	hasSpot
	hasCoins
	_ // hours have no part of this bit
	hasFilled
	hasBuilders
	hasLiquidatedLong
	hasLiquidatedShort
	hasFlows
)

// closedFigures are the figures of completed positions, in the order in which they are written.
func closedFigures(p *market.PositionFacts) ([]*int64, []*market.Decimal) {
	return []*int64{
			&p.Long.Count, &p.Long.Wins, &p.Long.Losses, &p.Short.Count, &p.Short.Wins, &p.Short.Losses, &p.Duration, &p.MaxDuration, &p.MinDuration,
			&p.OpenOrders, &p.CloseOrders, &p.Levered, &p.Leverage, &p.Rated,
		}, []*market.Decimal{
			&p.Long.Won, &p.Long.Lost, &p.Short.Won, &p.Short.Lost, &p.MaxPnl, &p.MinPnl, &p.Funding, &p.Value, &p.Margin, &p.MarginPnl,
			&p.Rates, &p.Squares, &p.MaxRate, &p.MinRate,
		}
}

func isNoFills(f *market.FillFacts) bool {
	return isNone(&f.Orders) && isNoFill(&f.Maker) && isNoFill(&f.Taker)
}

func isNoFill(s *market.FillSum) bool { return s.Count == 0 && s.Value.IsZero() && s.Fee.IsZero() }

func isNone(d *market.Distinct) bool { return d.First == 0 && len(d.Continued) == 0 }

func isNoClosed(p *market.PositionFacts) bool {
	numbers, decimals := closedFigures(p)
	for _, n := range numbers {
		if *n != 0 {
			return false
		}
	}
	for _, d := range decimals {
		if !d.IsZero() {
			return false
		}
	}
	return true
}

func isNoLiquidation(l *market.LiquidatedFacts) bool {
	return isNone(&l.Orders) && l.Value.IsZero() && l.Pnl.IsZero()
}

// partsOf are the parts that are there, in the order of their bits.
func partsOf(f *market.Facts) (parts uint64) {
	for bit, has := range [...]bool{
		!isNoClosed(&f.Closed), !isNoFills(&f.Perp), !isNoFills(&f.Spot), len(f.Coins) > 0, false, f.Filled != market.OrderTimes{},
		len(f.Builders) > 0,
		!isNoLiquidation(&f.LiquidatedLong), !isNoLiquidation(&f.LiquidatedShort), f.Flows.Count != 0 || !f.Flows.Perp.IsZero() || !f.Flows.Spot.IsZero(),
	} {
		if has {
			parts |= 1 << bit
		}
	}
	return parts
}

// address is that of a builder.
type address = [20]byte

// writer writes facts. Coins and builders are told by their places in lists that stand before.
type writer struct {
	packed.Writer
	coins    []string
	builders []address
}

// hours appends what was done in hours behind a time, ms, each with its number.
func (w *writer) hours(from int64, hours market.FactsByHour) {
	w.Length(len(hours))
	for _, hour := range slices.Sorted(maps.Keys(hours)) {
		w.Uint(uint64((hour - from) / hourMs))
		w.facts(hour, hours[hour])
	}
}

// list appends the coins of facts and more of them, to which they are told by their places: as many as a
// row has room for.
func (w *writer) list(hours market.FactsByHour, more []string) {
	all := slices.Clone(more)
	for _, f := range hours {
		all = append(all, f.Coins...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	w.coins = all[:min(len(all), market.MostCoins)]
	w.Length(len(w.coins))
	for _, coin := range w.coins {
		w.Text(coin)
	}
}

// listBuilders appends the builders of facts and more of them, to which they are told by their places.
func (w *writer) listBuilders(hours market.FactsByHour, more []market.BuilderFacts, seen []market.SeenBuilder) {
	for _, v := range more {
		w.builders = append(w.builders, v.Builder)
	}
	for _, b := range seen {
		w.builders = append(w.builders, b.Address)
	}
	for _, f := range hours {
		for i := range f.Builders {
			w.builders = append(w.builders, f.Builders[i].Builder)
		}
	}
	slices.SortFunc(w.builders, market.CompareAccounts)
	w.builders = slices.Compact(w.builders)
	w.Length(len(w.builders))
	for _, b := range w.builders {
		w.B = append(w.B, b[:]...)
	}
}

func (w *writer) builder(b address) {
	at, _ := slices.BinarySearchFunc(w.builders, b, market.CompareAccounts)
	w.Uint(uint64(at))
}

func (w *writer) builderFacts(hour int64, list []market.BuilderFacts) {
	w.Length(len(list))
	for i := range list {
		v := &list[i]
		w.builder(v.Builder)
		w.Int(v.Unknown)
		w.distinct(hour, &v.Traders)
		w.distinct(hour, &v.Orders)
		w.Decimal(v.Value, v.Fee, v.BuilderFee)
	}
}

// traded appends a bit for each of the listed coins: set of those that were traded.
func (w *writer) traded(coins []string) {
	bits := make([]byte, (len(w.coins)+7)/8)
	for _, coin := range coins {
		if at, listed := slices.BinarySearch(w.coins, coin); listed {
			bits[at/8] |= 1 << (at % 8)
		}
	}
	w.B = append(w.B, bits...)
}

func (w *writer) facts(hour int64, f *market.Facts) {
	parts := partsOf(f)
	w.Uint(parts)
	if parts&hasClosed != 0 {
		numbers, decimals := closedFigures(&f.Closed)
		for _, n := range numbers {
			w.Int(*n)
		}
		for _, d := range decimals {
			w.Decimal(*d)
		}
	}
	if parts&hasPerp != 0 {
		w.fills(hour, &f.Perp)
	}
	if parts&hasSpot != 0 {
		w.fills(hour, &f.Spot)
	}
	if parts&hasCoins != 0 {
		w.traded(f.Coins)
	}
	if parts&hasFilled != 0 {
		w.times(hour, f.Filled)
	}
	if parts&hasBuilders != 0 {
		w.builderFacts(hour, f.Builders)
	}
	if parts&hasLiquidatedLong != 0 {
		w.liquidated(hour, &f.LiquidatedLong)
	}
	if parts&hasLiquidatedShort != 0 {
		w.liquidated(hour, &f.LiquidatedShort)
	}
	if parts&hasFlows != 0 {
		w.Int(f.Flows.Count)
		w.Decimal(f.Flows.Perp, f.Flows.Spot)
	}
}

func (w *writer) fills(hour int64, f *market.FillFacts) {
	w.distinct(hour, &f.Orders)
	for _, s := range [...]*market.FillSum{&f.Maker, &f.Taker} {
		w.Int(s.Count)
		w.Decimal(s.Value, s.Fee)
	}
}

func (w *writer) times(hour int64, t market.OrderTimes) {
	w.Int(t.Count, t.First-hour, t.Last-t.First)
}

func (w *writer) liquidated(hour int64, l *market.LiquidatedFacts) {
	w.distinct(hour, &l.Orders)
	w.Decimal(l.Value, l.Pnl)
}

func (w *writer) distinct(hour int64, d *market.Distinct) {
	w.Int(d.First)
	w.Length(len(d.Continued))
	for _, c := range d.Continued {
		w.Int((hour-c.Hour)/hourMs, c.N)
	}
}

// seen appends orders by how long after the one before something was executed of them, and behind a
// time, ms, the first.
func (w *writer) seen(from int64, s *market.SeenOrders) {
	w.Length(len(s.Orders))
	oid := int64(0)
	for _, o := range s.Orders {
		last := max(o.Filled, o.Liquidated)
		w.Int(o.Oid-oid, last-from)
		oid, from = o.Oid, last
		w.Bool(o.Liquidated != 0)
		if o.Liquidated != 0 {
			w.Int(last-o.Filled, last-o.Liquidated)
		}
		w.Bool(o.Routed != 0)
		if o.Routed != 0 {
			w.Int(last - o.Routed)
		}
	}
}

// seenBuilders appends the hours of builders, each by how long it is after the one before.
func (w *writer) seenBuilders(list []market.SeenBuilder) {
	w.Length(len(list))
	for _, b := range list {
		w.builder(b.Address)
		w.Length(len(b.Hours))
		last := int64(0)
		for _, hour := range b.Hours {
			w.Int((hour - last) / hourMs)
			last = hour
		}
	}
}

type reader struct {
	packed.Reader
	coins    []string
	builders []address
}

// hours reads what was done within so many hours behind a time, ms.
func (r *reader) hours(from, within int64) market.FactsByHour {
	hours := market.FactsByHour{}
	last := int64(-1)
	for range r.Length(2) {
		n := int64(min(r.Uint(), uint64(within)))
		r.Check(n > last && n < within)
		if last = n; r.Broken {
			break
		}
		hour := from + n*hourMs
		f := r.facts(hour)
		hours[hour] = &f
	}
	return hours
}

func (r *reader) list() {
	for i := range r.Length(1) {
		r.coins = append(r.coins, r.Text())
		r.Check(i == 0 || r.coins[i] > r.coins[i-1])
	}
}

// listBuilders reads the builders. Each has its place once.
func (r *reader) listBuilders() {
	for i := range r.Length(len(address{})) {
		r.builders = append(r.builders, address(r.Bytes(len(address{}))))
		r.Check(i == 0 || market.CompareAccounts(r.builders[i], r.builders[i-1]) > 0)
	}
}

// builder reads one that is behind the one before, of a list.
func (r *reader) builder(before *int) (b address) {
	at := r.Uint()
	r.Check(at < uint64(len(r.builders)) && int(at) > *before)
	if r.Broken {
		return b
	}
	*before = int(at)
	return r.builders[at]
}

func (r *reader) builderFacts(hour int64) (list []market.BuilderFacts) {
	last := -1
	for range r.Length(8) {
		v := market.BuilderFacts{Builder: r.builder(&last)}
		v.RoutedFacts = market.RoutedFacts{Unknown: r.Int(), Traders: r.distinct(hour), Orders: r.distinct(hour), Value: r.Decimal(), Fee: r.Decimal(), BuilderFee: r.Decimal()}
		r.Check(v.Unknown >= 0)
		list = append(list, v)
	}
	return list
}

func (r *reader) seenBuilders() (list []market.SeenBuilder) {
	last := -1
	for range r.Length(2) {
		b, hour := market.SeenBuilder{Address: r.builder(&last)}, int64(0)
		for i := range r.Length(1) {
			step := r.Int()
			r.Check(i == 0 || step > 0)
			hour += step * hourMs
			b.Hours = append(b.Hours, hour)
		}
		list = append(list, b)
	}
	return list
}

func (r *reader) traded() (coins []string) {
	bits := r.Bytes((len(r.coins) + 7) / 8)
	for at, coin := range r.coins {
		if bits[at/8]&(1<<(at%8)) != 0 {
			coins = append(coins, coin)
		}
	}
	return coins
}

func (r *reader) facts(hour int64) (f market.Facts) {
	parts := r.Uint()
	r.Check(parts < hasFlows<<1)
	if parts&hasClosed != 0 {
		numbers, decimals := closedFigures(&f.Closed)
		for _, n := range numbers {
			*n = r.Int()
		}
		for _, d := range decimals {
			*d = r.Decimal()
		}
	}
	if parts&hasPerp != 0 {
		f.Perp = r.fills(hour)
	}
	if parts&hasSpot != 0 {
		f.Spot = r.fills(hour)
	}
	if parts&hasCoins != 0 {
		f.Coins = r.traded()
	}
	if parts&hasFilled != 0 {
		f.Filled = r.times(hour)
	}
	if parts&hasBuilders != 0 {
		f.Builders = r.builderFacts(hour)
	}
	if parts&hasLiquidatedLong != 0 {
		f.LiquidatedLong = r.liquidated(hour)
	}
	if parts&hasLiquidatedShort != 0 {
		f.LiquidatedShort = r.liquidated(hour)
	}
	if parts&hasFlows != 0 {
		f.Flows = market.FlowSum{Count: r.Int(), Perp: r.Decimal(), Spot: r.Decimal()}
	}
	return f
}

func (r *reader) fills(hour int64) (f market.FillFacts) {
	f.Orders = r.distinct(hour)
	for _, s := range [...]*market.FillSum{&f.Maker, &f.Taker} {
		s.Count, s.Value, s.Fee = r.Int(), r.Decimal(), r.Decimal()
	}
	return f
}

func (r *reader) times(hour int64) (t market.OrderTimes) {
	t.Count, t.First = r.Int(), hour+r.Int()
	t.Last = t.First + r.Int()
	return t
}

func (r *reader) liquidated(hour int64) market.LiquidatedFacts {
	return market.LiquidatedFacts{Orders: r.distinct(hour), Value: r.Decimal(), Pnl: r.Decimal()}
}

func (r *reader) distinct(hour int64) (d market.Distinct) {
	d.First = r.Int()
	for i := range r.Length(2) {
		c := market.Continued{Hour: hour - r.Int()*hourMs, N: r.Int()}
		r.Check(i == 0 || c.Hour > d.Continued[i-1].Hour)
		d.Continued = append(d.Continued, c)
	}
	return d
}

func (r *reader) seen(from int64) (s market.SeenOrders) {
	oid := int64(0)
	for range r.Length(3) {
		oid += r.Int()
		from += r.Int()
		o := market.SeenOrder{Oid: oid, Filled: from}
		if r.Bool() {
			o.Filled, o.Liquidated = from-r.Int(), from-r.Int()
		}
		if r.Bool() {
			o.Routed = from - r.Int()
		}
		s.Orders = append(s.Orders, o)
	}
	return s
}
