// Package fieldstest works out every figure of traders from the events themselves, by formulas of its
// own in fractions that are exact, and by nothing of what the fields are made with: with these formulas
// tests compare fields of drawn events, and the table that is published of a venue.
package fieldstest

import (
	"math/big"
	"slices"
	"strings"

	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/traderfields"
)

// Events are what there is of a trader in one period.
type Events struct {
	markettest.Deeds                   // of the period alone
	Curve            market.Curve      // all of it
	Venue            market.VenueCurve // what the venue has told of before
	From, Hour       int64             // ms: the first and the last full hour at which the curve counts
	Holds            *Held             // what is held now; nil where nothing is known of it

	Address string
	Other   *[]string      // the other venues on which it trades; nil where they are not known
	Vaults  []market.Vault // that are known
}

// Figure is what a column comes to, in its units; known is false where it is not known. It panics for
// a column without a formula here, see [Unchecked].
func Figure(c traderfields.Column, e *Events) (units int64, known bool) {
	x, known := formulas[c.Field.Name](e)
	return unitsOf(x, known, c.Field.Scale)
}

// Unchecked are the names of the fields that have no formula here, and of the formulas that are of no
// field.
func Unchecked() (names []string) {
	fields := map[string]bool{}
	for _, c := range traderfields.Columns() {
		fields[c.Field.Name] = true
	}
	for _, f := range traderfields.TextFields() {
		if texts[f.Name] == nil {
			names = append(names, f.Name)
		}
	}
	for name := range fields {
		if formulas[name] == nil {
			names = append(names, name)
		}
	}
	for name := range texts {
		if !slices.ContainsFunc(traderfields.TextFields(), func(f *traderfields.Field) bool { return f.Name == name }) {
			names = append(names, name)
		}
	}
	for name := range formulas {
		if !fields[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// unitsOf is a fraction in units, rounded half away from zero; fits is false of what is not known or
// has more than 18 digits.
func unitsOf(x *big.Rat, known bool, scale int) (units int64, fits bool) {
	if !known {
		return 0, false
	}
	x = rounded(mul(x, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))))
	if n := x.Num(); x.IsInt() && n.IsInt64() && len(new(big.Int).Abs(n).String()) <= 18 {
		return n.Int64(), true
	}
	return 0, false
}

// rounded is the whole number that is nearest, of two the one farther from zero.
func rounded(x *big.Rat) *big.Rat {
	twice := new(big.Int).Mul(new(big.Int).Abs(x.Num()), big.NewInt(2))
	twice.Add(twice, x.Denom()).Quo(twice, new(big.Int).Mul(x.Denom(), big.NewInt(2)))
	if x.Sign() < 0 {
		twice.Neg(twice)
	}
	return new(big.Rat).SetInt(twice)
}

type formula func(*Events) (*big.Rat, bool)

func rat(text string) *big.Rat {
	x, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return x
}

func of(d market.Decimal) *big.Rat { return rat(d.String()) }

func whole(n int) *big.Rat { return new(big.Rat).SetInt64(int64(n)) }

func mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }

func total(list []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, x := range list {
		sum.Add(sum, x)
	}
	return sum
}

func quotient(a, b *big.Rat) (*big.Rat, bool) {
	if b.Sign() == 0 {
		return nil, false
	}
	return new(big.Rat).Quo(a, b), true
}

func average(list []*big.Rat) (*big.Rat, bool) { return quotient(total(list), whole(len(list))) }

func compare(a, b *big.Rat) int { return a.Cmp(b) }

func greatest(list []*big.Rat) (*big.Rat, bool) {
	if len(list) == 0 {
		return nil, false
	}
	return slices.MaxFunc(list, compare), true
}

func least(list []*big.Rat) (*big.Rat, bool) {
	if len(list) == 0 {
		return nil, false
	}
	return slices.MinFunc(list, compare), true
}

// roundedTo rounds to places.
func roundedTo(x *big.Rat, places int) *big.Rat {
	one := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil))
	return new(big.Rat).Quo(rounded(mul(x, one)), one)
}

type trade = market.CompletedTrade

func long(t *trade) bool  { return t.Long }
func short(t *trade) bool { return !t.Long }
func won(t *trade) bool   { return t.Pnl.Sign() > 0 }
func lost(t *trade) bool  { return t.Pnl.Sign() < 0 }

// trades is something of each completed trade that passes all filters.
func (e *Events) trades(value func(*trade) *big.Rat, filters ...func(*trade) bool) (list []*big.Rat) {
	for i := range e.Trades {
		t := &e.Trades[i]
		if !slices.ContainsFunc(filters, func(passes func(*trade) bool) bool { return !passes(t) }) {
			list = append(list, value(t))
		}
	}
	return list
}

func pnl(t *trade) *big.Rat { return of(t.Pnl) }

func levered(t *trade) bool { return t.Leverage > 0 }

func margin(t *trade) *big.Rat {
	return roundedTo(new(big.Rat).Quo(of(t.MaxValue), new(big.Rat).SetInt64(t.Leverage)), 8)
}

func valued(t *trade) bool { return !t.MaxValue.IsZero() }

func rate(t *trade) *big.Rat { return roundedTo(new(big.Rat).Quo(of(t.Pnl), of(t.MaxValue)), 6) }

func lasted(unit int64) func(*trade) *big.Rat {
	return func(t *trade) *big.Rat { return big.NewRat(t.End-t.Start, unit) }
}

func orders(which func(*trade) int64) func(*trade) *big.Rat {
	return func(t *trade) *big.Rat { return new(big.Rat).SetInt64(which(t)) }
}

// Shapes of formulas over completed trades.

func numberOf(filters ...func(*trade) bool) formula {
	return func(e *Events) (*big.Rat, bool) { return whole(len(e.trades(pnl, filters...))), true }
}

func pnlOf(filters ...func(*trade) bool) formula {
	return func(e *Events) (*big.Rat, bool) { return total(e.trades(pnl, filters...)), true }
}

func share(times int, of, among func(*trade) bool) formula {
	return func(e *Events) (*big.Rat, bool) {
		return quotient(whole(times*len(e.trades(pnl, of, among))), whole(len(e.trades(pnl, among))))
	}
}

func anyTrade(*trade) bool { return true }

func over(list func([]*big.Rat) (*big.Rat, bool), value func(*trade) *big.Rat, filters ...func(*trade) bool) formula {
	return func(e *Events) (*big.Rat, bool) { return list(e.trades(value, filters...)) }
}

type fill = market.Fill

// each is something of each fill that is a trade.
func each(fills []fill, value func(*fill) *big.Rat, filters ...func(*fill) bool) (list []*big.Rat) {
	for i := range fills {
		f := &fills[i]
		if f.Tid != 0 && !slices.ContainsFunc(filters, func(passes func(*fill) bool) bool { return !passes(f) }) {
			list = append(list, value(f))
		}
	}
	return list
}

func worth(f *fill) *big.Rat { return mul(rat(f.Px), rat(f.Sz)) }

// paid is the fee: who bought a token paid in it, unless it was USDC.
func paid(f *fill) *big.Rat {
	if !perp(f) && f.Side == market.Buy && f.FeeToken != "USDC" {
		return mul(rat(f.Fee), rat(f.Px))
	}
	return rat(f.Fee)
}

// perp reports whether a fill is of a perpetual: pairs of tokens and outcomes have other names.
func perp(f *fill) bool {
	return !strings.HasPrefix(f.Coin, "@") && !strings.HasPrefix(f.Coin, "#") && !strings.Contains(f.Coin, "/")
}

func every(*fill) bool   { return true }
func maker(f *fill) bool { return !f.Crossed }
func taker(f *fill) bool { return f.Crossed }

// once is how many different things there are.
func once[K comparable](fills []fill, key func(*fill) K, filters ...func(*fill) bool) *big.Rat {
	things := map[K]bool{}
	each(fills, func(f *fill) *big.Rat {
		things[key(f)] = true
		return nil
	}, filters...)
	return whole(len(things))
}

func oid(f *fill) int64 { return f.Oid }

func (e *Events) fillsOf(value func(*fill) *big.Rat, filters ...func(*fill) bool) *big.Rat {
	return total(each(e.Fills, value, filters...))
}

func one(*fill) *big.Rat { return whole(1) }

// fillFormulas are those of fills with a prefix of the names.
func fillFormulas(prefix string, kind func(*fill) bool) map[string]formula {
	sum := func(value func(*fill) *big.Rat, filters ...func(*fill) bool) formula {
		return func(e *Events) (*big.Rat, bool) { return e.fillsOf(value, append(filters, kind)...), true }
	}
	ratio := func(a, b formula) formula {
		return func(e *Events) (*big.Rat, bool) {
			x, _ := a(e)
			y, _ := b(e)
			return quotient(x, y)
		}
	}
	return map[string]formula{
		prefix + "Orders":        func(e *Events) (*big.Rat, bool) { return once(e.Fills, oid, kind), true },
		prefix + "Fills":         sum(one),
		prefix + "FilledVal":     sum(worth),
		prefix + "Fee":           sum(paid),
		prefix + "FeeRate":       ratio(sum(paid), sum(worth)),
		prefix + "MakerCount":    sum(one, maker),
		prefix + "TakerCount":    sum(one, taker),
		prefix + "MakerRatio":    ratio(sum(one, maker), sum(one)),
		prefix + "MakerValRatio": ratio(sum(worth, maker), sum(worth)),
		prefix + "TakerVal":      sum(worth, taker),
		prefix + "MakerVal":      sum(worth, maker),
		prefix + "TakerFee":      sum(paid, taker),
		prefix + "MakerFee":      sum(paid, maker),
		prefix + "TakerFeeRate":  ratio(sum(paid, taker), sum(worth, taker)),
		prefix + "MakerFeeRate":  ratio(sum(paid, maker), sum(worth, maker)),
	}
}

// closedByForce are fills that liquidated the account in a perpetual, also those that are no trades.
func (e *Events) closedByForce(value func(*fill) *big.Rat, sides ...market.Side) (sum *big.Rat, oids map[int64]bool) {
	sum, oids = new(big.Rat), map[int64]bool{}
	for i := range e.Fills {
		f := &e.Fills[i]
		if perp(f) && f.Liquidates() && slices.Contains(sides, f.Side) {
			sum.Add(sum, value(f))
			oids[f.Oid] = true
		}
	}
	return sum, oids
}

// liquidationFormulas are those of the sides that sold or bought what was closed.
func liquidationFormulas(orders, filled, earned string, sides ...market.Side) map[string]formula {
	realized := func(f *fill) *big.Rat { return rat(f.ClosedPnl) }
	return map[string]formula{
		orders: func(e *Events) (*big.Rat, bool) {
			_, oids := e.closedByForce(worth, sides...)
			return whole(len(oids)), true
		},
		filled: func(e *Events) (*big.Rat, bool) {
			sum, _ := e.closedByForce(worth, sides...)
			return sum, true
		},
		earned: func(e *Events) (*big.Rat, bool) {
			sum, _ := e.closedByForce(realized, sides...)
			return sum, true
		},
	}
}

// at are the times of orders.
func at(list []market.OrderStatus, time func(*market.OrderStatus) int64, filled bool) (ms []*big.Rat) {
	for i := range list {
		if o := &list[i]; !filled || o.Status == "filled" {
			ms = append(ms, new(big.Rat).SetInt64(time(o)))
		}
	}
	return ms
}

func (e *Events) placed() []*big.Rat {
	return at(e.Placed, func(o *market.OrderStatus) int64 { return o.Timestamp }, false)
}

func (e *Events) filled() []*big.Rat {
	return at(e.Orders, func(o *market.OrderStatus) int64 { return o.Time }, true)
}

func (e *Events) moved(value func(*market.Flow) *big.Rat) (*big.Rat, bool) {
	sum := new(big.Rat)
	for i := range e.Flows {
		if f := &e.Flows[i]; !f.Perp.IsZero() || !f.Spot.IsZero() {
			sum.Add(sum, value(f))
		}
	}
	return sum, true
}

// sharpe is the mean over the deviation, with the root to a thousand bits.
func sharpe(e *Events) (*big.Rat, bool) {
	rates := e.trades(rate, valued)
	if len(rates) < 2 {
		return nil, false
	}
	mean, _ := average(rates)
	spread := new(big.Rat)
	for _, r := range rates {
		off := new(big.Rat).Sub(r, mean)
		spread.Add(spread, mul(off, off))
	}
	if spread.Sign() == 0 {
		return nil, false
	}
	variance := new(big.Rat).Quo(spread, whole(len(rates)-1))
	deviation := new(big.Float).SetPrec(1000).SetRat(variance)
	exact, _ := deviation.Sqrt(deviation).Rat(nil)
	return quotient(mean, exact)
}

var formulas = merged(map[string]formula{
	"positionCount": numberOf(),
	"winCount":      numberOf(won),
	"lossCount":     numberOf(lost),
	"winRate":       share(100, won, anyTrade),
	"totalPnl":      pnlOf(),
	"longCount":     numberOf(long),
	"longRatio":     share(1, long, anyTrade),
	"longWinCount":  numberOf(long, won),
	"longPnl":       pnlOf(long),
	"longWinPnl":    pnlOf(long, won),
	"longWinRate":   share(100, won, long),
	"shortCount":    numberOf(short),
	"shortPnl":      pnlOf(short),
	"shortWinCount": numberOf(short, won),
	"shortWinPnl":   pnlOf(short, won),
	"shortWinRate":  share(100, won, short),
	"winPnl":        pnlOf(won),
	"lossPnl":       pnlOf(lost),
	"maxLoss":       over(least, pnl, lost),
	"maxPnl":        over(greatest, pnl),
	"minPnl":        over(least, pnl),
	"maxProfit":     over(greatest, pnl, won),

	"avgOpenOrdersCount":  over(average, orders(func(t *trade) int64 { return t.OpenOrders })),
	"avgCloseOrdersCount": over(average, orders(func(t *trade) int64 { return t.CloseOrders })),
	"avgOrdersCount":      over(average, orders(func(t *trade) int64 { return t.OpenOrders + t.CloseOrders })),
	"avgDurationMin":      over(average, lasted(60_000)),
	"avgDurationHour":     over(average, lasted(3_600_000)),
	"maxDurationMin":      over(greatest, lasted(60_000)),
	"maxDurationHour":     over(greatest, lasted(3_600_000)),
	"minDurationMin":      over(least, lasted(60_000)),
	"minDurationSec":      over(least, lasted(1000)),
	"avgFunding":          over(average, func(t *trade) *big.Rat { return of(t.Funding) }),
	"avgLeverage":         over(average, orders(func(t *trade) int64 { return t.Leverage }), levered),
	"avgPnl":              over(average, pnl),
	"avgLoss":             over(average, pnl, lost),
	"avgProfit":           over(average, pnl, won),
	"avgMargin":           over(average, margin, levered),
	"avgPv":               over(average, func(t *trade) *big.Rat { return of(t.MaxValue) }),
	"maxGrossProfitRate": func(e *Events) (*big.Rat, bool) {
		x, ok := greatest(e.trades(rate, valued))
		return x, ok && x.Sign() > 0
	},
	"maxGrossLossRate": func(e *Events) (*big.Rat, bool) {
		x, ok := least(e.trades(rate, valued))
		return x, ok && x.Sign() < 0
	},
	"profitFactor": func(e *Events) (*big.Rat, bool) {
		return quotient(total(e.trades(pnl, won)), new(big.Rat).Neg(total(e.trades(pnl, lost))))
	},
	"riskRewardRatio": func(e *Events) (*big.Rat, bool) {
		loss, known := average(e.trades(pnl, lost))
		profit, _ := average(e.trades(pnl, won))
		switch {
		case !known:
			return nil, false
		case profit == nil:
			return new(big.Rat), true
		}
		return quotient(profit, loss.Neg(loss))
	},
	"sharpe": sharpe,
	"totalRoi": func(e *Events) (*big.Rat, bool) {
		return quotient(total(e.trades(pnl, levered)), total(e.trades(margin, levered)))
	},

	"oaFirstOrderAt": func(e *Events) (*big.Rat, bool) { return least(e.placed()) },
	"oaLastOrderAt":  func(e *Events) (*big.Rat, bool) { return greatest(e.placed()) },
	"oaOrderCount":   func(e *Events) (*big.Rat, bool) { return whole(len(e.placed())), true },
	"foFirstOrderAt": func(e *Events) (*big.Rat, bool) { return least(e.filled()) },
	"foLastOrderAt":  func(e *Events) (*big.Rat, bool) { return greatest(e.filled()) },
	"foOrderCount":   func(e *Events) (*big.Rat, bool) { return whole(len(e.filled())), true },

	"fbTraders": func(e *Events) (*big.Rat, bool) {
		return once(e.Routed, func(f *fill) string { return f.Address }), true
	},
	"fbOrdersCount": func(e *Events) (*big.Rat, bool) {
		return once(e.Routed, func(f *fill) any { return [2]any{f.Address, f.Oid} }), true
	},
	"fbTradeAmount": func(e *Events) (*big.Rat, bool) { return total(each(e.Routed, worth)), true },
	"fbFee":         func(e *Events) (*big.Rat, bool) { return total(each(e.Routed, paid)), true },
	"fbBuilderFee": func(e *Events) (*big.Rat, bool) {
		return total(each(e.Routed, func(f *fill) *big.Rat { return rat(f.BuilderFee) }, func(f *fill) bool { return f.BuilderFee != "" })), true
	},

	"nfRecordCount": func(e *Events) (*big.Rat, bool) {
		return e.moved(func(f *market.Flow) *big.Rat { return new(big.Rat).SetInt64(f.Count) })
	},
	"nfNetSpotIn": func(e *Events) (*big.Rat, bool) {
		return e.moved(func(f *market.Flow) *big.Rat { return of(f.Spot) })
	},
	"nfNetPerpIn": func(e *Events) (*big.Rat, bool) {
		return e.moved(func(f *market.Flow) *big.Rat { return of(f.Perp) })
	},
},
	fillFormulas("tr", every), fillFormulas("tp", perp),
	liquidationFormulas("liqOrders", "liqTotalFilled", "liqTotalPnl", market.Buy, market.Sell),
	liquidationFormulas("liqLongOrders", "liqLongFilled", "liqLongPnl", market.Sell),
	liquidationFormulas("liqShortOrders", "liqShortFilled", "liqShortPnl", market.Buy),
	valueFormulas("acPerp", perpPart, func(v *market.VenueCurve) []market.AccountValue { return v.Perp }),
	valueFormulas("acTotal", bothParts, func(v *market.VenueCurve) []market.AccountValue { return v.All }), spotFormulas(), drawdownFormulas(), snapshotFormulas(), listFormulas,
	map[string]formula{
		"acPerpVlm":  func(e *Events) (*big.Rat, bool) { return e.fillsOf(worth, perp), true },
		"acTotalVlm": func(e *Events) (*big.Rat, bool) { return e.fillsOf(worth), true },
	},
)

func merged(parts ...map[string]formula) map[string]formula {
	all := map[string]formula{}
	for _, part := range parts {
		for name, f := range part {
			all[name] = f
		}
	}
	return all
}
