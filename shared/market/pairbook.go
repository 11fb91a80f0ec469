package market

// PairBook is what rests in the order book of a pair, or the best of it.
type PairBook struct {
	Pair string      // its key
	Time int64       // of the exchange, ms
	Bids []PairLevel // highest price first
	Asks []PairLevel // lowest price first

	// Lost says that nothing is known of it since Time: it has no levels, and a whole book is
	// waited for.
	Lost bool
}

// OfPair is b, which has passed [Book.Check], as the book of a pair that has a key.
func (b *Book) OfPair(key string) PairBook {
	return PairBook{Pair: key, Time: b.Time, Bids: pairLevels(b.Bids), Asks: pairLevels(b.Asks)}
}

func pairLevels(side []Level) []PairLevel {
	levels := make([]PairLevel, len(side))
	for i := range side {
		levels[i] = PairLevel{Px: mustDecimal(side[i].Px), Sz: mustDecimal(side[i].Sz)}
	}
	return levels
}

// PairLevel is what rests at one price.
type PairLevel struct {
	Px Decimal // quote units per base unit
	Sz Decimal // base units
}
