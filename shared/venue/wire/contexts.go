package wire

import (
	"encoding/json"
	"errors"
	"fmt"

	"quotary/shared/market"
	"quotary/shared/text/lenient"
	"quotary/shared/text/visible"
)

// ParseContexts reads what the venue answers to metaAndAssetCtxs of a dex:
//
//	[{"universe":[{"name":"BTC", ..}, ...], ..}, [{"markPx","funding","premium","openInterest", ..}, ...]]
//
// The two lists go side by side. Coins without a mark price are left out of Coins; those
// with an impossible name or price are Unread. A figure that is no decimal is not known.
func ParseContexts(dex string, ms int64, raw []byte) (market.Contexts, error) {
	c := market.Contexts{Dex: dex, Time: ms, Raw: visible.JSON(raw)}
	description, figures, err := splitContexts(raw)
	if err != nil {
		return market.Contexts{}, err
	}
	if description.Universe == nil {
		return market.Contexts{}, errUniverse
	}
	if len(description.Universe) != len(figures) {
		return market.Contexts{}, fmt.Errorf("read contexts: %d coins and figures of %d", len(description.Universe), len(figures))
	}
	for i := range figures {
		addContext(&c, description.Universe[i].Name, &figures[i])
	}
	return c, nil
}

// ParseSpotContexts reads what the venue answers to spotMetaAndAssetCtxs. Its
// figures name their coins themselves.
func ParseSpotContexts(ms int64, raw []byte) (market.Contexts, error) {
	c := market.Contexts{Spot: true, Time: ms, Raw: visible.JSON(raw)}
	_, figures, err := splitContexts(raw)
	if err != nil {
		return market.Contexts{}, err
	}
	for i := range figures {
		addContext(&c, figures[i].Coin, &figures[i])
	}
	return c, nil
}

type wireUniverse struct {
	Universe []struct {
		Name string `json:"name"`
	} `json:"universe"`
}

type wireContext struct {
	Coin    string        `json:"coin"` // on spot
	MarkPx  *lenient.Text `json:"markPx"`
	Funding lenient.Text  `json:"funding"`
	Premium lenient.Text  `json:"premium"`
	Open    lenient.Text  `json:"openInterest"`
	DayOpen lenient.Text  `json:"prevDayPx"`
	DaySize lenient.Text  `json:"dayBaseVlm"`
	DayPaid lenient.Text  `json:"dayNtlVlm"`
}

func splitContexts(raw []byte) (d wireUniverse, figures []wireContext, err error) {
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return d, nil, fmt.Errorf("read contexts: %w", err)
	}
	if len(parts) != 2 {
		return d, nil, fmt.Errorf("read contexts: %d parts where there should be 2", len(parts))
	}
	if err := lenient.Object(parts[0], &d); err != nil {
		return d, nil, fmt.Errorf("read contexts: %w", err)
	}
	if err := lenient.List(parts[1], &figures); err != nil {
		return d, nil, fmt.Errorf("read contexts: %w", err)
	}
	return d, figures, nil
}

// RawContexts are the figures of each coin as the venue wrote them.
func RawContexts(c *market.Contexts) (map[string]json.RawMessage, error) {
	description, figures, err := splitContexts(c.Raw)
	if err != nil {
		return nil, err
	}
	var parts, raws []json.RawMessage
	if err := json.Unmarshal(c.Raw, &parts); err != nil {
		return nil, fmt.Errorf("read contexts: %w", err)
	}
	if err := json.Unmarshal(parts[1], &raws); err != nil {
		return nil, fmt.Errorf("read contexts: %w", err)
	}
	all := make(map[string]json.RawMessage, len(figures))
	for i := range min(len(figures), len(raws)) {
		coin := figures[i].Coin
		if !c.Spot && i < len(description.Universe) {
			coin = description.Universe[i].Name
		}
		all[coin] = raws[i]
	}
	return all, nil
}

var errUniverse = errors.New("the description of the markets has no universe")

// addContext adds the figures of a coin that has a price.
func addContext(c *market.Contexts, coin string, w *wireContext) {
	if !market.ValidCoin(coin) || w.MarkPx != nil && market.CheckQuantity(string(*w.MarkPx), "1") != nil {
		c.Unread++
		return
	}
	if w.MarkPx == nil {
		return
	}
	c.Coins = append(c.Coins, market.Context{
		Coin: coin, Mark: quantity(*w.MarkPx), Funding: rate(w.Funding), Premium: rate(w.Premium), Interest: quantity(w.Open),
		Day: market.ContextDay{Open: quantity(w.DayOpen), Size: quantity(w.DaySize), Amount: quantity(w.DayPaid)},
	})
}

// rate is a decimal of either sign: "" where it is not there, or is none.
func rate(text lenient.Text) string {
	if _, err := market.ParseDecimal(string(text)); err != nil {
		return ""
	}
	return string(text)
}

// quantity is a figure that is not negative: 0 where it is not there, or is none.
func quantity(text lenient.Text) market.Decimal {
	if market.CheckQuantity(string(text), "0") != nil {
		return market.Decimal{}
	}
	d, err := market.ParseDecimal(string(text))
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
	if err := lenient.Object(description, &d); err != nil {
		return nil, fmt.Errorf("read a description of markets: %w", err)
	}
	if d.Universe == nil {
		return nil, errUniverse
	}
	var coins []string
	for _, c := range d.Universe {
		if !c.Delisted && market.ValidCoin(c.Name) {
			coins = append(coins, c.Name)
		}
	}
	return coins, nil
}
