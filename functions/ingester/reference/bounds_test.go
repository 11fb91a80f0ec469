package reference

import (
	"fmt"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/coins"
	"quotary/shared/data/companies"
	"quotary/shared/data/drop"
	"quotary/shared/data/indices"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// A file has room for millions of lines: each would be in memory, and in what every reader fetches.
func TestOfWhatIsDroppedTheNewestIsKept(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	const toldOf = "z:told" // by a source
	day := func(key string, at drop.Place) indices.DayEntry {
		return indices.DayEntry{Key: key, Day: indices.Day{Date: "2026-11-19", Open: "1", High: "1", Low: "1", Close: "1", Place: at}}
	}
	asked := drop.Place{Time: now.UnixMilli() - 1000}
	batches := []*Batch{{
		Filings: []companies.Filed{{Key: toldOf, Filing: companies.Filing{Asked: asked.Time}}}, Coins: []market.CoinMarket{{Key: toldOf, Time: asked.Time}},
		Indices: []indices.DayEntry{day(toldOf, asked)}, Entries: []coins.Dropped{{Entry: coins.Entry{CoinKey: toldOf}, Place: asked}},
	}}
	for n := range mostDropped + 1 {
		key, at := fmt.Sprintf("d:%06d", n), drop.Place{Time: now.UnixMilli() + int64(n), File: "many.ndjson", Line: 1}
		batches = append(batches, &Batch{Companies: []companies.Dropped{{Entry: companies.Entry{Key: key}, Place: at}},
			Entries: []coins.Dropped{{Entry: coins.Entry{CoinKey: key}, Place: at}}, Indices: []indices.DayEntry{day(key, at)}})
	}
	named, shares, levels := newCoinNames(), newCompanyFacts(), newIndexDays()
	views := map[string][]byte{}
	for _, p := range []Projection{named, shares, levels} {
		for _, b := range batches {
			must.Do(t, p.Apply(b, engine.NewReads(), now))
		}
		for _, v := range p.Changes(now, true).Views {
			views[v.Name] = v.Body
		}
	}
	ofCompanies := must.Get(companies.Published.Decode(views[companies.Name]))(t)
	ofCoins := must.Get(coins.Published.Decode(views[coins.Name]))(t)
	ofIndices := must.Get(indices.Published.Decode(views[indices.Name]))(t)
	for name, keys := range map[string]map[string]bool{
		"companies": keysOf(ofCompanies.Companies, func(c companies.Company) string { return c.Key }),
		"coins":     keysOf(ofCoins.Coins, func(c coins.Coin) string { return c.Key }),
		"indices":   keysOf(ofIndices.Indices, func(i indices.Index) string { return i.Key }),
	} {
		if len(keys) > mostDropped+1 || !keys[toldOf] || keys["d:000000"] || !keys[fmt.Sprintf("d:%06d", mostDropped)] {
			t.Errorf("%s: %d are kept, that of the source %t, the oldest %t", name, len(keys), keys[toldOf], keys["d:000000"])
		}
	}
}

func keysOf[T any](list []T, key func(T) string) map[string]bool {
	keys := map[string]bool{}
	for _, one := range list {
		keys[key(one)] = true
	}
	return keys
}
