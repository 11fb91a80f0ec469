package market

// WhaleValue is the notional of an account's perpetual positions together, USD at marks, above which
// it is a whale.
const WhaleValue Micros = 1_000_000 * 1_000_000

// PositionAction is what became of a position.
type PositionAction int

// The actions, by their numbers on the wire.
const (
	PositionOpened PositionAction = iota + 1
	PositionClosed
	PositionAdded
	PositionReduced
	PositionFlipped
)

// ActionOf is what made a position of a size one of another, base units, negative is short; ok is
// false where nothing did.
func ActionOf(before, after Decimal) (action PositionAction, ok bool) {
	switch was, is := before.Sign(), after.Sign(); {
	case before.Equal(after):
		return 0, false
	case was == 0:
		return PositionOpened, true
	case is == 0:
		return PositionClosed, true
	case was != is:
		return PositionFlipped, true
	case after.Abs().Cmp(before.Abs()) > 0:
		return PositionAdded, true
	}
	return PositionReduced, true
}

// WhaleSides sums up the positions of whales on each side.
type WhaleSides struct {
	Longs, Shorts         int64  // positions
	LongValue, ShortValue Micros // notional, USD
}

// Whales sums up the positions of whales in a coin, "" for all.
func (v *MarkedTable) Whales(coin string) (s WhaleSides) {
	for i := range v.Rows {
		row, value := &v.Rows[i], &v.Values[i]
		if !value.Marked || !v.OfWhale(i) || coin != "" && v.Coins[row.Coin].Coin != coin {
			continue
		}
		if row.Size > 0 {
			s.Longs++
			s.LongValue += value.Usd
		} else {
			s.Shorts++
			s.ShortValue += value.Usd
		}
	}
	return s
}

// OfWhale reports whether a position is of a whale.
func (v *MarkedTable) OfWhale(row int) bool {
	return v.Totals[v.Pools[v.Rows[row].Pool].Account] > WhaleValue
}

// Coverage is [Covered] of the positions of the table in a coin, "" for all.
func (v *MarkedTable) Coverage(coin string, interests map[string]Decimal, marks Marks) (covered Decimal, known bool) {
	said := make([]bool, len(v.Coins))
	for i := range v.Coins {
		_, ok := interests[v.Coins[i].Coin]
		said[i] = ok && (coin == "" || v.Coins[i].Coin == coin)
	}
	var held Micros
	for i := range v.Rows {
		if said[v.Rows[i].Coin] {
			held += v.Values[i].Value
		}
	}
	return Covered(held.Decimal(), coin, interests, marks)
}

// Covered is which part of the open interest in a coin, "" for all, longs and shorts of a notional
// together are: that over twice what the venue says of one side, base units by coin, at marks; 1 at
// most, cut to four places. It is false where the venue says nothing.
func Covered(held Decimal, coin string, interests map[string]Decimal, marks Marks) (covered Decimal, known bool) {
	var all Decimal
	for name, interest := range interests {
		if coin == "" || name == coin {
			all = all.Add(interest.Mul(marks[name]))
		}
	}
	if !all.IsPos() {
		return Decimal{}, false
	}
	covered = held.MustDiv(all.Add(all)).Trunc(coveragePlaces)
	if one := decimalOf(1); covered.Cmp(one) > 0 {
		return one, true
	}
	return covered, true
}

// coveragePlaces is the decimal places of a share of the open interest.
const coveragePlaces = 4
