package market

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/quagmt/udecimal"
)

// LiquidationModel estimates at which prices positions of a perpetual would be closed by
// force. No exchange tells positions, so they are inferred from what it does tell, the
// turnover and the open interest of each bucket of time:
//
//   - Every trade opens or closes a position on each of its sides, so of a bucket's
//     turnover V and the change D of open interest in it, (V + D) / 2 was opened and
//     (V - D) / 2 closed, each kept within 0 and V. Of what was opened no more is still
//     open than the open interest: the rest was closed in the same bucket.
//   - What was opened was opened at the bucket's average price, as many longs as shorts,
//     at leverages in the shares of [LiquidationLeverages].
//   - What was closed is taken from all positions alike: a fraction of each, by the open
//     interest at the beginning of the bucket.
//   - A long of leverage L with entry price E is closed at E (1 - 1/L) / (1 - M), a short
//     at E (1 + 1/L) / (1 + M), where M is [MaintenanceShare]: there its isolated margin
//     E/L, less the loss, is the maintenance margin.
//   - A position whose price a later bucket reaches is gone, and so is one that was opened
//     longer ago than Window.
//
// A bucket whose open interest is not known opens and closes nothing. Values are rounded to
// cents, prices to [LiquidationPlaces] places. The zero value has no positions and forgets
// none.
type LiquidationModel struct {
	Window int64 // ms; 0 keeps positions for ever

	opened   []openedAt // by time
	interest Decimal    // at the end of the last bucket, 0 when it is not known
}

// LiquidationBucket is a bucket of time as [LiquidationModel] takes it, in US dollars of
// which a stable coin counts as one.
type LiquidationBucket struct {
	Time      int64   // when it opens, ms
	High, Low Decimal // prices; 0 where nothing was traded
	Average   Decimal // price, weighted by size
	Turnover  Decimal
	Interest  Decimal // open interest at its end; 0 when it is not known
}

// LiquidationBuckets are the buckets of a width, ms, that open at a time or steps of it later, until
// another time, ms, of the K-lines and of the open interest of a perpetual: oldest first, those of
// which neither is known left out.
func LiquidationBuckets(candles []Candle, interest []Bar, from, to, width int64) (list []LiquidationBucket) {
	for at := from; at <= to; at += width {
		for len(candles) > 0 && candles[0].OpenTime < at {
			candles = candles[1:]
		}
		for len(interest) > 0 && interest[0].Time < at {
			interest = interest[1:]
		}
		b := LiquidationBucket{Time: at}
		known := false
		if len(candles) > 0 && candles[0].OpenTime == at && candles[0].Size.IsPos() {
			one := &candles[0]
			b.High, b.Low, b.Turnover, known = one.High, one.Low, one.Amount, true
			b.Average = one.Amount.MustDiv(one.Size).RoundHAZ(LiquidationPlaces)
		}
		if len(interest) > 0 && interest[0].Time == at {
			b.Interest, known = interest[0].Close, true
		}
		if known {
			list = append(list, b)
		}
	}
	return list
}

// LiquidationPlaces is how many places a price at which a position is closed has.
const LiquidationPlaces = 8

// LiquidationShare says which part of what is opened has a leverage.
type LiquidationShare struct {
	Leverage int64
	Percent  int64
}

// LiquidationLeverages are those that the model knows, with their shares. What exchanges
// have published of their users puts most of them at low leverages; the shares themselves
// are an assumption.
var LiquidationLeverages = [...]LiquidationShare{{10, 40}, {25, 30}, {50, 20}, {100, 10}}

// MaintenanceShare is the maintenance margin that the model assumes, as a fraction of a
// position's value: that of the smallest positions in bitcoin on the large exchanges.
var MaintenanceShare = mustDecimal("0.004")

// openedAt is what a bucket opened. Longs and shorts of a leverage are 0 once their price
// was reached.
type openedAt struct {
	time   int64
	layers [len(LiquidationLeverages)]struct{ long, short layer }
}

// layer is positions of one side and leverage.
type layer struct{ px, value Decimal }

// Add takes the next bucket.
func (m *LiquidationModel) Add(b *LiquidationBucket) {
	m.forget(b.Time)
	m.reach(b)
	before := m.interest
	m.interest = b.Interest
	if before.IsZero() || b.Interest.IsZero() || !b.Average.IsPos() {
		return
	}
	change := b.Interest.Sub(before)
	open := between(between(b.Turnover.Add(change).Mul(half), b.Turnover), b.Interest)
	closed := between(b.Turnover.Sub(change).Mul(half), b.Turnover)
	m.close(closed, before)
	if open.IsPos() {
		m.opened = append(m.opened, opening(b.Time, b.Average, open))
	}
}

// half is a factor, as a quotient would have places that are not needed.
var half = mustDecimal("0.5")

// between keeps d within 0 and most.
func between(d, most Decimal) Decimal {
	if d.IsNeg() {
		return Decimal{}
	}
	if d.Cmp(most) > 0 {
		return most
	}
	return d
}

// forget drops what was opened longer ago than the window.
func (m *LiquidationModel) forget(now int64) {
	if m.Window == 0 {
		return
	}
	kept := 0
	for kept < len(m.opened) && m.opened[kept].time <= now-m.Window {
		kept++
	}
	m.opened = slices.Delete(m.opened, 0, kept)
}

// reach closes by force what a bucket's prices reach.
func (m *LiquidationModel) reach(b *LiquidationBucket) {
	if !b.Low.IsPos() {
		return
	}
	for i := range m.opened {
		for n := range m.opened[i].layers {
			l := &m.opened[i].layers[n]
			if !l.long.value.IsZero() && b.Low.Cmp(l.long.px) <= 0 {
				l.long.value = Decimal{}
			}
			if !l.short.value.IsZero() && b.High.Cmp(l.short.px) >= 0 {
				l.short.value = Decimal{}
			}
		}
	}
}

// close takes closed of all from every layer its part.
func (m *LiquidationModel) close(closed, all Decimal) {
	if closed.Cmp(all) >= 0 {
		m.opened = m.opened[:0]
		return
	}
	part := newFraction(all.Sub(closed), all)
	for i := range m.opened {
		for n := range m.opened[i].layers {
			l := &m.opened[i].layers[n]
			l.long.value, l.short.value = part.ofCents(l.long.value), part.ofCents(l.short.value)
		}
	}
}

// fraction is one of which parts are taken many times. Where both of its numbers are integers of 64
// bits in one unit, as those of what is traded are, a part takes no decimal arithmetic.
type fraction struct {
	of, all  Decimal
	num, den uint64 // the same; den is 0 where they do not fit
}

// newFraction is of over all, where of is less than all and neither is negative.
func newFraction(of, all Decimal) fraction {
	f := fraction{of: of, all: all}
	_, numHi, num, numPlaces, ok1 := of.ToHiLo()
	_, denHi, den, denPlaces, ok2 := all.ToHiLo()
	if !ok1 || !ok2 || numHi != 0 || denHi != 0 {
		return f
	}
	for ; numPlaces < denPlaces; numPlaces++ {
		if num > math.MaxUint64/10 {
			return f
		}
		num *= 10
	}
	for ; denPlaces < numPlaces; denPlaces++ {
		if den > math.MaxUint64/10 {
			return f
		}
		den *= 10
	}
	f.num, f.den = num, den
	return f
}

// ofCents is the fraction of an amount that is not negative and has two places at most, rounded to
// two, half up.
func (f *fraction) ofCents(d Decimal) Decimal {
	if d.IsZero() {
		return d
	}
	_, hi, cents, places, ok := d.ToHiLo()
	if f.den == 0 || !ok || hi != 0 || places > 2 || cents > math.MaxUint64/100 {
		return d.Mul(f.of).MustDiv(f.all).RoundHAZ(2)
	}
	for ; places < 2; places++ {
		cents *= 10
	}
	high, low := bits.Mul64(cents, f.num)
	part, left := bits.Div64(high, low, f.den) // cents x num / den is less than cents
	if left >= f.den-left {
		part++
	}
	return udecimal.MustFromUint64(part, 2)
}

// opening is what opens at an average price.
func opening(time int64, entry, value Decimal) openedAt {
	one, hundred := decimalOf(1), decimalOf(100)
	o := openedAt{time: time}
	for n, share := range LiquidationLeverages {
		margin := one.MustDiv(decimalOf(share.Leverage))
		part := value.Mul(decimalOf(share.Percent)).MustDiv(hundred).RoundHAZ(2)
		o.layers[n].long = layer{entry.Mul(one.Sub(margin)).MustDiv(one.Sub(MaintenanceShare)).RoundHAZ(LiquidationPlaces), part}
		o.layers[n].short = layer{entry.Mul(one.Add(margin)).MustDiv(one.Add(MaintenanceShare)).RoundHAZ(LiquidationPlaces), part}
	}
	return o
}

// LiquidationBand is what would be liquidated of a side and leverage while the price moves
// through [From, To).
type LiquidationBand struct {
	Leverage int64
	Long     bool
	From, To Decimal // quote units per base unit
	Value    Decimal // US dollars at the price of entry
}

// Bands returns what would be liquidated, in bands of prices of a width above 0: by
// leverage, longs before shorts, by price. Bands of nothing are left out, and so is what has a
// price of more than 2^63 widths, which no market has.
func (m *LiquidationModel) Bands(width Decimal) []LiquidationBand {
	return m.bands(width, func(leverage int64) (as int64, asked bool) { return leverage, true })
}

// BandsOf returns what would be liquidated of some leverages together, in such bands, whose
// Leverage is 0.
func (m *LiquidationModel) BandsOf(width Decimal, asked func(leverage int64) bool) []LiquidationBand {
	return m.bands(width, func(leverage int64) (int64, bool) { return 0, asked(leverage) })
}

func (m *LiquidationModel) bands(width Decimal, group func(leverage int64) (as int64, asked bool)) []LiquidationBand {
	type key struct{ leverage, side, number int64 } // a long is 0, a short 1
	values := map[key]Decimal{}
	for i := range m.opened {
		for n := range m.opened[i].layers {
			leverage, asked := group(LiquidationLeverages[n].Leverage)
			if !asked {
				continue
			}
			for side, l := range [...]layer{m.opened[i].layers[n].long, m.opened[i].layers[n].short} {
				if !l.value.IsPos() {
					continue
				}
				if number, ok := bandOf(l.px, width); ok {
					k := key{leverage, int64(side), number}
					values[k] = values[k].Add(l.value)
				}
			}
		}
	}
	keys := slices.SortedFunc(maps.Keys(values), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.leverage, b.leverage), cmp.Compare(a.side, b.side), cmp.Compare(a.number, b.number))
	})
	bands := make([]LiquidationBand, len(keys))
	for i, k := range keys {
		bands[i] = LiquidationBand{
			Leverage: k.leverage, Long: k.side == 0, Value: values[k],
			From: width.Mul(decimalOf(k.number)), To: width.Mul(decimalOf(k.number + 1)),
		}
	}
	return bands
}

// placedPlaces is how exact a share of the open interest is.
const placedPlaces = 6

// Placed is the share of the open interest at the end of the last bucket of which the model
// knows a price, from 0 to 1: the mean of what is long and what is short. It is false where the open
// interest is not known.
func (m *LiquidationModel) Placed() (share Decimal, known bool) {
	if !m.interest.IsPos() {
		return share, false
	}
	var both Decimal
	for i := range m.opened {
		for n := range m.opened[i].layers {
			l := &m.opened[i].layers[n]
			both = both.Add(l.long.value).Add(l.short.value)
		}
	}
	return between(both.MustDiv(m.interest.Mul64(2)), decimalOf(1)).RoundHAZ(placedPlaces), true
}

// bandOf is the number of the band that holds a price, from 0; false where bands are so narrow that
// it has none.
func bandOf(px, width Decimal) (number int64, ok bool) {
	number, err := px.MustDiv(width).Floor().Int64()
	return number, err == nil && number < math.MaxInt64
}

// BandWidth is a width of bands that suits a price above 0: 1, 2 or 5 times a power of
// ten, from a thousandth of the price to a four-hundredth.
func BandWidth(px Decimal) Decimal {
	least := px.MustDiv(decimalOf(1000))
	power := decimalOf(1)
	for places := 0; places < LiquidationPlaces && power.Cmp(least) >= 0; places++ {
		power = power.MustDiv(decimalOf(10))
	}
	for {
		for _, times := range [...]int64{1, 2, 5} {
			if width := power.Mul(decimalOf(times)); width.Cmp(least) >= 0 {
				return width
			}
		}
		power = power.Mul(decimalOf(10))
	}
}
