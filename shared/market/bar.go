package market

// Bar sums up the values that something took in a bucket of time: the first, the highest,
// the lowest and the last of them. Bars are sets of points, so points may come late, twice
// and in any order. The zero value has no point.
type Bar struct {
	Time                   int64 // ms; the bucket's start, set by who knows the bucket
	Open, High, Low, Close Decimal
	First, Last            int64 // times of the points that opened and closed it, ms
}

// Empty reports whether b has no point.
func (b *Bar) Empty() bool { return b.Last == 0 }

// Add takes a value at a time above 0, ms. Of two values at one time the smaller opens and
// the larger closes.
func (b *Bar) Add(ms int64, value Decimal) {
	b.Merge(&Bar{Open: value, High: value, Low: value, Close: value, First: ms, Last: ms})
}

// Merge takes the points of d. Time stays.
func (b *Bar) Merge(d *Bar) {
	if d.Empty() {
		return
	}
	if b.Empty() {
		time := b.Time
		*b = *d
		b.Time = time
		return
	}
	if d.High.Cmp(b.High) > 0 {
		b.High = d.High
	}
	if d.Low.Cmp(b.Low) < 0 {
		b.Low = d.Low
	}
	if d.First < b.First || d.First == b.First && d.Open.Cmp(b.Open) < 0 {
		b.Open, b.First = d.Open, d.First
	}
	if d.Last > b.Last || d.Last == b.Last && d.Close.Cmp(b.Close) > 0 {
		b.Close, b.Last = d.Close, d.Last
	}
}

// Liquidated sums up what was liquidated in a bucket of time, in US dollars. The zero
// value is nothing.
type Liquidated struct {
	Time        int64 // ms; the bucket's start, set by who knows the bucket
	Long, Short Decimal
	Count       int64
	Largest     Decimal // of a single liquidation
}

// Add takes a liquidation.
func (l *Liquidated) Add(one *PairLiquidation) {
	if one.Long {
		l.Long = l.Long.Add(one.Value)
	} else {
		l.Short = l.Short.Add(one.Value)
	}
	l.Count++
	if one.Value.Cmp(l.Largest) > 0 {
		l.Largest = one.Value
	}
}

// Merge takes what was liquidated in another bucket. Time stays.
func (l *Liquidated) Merge(d *Liquidated) {
	l.Long, l.Short, l.Count = l.Long.Add(d.Long), l.Short.Add(d.Short), l.Count+d.Count
	if d.Largest.Cmp(l.Largest) > 0 {
		l.Largest = d.Largest
	}
}

// Total is both sides.
func (l *Liquidated) Total() Decimal { return l.Long.Add(l.Short) }

// WeightedRate is a funding rate with its weight.
type WeightedRate struct {
	Rate   Decimal // of one period, as a fraction
	Period int64   // how long a period is, ms; 0 means eight hours
	Weight Decimal
}

// ratePlaces is how exact a weighted rate is.
const ratePlaces = 12

// WeighRates is the mean of rates, each for eight hours, by their weights, rounded to
// twelve places; false where nothing has a weight.
func WeighRates(rates []WeightedRate) (Decimal, bool) {
	const eight = 8 * hourMs
	var total, weights Decimal
	for i := range rates {
		r := &rates[i]
		rate := r.Rate
		if r.Period > 0 {
			rate = rate.Mul(decimalOf(eight)).MustDiv(decimalOf(r.Period))
		}
		total, weights = total.Add(rate.Mul(r.Weight)), weights.Add(r.Weight)
	}
	if !weights.IsPos() {
		return Decimal{}, false
	}
	return total.MustDiv(weights).RoundHAZ(ratePlaces), true
}

// ShortShare is the share of accounts that are short, where one is long.
func ShortShare(long Decimal) Decimal { return decimalOf(1).Sub(long) }

// LongShortRatio is how many accounts are long for each that is short, of the mean of the
// shares that are long, rounded to four places; false of no shares, and where nobody is short.
func LongShortRatio(shares []Decimal) (ratio Decimal, ok bool) {
	var longs Decimal
	for _, share := range shares {
		longs = longs.Add(share)
	}
	shorts := decimalOf(int64(len(shares))).Sub(longs)
	if !shorts.IsPos() {
		return Decimal{}, false
	}
	return longs.MustDiv(shorts).RoundHAZ(4), true
}
