package exchange

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
)

// perpInterest is the open interest of the perpetual exchange, as its own domain stores it
// every few minutes. It is read anew each time, as another process may write it. Nothing is
// known of before that exchange was followed.
type perpInterest struct{ *perpetuals }

// key is that of a coin's pair there: a coin that is traded by the thousand elsewhere has a k
// before its name.
func (p perpInterest) key(coin string) string {
	base := coin
	if slices.ContainsFunc(p.byCoin[coin], func(key string) bool { return !strings.HasPrefix(key, coin+"swap") }) {
		base = "k" + coin
	}
	return market.PairKey(base, pairs.PerpQuote, pairs.Hyperliquid, true)
}

// rows are those that hold the values of a time (ms) and of before it, newest first.
func (p perpInterest) rows(coin string, ms int64) []store.SeriesAt {
	tier, key := pairseries.Tiers[0], p.key(coin)
	at := []store.SeriesAt{pairseries.Interest.At(key, tier, ms)}
	if before := pairseries.Interest.At(key, tier, ms-valueFor); before != at[0] {
		at = append(at, before)
	}
	return at
}

// want asks for a coin's open interest at a time, ms.
func (p perpInterest) want(r *engine.Reads, coin string, ms int64) {
	for _, at := range p.rows(coin, ms) {
		r.Want(at, func(_ store.SeriesAt, row *store.Point) error {
			_, err := pairseries.Interest.Decode(row.Body)
			return err
		})
	}
}

// at is a coin's open interest at a time (ms), US dollars: the newest until then, 0 where
// there is none or it is too old.
func (p perpInterest) at(r *engine.Reads, coin string, ms int64) (market.Decimal, error) {
	for _, at := range p.rows(coin, ms) {
		stored := r.Row(at)
		if stored == nil {
			continue
		}
		pack, err := pairseries.Interest.Decode(stored.Body)
		if err != nil {
			return market.Decimal{}, fmt.Errorf("read %s at %s: %w", at.SeriesKey, at.Time.Format(time.RFC3339), err)
		}
		var newest market.Bar
		for _, bar := range pack {
			if bar.Last <= ms && bar.Last > newest.Last {
				newest = bar
			}
		}
		if !newest.Empty() {
			if ms-newest.Last > valueFor {
				break
			}
			return newest.Close, nil
		}
	}
	return market.Decimal{}, nil
}
