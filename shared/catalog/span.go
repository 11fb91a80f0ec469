package catalog

import "time"

// Spanner is a request with a start and an end, whatever their spelling. The
// limit of max_time_range is checked against it. A zero start means that
// nothing is to be checked.
type Spanner interface {
	// Span returns the span asked for; an absent end is now.
	Span(now time.Time) (start, end time.Time)
}

// Reacher is a request about a time that ends now, or a parameter that says how long that is.
type Reacher interface {
	// Reach is how long; 0 is all time.
	Reach() time.Duration
}

// BoundsSpan reports whether a parameter of this name is the start of a span, or its end.
func BoundsSpan(name string) (start, end bool) {
	switch name {
	case "startTime", "start_time", "start_date", "endTimeFrom":
		return true, false
	case "endTime", "end_time", "end_date", "endTimeTo", "time", "time2":
		return false, true
	}
	return false, false
}

// Selective is a request that does not use all of its parameters, by what those
// declared before hold. One that is not used is not read: it may hold anything.
type Selective interface {
	// Uses reports whether the parameter of that name is read.
	Uses(parameter string) bool
}

// Varied is a request that is one of several: its member type says which.
type Varied interface {
	// Variants returns them all. They are shared.
	Variants() []Variant
}

// Refuser is an answer in place of which a bad parameter has a status and a text of its own, and
// not the common body.
type Refuser interface {
	Refusal() (status int, text string)
}

// Variant is a request of one type of several.
type Variant struct {
	Name  string   // value of type
	Needs []string // members of the request without which there is no answer
	Takes []string // others that the answer depends on; every other one is ignored
	About string   // what data is, in sentences for people
	From  *Dataset // what it is answered from; nil where the venue is asked

	Weight int // of a question to the venue, as it counts them; 0 where it is not asked
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

// Dater is a request that looks for one thing of which it says when it happened at the latest: the zero time where it
// names nothing.
type Dater interface {
	Latest(now time.Time) time.Time
}
