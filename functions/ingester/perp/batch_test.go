package perp

import (
	"reflect"
	"testing"

	"quotary/shared/market"
)

// TestMergeForgetsNoField merges a batch of which every field is filled into an
// empty one. The fields of the events are those of the package market, which
// tests them.
func TestMergeForgetsNoField(t *testing.T) {
	t.Parallel()
	full := func() *Batch {
		return &Batch{Events: market.Events{Trades: []market.Trade{{Coin: "BTC"}}, Fills: []market.Fill{{Coin: "BTC", Px: "1.0", Sz: "1.0", Crossed: true, Tid: 1}}}, Stored: true, Past: true, Hourly: true, Until: 1}
	}
	b := NewBatch()
	b.Merge(full())
	b.Merge(nil)
	if n := len(b.AllTrades()); n != 2 {
		t.Errorf("%d trades of a fill and a trade", n)
	}
	b.Merge(full())
	if n := len(b.AllTrades()); n != 4 {
		t.Errorf("%d trades of two fills and two trades: those of before the merge are kept", n)
	}
	for i := range reflect.TypeFor[Batch]().NumField() {
		if reflect.ValueOf(b).Elem().Field(i).IsZero() {
			t.Errorf("%s is lost", reflect.TypeFor[Batch]().Field(i).Name)
		}
	}
}
