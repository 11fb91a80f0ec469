package market

// PairBook is what rests in the order book of a pair, or the best of it.
type PairBook struct {
	Pair string      // its key
	Time int64       // of the exchange, ms
	Bids []PairLevel // highest price first
	Asks []PairLevel // lowest price first
}

// PairLevel is what rests at one price.
type PairLevel struct {
	Px Decimal // quote units per base unit
	Sz Decimal // base units
}
