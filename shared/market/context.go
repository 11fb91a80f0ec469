package market

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Contexts are the current figures of all coins of one dex, or of the spot
// markets. They replace those told before.
type Contexts struct {
	Dex   string          // "" is the main dex; of no meaning for spot
	Spot  bool            // the spot markets
	Time  int64           // when the source told it, ms
	Raw   json.RawMessage // the venue's metaAndAssetCtxs or spotMetaAndAssetCtxs as it wrote it
	Coins []Context       // in the venue's order
}

// Context is the part of a coin's figures that others are computed from.
type Context struct {
	Coin    string
	Mark    Decimal // quote units per base unit
	Funding string  // the hourly rate that would be paid now, a fraction; "" on spot
	Premium string  // over the oracle price, a fraction; "" where not told
}

// ParseContexts reads what the venue answers to metaAndAssetCtxs of a dex:
//
//	[{"universe":[{"name":"BTC", ..}, ...], ..}, [{"markPx","funding","premium", ..}, ...]]
//
// The two lists go side by side. Coins without a mark price are left out of
// Coins; a figure that is no decimal is an error.
func ParseContexts(dex string, ms int64, raw []byte) (Contexts, error) {
	c := Contexts{Dex: dex, Time: ms, Raw: raw}
	description, figures, err := splitContexts(raw)
	if err != nil {
		return Contexts{}, err
	}
	if len(description.Universe) != len(figures) {
		return Contexts{}, fmt.Errorf("read contexts: %d coins and figures of %d", len(description.Universe), len(figures))
	}
	for i := range figures {
		if err := c.add(description.Universe[i].Name, &figures[i]); err != nil {
			return Contexts{}, err
		}
	}
	return c, nil
}

// ParseSpotContexts reads what the venue answers to spotMetaAndAssetCtxs. Its
// figures name their coins themselves.
func ParseSpotContexts(ms int64, raw []byte) (Contexts, error) {
	c := Contexts{Spot: true, Time: ms, Raw: raw}
	_, figures, err := splitContexts(raw)
	if err != nil {
		return Contexts{}, err
	}
	for i := range figures {
		if err := c.add(figures[i].Coin, &figures[i]); err != nil {
			return Contexts{}, err
		}
	}
	return c, nil
}

type wireUniverse struct {
	Universe []struct {
		Name string `json:"name"`
	} `json:"universe"`
}

type wireContext struct {
	Coin    string  `json:"coin"` // on spot
	MarkPx  *string `json:"markPx"`
	Funding *string `json:"funding"`
	Premium *string `json:"premium"`
}

func splitContexts(raw []byte) (d wireUniverse, figures []wireContext, err error) {
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return d, nil, fmt.Errorf("read contexts: %w", err)
	}
	if len(parts) != 2 {
		return d, nil, fmt.Errorf("read contexts: %d parts where there should be 2", len(parts))
	}
	if err := json.Unmarshal(parts[0], &d); err != nil {
		return d, nil, fmt.Errorf("read contexts: %w", err)
	}
	if err := json.Unmarshal(parts[1], &figures); err != nil {
		return d, nil, fmt.Errorf("read contexts: %w", err)
	}
	return d, figures, nil
}

func (c *Contexts) add(coin string, w *wireContext) error {
	if !ValidCoin(coin) {
		return fmt.Errorf("read contexts: %.80q is no coin", coin)
	}
	if w.MarkPx == nil {
		return nil
	}
	if err := CheckQuantity(*w.MarkPx, "1"); err != nil {
		return fmt.Errorf("read contexts: mark price of %s: %w", coin, err)
	}
	one := Context{Coin: coin, Mark: mustDecimal(*w.MarkPx)}
	for _, f := range [...]struct {
		from *string
		to   *string
	}{{w.Funding, &one.Funding}, {w.Premium, &one.Premium}} {
		if f.from == nil {
			continue
		}
		if _, ok := decimalPlaces(*f.from); !ok {
			return fmt.Errorf("read contexts: a rate of %s: %.60q %w", coin, *f.from, errDecimal)
		}
		*f.to = *f.from
	}
	c.Coins = append(c.Coins, one)
	return nil
}

// Funding is what longs paid shorts in one hour, per unit of notional; shorts
// paid longs where it is negative.
type Funding struct {
	Coin    string `json:"coin"`
	Rate    string `json:"fundingRate"` // a fraction, decimal text
	Premium string `json:"premium"`     // that the rate was made of, a fraction, decimal text; "" where the source does not tell it
	Time    int64  `json:"time"`        // when it was paid, ms: just after a full hour
}

// Check tells what makes f impossible.
func (f *Funding) Check() error {
	if !ValidCoin(f.Coin) {
		return fmt.Errorf("%.80q is no coin", f.Coin)
	}
	if f.Time <= 0 || f.Time > maxTime {
		return fmt.Errorf("time %d is no time in ms", f.Time)
	}
	if _, ok := decimalPlaces(f.Rate); !ok {
		return fmt.Errorf("rate %.60q %w", f.Rate, errDecimal)
	}
	if _, ok := decimalPlaces(f.Premium); !ok && f.Premium != "" {
		return fmt.Errorf("premium %.60q %w", f.Premium, errDecimal)
	}
	return nil
}

// IsSpot tells the coins of spot markets, which nobody holds a position in, by
// their names: @107 or PURR/USDC.
func IsSpot(coin string) bool {
	return strings.HasPrefix(coin, "@") || strings.Contains(coin, "/")
}
