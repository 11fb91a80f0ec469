package stack

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"quotary/localstack/sim/venue"
)

// simulated reports whether market data comes from simulated upstreams.
func (s *Stack) simulated() bool { return s.cfg.Upstream == "" || s.cfg.Upstream == "simulated" }

// startVenue runs the simulated venue: it writes the node's files into the
// stack's folder and answers the public protocols on a port of its own.
func (s *Stack) startVenue(context.Context) error {
	switch s.cfg.Upstream {
	case "", "simulated":
	case "hyperliquid":
		s.State.FollowsURL = "https://api.hyperliquid.xyz"
		return nil
	case "none":
		return nil
	default:
		return fmt.Errorf("QUOTARY_UPSTREAM must be simulated, hyperliquid or none, not %q", s.cfg.Upstream)
	}
	publish, err := s.hours()
	if err != nil {
		return err
	}
	weight := 0 // it is the node's own endpoint too
	if s.nodeless() {
		weight = 1200
	}
	v, err := venue.Open(venue.Config{
		Weight:      weight,
		Publish:     publish,
		Seed:        s.cfg.Seed,
		NodeDir:     filepath.Join(s.cfg.Data, "node"),
		StateDir:    filepath.Join(s.cfg.Data, "venue"),
		HistoryDays: s.cfg.History,
		// A fill becomes about four rows, and the engine takes some two
		// thousand a second: the history is in within a minute.
		HistoryFills:   480 * s.cfg.History,
		Retain:         24 * time.Hour,
		LiquidateEvery: time.Minute,
		Modes:          true,
		Log:            s.log,
	})
	if err != nil {
		return err
	}
	s.Venue = v
	s.onStop(func(context.Context) error { return v.Close() })
	listener, err := s.listen(offsetVenue)
	if err != nil {
		return err
	}
	s.State.VenueURL = "http://" + listener.Addr().String()
	s.State.FollowsURL = s.State.VenueURL
	s.serve(listener, v.Handler())

	s.background(func(ctx context.Context) error {
		if err := v.Run(ctx); err != nil {
			return fmt.Errorf("the simulated venue: %w", err)
		}
		return nil
	})
	return nil
}
