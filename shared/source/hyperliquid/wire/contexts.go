package wire

import (
	"encoding/json"
	"fmt"

	"quotary/shared/market"
)

// ParseContexts reads what the venue answers to metaAndAssetCtxs of a dex:
//
//	[{"universe":[{"name":"BTC", ..}, ...], ..}, [{"markPx","funding","premium","openInterest", ..}, ...]]
//
// The two lists go side by side. Coins without a mark price are left out of
// Coins; a figure that is no decimal is an error.
func ParseContexts(dex string, ms int64, raw []byte) (market.Contexts, error) {
	c := market.Contexts{Dex: dex, Time: ms, Raw: raw}
	description, figures, err := splitContexts(raw)
	if err != nil {
		return market.Contexts{}, err
	}
	if len(description.Universe) != len(figures) {
		return market.Contexts{}, fmt.Errorf("read contexts: %d coins and figures of %d", len(description.Universe), len(figures))
	}
	for i := range figures {
		if err := addContext(&c, description.Universe[i].Name, &figures[i]); err != nil {
			return market.Contexts{}, err
		}
	}
	return c, nil
}

// ParseSpotContexts reads what the venue answers to spotMetaAndAssetCtxs. Its
// figures name their coins themselves.
func ParseSpotContexts(ms int64, raw []byte) (market.Contexts, error) {
	c := market.Contexts{Spot: true, Time: ms, Raw: raw}
	_, figures, err := splitContexts(raw)
	if err != nil {
		return market.Contexts{}, err
	}
	for i := range figures {
		if err := addContext(&c, figures[i].Coin, &figures[i]); err != nil {
			return market.Contexts{}, err
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
	Open    *string `json:"openInterest"`
	DayOpen *string `json:"prevDayPx"`
	DaySize *string `json:"dayBaseVlm"`
	DayPaid *string `json:"dayNtlVlm"`
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

func addContext(c *market.Contexts, coin string, w *wireContext) error {
	if !market.ValidCoin(coin) {
		return fmt.Errorf("read contexts: %.80q is no coin", coin)
	}
	if w.MarkPx == nil {
		return nil
	}
	if err := market.CheckQuantity(*w.MarkPx, "1"); err != nil {
		return fmt.Errorf("read contexts: mark price of %s: %w", coin, err)
	}
	mark, err := market.ParseDecimal(*w.MarkPx)
	if err != nil {
		return fmt.Errorf("read contexts: mark price of %s: %w", coin, err)
	}
	one := market.Context{Coin: coin, Mark: mark}
	for _, f := range [...]struct {
		from *string
		to   *string
	}{{w.Funding, &one.Funding}, {w.Premium, &one.Premium}} {
		if f.from == nil {
			continue
		}
		if _, err := market.ParseDecimal(*f.from); err != nil {
			return fmt.Errorf("read contexts: a rate of %s: %w", coin, err)
		}
		*f.to = *f.from
	}
	if w.Open != nil {
		if one.Interest, err = market.ParseDecimal(*w.Open); err != nil || one.Interest.IsNeg() {
			return fmt.Errorf("read contexts: open interest of %s is %.60q", coin, *w.Open)
		}
	}
	one.Day = market.ContextDay{Open: quantity(w.DayOpen), Size: quantity(w.DaySize), Amount: quantity(w.DayPaid)}
	c.Coins = append(c.Coins, one)
	return nil
}

// quantity is a figure that nothing but texts is made of: 0 where it is not there, or is none.
func quantity(text *string) market.Decimal {
	if text == nil || market.CheckQuantity(*text, "0") != nil {
		return market.Decimal{}
	}
	d, err := market.ParseDecimal(*text)
	if err != nil {
		return market.Decimal{}
	}
	return d
}

// TradedCoins are the coins of a description of markets, a meta or spotMeta of the
// venue, that are not delisted.
func TradedCoins(description []byte) ([]string, error) {
	var d struct {
		Universe []struct {
			Name     string `json:"name"`
			Delisted bool   `json:"isDelisted"`
		} `json:"universe"`
	}
	if err := json.Unmarshal(description, &d); err != nil {
		return nil, fmt.Errorf("read a description of markets: %w", err)
	}
	var coins []string
	for _, c := range d.Universe {
		if !c.Delisted && market.ValidCoin(c.Name) {
			coins = append(coins, c.Name)
		}
	}
	return coins, nil
}
