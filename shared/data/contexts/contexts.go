// Package contexts is the view of the current figures of all coins (mark price,
// open interest, funding, ...), as the venue wrote them.
package contexts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view.
const Name = "contexts"

// View is the figures of all coins.
type View struct {
	Time  int64                      `json:"time"`  // of the newest figures, ms
	Times map[string]int64           `json:"times"` // of those of each dex, ms
	Perps map[string]json.RawMessage `json:"perps"` // the venue's metaAndAssetCtxs by dex; the main one is ""
	Spot  json.RawMessage            `json:"spot"`  // the venue's spotMetaAndAssetCtxs; empty where it is not known

	// Marks are the mark prices among the figures, quote units by coin: what the
	// ingester itself continues from after a restart.
	Marks map[string]string `json:"marks"`

	// Interests are the open interests among the figures, base units of one side by coin, of
	// perpetuals whose is known.
	Interests map[string]string `json:"interests,omitempty"`
}

// Published is how the view is stored. The venue is asked for figures every ten seconds.
var Published = store.ViewType[View]{Name: Name, Period: 5 * time.Second, After: func(v *View) {
	v.Spot = dataset.NotNull(v.Spot)
}}

// Marks are the mark prices of all coins.
type Marks struct {
	Time  int64            // of the newest figures, ms
	Times map[string]int64 // of those of each dex, ms
	Px    market.Marks

	// Interests are the open interests, base units of one side by coin, of perpetuals whose is known.
	Interests map[string]market.Decimal
}

// Of is the time of the figures of a dex, ms.
func (m *Marks) Of(dex string) int64 { return cmp.Or(m.Times[dex], m.Time) }

// MarksOnly is the same view, read as its mark prices and open interests.
var MarksOnly = store.ViewType[Marks]{Name: Name, Period: Published.Period, Read: func(body []byte) (Marks, error) {
	v, err := Published.Decode(body)
	if err != nil {
		return Marks{}, err
	}
	m := Marks{Time: v.Time, Times: v.Times}
	if m.Px, err = decimals(v.Marks); err != nil {
		return Marks{}, fmt.Errorf("mark price of %w", err)
	}
	if m.Interests, err = decimals(v.Interests); err != nil {
		return Marks{}, fmt.Errorf("open interest of %w", err)
	}
	return m, nil
}}

// decimals reads texts by coin. An error begins with the coin.
func decimals(texts map[string]string) (map[string]market.Decimal, error) {
	all := make(map[string]market.Decimal, len(texts))
	for coin, text := range texts {
		d, err := market.ParseStored(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", coin, err)
		}
		all[coin] = d
	}
	return all, nil
}
