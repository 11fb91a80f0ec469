package stack

import "context"

// otherVenuesDrop is the drop that a stack begins with of who trades on which other venues.
const otherVenuesDrop = "drop/othervenues/simulated.ndjson"

// startOtherVenues drops other venues of our own making.
func (s *Stack) startOtherVenues(ctx context.Context) error {
	if s.Venue == nil {
		return nil
	}
	return s.drop(ctx, otherVenuesDrop, s.Venue.OtherVenues())
}
