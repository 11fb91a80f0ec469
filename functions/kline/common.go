package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/pairklines"
	"quotary/shared/market"
	"quotary/shared/store"
)

// reader answers from what is stored of pairs.
type reader struct {
	series *store.Series
}

// common returns K-lines of a pair, oldest first; none of a key that has no trades
// stored.
func (r *reader) common(ctx context.Context, in catalog.CommonKlinesIn) (catalog.CommonKlineList, error) {
	opens := market.OpenBeijing0
	if in.OpenTime == "8" {
		opens = market.OpenBeijing8
	}
	period, err := market.NewPeriod(int64(in.Period), opens)
	if err != nil {
		return catalog.CommonKlineList{}, fmt.Errorf("a period that the catalog accepts: %w", err)
	}
	until := in.Since.Time()
	if in.Since == nil {
		until = api.Now(ctx)
	}
	// Keys are lower case everywhere; some clients pass on what their user typed.
	pair := strings.ToLower(string(in.Symbol))
	candles, err := pairklines.Newest(ctx, r.series, pair, period, until, int(in.Size))
	if err != nil {
		return catalog.CommonKlineList{}, err
	}
	list := catalog.CommonKlineList{KlineData: make([]catalog.KlineRow, len(candles))}
	for i := range candles {
		list.KlineData[i] = row(&candles[i])
	}
	return list, nil
}

func row(c *market.Candle) catalog.KlineRow {
	return catalog.KlineRow{
		json.Number(strconv.FormatInt(c.OpenTime/1000, 10)),
		number(c.Open), number(c.High), number(c.Low), number(c.Close), number(c.Size),
	}
}

// number writes a decimal as a JSON number with all of its digits.
func number(d market.Decimal) json.Number { return json.Number(d.String()) }
