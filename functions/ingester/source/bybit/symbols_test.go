package bybit

import (
	"strconv"
	"strings"
	"testing"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// Whatever symbols the exchange pushes, a connection remembers a bounded number of them.
func TestSymbolsThatAreRememberedAreBounded(t *testing.T) {
	t.Parallel()
	p := parser{rates: map[string]market.PairFunding{}}
	give := func(symbol string) (fundings int) {
		t.Helper()
		var e market.PairEvents
		ticker := tickerFields{symbol: symbol, rate: "0.0001", due: "1790000000000", hours: "8"}
		must.Do(t, p.funding(&ticker, true, 1_789_999_000_000, &e))
		return len(e.Fundings)
	}
	if give(strings.Repeat("A", market.MaxName+1)) != 0 {
		t.Error("a symbol that is too long has a rate")
	}
	for n := range 2 * source.MostSymbols {
		give(strconv.Itoa(n))
	}
	if len(p.rates) != source.MostSymbols {
		t.Errorf("%d are remembered", len(p.rates))
	}
	if give("0") != 0 || give("new") != 0 {
		t.Error("a rate that has not changed is given out again, or one of a symbol there is no room for")
	}
}
