package perp

import "quotary/shared/market"

// stored is what is known of which seconds of a coin may have a row, without a look at
// the store: none after the newest, and none inside the gap, the longest stretch that
// was passed over. While a long past is read beside what happens now, it is between
// the two, so that neither asks for rows that cannot be there. Times are starts of
// seconds, ms.
type stored struct {
	newest   int64 // -1 without any
	from, to int64 // the gap, without its ends; -1 is before everything
}

// gapKeep is how long what is left behind a second of the gap must be to be kept, in
// place of what is left before it: the past is read in its order, and a late event
// of the present leaves little.
const gapKeep = 60_000

// newStored is that of a coin whose newest stored second is known, -1 without any.
func newStored(newest int64) stored { return stored{newest: newest} }

// absent reports whether the bucket of an interval that begins at start has no row.
func (s *stored) absent(i market.Interval, start int64) bool {
	return start > s.newest || start > s.from && i.NextMs(start) <= s.to
}

// add notes that a second may have a row from now on.
func (s *stored) add(second int64) {
	switch {
	case second > s.newest:
		if second-s.newest > s.to-s.from {
			s.from, s.to = s.newest, second
		}
		s.newest = second
	case second <= s.from || second >= s.to:
	case s.to-second > gapKeep:
		s.from = second
	default:
		s.to = second
	}
}
