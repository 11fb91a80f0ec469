package contexts

import (
	"fmt"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/source/hyperliquid/wire"
	"quotary/shared/store"
)

// Interests are the open interests of the main venue's perpetuals.
type Interests struct {
	Time  int64 // of the newest figures, ms
	Coins []Interest
}

// Interest is the open interest of a coin: one side, as longs equal shorts.
type Interest struct {
	Coin  string
	Size  market.Decimal // base units, above 0
	Value market.Decimal // quote units at the mark price
}

// interests reads the same view as its open interests.
var interests = dataset.View[Interests]{Name: Name, Period: view.Period, Decode: func(body []byte) (Interests, error) {
	v, err := Decode(body)
	raw, ok := v.Perps[""]
	if err != nil || !ok {
		return Interests{Time: v.Time}, err
	}
	c, err := wire.ParseContexts("", v.Time, raw)
	if err != nil {
		return Interests{}, fmt.Errorf("figures of the main venue: %w", err)
	}
	in := Interests{Time: v.Time}
	for i := range c.Coins {
		if one := &c.Coins[i]; one.Interest.IsPos() {
			in.Coins = append(in.Coins, Interest{one.Coin, one.Interest, market.Notional(one.Mark, one.Interest)})
		}
	}
	return in, nil
}}

// OpenInterests returns the open interests of the view as a reader keeps them in memory.
func OpenInterests(views *store.Views, clock func() time.Time) *store.View[Interests] {
	return interests.Open(views, clock)
}
