package stack

import (
	"context"
	"time"

	"quotary/localstack/sim/flashsite"
	"quotary/shared/data/drop"
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
	if err := s.drop(ctx, membersDrop, drop.Encode(flashsite.Members())); err != nil {
		return err
	}
	s.Flashes = flashsite.Flashes(time.Now())
	return s.drop(ctx, flashesDrop, drop.Encode(s.Flashes))
}
