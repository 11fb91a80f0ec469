package contexts

import (
	"fmt"

	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/venue/wire"
)

// PerpsOnly is the same view, read as the figures of the main venue's perpetuals.
var PerpsOnly = store.ViewType[market.Contexts]{Name: Name, Period: Published.Period, Read: func(body []byte) (market.Contexts, error) {
	v, err := Published.Decode(body)
	raw, ok := v.Perps[""]
	if err != nil || !ok {
		return market.Contexts{Time: v.Time}, err
	}
	c, err := wire.ParseContexts("", v.Time, raw)
	if err != nil {
		return c, fmt.Errorf("figures of the main venue: %w", err)
	}
	return c, nil
}}
