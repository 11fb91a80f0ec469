package market

import (
	"math"
	"math/bits"

	"github.com/quagmt/udecimal"
)

// MarkedTable is an [OpenTable] at mark prices: what each position is worth, uses as margin,
// and at which mark it is liquidated. It is read only, and may be shared.
type MarkedTable struct {
	*OpenTable
	Coins  []MarkedCoin  // in the order of the table's
	Values []MarkedValue // in the order of its rows
	Totals []Micros      // of each account: the notional of its positions, USD
}

// MarkedCoin is a coin with its mark.
type MarkedCoin struct {
	OpenCoin
	Mark        int64 // quote units per base unit x 10^PricePlaces; 0 is not known
	PricePlaces uint8 // of Mark, and of liquidation prices: four more than a price of the market has

	market PerpMarket
	tiers  []wholeTier
	usd    rate
}

// MarkedValue is a position at its mark. Its amounts are units of the collateral.
type MarkedValue struct {
	Marked     bool   // the coin has a mark, and its market is described; else nothing is known
	Known      bool   // LiquidationPx is what it says
	Usd        Micros // Value in USD; 0 where the collateral has no mark
	Value      Micros // notional
	Unrealized Micros // of meaning where its cost is known
	Used       Micros // margin: value of an isolated position with its margin, initial margin of others; see [MarkedTable.Margin]

	// LiquidationPx is the mark at which the position is liquidated, other marks unchanged, in the
	// places of its coin; 0 where there is none, or only one that no price comes to: more than half of
	// what 63 bits hold away.
	LiquidationPx int64
}

// wholeTier is a [MarginTier] in whole numbers.
type wholeTier struct {
	from, deduction Micros
	leverage        int64
}

// rate is a price as a whole number over a power of ten; none is 0.
type rate struct {
	n      uint64
	places uint8
}

// Mark values a table. The formulas are those of [Account.State], in whole numbers: a size and a
// price of the venue have six decimal places together, so that every notional is a whole number of
// millionths, as every margin is.
func (t *OpenTable) Mark(m *Markets, marks Marks) *MarkedTable {
	v := &MarkedTable{OpenTable: t, Coins: make([]MarkedCoin, len(t.Coins)), Values: make([]MarkedValue, len(t.Rows)), Totals: make([]Micros, len(t.Accounts))}
	for i, c := range t.Coins {
		v.Coins[i] = markCoin(c, m, marks)
	}
	for first := 0; first < len(t.Rows); {
		end := first + 1
		for end < len(t.Rows) && t.Rows[end].Pool == t.Rows[first].Pool {
			end++
		}
		v.pool(first, end)
		first = end
	}
	return v
}

func markCoin(c OpenCoin, m *Markets, marks Marks) MarkedCoin {
	v := MarkedCoin{OpenCoin: c}
	if m == nil {
		return v
	}
	perp, described := m.Perps[c.Coin]
	px, marked := marks[c.Coin]
	if !described || !marked || !px.IsPos() {
		return v
	}
	v.PricePlaces = perp.pricePlaces() + liquidationPlaces
	if mark, ok := wholeOf(px.RoundHAZ(v.PricePlaces), v.PricePlaces); ok {
		v.Mark = mark
	}
	v.market = perp
	for _, t := range perp.Tiers {
		v.tiers = append(v.tiers, wholeTier{MicrosOf(t.LowerBound), MicrosOf(t.Deduction), max(1, t.MaxLeverage)})
	}
	token, ok := m.collateral(DexOf(c.Coin))
	switch {
	case !ok:
	case token == USDC:
		v.usd = rate{1, 0}
	default:
		if mark, ok := marks[m.SpotCoins[token]]; ok && mark.IsPos() {
			neg, hi, lo, places, whole := mark.ToHiLo()
			if !neg && hi == 0 && whole {
				v.usd = rate{lo, places}
			}
		}
	}
	return v
}

// pool values the rows of a pool.
func (v *MarkedTable) pool(first, end int) {
	pool := v.Pools[v.Rows[first].Pool]
	room, known := pool.Base, pool.Known
	for i := first; i < end; i++ {
		row, value := &v.Rows[i], &v.Values[i]
		c := &v.Coins[row.Coin]
		if !c.value(row, value) {
			known = known && v.Isolated(i)
			continue
		}
		v.Totals[pool.Account] += value.Usd
		if !c.isolates(row) {
			room += value.Unrealized - c.maintenance(value.Value)
			known = known && row.Flags&OpenCostKnown != 0
		}
	}
	for i := first; i < end; i++ {
		row, value := &v.Rows[i], &v.Values[i]
		c := &v.Coins[row.Coin]
		switch {
		case !value.Marked:
		case !c.isolates(row):
			value.Known = known
			value.LiquidationPx = c.liquidationPx(row, value, room)
		default:
			value.Known = row.Flags&(OpenCostKnown|OpenMarginKnown) == OpenCostKnown|OpenMarginKnown
			value.LiquidationPx = c.liquidationPx(row, value, value.Used-c.maintenance(value.Value))
		}
		if !value.Known {
			value.LiquidationPx = 0
		}
	}
}

// Isolated reports whether a position has a margin of its own.
func (v *MarkedTable) Isolated(row int) bool { return v.Coins[v.Rows[row].Coin].isolates(&v.Rows[row]) }

// Leverage is that of a position, and whether it is what the venue sets for who never chose.
func (v *MarkedTable) Leverage(row int) (leverage int64, assumed bool) {
	return v.Coins[v.Rows[row].Coin].leverage(&v.Rows[row])
}

// Margin is what a position uses as margin, units of the collateral; false where it is not known.
func (v *MarkedTable) Margin(row int) (Micros, bool) {
	value, flags := &v.Values[row], v.Rows[row].Flags
	if v.Isolated(row) {
		return value.Used, value.Marked && flags&OpenCostKnown != 0 && flags&OpenMarginKnown != 0
	}
	return value.Used, value.Marked && flags&OpenStateKnown != 0
}

// Size is that of a position, base units, negative of a short.
func (v *MarkedTable) Size(row int) Decimal {
	return udecimal.MustFromInt64(v.Rows[row].Size, v.Coins[v.Rows[row].Coin].Places)
}

// EntryPx is the price at which a position was entered, rounded as the venue rounds it; false
// where it is not known.
func (v *MarkedTable) EntryPx(row int) (Decimal, bool) {
	r := &v.Rows[row]
	if r.Flags&OpenCostKnown == 0 {
		return Decimal{}, false
	}
	c := &v.Coins[r.Coin]
	return c.market.EntryPx(r.Cost.Decimal(), v.Size(row)), true
}

// Price is a whole number in the places of a coin as a price.
func (c *MarkedCoin) Price(n int64) Decimal { return udecimal.MustFromInt64(n, c.PricePlaces) }

func (c *MarkedCoin) leverage(row *OpenRow) (leverage int64, assumed bool) {
	if row.Leverage > 0 {
		return int64(row.Leverage), false
	}
	if c.market.MaxLeverage > 0 {
		return min(defaultLeverage, c.market.MaxLeverage), true
	}
	return defaultLeverage, true
}

func (c *MarkedCoin) isolates(row *OpenRow) bool {
	if row.Leverage > 0 {
		return row.Flags&OpenIsolated != 0
	}
	return c.market.OnlyIsolated
}

// value is a position at the mark, but for its liquidation price.
func (c *MarkedCoin) value(row *OpenRow, v *MarkedValue) bool {
	notional, ok := scaled(absolute(row.Size), absolute(c.Mark), int(c.Places)+int(c.PricePlaces)-usdPlaces)
	if c.Mark == 0 || !ok || notional > uint64(MaxMicros) {
		return false
	}
	v.Marked, v.Value = true, Micros(notional)
	signed := v.Value
	if row.Size < 0 {
		signed = -signed
	}
	if row.Flags&OpenCostKnown != 0 {
		v.Unrealized = signed - row.Cost
	}
	if c.isolates(row) {
		v.Used = row.Margin + v.Unrealized
	} else {
		leverage, _ := c.leverage(row)
		v.Used = (v.Value + Micros(leverage) - 1) / Micros(leverage)
	}
	v.Usd = c.usd.of(v.Value)
	return true
}

// of is an amount at the rate, cut to a millionth, and held at [MaxMicros].
func (r rate) of(amount Micros) Micros {
	hi, lo := bits.Mul64(uint64(amount), r.n)
	if hi >= tens[r.places] {
		return MaxMicros
	}
	worth, _ := bits.Div64(hi, lo, tens[r.places])
	return Micros(min(worth, uint64(MaxMicros)))
}

// tier is the one of a notional; false without tiers.
func (c *MarkedCoin) tier(notional Micros) (tier wholeTier, ok bool) {
	for i, next := range c.tiers {
		if i > 0 && notional < next.from {
			break
		}
		tier, ok = next, true
	}
	return tier, ok
}

// maintenance is [MarginTiers.Maintenance].
func (c *MarkedCoin) maintenance(notional Micros) Micros {
	tier, ok := c.tier(notional)
	if !ok {
		return 0
	}
	twice := Micros(2 * tier.leverage)
	return (notional+twice-1)/twice - tier.deduction
}

// liquidationPx is the mark at which what stands behind a position meets what it must keep: see
// the method of that name of a position in an [AccountState].
func (c *MarkedCoin) liquidationPx(row *OpenRow, v *MarkedValue, room Micros) int64 {
	tier, ok := c.tier(v.Value)
	if !ok {
		return 0
	}
	twice, side := uint64(2*tier.leverage), int64(1)
	below := twice - 1
	if row.Size < 0 {
		below, side = twice+1, -1
	}
	if room < 0 {
		side = -side
	}
	e := int(c.Places) + int(c.PricePlaces) - usdPlaces
	times, over := twice, uint64(1)
	if e >= 0 {
		times *= tens[e]
	} else {
		over = tens[-e]
	}
	high, per := bits.Mul64(absolute(row.Size), below*over)
	if high != 0 {
		return c.Mark // a position so large that no room moves its price
	}
	away, ok := mulDiv(absolute(int64(room)), times, per)
	if !ok || away > math.MaxInt64/2 {
		return 0 // no price is so far away
	}
	return max(0, c.Mark-side*int64(away))
}

// absolute is |n|.
func absolute(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// tens are the powers of ten, as many as a decimal may have places.
var tens = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// scaled is a x b / 10^e, rounded half away from zero; ok is false where it has no room.
func scaled(a, b uint64, e int) (n uint64, ok bool) {
	if e < 0 {
		high, b := bits.Mul64(b, tens[-e])
		if high != 0 {
			return 0, false
		}
		return mulDiv(a, b, 1)
	}
	return mulDiv(a, b, tens[e])
}

// mulDiv is a x b / c, rounded half away from zero; ok is false where it has no room.
func mulDiv(a, b, c uint64) (n uint64, ok bool) {
	high, low := bits.Mul64(a, b)
	if high >= c {
		return 0, false
	}
	n, rest := bits.Div64(high, low, c)
	if rest >= c-rest {
		n++
	}
	return n, true
}
