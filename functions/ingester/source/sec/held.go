package sec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quotary/shared/market"
	"quotary/shared/upstream"
)

// heldUnits are the units in which companies file how many coins they hold, in lower case. A
// number without a unit may be of any coin, and is not read.
var heldUnits = map[string]string{
	"bitcoin": "BTC", "bitcoins": "BTC", "btc": "BTC", "ether": "ETH", "ethereum": "ETH", "eth": "ETH",
	"solana": "SOL", "sol": "SOL", "xrp": "XRP", "bnb": "BNB", "dogecoin": "DOGE", "doge": "DOGE", "litecoin": "LTC", "ltc": "LTC",
}

// held are the coins that were held on all days of which quarterly and annual reports say it, by
// coin and day: of a day by the report that was filed last.
func (a *answer) held() (all []market.HeldFact, malformed int, err error) {
	type day struct{ coin, end string }
	newest := map[day]market.HeldFact{}
	for _, concept := range heldConcepts {
		taxonomy, name, _ := strings.Cut(concept, ":")
		text, ok := a.Facts[taxonomy][name]
		if !ok {
			continue
		}
		coin := ""
		err := eachValue(text, func(unit string) bool { coin = heldUnits[strings.ToLower(unit)]; return coin != "" }, func(one json.RawMessage) error {
			if a.values++; a.values > bounds.Rows {
				return fmt.Errorf("%w: it has more than %d values", upstream.ErrBounds, bounds.Rows)
			}
			f, ok := report(one, a.last)
			if !ok || len(f.Value) > maxAmount {
				malformed++
				return nil
			}
			at := day{coin, f.End}
			if have, ok := newest[at]; f.periodic() && (!ok || have.Filed <= f.Filed) {
				newest[at] = market.HeldFact{Coin: coin, Fact: market.Fact{Value: f.Value.String(), AsOf: f.End, Filed: f.Filed, Form: f.Form, Concept: concept}}
			}
			return nil
		})
		switch {
		case errors.Is(err, upstream.ErrBounds):
			return nil, malformed, err
		case err != nil:
			malformed++
		}
	}
	return slices.SortedFunc(maps.Values(newest), func(a, b market.HeldFact) int {
		return cmp.Or(cmp.Compare(a.Coin, b.Coin), cmp.Compare(a.AsOf, b.AsOf))
	}), malformed, nil
}

// maxAmount is how many characters a number of coins may have.
const maxAmount = 40
