package okx

import (
	"errors"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/text/jsonscan"
)

var (
	errFunding     = errors.New("is no funding rate")
	errLiquidation = errors.New("is no order that closes a position by force")
)

// readFunding reads the rate of a swap: {"instId":"..","fundingRate":"..","prevFundingTime":"..",
// "fundingTime":"..","nextFundingTime":"..","ts":".."}. It is the one that is expected for the
// period that ends at fundingTime and has begun at prevFundingTime. Where the exchange does not
// say that, it is as long as the next one.
func readFunding(p *jsonscan.Scanner, e *market.PairEvents) error {
	var f market.PairFunding
	var rate string
	var prev, next int64
	seen := 0
	ok := p.Object(func(key string) (ok bool) {
		switch key {
		case "prevFundingTime":
			return optional(p, &prev)
		case "nextFundingTime":
			return optional(p, &next)
		case "instId":
			f.Pair, ok = p.Text()
		case "fundingRate":
			rate, ok = p.Text()
		case "fundingTime":
			ok = integer(p, &f.Due)
		case "ts":
			ok = integer(p, &f.Time)
		default:
			return p.Skip()
		}
		seen++
		return ok
	})
	if !ok || seen != fundingFields || f.Pair == "" || prev >= f.Due || next > 0 && next <= f.Due {
		return errFunding
	}
	switch {
	case prev > 0:
		f.Period = min(f.Due-prev, source.LongestPeriod)
	case next > 0:
		f.Period = next - f.Due
	}
	var err error
	if f.Rate, err = market.ParseDecimal(rate); err != nil {
		return errors.Join(errFunding, err)
	}
	e.Fundings = append(e.Fundings, f)
	return source.CheckTime(f.Time)
}

// readLiquidations reads the orders of a swap that closed positions by force:
// {"instId":"..","details":[{"posSide":"long","bkPx":"..","sz":"..","ts":".."}]}.
func readLiquidations(p *jsonscan.Scanner, e *market.PairEvents) error {
	var err error
	pair, first := "", len(e.Liquidations)
	ok := p.Object(func(key string) (ok bool) {
		switch key {
		case "instId":
			pair, ok = p.Text()
			return ok
		case "details":
			return p.Array(func() bool {
				var l market.PairLiquidation
				if err = parseLiquidation(p, &l); err == nil {
					e.Liquidations = append(e.Liquidations, l)
				}
				return err == nil
			})
		}
		return p.Skip()
	})
	switch {
	case err != nil:
		return err
	case !ok || pair == "":
		return errLiquidation
	}
	for i := first; i < len(e.Liquidations); i++ {
		e.Liquidations[i].Pair = pair
	}
	return nil
}

// parseLiquidation reads an order. Where an account nets its positions, posSide says net,
// and the side of the order tells: a long position is sold.
func parseLiquidation(p *jsonscan.Scanner, l *market.PairLiquidation) error {
	var px, sz, side, position string
	seen := 0
	ok := p.Object(func(key string) (ok bool) {
		switch key {
		case "posSide":
			position, ok = p.Text()
		case "side":
			side, ok = p.Text()
		case "bkPx":
			px, ok = p.Text()
		case "sz":
			sz, ok = p.Text()
		case "ts":
			ok = integer(p, &l.Time)
		default:
			return p.Skip()
		}
		seen++
		return ok
	})
	if !ok || seen != liquidationFields {
		return errLiquidation
	}
	switch {
	case position == "long" || position == "net" && side == "sell":
		l.Long = true
	case position != "short" && (position != "net" || side != "buy"):
		return errLiquidation
	}
	if err := source.Decimals(source.Field{To: &l.Px, Name: "bkPx", Text: px}, source.Field{To: &l.Sz, Name: "sz", Text: sz}); err != nil {
		return err
	}
	if !l.Px.IsPos() || !l.Sz.IsPos() {
		return errLiquidation
	}
	return source.CheckTime(l.Time)
}

// Fields that must be there, each once.
const (
	fundingFields     = 4
	liquidationFields = 5
)
