package meta

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"quotary/shared/market"
	"quotary/shared/text/lenient"
)

// perpMeta is the part of the venue's meta that is read here.
type perpMeta struct {
	Universe []struct {
		Name          string `json:"name"`
		SzDecimals    int    `json:"szDecimals"`
		MaxLeverage   int64  `json:"maxLeverage"`
		OnlyIsolated  bool   `json:"onlyIsolated"`
		MarginTableID int64  `json:"marginTableId"`
	} `json:"universe"`
	MarginTables    []marginTable `json:"marginTables"`
	CollateralToken lenient.Text  `json:"collateralToken"` // number of the token; 0, and none, is USDC
}

// marginTable is written as [id, {"marginTiers": [...]}].
type marginTable struct {
	id    int64
	tiers []market.MarginTier
}

// UnmarshalJSON reads a table of the venue's. One in a shape that nobody knows yet has no
// tiers, and takes no market away.
func (t *marginTable) UnmarshalJSON(b []byte) error {
	if read, err := readMarginTable(b); err == nil {
		*t = read
	}
	return nil
}

func readMarginTable(b []byte) (t marginTable, err error) {
	var table struct {
		Tiers []struct {
			LowerBound  string `json:"lowerBound"`
			MaxLeverage int64  `json:"maxLeverage"`
		} `json:"marginTiers"`
	}
	if err := json.Unmarshal(b, &[]any{&t.id, &table}); err != nil {
		return t, err
	}
	for _, tier := range table.Tiers {
		bound, err := market.ParseDecimal(tier.LowerBound)
		if err != nil {
			return t, err
		}
		t.tiers = append(t.tiers, market.MarginTier{LowerBound: bound, MaxLeverage: max(1, tier.MaxLeverage)})
	}
	return t, nil
}

// spotMeta is the part of the venue's spotMeta that is read here.
type spotMeta struct {
	Universe []struct {
		Name   string `json:"name"`
		Tokens []int  `json:"tokens"` // base, quote
	} `json:"universe"`
	Tokens []spotToken `json:"tokens"`
}

type spotToken struct {
	Name       string `json:"name"`
	Index      int    `json:"index"`
	SzDecimals int    `json:"szDecimals"`
}

func (s *spotMeta) token(index int) (spotToken, bool) {
	if i := slices.IndexFunc(s.Tokens, func(t spotToken) bool { return t.Index == index }); i >= 0 {
		return s.Tokens[i], true
	}
	return spotToken{}, false
}

// perps is the description of a dex; false where it is not known, or in a shape that nobody
// knows yet.
func (v *View) perps(dex string) (m perpMeta, ok bool) {
	if lenient.Object(v.Perps[dex], &m) != nil {
		return perpMeta{}, false
	}
	return m, true
}

func (v *View) spot() (m spotMeta) {
	if lenient.Object(v.Spot, &m) != nil {
		return spotMeta{}
	}
	return m
}

// Markets is what the view says of the markets, for who values accounts. It is parsed at
// every call: keep it as long as the view.
func (v *View) Markets() *market.Markets {
	m := &market.Markets{Perps: map[string]market.PerpMarket{}, Spot: map[string]market.SpotMarket{}, Tokens: map[string]int64{}, SpotCoins: map[string]string{}, Collaterals: map[string]string{}}
	spot := v.spot()
	for dex := range v.Perps {
		perps, ok := v.perps(dex)
		if !ok {
			continue
		}
		if number, err := strconv.Atoi(string(cmp.Or(perps.CollateralToken, "0"))); err == nil {
			if token, ok := spot.token(number); ok {
				m.Collaterals[dex] = token.Name
			} else if number == 0 {
				m.Collaterals[dex] = market.USDC
			}
		}
		for i, p := range perps.Universe {
			// A market without a table has one tier. So have the tables that are not
			// listed, whose id is the leverage.
			tiers := market.NewMarginTiers(market.MarginTier{MaxLeverage: max(1, p.MaxLeverage)})
			if at := slices.IndexFunc(perps.MarginTables, func(t marginTable) bool { return t.id == p.MarginTableID }); at >= 0 && len(perps.MarginTables[at].tiers) > 0 {
				tiers = market.NewMarginTiers(perps.MarginTables[at].tiers...)
			}
			m.Perps[p.Name] = market.PerpMarket{
				Index: i, SzDecimals: uint8(max(0, min(p.SzDecimals, 19))), MaxLeverage: p.MaxLeverage, OnlyIsolated: p.OnlyIsolated, Tiers: tiers,
			}
		}
	}
	for _, t := range spot.Tokens {
		m.Tokens[t.Name] = int64(t.Index)
	}
	for _, s := range spot.Universe {
		if len(s.Tokens) != 2 {
			continue
		}
		base, hasBase := spot.token(s.Tokens[0])
		quote, hasQuote := spot.token(s.Tokens[1])
		if !hasBase || !hasQuote {
			continue
		}
		m.Spot[s.Name] = market.SpotMarket{Base: base.Name, Quote: quote.Name}
		if _, has := m.SpotCoins[base.Name]; quote.Name == market.USDC && !has {
			m.SpotCoins[base.Name] = s.Name
		}
	}
	return m
}
