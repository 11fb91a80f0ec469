package stack

import (
	"context"

	"quotary/localstack/sim"
	"quotary/localstack/sim/indexsite"
)

// treasuriesDrop is the drop of holdings that a stack begins with, each day another.
const treasuriesDrop = "drop/treasuries/simulated.ndjson"

// startTreasuries drops holdings of our own making.
func (s *Stack) startTreasuries(ctx context.Context) error {
	if !s.simulated() {
		return nil
	}
	return s.drop(ctx, treasuriesDrop, indexsite.New(sim.Config{Seed: s.cfg.Seed}).Treasuries())
}
