package market

import (
	"cmp"
	"slices"
)

// CurveHours is for how many full hours a curve is sampled at each of them in which something
// was open or changed, and before that at each midnight (UTC) of [curveDays].
const (
	CurveHours = 31 * 24
	curveDays  = 4_000
)

// curveTiers are how dense a curve is kept: of each so many hours, which begin with a multiple
// of them, the last point, in points that are older than days. A year of an account that always
// has a position takes less than 4 KB so, which is what half a read unit reads.
var curveTiers = [...]struct{ days, hours int64 }{{61, 7 * 24}, {31, 24}, {7, 6}, {0, 1}}

// CurvePoint is what the two parts of an account were worth at a full hour, before anything
// that happened at it, and what had come in and was traded until then. Who adds the two
// parts up has the whole account: what moves between them counts in both.
type CurvePoint struct {
	Time       int64 // ms
	Perp, Spot CurvePart
}

// CurvePart is one part of an account at a time.
type CurvePart struct {
	Value   Micros // with unrealized profit and funding
	NetIn   Micros // put in less taken out, from any moment on
	Volume  Micros // notional of the fills, from any moment on
	Unknown bool   // Value is of no meaning
}

// Scope is the part of an account that a curve is of.
type Scope uint8

// The scopes.
const (
	ScopeAll  Scope = iota // perpetuals and spot
	ScopePerp              // perpetuals alone
)

// Of is the account at the point; ok is false where that is not known.
func (s Scope) Of(p *CurvePoint) (v AccountValue, ok bool) {
	v = AccountValue{Time: p.Time, Value: p.Perp.Value, NetIn: p.Perp.NetIn}
	if s == ScopePerp {
		return v, !p.Perp.Unknown
	}
	v.Value, v.NetIn = v.Value+p.Spot.Value, v.NetIn+p.Spot.NetIn
	return v, !p.Perp.Unknown && !p.Spot.Unknown
}

// Volume is the notional of the fills until the point, from any moment on.
func (s Scope) Volume(p *CurvePoint) Micros {
	if s == ScopePerp {
		return p.Perp.Volume
	}
	return p.Perp.Volume + p.Spot.Volume
}

// Curve are points of an account, oldest first.
type Curve []CurvePoint

// Between are the points from one time to another, both inclusive, ms.
func (c Curve) Between(from, to int64) Curve {
	first, _ := c.find(from)
	end, _ := c.find(to + 1)
	return c[min(first, end):end]
}

// Values appends what is known of a part of the account.
func (c Curve) Values(to []AccountValue, s Scope) []AccountValue {
	for i := range c {
		if v, ok := s.Of(&c[i]); ok {
			to = append(to, v)
		}
	}
	return to
}

// At is the last point up to a time, ms; ok is false where there is none.
func (c Curve) At(ms int64) (p *CurvePoint, ok bool) {
	n, _ := c.find(ms + 1)
	if n == 0 {
		return nil, false
	}
	return &c[n-1], true
}

// Merge is the curve with points that are as new or newer: of one time the new one stays. It
// may change c.
func (c Curve) Merge(points Curve) Curve {
	if len(points) == 0 {
		return c
	}
	if n := len(c); n == 0 || c[n-1].Time < points[0].Time {
		return append(c, points...)
	}
	for i := range points {
		if at, known := c.find(points[i].Time); known {
			c[at] = points[i]
		} else {
			c = slices.Insert(c, at, points[i])
		}
	}
	return c
}

// Thin drops what a curve does not keep: all but the last point of each bucket, which is every
// hour of 7 days, six hours of 31, a day of 61, and else a week. A point at the beginning of a
// bucket is the last one of that before.
func (c Curve) Thin() Curve {
	kept := c[:0]
	for i := range c {
		if i == len(c)-1 || bucketOf(c[i].Time, c[len(c)-1].Time) != bucketOf(c[i+1].Time, c[len(c)-1].Time) {
			kept = append(kept, c[i])
		}
	}
	return kept[max(0, len(kept)-curveDays):]
}

// bucketOf is the bucket of a point in a curve that ends at a time, ms: how wide it is, hours,
// and its number.
func bucketOf(ms, end int64) (bucket [2]int64) {
	for _, tier := range curveTiers {
		if bucket = [2]int64{tier.hours, (ms - 1) / (tier.hours * hourMs)}; ms < end-tier.days*dayMs {
			break
		}
	}
	return bucket
}

func (c Curve) find(ms int64) (int, bool) {
	return slices.BinarySearchFunc(c, ms, func(p CurvePoint, ms int64) int { return cmp.Compare(p.Time, ms) })
}

// Worth is what the two parts of an account are worth, USDC.
type Worth struct {
	Perp, Spot           Decimal
	PerpKnown, SpotKnown bool
}

// Worth is the account at marks: see [Account.PerpValue] and [Account.SpotValue].
func (a *Account) Worth(m *Markets, marks Marks) (w Worth) {
	w.Perp, w.PerpKnown = a.PerpValue(m, marks)
	w.Spot, w.SpotKnown = a.SpotValue(m, marks)
	return w
}

// AddPoint takes in what the account was worth at a full hour, ms, with what came in and was
// traded until then; nothing where that is not known.
func (s *TraderStats) AddPoint(ms int64, w *Worth) {
	if w.PerpKnown || w.SpotKnown {
		s.Curve = s.Curve.Merge(Curve{s.Point(ms, w)})
	}
}

// Point is the point of the curve that has a worth, with what came in and was traded so far.
func (s *TraderStats) Point(ms int64, w *Worth) CurvePoint {
	return CurvePoint{
		Time: ms,
		Perp: CurvePart{MicrosOf(w.Perp), MicrosOf(s.NetIn), MicrosOf(s.Volume), !w.PerpKnown},
		Spot: CurvePart{MicrosOf(w.Spot), MicrosOf(s.NetSpot), MicrosOf(s.SpotVolume), !w.SpotKnown},
	}
}

// CurveTimes are the full hours behind a time up to another one, ms, at which the curve of
// the account is sampled if nothing happens in between: each where something is open that has
// a price, else the first and the last. Before [CurveHours] they are those at midnight.
func (a *Account) CurveTimes(from, to int64) (times []int64) {
	first, last := Hour1.StartMs(from)+hourMs, Hour1.StartMs(to)
	if first > last {
		return nil
	}
	if !a.priced() {
		if first == last {
			return []int64{first}
		}
		return []int64{first, last}
	}
	hours := max(first, last-CurveHours*hourMs)
	for day := max(Day1.StartMs(from)+dayMs, Day1.StartMs(hours)-curveDays*dayMs); day < hours; day += dayMs {
		times = append(times, day)
	}
	for hour := hours; hour <= last; hour += hourMs {
		times = append(times, hour)
	}
	return times
}

// priced reports whether what the account is worth changes with the marks.
func (a *Account) priced() bool {
	return slices.ContainsFunc(a.Holdings, func(h Holding) bool { return h.Open != nil }) ||
		slices.ContainsFunc(a.Spot, func(t SpotHolding) bool { return t.Token != USDC && !t.Total.Add(t.Lent).IsZero() })
}

// MarksAt are the marks that were kept of a full hour, ms; ok is false of one without.
type MarksAt func(ms int64) (marks Marks, ok bool)

// Sample takes the points of the account's curve that are behind the newest one, up to a
// time, ms: for who is about to change the account by what happened then. An hour of which
// the marks were not kept has none.
func (a *Account) Sample(s *TraderStats, m *Markets, at MarksAt, to int64) {
	if s.Sampled >= Hour1.StartMs(to) {
		return
	}
	if a.Time > 0 && m != nil {
		for _, ms := range a.CurveTimes(max(s.Sampled, a.Time), to) {
			if marks, ok := at(ms); ok {
				w := a.Worth(m, marks)
				s.AddPoint(ms, &w)
			}
		}
	}
	s.Sampled = Hour1.StartMs(to)
}

// VenueCurve is what the venue says that an account was worth before it was known here.
type VenueCurve struct {
	Until              int64          // ms of its newest value; 0 without any
	All, Perp          []AccountValue // oldest first, at times of the venue's own
	Volume, PerpVolume Micros         // notional of all fills until then; see [VenueCurve.Continue]
}

// Values appends the values of a part of the account that are older than a time, ms.
func (v *VenueCurve) Values(to []AccountValue, s Scope, before int64) []AccountValue {
	of := v.All
	if s == ScopePerp {
		of = v.Perp
	}
	for _, one := range of {
		if one.Time < before {
			to = append(to, one)
		}
	}
	return to
}

// Continue has what came in go on to what had come in by Until as it is counted here, so that
// the two curves are one, and leaves out of the volumes what is counted here.
func (v *VenueCurve) Continue(perpIn, spotIn, perpVolume, spotVolume Micros) {
	shift := func(values []AccountValue, in Micros) {
		if len(values) == 0 {
			return
		}
		in -= values[len(values)-1].NetIn
		for i := range values {
			values[i].NetIn = (values[i].NetIn + in).Held()
		}
	}
	shift(v.Perp, perpIn)
	shift(v.All, perpIn+spotIn)
	v.PerpVolume -= perpVolume
	v.Volume -= perpVolume + spotVolume
}
