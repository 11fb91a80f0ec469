package exchange

import (
	"sync/atomic"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/packedrows"
	"quotary/shared/data/pairliquidations"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
)

// liquidations keeps what was liquidated of the followed perpetuals.
type liquidations struct {
	engine.Defaults[*Batch]
	perpetuals
	fold *packedrows.Liquidations
}

func newLiquidations(leftOut *atomic.Int64) *liquidations {
	return &liquidations{fold: packedrows.NewLiquidations(leftOut)}
}

// Name is that of the series of sums.
func (*liquidations) Name() string { return pairseries.Liquidations.Name() }

// Restores has the view of the last 24 hours, and the pairs.
func (*liquidations) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(pairliquidations.Published), restoredPairs}
}

// Restore takes both.
func (p *liquidations) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, pairliquidations.Published)
	if err != nil {
		return err
	}
	p.fold.Restore(v)
	return p.restorePairs(views)
}

// Prefetch asks for the rows of liquidations.
func (p *liquidations) Prefetch(b *Batch, r *engine.Reads) {
	for i := range b.Liquidations {
		p.fold.Want(r, &b.Liquidations[i])
	}
}

// Apply takes liquidations.
func (p *liquidations) Apply(b *Batch, r *engine.Reads, _ time.Time) error {
	p.list(b.Listings)
	return p.fold.Add(r, b.Liquidations)
}

// Changes returns the rows, and the view once in a while.
func (p *liquidations) Changes(now time.Time, settle bool) engine.Changes {
	return p.fold.Changes(now, settle, pairliquidations.Published, func(key string) (pair market.Pair, followed bool) {
		pair, followed = p.byKey[key]
		return pair, followed
	})
}
