// Package venue has what functions and the ingester both need of the perpetual exchange: its
// wire format is in package wire.
package venue

import (
	"fmt"

	"quotary/shared/data/contexts"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/venue/wire"
)

// PerpContexts is the view of contexts, read as the figures of the main dex's perpetuals: the
// view has them as the venue wrote them.
var PerpContexts = store.ViewType[market.Contexts]{Name: contexts.Name, Period: contexts.Published.Period, Read: func(body []byte) (market.Contexts, error) {
	v, err := contexts.Published.Decode(body)
	raw, ok := v.Perps[""]
	if err != nil || !ok {
		return market.Contexts{Time: v.Time}, err
	}
	c, err := wire.ParseContexts("", v.Time, raw)
	if err != nil {
		return c, fmt.Errorf("figures of the main dex: %w", err)
	}
	return c, nil
}}
