package perp

import (
	"fmt"
	"sync/atomic"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/packedrows"
	"quotary/shared/data/pairliquidations"
	"quotary/shared/data/pairs"
	"quotary/shared/market"
)

// pairLiquidations keeps what was liquidated of the main venue's perpetuals as pairs of a
// platform, beside those of the centralised exchanges: of the fills by which accounts were
// liquidated, which only a node's files hold of all accounts.
type pairLiquidations struct {
	engine.Defaults[*Batch]
	fold *packedrows.Liquidations
}

func newPairLiquidations(leftOut *atomic.Int64) *pairLiquidations {
	return &pairLiquidations{fold: packedrows.NewLiquidations(leftOut)}
}

// Name is that of the view.
func (*pairLiquidations) Name() string { return pairliquidations.PerpName }

// Folds has the fills.
func (*pairLiquidations) Folds() []engine.Fold[*Batch] { return storedFills }

// Restores has its own view.
func (*pairLiquidations) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(pairliquidations.OfPerps)}
}

// Restore takes it.
func (p *pairLiquidations) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, pairliquidations.OfPerps)
	p.fold.Restore(v)
	return err
}

// Prefetch asks for the rows of liquidations.
func (p *pairLiquidations) Prefetch(b *Batch, r *engine.Reads) {
	for i := range b.Fills {
		if l, ok := liquidated(&b.Fills[i]); ok {
			p.fold.Want(r, &l)
		}
	}
}

// Apply takes liquidations.
func (p *pairLiquidations) Apply(b *Batch, r *engine.Reads, _ time.Time) error {
	var list []market.PairLiquidation
	for i := range b.Fills {
		if l, ok := liquidated(&b.Fills[i]); ok {
			list = append(list, l)
		}
	}
	return p.fold.Add(r, list)
}

// liquidated is the liquidation that a fill is of its account, or a part of one, as
// [market.LiquidationOf] has it: its fills are one. It is false for any other fill, such as that of
// the other side.
func liquidated(f *market.Fill) (l market.PairLiquidation, ok bool) {
	e, ok := market.LiquidationOf(f)
	if !ok {
		return l, false
	}
	pair, ok := pairs.Perp(f.Coin)
	if !ok {
		return l, false
	}
	px, err := market.ParseDecimal(f.Px)
	return market.PairLiquidation{
		Pair: pair.Key, ID: f.Tid, Of: fmt.Sprint(e.Address, " ", e.Oid), Time: e.Time, Long: e.Long,
		Px: px, Sz: e.Sz, Value: e.Value,
	}, err == nil
}

// Changes returns the rows, and the view once in a while.
func (p *pairLiquidations) Changes(now time.Time, settle bool) engine.Changes {
	c := p.fold.Changes(now, settle, pairliquidations.OfPerps, pairs.PerpKey)
	c.Held = !p.fold.Clean()
	return c
}
