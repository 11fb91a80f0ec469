package accountstats

import (
	"slices"

	"quotary/shared/data/internal/packed"
	"quotary/shared/market"
)

// What of a point differs from the one before, as bits of a byte: a point of a quiet account
// takes two bytes, and one of positions some six.
const (
	laterThanAnHour = 1 << iota // else it is an hour later
	perpValue
	spotValue
	perpNetIn
	spotNetIn
	volumes
	perpUnknown // there are no values of such a part
	spotUnknown
)

// curve appends points, each as the difference to the one before.
func (w *writer) curve(c market.Curve) {
	w.Length(len(c))
	last := market.CurvePoint{}
	for i := range c {
		w.point(&c[i], &last)
		last = c[i]
	}
}

func (w *writer) point(p, before *market.CurvePoint) {
	parts := byte(0)
	numbers := make([]int64, 0, 7)
	put := func(part byte, different bool, n ...int64) {
		if different {
			parts |= part
			numbers = append(numbers, n...)
		}
	}
	step := p.Time - before.Time
	put(laterThanAnHour, step != hourMs, step)
	put(perpUnknown, p.Perp.Unknown)
	put(spotUnknown, p.Spot.Unknown)
	perp, spot := difference(p.Perp, before.Perp), difference(p.Spot, before.Spot)
	put(perpValue, perp.Value != 0, int64(perp.Value))
	put(spotValue, spot.Value != 0, int64(spot.Value))
	put(perpNetIn, perp.NetIn != 0, int64(perp.NetIn))
	put(spotNetIn, spot.NetIn != 0, int64(spot.NetIn))
	put(volumes, perp.Volume != 0 || spot.Volume != 0, int64(perp.Volume), int64(spot.Volume))
	w.Byte(parts)
	w.Int(numbers...)
}

func difference(p, before market.CurvePart) market.CurvePart {
	return market.CurvePart{Value: p.Value - before.Value, NetIn: p.NetIn - before.NetIn, Volume: p.Volume - before.Volume}
}

// curve reads points into c.
func (r *reader) curve(c market.Curve) market.Curve {
	n := r.Length(1)
	c = slices.Grow(c, n)
	at := market.CurvePoint{}
	for i := range n {
		before := at.Time
		r.point(&at)
		r.Check(i == 0 || at.Time > before)
		c = append(c, at)
	}
	return c
}

// point moves on to the next point.
func (r *reader) point(p *market.CurvePoint) {
	parts := r.Byte()
	next := func(part byte) int64 {
		if parts&part == 0 {
			return 0
		}
		return r.Int()
	}
	if parts&laterThanAnHour != 0 {
		p.Time += r.Int()
	} else {
		p.Time += hourMs
	}
	p.Perp.Unknown, p.Spot.Unknown = parts&perpUnknown != 0, parts&spotUnknown != 0
	p.Perp.Value += market.Micros(next(perpValue))
	p.Spot.Value += market.Micros(next(spotValue))
	p.Perp.NetIn += market.Micros(next(perpNetIn))
	p.Spot.NetIn += market.Micros(next(spotNetIn))
	p.Perp.Volume += market.Micros(next(volumes))
	p.Spot.Volume += market.Micros(next(volumes))
	for _, m := range [...]market.Micros{p.Perp.Value, p.Spot.Value, p.Perp.NetIn, p.Spot.NetIn, p.Perp.Volume, p.Spot.Volume} {
		r.Check(m <= market.MaxMicros && m >= -market.MaxMicros)
	}
}

// Past is what is kept apart of an account's curve: the older points, and its curve as the
// venue tells it.
type Past struct {
	Curve market.Curve
	Venue market.VenueCurve
}

// AppendPast appends the row of what is kept apart.
func AppendPast(b []byte, p *Past) []byte {
	w := writer{packed.Writer{B: append(b, pastVersion)}}
	w.curve(p.Curve)
	w.Int(p.Venue.Until, int64(p.Venue.Volume), int64(p.Venue.PerpVolume))
	w.values(p.Venue.All)
	w.values(p.Venue.Perp)
	return w.B
}

const pastVersion = 1

// values appends values of any times, each as the difference to the one before.
func (w *writer) values(list []market.AccountValue) {
	w.Length(len(list))
	last := market.AccountValue{}
	for _, v := range list {
		w.Int(v.Time-last.Time, int64(v.Value-last.Value), int64(v.NetIn-last.NetIn))
		last = v
	}
}

// DecodePast reads what [AppendPast] wrote.
func DecodePast(b []byte) (p Past, err error) {
	p.Curve, p.Venue, err = readPast(b, nil)
	return p, err
}

// readPast reads a row of the past, with the points into c.
func readPast(b []byte, c market.Curve) (_ market.Curve, venue market.VenueCurve, err error) {
	r := reader{Reader: packed.Reader{B: b}}
	r.Check(r.Byte() == pastVersion)
	c = r.curve(c)
	venue = market.VenueCurve{Until: r.Int(), Volume: market.Micros(r.Int()), PerpVolume: market.Micros(r.Int())}
	venue.All = r.values()
	venue.Perp = r.values()
	if !r.Done() {
		return nil, market.VenueCurve{}, errRow
	}
	return c, venue, nil
}

// past reads a row of the past, and puts its points before those of s.
func (d *decoder) past(b []byte, s *market.TraderStats) (venue market.VenueCurve, err error) {
	if d.older, venue, err = readPast(b, d.older[:0]); err != nil {
		return venue, err
	}
	d.older = d.older.Between(s.CurveSince, market.MaxTime).Merge(s.Curve)
	d.older, s.Curve = s.Curve, d.older // each keeps its room for the next row
	return venue, nil
}

func (r *reader) values() (list []market.AccountValue) {
	n := r.Length(3)
	at := market.AccountValue{}
	for i := range n {
		step := r.Int()
		r.Check(i == 0 || step > 0)
		at.Time += step
		at.Value += market.Micros(r.Int())
		at.NetIn += market.Micros(r.Int())
		r.Check(at.Value <= market.MaxMicros && at.Value >= -market.MaxMicros && at.NetIn <= 2*market.MaxMicros && at.NetIn >= -2*market.MaxMicros)
		list = append(list, at)
	}
	return list
}

// Worth is what a part of an account was worth over a time.
type Worth struct {
	Values     []market.AccountValue // oldest first
	Since      int64                 // ms from when on the account is valued here, in this window or before; 0 where it is not
	VenueUntil int64                 // ms before which the values are the venue's own; 0 where none is
}

// Worth appends to values what a part of the account was worth from one time to another, both
// inclusive, ms. Where it stayed as it was at the beginning there is a value of that time.
func (c *WithCurve) Worth(values []market.AccountValue, s market.Scope, from, to int64) (w Worth) {
	own := int64(market.MaxTime)
	points := c.Curve.Between(0, to)
	for i := range points {
		if v, ok := s.Of(&points[i]); ok {
			own = v.Time
			break
		}
	}
	first := len(values)
	values = c.Venue.Values(values, s, min(own, to+1))
	if own < market.MaxTime {
		w.Since = own
	}
	for first < len(values) && values[first].Time < from {
		values = slices.Delete(values, first, first+1)
	}
	if c.Venue.Until > 0 && (w.Since == 0 || w.Since > c.Venue.Until) {
		w.Since = c.Venue.Until // from when on the account is known, and worth what it was then
	}
	if len(values) > first {
		w.VenueUntil = min(own, c.Venue.Until)
	}
	before, known := points.At(from - 1)
	points = points.Between(from, to)
	if known && len(points) > 0 && points[0].Time > from {
		if v, ok := s.Of(before); ok {
			if next, ok := s.Of(&points[0]); ok && next.Value == v.Value && next.NetIn == v.NetIn {
				v.Time = from
				values = append(values, v)
			}
		}
	}
	w.Values = points.Values(values, s)
	return w
}
