package market

// LargeLevels is how the large levels of a pair's order book have changed, or all of them.
//
// A level is large from when its value reaches [LargeFrom] until less than a tenth of that is
// left ([LargeLeft]).
type LargeLevels struct {
	Pair   string // its key
	Time   int64  // of the exchange, ms
	Number int64  // of the change in its book: it grows from change to change

	// Whole is set behind a snapshot: the levels are all of which a tenth of [LargeFrom] rests, and
	// what happened since the levels before is not known.
	Whole bool

	// From is the value from which a level is large, and Contract and Inverse are those of the pair
	// (see [Pair]).
	From     Decimal
	Contract Decimal
	Inverse  bool

	// Levels are the large ones that have changed, as they are now. Without any the book is right
	// as it was told.
	Levels []LargeLevel
}

// Weight is what it takes where it waits: as much as it has levels, and one more.
func (e *LargeLevels) Weight() int { return 1 + len(e.Levels) }

// value is what a level is worth, US dollars.
func (e *LargeLevels) value(l *LargeLevel) Decimal {
	if e.Inverse {
		return l.Sz
	}
	return Notional(l.Px, l.Sz)
}

// LargeLevel is what rests at a price.
type LargeLevel struct {
	Side Side    // Buy of a bid
	Px   Decimal // quote units per base unit
	Sz   Decimal // base units or, of an inverse pair, quote units; 0 where nothing is left

	// Unseen is set where the level left the book at its end: the exchange shows so many levels
	// of a side, and what became of those behind them is not known.
	Unseen bool
}

// largeFrom is the value from which a level is large, by coin, in US dollars, of which a stable
// coin counts as one. On Binance's perpetual of BTC about three levels a minute reach it that
// stay for ten seconds.
var largeFrom = map[string]int64{
	"btc": 2_000_000, "eth": 1_000_000,
	"sol": 500_000, "xrp": 500_000, "bnb": 500_000, "doge": 500_000,
}

// largeFromOther is that of all other coins.
const largeFromOther = 200_000

// LargeFrom is the value, in US dollars, from which a level of a coin, by its key in lower case,
// is large.
func LargeFrom(coin string) Decimal {
	if from, ok := largeFrom[coin]; ok {
		return decimalOf(from)
	}
	return decimalOf(largeFromOther)
}

// LargeLeft is the value below which a large level is over, for that from which it was large.
func LargeLeft(from Decimal) Decimal { return from.Mul(tenth) }

var tenth = mustDecimal("0.1")

// RunFrom is the value, in US dollars, from which the trades of a taker are a run that is listed
// ([TakerRun]): a twentieth of that of a large level.
func RunFrom(coin string) Decimal { return LargeFrom(coin).Mul(twentieth) }

var twentieth = mustDecimal("0.05")

// SizeOf is the size of a trade as levels have it: base units or, of an inverse pair, quote units.
func (t *PairTrade) SizeOf(inverse bool) Decimal {
	if inverse {
		return t.Value()
	}
	return t.Sz
}
