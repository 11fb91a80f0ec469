package marketflash

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"quotary/shared/data/pairs"
	"quotary/shared/data/whales"
	"quotary/shared/market"
)

// largePosition is the size of a large position of a whale, US dollars, and how much larger the
// next one must be.
const largePosition = 5 * million

// whales says what whales did with large positions.
func (w *writer) whales() {
	largest := map[string]*whales.Event{} // by rule
	for i := range w.Whales.Events {
		e := &w.Whales.Events[i]
		if _, said := deeds[e.Action]; !said || w.Now.UnixMilli()-e.Time >= perpNewsFor.Milliseconds() {
			continue
		}
		rule := hourly(mainForce, e.Coin, e.Time)
		if have := largest[rule]; have == nil || e.Value.Cmp(have.Value) > 0 {
			largest[rule] = e
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(largest)) {
		e := largest[rule]
		dollars, further := w.passesBy(rule, e.Value, largePosition)
		if !further {
			continue
		}
		side, sideCN := "long", "多单"
		if e.Size.IsNeg() {
			side, sideCN = "short", "空单"
		}
		at, atCN := w.ago(e.Time)
		w.say(mainForce, fmt.Sprint(rule, " ", dollars), dollars >= 10*largePosition, 0,
			fmt.Sprintf("A whale (%s) %s %s of %s US dollars in %s on Hyperliquid%s", e.User, deeds[e.Action].en, side, e.Value.RoundHAZ(0), e.Coin, at),
			fmt.Sprintf("%s鲸鱼 %s 在 Hyperliquid %s %s %s，价值 %s 美元", atCN, e.User, deeds[e.Action].cn, e.Coin, sideCN, e.Value.RoundHAZ(0)))
	}
}

// deeds are the actions of whales that are said. What is added or reduced is not: a position is
// built of many orders.
var deeds = map[market.PositionAction]struct{ en, cn string }{
	market.PositionOpened:  {"opened a", "新开"},
	market.PositionClosed:  {"closed a", "平掉"},
	market.PositionFlipped: {"turned its position round to a", "反手为"},
}

const (
	fundedFrom = 10 * million         // open interest, US dollars: of less, funding says little
	year       = 365 * 24 * time.Hour // for which rates are extrapolated
)

// paid is the funding of a perpetual.
type paid struct {
	name   string         // of coin and platform
	rate   market.Decimal // a fraction, of one period
	period time.Duration
	yearly market.Decimal // percent
}

// funding says what is paid at most for a coin.
func (w *writer) funding() {
	most := map[string]paid{} // by coin and who pays
	take := func(coin, platform string, rate, open market.Decimal, period time.Duration) {
		if period <= 0 || open.Cmp(market.DecimalFromInt(fundedFrom)) < 0 || rate.IsZero() {
			return
		}
		p := paid{name: fmt.Sprint(strings.ToUpper(coin), " (", platform, ")"), rate: rate, period: period}
		p.yearly = rate.Mul(percent).Mul(market.DecimalFromInt(year.Milliseconds())).MustDiv(market.DecimalFromInt(period.Milliseconds()))
		who := fmt.Sprint(coin, " ", rate.Sign())
		if p.yearly.Abs().Cmp(most[who].yearly.Abs()) > 0 {
			most[who] = p
		}
	}
	for i := range w.Contracts.Contracts {
		c := &w.Contracts.Contracts[i]
		if w.Now.UnixMilli()-c.RateTime < freshFor.Milliseconds() {
			take(c.Pair.Coin(), c.Pair.Platform, c.Rate, c.Value, time.Duration(c.Period)*time.Millisecond)
		}
	}
	for i := range w.Perps.Coins {
		c := &w.Perps.Coins[i]
		if rate, err := market.ParseDecimal(c.Funding); err == nil && w.Now.UnixMilli()-w.Perps.Time < freshFor.Milliseconds() {
			take(market.CoinOfBase(c.Coin), pairs.Hyperliquid, rate, market.Notional(c.Mark, c.Interest), time.Hour)
		}
	}
	for _, who := range slices.Sorted(maps.Keys(most)) {
		w.paid(who, most[who])
	}
}

// paid says what is paid for a coin, of a further 100 % a year each time.
func (w *writer) paid(who string, p paid) {
	steps, _ := p.yearly.Abs().MustDiv(percent).Trunc(0).Int64()
	rule := fmt.Sprint(confidence, " ", who, " ", w.day())
	if !w.passes(rule, steps) {
		return
	}
	payers, payersCN := "longs pay shorts", "多头付给空头"
	if p.rate.IsNeg() {
		payers, payersCN = "shorts pay longs", "空头付给多头"
	}
	yearly, rate := p.yearly.Abs().RoundHAZ(0), p.rate.Abs().Mul(percent)
	every, everyCN := fmt.Sprint(int64(p.period.Hours()), " hours"), fmt.Sprint(int64(p.period.Hours()), " 小时")
	if p.period == time.Hour {
		every, everyCN = "an hour", "小时"
	}
	w.say(confidence, fmt.Sprint(rule, " ", steps), false, 0,
		fmt.Sprintf("Funding of %s is %s%% a year: %s %s%% for %s", p.name, yearly, payers, rate, every),
		fmt.Sprintf("%s 资金费率折合年化 %s%%：%s，每%s %s%%", p.name, yearly, payersCN, everyCN, rate))
}
