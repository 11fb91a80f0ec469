// Package meta is the view of the venue's descriptions of its markets, each as
// the venue wrote it.
package meta

import (
	"encoding/json"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view.
const Name = "meta"

// View is the description of all markets.
type View struct {
	Time  int64                      `json:"time"`     // when the venue described them, ms
	Perps map[string]json.RawMessage `json:"meta"`     // the venue's meta by dex; the main one is ""
	Spot  json.RawMessage            `json:"spotMeta"` // the venue's spotMeta; empty where it is not known
}

// Published is how the view is stored. The venue is asked for descriptions once a minute.
var Published = store.ViewType[View]{Name: Name, Period: 10 * time.Second, After: func(v *View) {
	v.Spot = dataset.NotNull(v.Spot)
}}

// Markets is the same view, read as [View.Markets].
var Markets = store.ViewType[*market.Markets]{Name: Name, Period: Published.Period, Read: func(body []byte) (*market.Markets, error) {
	v, err := Published.Decode(body)
	return v.Markets(), err
}}

// PricePlaces is how many decimal places the venue gives the price of a coin at most:
// 6 of a perp and 8 of a spot market, less the decimal places of its sizes
// (szDecimals). It is [market.MaxPricePlaces] for a coin that is not described.
func (v *View) PricePlaces(coin string) uint8 {
	if most, sizes, ok := v.precision(coin); ok {
		return uint8(max(0, min(most, most-sizes)))
	}
	return market.MaxPricePlaces
}

// Describes reports whether the venue describes a market of that name.
func (v *View) Describes(coin string) bool {
	_, _, ok := v.precision(coin)
	return ok
}

func (v *View) precision(coin string) (most, sizes int, ok bool) {
	perps, _ := v.perps(market.DexOf(coin))
	for _, p := range perps.Universe {
		if p.Name == coin {
			return 6, p.SzDecimals, true
		}
	}
	spot := v.spot()
	for _, m := range spot.Universe {
		if m.Name != coin || len(m.Tokens) == 0 {
			continue
		}
		if t, ok := spot.token(m.Tokens[0]); ok {
			return market.MaxPricePlaces, t.SzDecimals, true
		}
	}
	return 0, 0, false
}
