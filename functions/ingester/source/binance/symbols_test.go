package binance

import (
	"strconv"
	"strings"
	"testing"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
)

// Whatever symbols an exchange pushes, a connection remembers a bounded number of them.
func TestSymbolsThatAreRememberedAreBounded(t *testing.T) {
	t.Parallel()
	r := runningPeriods{}
	if r.of(&market.PairFunding{Pair: strings.Repeat("A", market.MaxName+1), Due: 1}); len(r) != 0 {
		t.Error("a symbol that is too long is remembered")
	}
	for n := range 2 * source.MostSymbols {
		r.of(&market.PairFunding{Pair: strconv.Itoa(n), Due: 1})
	}
	if len(r) != source.MostSymbols {
		t.Errorf("%d are remembered", len(r))
	}
}
