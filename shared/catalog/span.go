package catalog

import "time"

// Spanner is a request with a start and an end, whatever their spelling. The
// limit of max_time_range is checked against it. A zero start means that
// nothing is to be checked.
type Spanner interface {
	// Span returns the span asked for; an absent end is now.
	Span(now time.Time) (start, end time.Time)
}

// Selective is a request that does not use all of its parameters, by what those
// declared before hold. One that is not used is not read: it may hold anything.
type Selective interface {
	// Uses reports whether the parameter of that name is read.
	Uses(parameter string) bool
}

func spanMillis(from, to *Millis, now time.Time) (start, end time.Time) {
	if from == nil {
		return time.Time{}, time.Time{}
	}
	end = now
	if to != nil {
		end = to.Time()
	}
	return from.Time(), end
}
