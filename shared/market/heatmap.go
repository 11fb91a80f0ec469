package market

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/quagmt/udecimal"
)

// HeatBucket sums up the positions that are liquidated while the mark moves through [Lower, Upper).
type HeatBucket struct {
	Number    int64 // Lower over the width of the buckets
	Positions int64
	Addresses int64
	Size      Decimal // base units, not negative
	Notional  Micros  // at the mark as it is, units of the collateral
}

// Heatmap are the positions in a coin by the price at which each is liquidated, in buckets of a width
// above 0, quote units, that begin at multiples of it: those of longs and those of shorts, by price,
// without empty ones. Known is how many positions have such a price, and Open how many there are.
type Heatmap struct {
	Longs, Shorts []HeatBucket
	Open, Known   int64
}

// Heatmap returns that of a coin between two prices, lower inclusive and upper exclusive; 0 is no
// bound.
func (v *MarkedTable) Heatmap(coin string, width, lower, upper Decimal) (h Heatmap) {
	at := slices.IndexFunc(v.Coins, func(c MarkedCoin) bool { return c.Coin == coin })
	if at < 0 {
		return h
	}
	c := &v.Coins[at]
	from, to := c.whole(lower), c.whole(upper)
	bucket := c.bucketer(width)
	var longs, shorts heatSide
	for i := range v.Rows {
		row, value := &v.Rows[i], &v.Values[i]
		if int(row.Coin) != at {
			continue
		}
		h.Open++
		px := value.LiquidationPx
		if px == 0 {
			continue
		}
		h.Known++
		number := bucket(uint64(px))
		if px < from || to > 0 && px >= to || number == math.MaxInt64 {
			continue
		}
		side := &longs
		if row.Size < 0 {
			side = &shorts
		}
		side.add(number, row, value)
	}
	h.Longs, h.Shorts = longs.buckets(c), shorts.buckets(c)
	return h
}

// whole is a price in the places of the coin, rounded up; what has no room is the greatest there is.
func (c *MarkedCoin) whole(px Decimal) int64 {
	n, err := px.Mul(udecimal.MustFromUint64(tens[c.PricePlaces], 0)).Ceil().Int64()
	if err != nil {
		return math.MaxInt64
	}
	return n
}

// bucketer numbers buckets of a width: floor of a price in the places of the coin over it.
func (c *MarkedCoin) bucketer(width Decimal) func(px uint64) int64 {
	width = width.Trunc(placesOf(width))
	_, hi, lo, places, ok := width.ToHiLo()
	over, times := uint64(1), uint64(1)
	if places > c.PricePlaces {
		times = tens[places-c.PricePlaces]
	} else {
		over = tens[c.PricePlaces-places]
	}
	high, per := bits.Mul64(lo, over)
	if !ok || hi|high != 0 {
		return func(uint64) int64 { return 0 } // wider than any price is high
	}
	return func(px uint64) int64 {
		high, low := bits.Mul64(px, times)
		if high >= per {
			return math.MaxInt64 // too many for a number: it is not listed
		}
		n, _ := bits.Div64(high, low, per)
		return int64(min(n, math.MaxInt64)) //nolint:gosec // it is
	}
}

// heatSide is the positions of a side, not summed up yet.
type heatSide []heatRow

type heatRow struct {
	bucket   int64
	size     int64
	notional Micros
}

func (s *heatSide) add(bucket int64, row *OpenRow, value *MarkedValue) {
	*s = append(*s, heatRow{bucket, max(row.Size, -row.Size), value.Value})
}

// buckets sums up. An account has one position in a coin, so that there are as many addresses.
func (s heatSide) buckets(c *MarkedCoin) (list []HeatBucket) {
	slices.SortFunc(s, func(x, y heatRow) int { return cmp.Compare(x.bucket, y.bucket) })
	for i := 0; i < len(s); {
		b, size := HeatBucket{Number: s[i].bucket}, Decimal{}
		sum := int64(0)
		for ; i < len(s) && s[i].bucket == b.Number; i++ {
			b.Positions++
			b.Notional += s[i].notional
			if sum += s[i].size; sum > mostWhole {
				size, sum = size.Add(udecimal.MustFromInt64(sum, c.Places)), 0
			}
		}
		b.Addresses, b.Size = b.Positions, size.Add(udecimal.MustFromInt64(sum, c.Places))
		list = append(list, b)
	}
	return list
}
