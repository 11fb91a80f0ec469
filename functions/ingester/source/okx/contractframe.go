package okx

import (
	"encoding/json"
	"errors"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/text/jsonscan"
)

var (
	errFunding     = errors.New("is no funding rate")
	errLiquidation = errors.New("is no order that closes a position by force")
)

// rowReader reads a row of what a channel has less often than trades, by encoding/json.
func rowReader[Row any](read func(*Row, *market.PairEvents) error) func(*jsonscan.Scanner, *market.PairEvents) error {
	return func(p *jsonscan.Scanner, e *market.PairEvents) error {
		text, ok := p.Raw()
		if !ok {
			return errFrame
		}
		var row Row
		if err := json.Unmarshal([]byte(text), &row); err != nil {
			return err
		}
		return read(&row, e)
	}
}

// fundingRow is the rate of a swap: the one that is expected for the period that ends at Due and
// has begun at Prev. Where the exchange does not say that, it is as long as the next one.
type fundingRow struct {
	InstID string `json:"instId"`
	Rate   string `json:"fundingRate"`
	Prev   string `json:"prevFundingTime"` // may be left out, as Next
	Due    string `json:"fundingTime"`
	Next   string `json:"nextFundingTime"`
	Time   string `json:"ts"`
}

func (row *fundingRow) read(e *market.PairEvents) (err error) {
	f := market.PairFunding{Pair: row.InstID}
	var prev, next int64
	if row.Prev != "" && !parseInteger(row.Prev, &prev) || row.Next != "" && !parseInteger(row.Next, &next) || !parseInteger(row.Due, &f.Due) ||
		f.Pair == "" || prev >= f.Due || next > 0 && next <= f.Due {
		return errFunding
	}
	switch {
	case prev > 0:
		f.Period = min(f.Due-prev, source.LongestPeriod)
	case next > 0:
		f.Period = next - f.Due
	}
	if f.Rate, err = market.ParseDecimal(row.Rate); err != nil {
		return errors.Join(errFunding, err)
	}
	e.Fundings = append(e.Fundings, f)
	return source.Milliseconds(row.Time, &e.Fundings[len(e.Fundings)-1].Time)
}

// liquidationRow are orders of a swap that closed positions by force. Where an account nets its
// positions, posSide says net, and the side of the order tells: a long position is sold.
type liquidationRow struct {
	InstID  string `json:"instId"`
	Details []struct {
		Position string `json:"posSide"`
		Side     string `json:"side"`
		Px       string `json:"bkPx"`
		Sz       string `json:"sz"`
		Time     string `json:"ts"`
	} `json:"details"`
}

func (row *liquidationRow) read(e *market.PairEvents) error {
	for _, d := range row.Details {
		l := market.PairLiquidation{Pair: row.InstID, Long: d.Position == "long" || d.Position == "net" && d.Side == "sell"}
		short := d.Position == "short" || d.Position == "net" && d.Side == "buy"
		if err := errors.Join(source.Milliseconds(d.Time, &l.Time), source.Decimals(source.Field{To: &l.Px, Name: "bkPx", Text: d.Px}, source.Field{To: &l.Sz, Name: "sz", Text: d.Sz})); err != nil {
			return err
		}
		if row.InstID == "" || l.Long == short || !l.Px.IsPos() || !l.Sz.IsPos() {
			return errLiquidation
		}
		e.Liquidations = append(e.Liquidations, l)
	}
	return nil
}
