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
	c, err := mainVenue(body)
	in := Interests{Time: c.Time}
	for i := range c.Coins {
		if one := &c.Coins[i]; one.Interest.IsPos() {
			in.Coins = append(in.Coins, Interest{one.Coin, one.Interest, market.Notional(one.Mark, one.Interest)})
		}
	}
	return in, err
}}

// mainVenue is the figures of the main venue's perpetuals in the body of the view.
func mainVenue(body []byte) (market.Contexts, error) {
	v, err := Decode(body)
	raw, ok := v.Perps[""]
	if err != nil || !ok {
		return market.Contexts{Time: v.Time}, err
	}
	c, err := wire.ParseContexts("", v.Time, raw)
	if err != nil {
		return c, fmt.Errorf("figures of the main venue: %w", err)
	}
	return c, nil
}

// perps reads the same view as the figures of the main venue's perpetuals.
var perps = dataset.View[market.Contexts]{Name: Name, Period: view.Period, Decode: mainVenue}

// OpenPerps returns the figures of the main venue's perpetuals as a reader keeps them in memory.
func OpenPerps(views *store.Views, clock func() time.Time) *store.View[market.Contexts] {
	return perps.Open(views, clock)
}

// OpenInterests returns the open interests of the view as a reader keeps them in memory.
func OpenInterests(views *store.Views, clock func() time.Time) *store.View[Interests] {
	return interests.Open(views, clock)
}
