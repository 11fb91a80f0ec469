package contexts

import (
	"fmt"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/venue/wire"
)

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
