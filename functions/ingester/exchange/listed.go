package exchange

// listedPairs are the pairs that trade, by key, as each market listed them last. The zero value
// has none.
type listedPairs struct{ byKey map[string]listedPair }

// listedPair is where a pair trades.
type listedPair struct {
	market   listedMarket
	followed bool
}

// listedMarket is what one [Listing] is of.
type listedMarket struct {
	platform      string
	swap, inverse bool
}

// list takes the pairs of the markets that were listed, and returns the keys of those that no
// longer trade: what is remembered of pairs is dropped with them, as a market may list other
// names each time.
func (l *listedPairs) list(listings []Listing) (gone []string) {
	for i := range listings {
		one := &listings[i]
		market := listedMarket{one.Platform, one.Swap, one.Inverse}
		before := l.byKey
		l.byKey = make(map[string]listedPair, len(one.Pairs))
		for _, pair := range one.Pairs {
			l.byKey[pair.Key] = listedPair{market, one.Followed[pair.Key]}
		}
		for key, pair := range before {
			if _, listed := l.byKey[key]; listed {
				continue
			}
			if pair.market == market {
				gone = append(gone, key)
			} else {
				l.byKey[key] = pair
			}
		}
	}
	return gone
}
