package stack

import (
	"context"
	"time"

	"quotary/localstack/sim/airdropsite"
)

// airdropsDrop is the drop of airdrops that a stack begins with, each day another.
const airdropsDrop = "drop/airdrops/simulated.ndjson"

// startAirdrops drops airdrops of our own making.
func (s *Stack) startAirdrops(ctx context.Context) error {
	if !s.simulated() {
		return nil
	}
	return s.drop(ctx, airdropsDrop, airdropsite.Drop(time.Now()))
}
