package traderfields

import (
	"slices"
	"strings"

	"quotary/shared/market"
)

// Worth is what the parts of an account were worth at the ends of a period, nil where that is not
// known. In Total are both parts.
type Worth struct{ Perp, Spot, Total *Ends }

// Ends are two values of a part of an account.
type Ends struct{ First, Last market.AccountValue }

// WorthOf is what an account was worth from one time to another, ms: at the end as the last point of its
// curve up to then has it, and at the beginning so too. Where its value is not known here yet at the
// beginning, it is that of the last value up to then that the venue tells of before, else of its first one. It tells
// nothing of spot alone.
func WorthOf(c market.Curve, v *market.VenueCurve, from, to int64) (w Worth) {
	perp, total := market.ScopePerp.Of, market.ScopeAll.Of
	spot := func(p *market.CurvePoint) (market.AccountValue, bool) {
		return market.AccountValue{Time: p.Time, Value: p.Spot.Value, NetIn: p.Spot.NetIn}, !p.Spot.Unknown
	}
	return Worth{endsOf(c, perp, v.Perp, from, to), endsOf(c, spot, nil, from, to), endsOf(c, total, v.All, from, to)}
}

func endsOf(c market.Curve, value func(*market.CurvePoint) (market.AccountValue, bool), venue []market.AccountValue, from, to int64) *Ends {
	at, ok := c.At(to)
	if !ok {
		return nil
	}
	last, known := value(at)
	if !known {
		return nil
	}
	if at, ok = c.At(from); ok {
		if first, known := value(at); known {
			return &Ends{first, last}
		}
	}
	own := slices.IndexFunc(c, func(p market.CurvePoint) bool { _, known := value(&p); return known })
	if first, ok := before(venue, from, c[own].Time); ok {
		return &Ends{first, last}
	}
	for later := range slices.Values(c.Between(from+1, to)) {
		if first, known := value(&later); known {
			return &Ends{first, last}
		}
	}
	return nil
}

// before is the last of some values up to a time, ms, else the first one behind it; of those that are
// older than own, ms, where that is behind the time.
func before(values []market.AccountValue, ms, own int64) (market.AccountValue, bool) {
	if own <= ms || len(values) == 0 || values[0].Time >= own {
		return market.AccountValue{}, false
	}
	at := values[0]
	for _, v := range values {
		if v.Time <= ms {
			at = v
		}
	}
	return at, true
}

// worthFields are about what an account was worth at the full hours at the ends of a period, at the
// marks of these, as portfolio has it. Amounts are US dollars.
var worthFields = func() []Field {
	const told = "; of a time before the account was known here, as the venue's portfolio has it"
	periods := []Period{Week, Month}
	part := func(prefix, what string, of func(*Worth) *Ends) []Field {
		pick := func(t *Trader, p Period) *Ends {
			w := t.Worth[p]
			return of(&w)
		}
		return group(ValueChange, periods, pick,
			row[Ends]{prefix + "ValueF", Money, Derived, "What the " + what + " of the account were worth at the last full hour up to the beginning of the period, or at the first one in it of which that is known, in US dollars" + told + ".", func(e *Ends) (decimal, bool) { return known(e.First.Value.Decimal()) }},
			row[Ends]{prefix + "ValueL", Money, Derived, "What the " + what + " of the account were worth at the last full hour of the period, in US dollars.", func(e *Ends) (decimal, bool) { return known(e.Last.Value.Decimal()) }},
			row[Ends]{prefix + "Ch", Money, Derived, prefix + "ValueL - " + prefix + "ValueF, in US dollars.", func(e *Ends) (decimal, bool) {
				return known(e.Last.Value.Decimal().Sub(e.First.Value.Decimal()))
			}},
			row[Ends]{prefix + "Pnl", Money, Derived, prefix + "Ch less what came in and plus what left between the two hours, in US dollars.", func(e *Ends) (decimal, bool) {
				in := e.Last.NetIn.Decimal().Sub(e.First.NetIn.Decimal())
				return known(e.Last.Value.Decimal().Sub(e.First.Value.Decimal()).Sub(in))
			}},
		)
	}
	type facts = market.Facts
	volumes := group(ValueChange, periods, did(func(f *facts) *facts { return f }),
		row[facts]{"acPerpVlm", Money, Sum, "Sum of price × size of the fills of perpetuals in the period, in US dollars.", func(f *facts) (decimal, bool) { return known(f.Perp.All().Value) }},
		row[facts]{"acTotalVlm", Money, Sum, "Sum of price × size of all fills in the period, in US dollars.", func(f *facts) (decimal, bool) { return known(f.Perp.All().Value.Add(f.Spot.All().Value)) }},
	)
	spot := part("acSpot", "tokens", func(w *Worth) *Ends { return w.Spot })[:2] // there are no others
	spot[0].Formula = strings.Replace(spot[0].Formula, told, "", 1)              // nothing of the tokens alone
	return slices.Concat(part("acPerp", "perpetuals", func(w *Worth) *Ends { return w.Perp }), spot, part("acTotal", "perpetuals and the tokens", func(w *Worth) *Ends { return w.Total }), volumes)
}()

type drawdown = market.Drawdown

// drawdownFields are about the greatest fall of what the perpetuals of an account were worth, as
// batch-max-drawdown has it: see [market.MaxDrawdown].
var drawdownFields = group("max drawdown", Periods, func(t *Trader, p Period) *drawdown { return t.Fell[p] },
	row[drawdown]{"ddDrawdown", Ratio, Derived, "1 - (ddLowValue - ddNetIn) / ddHighValue of the high and the later low between which that is greatest, at most 1, a fraction.", func(d *drawdown) (decimal, bool) { return known(d.Part()) }},
	row[drawdown]{"ddHighTime", Date, Derived, "When the high was.", func(d *drawdown) (decimal, bool) { return number(d.High.Time) }},
	row[drawdown]{"ddHighValue", Money, Derived, "What the perpetuals of the account were worth at the high, in US dollars.", func(d *drawdown) (decimal, bool) { return known(d.High.Value.Decimal()) }},
	row[drawdown]{"ddLowTime", Date, Derived, "When the low was.", func(d *drawdown) (decimal, bool) { return number(d.Low.Time) }},
	row[drawdown]{"ddLowValue", Money, Derived, "What the perpetuals of the account were worth at the low, in US dollars.", func(d *drawdown) (decimal, bool) { return known(d.Low.Value.Decimal()) }},
	row[drawdown]{"ddNetIn", Money, Derived, "What came into the perpetuals of the account less what left them between the high and the low, in US dollars.", func(d *drawdown) (decimal, bool) { return known(d.NetIn.Decimal()) }},
)
