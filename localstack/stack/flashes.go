package stack

import (
	"context"
	"time"

	"quotary/localstack/sim"
	"quotary/localstack/sim/flashsite"
)

// Drops that a stack begins with, each hour others.
const (
	flashesDrop = "drop/flashes/simulated.ndjson"
	membersDrop = "drop/members/simulated.ndjson"
)

// startFlashes drops flashes, posts and their authors of our own making.
func (s *Stack) startFlashes(ctx context.Context) error {
	if !s.simulated() {
		return nil
	}
	if err := s.drop(ctx, membersDrop, sim.Lines(flashsite.Members())); err != nil {
		return err
	}
	s.Flashes = flashsite.Flashes(time.Now())
	return s.drop(ctx, flashesDrop, sim.Lines(s.Flashes))
}
