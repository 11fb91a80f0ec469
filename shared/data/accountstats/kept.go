package accountstats

import (
	"quotary/shared/market"
	"quotary/shared/store"
)

// Kept is how an account trades, for who folds it and keeps many of them: the row as it
// was last, and what was folded since, which is what its methods and fields are of. It
// takes a tenth of the memory of the statistics themselves. The zero value is of an
// account of which nothing is known.
type Kept struct {
	market.TraderStats

	row    []byte // what [Append] wrote; nil before the first
	points int    // of the curve in it
	moved  int64  // ms up to which points are in the past by now
}

// Keep returns what is kept of a row.
func Keep(row []byte) (*Kept, error) {
	s, err := Decode(row)
	if err != nil {
		return nil, err
	}
	return &Kept{TraderStats: s.Since(), row: row, points: len(s.Curve)}, nil
}

// All is the statistics with all that was folded.
func (k *Kept) All() market.TraderStats {
	var s market.TraderStats
	if k.row != nil {
		var err error
		if s, err = Decode(k.row); err != nil {
			panic("accountstats: " + err.Error()) // it was read or written before
		}
	}
	s.Merge(&k.TraderStats)
	return s
}

// set has what is kept be s.
func (k *Kept) set(s *market.TraderStats) {
	k.TraderStats, k.row, k.points = s.Since(), Append(nil, s), len(s.Curve)
}

// Row is the row of an account with all that was folded, see [RowOf], from which is folded
// on. It notes since when the account is known.
func (k *Kept) Row(a *market.Account, version string) store.SeriesRow {
	k.Began = a.Since
	s := k.All()
	s.Curve = s.Curve.Between(k.moved+1, market.MaxTime).Thin()
	k.moved = 0
	row := RowOf(a.Address, &s, version)
	k.TraderStats, k.row, k.points = s.Since(), row.Extra, len(s.Curve)
	return row
}

// ForgetCurve forgets what the account was worth before a time, ms: what it is worth from then
// on is no more to be compared with it.
func (k *Kept) ForgetCurve(before int64) {
	s := k.All()
	s.Curve, s.CurveSince = nil, before
	k.set(&s)
}

// Points is how many points of the curve are kept.
func (k *Kept) Points() int { return k.points + len(k.Curve) }

// MoveTo adds the points up to a time, ms, to the past of the account. The next row is without
// them: it must be written behind that of the past.
func (k *Kept) MoveTo(p *Past, upTo int64) {
	of := k.All().Curve.Between(0, upTo)
	p.Curve = p.Curve.Between(k.CurveSince, market.MaxTime).Merge(of).Thin()
	k.moved, k.Apart = upTo, max(k.Apart, upTo)
}

// CorrectCurve changes the points behind a time, ms, that are not in the past yet.
func (k *Kept) CorrectCurve(behind int64, change func(*market.CurvePoint)) {
	s := k.All()
	points := s.Curve.Between(behind+1, market.MaxTime)
	for i := range points {
		change(&points[i])
	}
	k.set(&s)
}

// Stored is what stands in the row, without what was folded since; nil before the first.
func (k *Kept) Stored() []byte { return k.row }

// Restart goes on from what stood in an earlier row, nil for none, to fold again what came
// behind it. Only points of the curve stay: those that are not sampled again.
func (k *Kept) Restart(row []byte) error {
	s, all := market.TraderStats{}, k.All()
	if row != nil {
		var err error
		if s, err = Decode(row); err != nil {
			return err
		}
	}
	s.Curve = s.Curve.Merge(all.Curve)
	s.CurveSince, s.Apart, s.VenueUntil = all.CurveSince, all.Apart, all.VenueUntil
	s.Curve = s.Curve.Between(s.CurveSince, market.MaxTime)
	k.set(&s)
	return nil
}
