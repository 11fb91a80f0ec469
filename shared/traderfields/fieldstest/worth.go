package fieldstest

import (
	"math/big"

	"quotary/shared/market"
)

// value is what a part of an account was worth at a point, and what had come in until then.
type value func(*market.CurvePoint) (worth, in *big.Rat, known bool)

func micros(m market.Micros) *big.Rat { return big.NewRat(int64(m), 1_000_000) }

func perpPart(p *market.CurvePoint) (worth, in *big.Rat, known bool) {
	return micros(p.Perp.Value), micros(p.Perp.NetIn), !p.Perp.Unknown
}

func spotPart(p *market.CurvePoint) (worth, in *big.Rat, known bool) {
	return micros(p.Spot.Value), micros(p.Spot.NetIn), !p.Spot.Unknown
}

func bothParts(p *market.CurvePoint) (worth, in *big.Rat, known bool) {
	return new(big.Rat).Add(micros(p.Perp.Value), micros(p.Spot.Value)), new(big.Rat).Add(micros(p.Perp.NetIn), micros(p.Spot.NetIn)), !p.Perp.Unknown && !p.Spot.Unknown
}

// ends are the first and the last point of the period: the first is known when it begins, or as
// soon as one is. Before any is known here, those count that the venue has told.
func (e *Events) ends(of value, told []market.AccountValue) (first, last *market.CurvePoint, known bool) {
	before := false // one is known here when the period begins
	for i := range e.Curve {
		p := &e.Curve[i]
		if p.Time > e.Hour {
			break
		}
		last = p
		_, _, known := of(p)
		if p.Time <= e.From {
			if first = nil; known {
				first, before = p, true
			}
		} else if first == nil && known {
			first = p
		}
	}
	if first == nil {
		return nil, nil, false
	}
	if own := first.Time; !before {
		for i, v := range told {
			if v.Time < own && (i == 0 || v.Time <= e.From) {
				first = &market.CurvePoint{Time: v.Time, Perp: market.CurvePart{Value: v.Value, NetIn: v.NetIn}}
			}
		}
	}
	_, _, known = of(last)
	return first, last, known
}

// atEnds makes a formula of the two values and of what had come in until them.
func atEnds(of value, told func(*market.VenueCurve) []market.AccountValue, with func(first, last, firstIn, lastIn *big.Rat) *big.Rat) formula {
	return func(e *Events) (*big.Rat, bool) {
		first, last, known := e.ends(of, told(&e.Venue))
		if !known {
			return nil, false
		}
		a, aIn, _ := of(first)
		b, bIn, _ := of(last)
		return with(a, b, aIn, bIn), true
	}
}

func minus(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }

func valueFormulas(prefix string, of value, told func(*market.VenueCurve) []market.AccountValue) map[string]formula {
	return map[string]formula{
		prefix + "ValueF": atEnds(of, told, func(first, _, _, _ *big.Rat) *big.Rat { return first }),
		prefix + "ValueL": atEnds(of, told, func(_, last, _, _ *big.Rat) *big.Rat { return last }),
		prefix + "Ch":     atEnds(of, told, func(first, last, _, _ *big.Rat) *big.Rat { return minus(last, first) }),
		prefix + "Pnl":    atEnds(of, told, func(first, last, in, out *big.Rat) *big.Rat { return minus(minus(last, out), minus(first, in)) }),
	}
}

func spotFormulas() map[string]formula {
	all := valueFormulas("acSpot", spotPart, func(*market.VenueCurve) []market.AccountValue { return nil })
	return map[string]formula{"acSpotValueF": all["acSpotValueF"], "acSpotValueL": all["acSpotValueL"]}
}

// fall is the greatest one between any two of the values of the period, of equal ones that from the
// last high to its first low; where none falls, high and low are both the first of the highest.
type fall struct {
	high, low *market.CurvePoint
	part      *big.Rat
}

func (e *Events) fall() (f fall, known bool) {
	var points []*market.CurvePoint
	var before *market.CurvePoint
	for i := range e.Curve {
		// What stayed as it was when the period began was worth that then, too.
		p := &e.Curve[i]
		if p.Time < e.From {
			before = p
			continue
		}
		if before != nil && p.Time > e.From && p.Time <= e.Hour && !before.Perp.Unknown && !p.Perp.Unknown && before.Perp.Value == p.Perp.Value && before.Perp.NetIn == p.Perp.NetIn {
			at := *before
			at.Time = e.From
			points = append(points, &at)
		}
		break
	}
	for i := range e.Curve {
		if p := &e.Curve[i]; p.Time >= e.From && p.Time <= e.Hour && !p.Perp.Unknown {
			points = append(points, p)
		}
	}
	if len(points) < 2 {
		return f, false
	}
	f.part = new(big.Rat)
	for i, high := range points {
		if f.part.Sign() == 0 && (f.high == nil || high.Perp.Value > f.high.Perp.Value) {
			f.high, f.low = high, high
		}
		for _, low := range points[i+1:] {
			top := micros(high.Perp.Value)
			if top.Sign() <= 0 {
				continue
			}
			left := minus(micros(low.Perp.Value), minus(micros(low.Perp.NetIn), micros(high.Perp.NetIn)))
			part := minus(big.NewRat(1, 1), new(big.Rat).Quo(left, top))
			if part.Sign() > 0 && (part.Cmp(f.part) > 0 || part.Cmp(f.part) == 0 && high != f.high) {
				f = fall{high, low, part}
			}
		}
	}
	return f, true
}

func drawdownFormulas() map[string]formula {
	of := func(figure func(fall) *big.Rat) formula {
		return func(e *Events) (*big.Rat, bool) {
			f, known := e.fall()
			if !known {
				return nil, false
			}
			return figure(f), true
		}
	}
	return map[string]formula{
		"ddDrawdown": of(func(f fall) *big.Rat {
			if one := big.NewRat(1, 1); f.part.Cmp(one) > 0 {
				return one
			}
			return f.part
		}),
		"ddHighTime":  of(func(f fall) *big.Rat { return new(big.Rat).SetInt64(f.high.Time) }),
		"ddHighValue": of(func(f fall) *big.Rat { return micros(f.high.Perp.Value) }),
		"ddLowTime":   of(func(f fall) *big.Rat { return new(big.Rat).SetInt64(f.low.Time) }),
		"ddLowValue":  of(func(f fall) *big.Rat { return micros(f.low.Perp.Value) }),
		"ddNetIn":     of(func(f fall) *big.Rat { return minus(micros(f.low.Perp.NetIn), micros(f.high.Perp.NetIn)) }),
	}
}
