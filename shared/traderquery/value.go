package traderquery

import (
	"encoding/json"
	"slices"

	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/traderfields"
)

// texts are the figures that clients read as texts though they are no money.
var texts = []string{"snapPositionCount", "oaLastOrderAt", "avgLeverage", "snapEffLeverage", "snapMarginUsageRate"}

// value is a figure as it stands in an answer: a number, money a decimal text, nil where it is not
// known.
func value(f *traderfields.Field, v tablefile.Value) any {
	if !v.Known {
		return nil
	}
	d, isText := f.Decimal(v.Value), slices.Contains(texts, f.Name)
	switch {
	case f.Kind == traderfields.Money, isText && f.Kind == traderfields.Ratio:
		return market.Text(d)
	case isText:
		return d.String()
	}
	return json.Number(d.String())
}

// text is a text as it stands in an answer, nil where it is not known.
func text(texts []string) any {
	if len(texts) == 0 {
		return nil
	}
	return texts[0]
}

// list is a list of texts as it stands in an answer, nil where it is not known; of is how many they are.
func list(texts []string, of tablefile.Value) any {
	switch {
	case !of.Known:
		return nil
	case texts == nil:
		return []string{}
	}
	return texts
}

// addressesOf are addresses as a table has them; nil of none.
func addressesOf(list []catalog.Address) (all []table.Address) {
	for _, a := range list {
		of, _ := market.ParseAccount(string(a)) // its type has checked it
		all = append(all, of)
	}
	return all
}
