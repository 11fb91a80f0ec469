package market

// Candle is the fold of the trades of one coin in one bucket. Candles of parts
// of a bucket merge into the candle of the bucket in any grouping and order. The
// zero value is the candle of no trades.
type Candle struct {
	OpenTime int64 // ms; the bucket's start, set by who knows the bucket

	Trades int64   // number of trades; 0 also where an exchange does not count them
	Size   Decimal // base units
	Amount Decimal // quote units, the sum of px x sz

	// The parts of the three above in which the taker bought. Exchanges that do not count
	// trades do not tell takers apart either: then these, and Trades, are of those minutes
	// alone whose trades were followed.
	TradesBuyer int64
	SizeBuyer   Decimal
	AmountBuyer Decimal

	Open, High, Low, Close Decimal // quote units per base unit

	// First and Last are the places of the trades that opened and closed the
	// candle. A candle read from a row knows only its bucket and has the
	// bucket's start in both: enough to merge candles of disjoint buckets.
	First, Last Order
}

// Empty reports whether c is the candle of no trades.
func (c *Candle) Empty() bool { return c.Trades == 0 && c.Size.IsZero() }

// Add folds t into c. Each trade must be added once.
func (c *Candle) Add(t *Trade) {
	amount := Notional(t.Px, t.Sz)
	one := Candle{
		OpenTime: c.OpenTime, Trades: 1, Size: t.Sz, Amount: amount,
		Open: t.Px, High: t.Px, Low: t.Px, Close: t.Px,
		First: t.Order(), Last: t.Order(),
	}
	if t.Side == Buy {
		one.TradesBuyer, one.SizeBuyer, one.AmountBuyer = 1, t.Sz, amount
	}
	c.Merge(&one)
}

// Merge folds the trades of d, none of which is in c, into c. OpenTime stays.
func (c *Candle) Merge(d *Candle) {
	if d.Empty() {
		return
	}
	if c.Empty() {
		open := c.OpenTime
		*c = *d
		c.OpenTime = open
		return
	}
	c.Trades += d.Trades
	c.Size = c.Size.Add(d.Size)
	c.Amount = c.Amount.Add(d.Amount)
	c.TradesBuyer += d.TradesBuyer
	c.SizeBuyer = c.SizeBuyer.Add(d.SizeBuyer)
	c.AmountBuyer = c.AmountBuyer.Add(d.AmountBuyer)
	if d.High.Cmp(c.High) > 0 {
		c.High = d.High
	}
	if d.Low.Cmp(c.Low) < 0 {
		c.Low = d.Low
	}
	if d.First.Compare(c.First) < 0 {
		c.Open, c.First = d.Open, d.First
	}
	if d.Last.Compare(c.Last) >= 0 {
		c.Close, c.Last = d.Close, d.Last
	}
}

// Equal reports whether c and d are the same row: everything but First and Last,
// which a row does not keep.
func (c *Candle) Equal(d *Candle) bool {
	return c.OpenTime == d.OpenTime && c.Trades == d.Trades && c.TradesBuyer == d.TradesBuyer &&
		c.Size.Equal(d.Size) && c.Amount.Equal(d.Amount) &&
		c.SizeBuyer.Equal(d.SizeBuyer) && c.AmountBuyer.Equal(d.AmountBuyer) &&
		c.Open.Equal(d.Open) && c.High.Equal(d.High) && c.Low.Equal(d.Low) && c.Close.Equal(d.Close)
}

// Compose merges candles, oldest first, into those of wider buckets; start is the
// opening of the bucket that holds a time, both in ms. It uses up parts.
func Compose(parts []Candle, start func(ms int64) int64) []Candle {
	candles := make([]Candle, 0, len(parts))
	for i := range parts {
		part := &parts[i]
		open := start(part.OpenTime)
		if last := len(candles) - 1; last >= 0 && candles[last].OpenTime == open {
			candles[last].Merge(part)
			continue
		}
		part.OpenTime = open
		candles = append(candles, *part)
	}
	return candles
}
