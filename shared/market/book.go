package market

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Book is the resting orders of one coin, joined by price, as a source gave
// them at one time: as deep as the source goes, which is 20 prices a side on
// the venue's public feed.
type Book struct {
	Coin string
	Time int64   // of the source, ms
	Bids []Level // highest price first
	Asks []Level // lowest price first
}

// Level is one price of a book. Px and Sz are the venue's own texts.
type Level struct {
	Px string // quote units per base unit
	Sz string // base units
	N  int64  // orders
}

// maxLevelOrders bounds the number of orders of a level.
const maxLevelOrders = 1 << 40

// Check says what makes b no book: a coin, time, price or size that cannot be
// one, or sides that are not in the order of their prices.
func (b *Book) Check() error {
	if !ValidCoin(b.Coin) {
		return fmt.Errorf("%.80q is no coin", b.Coin)
	}
	if b.Time <= 0 || b.Time > MaxTime {
		return fmt.Errorf("time %d is no time in ms", b.Time)
	}
	if err := checkLevels(b.Bids, -1); err != nil {
		return fmt.Errorf("bids: %w", err)
	}
	if err := checkLevels(b.Asks, 1); err != nil {
		return fmt.Errorf("asks: %w", err)
	}
	return nil
}

// checkLevels wants each price to compare with the one before it as order says.
func checkLevels(levels []Level, order int) error {
	for i := range levels {
		l := &levels[i]
		if err := CheckQuantity(l.Px, l.Sz); err != nil {
			return err
		}
		if l.N < 0 || l.N > maxLevelOrders {
			return fmt.Errorf("%d orders at one price", l.N)
		}
		if i > 0 && compareTexts(l.Px, levels[i-1].Px) != order {
			return fmt.Errorf("%s does not come after %s", l.Px, levels[i-1].Px)
		}
	}
	return nil
}

// compareTexts compares two plain decimals that are not negative.
func compareTexts(a, b string) int {
	a, fractionA, _ := strings.Cut(strings.TrimLeft(a, "0"), ".")
	b, fractionB, _ := strings.Cut(strings.TrimLeft(b, "0"), ".")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b),
		strings.Compare(strings.TrimRight(fractionA, "0"), strings.TrimRight(fractionB, "0")))
}

// Depth is what rests on both sides, as far as b goes, in base units.
func (b *Book) Depth() (bids, asks Decimal) {
	for i := range b.Bids {
		bids = bids.Add(mustDecimal(b.Bids[i].Sz))
	}
	for i := range b.Asks {
		asks = asks.Add(mustDecimal(b.Asks[i].Sz))
	}
	return bids, asks
}

// Top returns the book with its best prices alone, at most so many a side.
func (b *Book) Top(prices int) Book {
	return Book{b.Coin, b.Time, b.Bids[:min(prices, len(b.Bids))], b.Asks[:min(prices, len(b.Asks))]}
}

// Over returns b, of which a source gives the best prices alone, at most so many a side,
// with those of a deeper book behind them.
func (b *Book) Over(deeper *Book, prices int) Book {
	behind := func(top, all []Level, order int) []Level {
		if len(top) < prices { // the side has no more
			return top
		}
		i, last := 0, top[len(top)-1].Px
		for i < len(all) && compareTexts(all[i].Px, last) != order {
			i++
		}
		return slices.Concat(top, all[i:])
	}
	return Book{b.Coin, b.Time, behind(b.Bids, deeper.Bids, -1), behind(b.Asks, deeper.Asks, 1)}
}

// Grouping joins the prices of a book. The zero value leaves them as they are.
type Grouping struct {
	Figs     int // significant figures that a price keeps, 2 to 5; 0 keeps all
	Mantissa int // with 5 figures, the step of the last one: 1, 2 or 5
}

// Groupings are all that join prices.
var Groupings = [...]Grouping{{2, 1}, {3, 1}, {4, 1}, {5, 1}, {5, 2}, {5, 5}}

// Errors of [NewGrouping], each naming the parameter.
var (
	ErrSigFigs  = errors.New("nSigFigs must be a whole number from 2 to 5, or absent for full precision")
	ErrMantissa = errors.New("mantissa must be 1, 2 or 5, and only with an nSigFigs of 5")
)

// NewGrouping is the grouping that a request asks for as the venue accepts it;
// nil is an absent parameter.
func NewGrouping(nSigFigs, mantissa *int) (Grouping, error) {
	var g Grouping
	if nSigFigs != nil {
		if g.Figs = *nSigFigs; g.Figs < 2 || g.Figs > 5 {
			return Grouping{}, ErrSigFigs
		}
		g.Mantissa = 1
	}
	if mantissa != nil {
		if g.Mantissa = *mantissa; g.Figs != 5 || g.Mantissa != 1 && g.Mantissa != 2 && g.Mantissa != 5 {
			return Grouping{}, ErrMantissa
		}
	}
	return g, nil
}

// Group returns b with its prices joined: each is rounded to the figures of g,
// bids down and asks up, so that no group promises a better price than its
// orders have; sizes and numbers of orders add up. At a border of magnitude the
// step changes with the price, as at the venue (5 figures: 9999.96 is 10000.0
// as an ask, and 10000.3 is 10001.0).
//
// A book has only so many prices, and the last group of a side may have
// orders beyond them: it is complete only when the book is.
func (b *Book) Group(g Grouping) Book {
	if g.Figs == 0 {
		return *b
	}
	return Book{Coin: b.Coin, Time: b.Time, Bids: g.join(b.Bids, false), Asks: g.join(b.Asks, true)}
}

func (g Grouping) join(levels []Level, up bool) []Level {
	joined := make([]Level, 0, len(levels))
	var sz Decimal // of the last of joined
	var last Decimal
	for i := range levels {
		l := &levels[i]
		px := g.round(mustDecimal(l.Px), up)
		if n := len(joined); n > 0 && px.Equal(last) {
			sz = sz.Add(mustDecimal(l.Sz))
			joined[n-1].Sz = Text(sz)
			joined[n-1].N += l.N
			continue
		}
		last, sz = px, mustDecimal(l.Sz)
		joined = append(joined, Level{Px: Text(px), Sz: l.Sz, N: l.N})
	}
	return joined
}

// round brings px to a multiple of the step that its magnitude gives: the place
// of its last significant figure times the mantissa.
func (g Grouping) round(px Decimal, up bool) Decimal {
	if px.IsZero() {
		return px
	}
	step := stepOf(px, g.Figs)
	if step.IsZero() {
		return px // the figures reach beyond what a Decimal holds: nothing to join
	}
	step = step.Mul64(uint64(max(1, g.Mantissa)))
	rest, err := px.Mod(step)
	if err != nil || rest.IsZero() {
		return px
	}
	if up {
		return px.Sub(rest).Add(step)
	}
	return px.Sub(rest)
}

// stepOf is the place value of the last of px's first figs significant figures,
// or zero when it is finer than a Decimal.
func stepOf(px Decimal, figs int) Decimal {
	exponent := -1 // of the first significant figure
	text := px.String()
	point := false
	for i := 0; i < len(text); i++ {
		if text[i] == '.' {
			point = true
			break
		}
		exponent++
	}
	if text[0] == '0' {
		exponent = 0
		for i := 2; point && i < len(text); i++ {
			exponent--
			if text[i] != '0' {
				break
			}
		}
	}
	return powerOfTen(exponent - figs + 1)
}

var ten = mustDecimal("10")

func powerOfTen(exponent int) Decimal {
	switch {
	case exponent < -maxPlaces:
		return Decimal{}
	case exponent < 0:
		return tenths[-exponent]
	}
	p := mustDecimal("1")
	for range exponent {
		p = p.Mul(ten)
	}
	return p
}

// tenths are the powers of ten of the places that a Decimal can hold.
var tenths = func() (p [maxPlaces + 1]Decimal) {
	p[0] = mustDecimal("1")
	for i := 1; i <= maxPlaces; i++ {
		text := []byte("0.0000000000000000000")[:2+i]
		text[1+i] = '1'
		p[i] = mustDecimal(string(text))
	}
	return p
}()
