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

// liquidations keeps what was liquidated of the main venue's perpetuals as pairs of a
// platform, beside those of the centralised exchanges: of the fills by which accounts were
// liquidated, which only a node's files hold of all accounts.
type liquidations struct {
	engine.Defaults[*Batch]
	fold *packedrows.Liquidations
}

func newLiquidations(leftOut *atomic.Int64) *liquidations {
	return &liquidations{fold: packedrows.NewLiquidations(leftOut)}
}

// Name is that of the view.
func (*liquidations) Name() string { return pairliquidations.PerpName }

// Folds has the fills.
func (*liquidations) Folds() []engine.Fold[*Batch] { return storedFills }

// Restores has its own view.
func (*liquidations) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(pairliquidations.OfPerps)}
}

// Restore takes it.
func (p *liquidations) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, pairliquidations.OfPerps)
	p.fold.Restore(v)
	return err
}

// Prefetch asks for the rows of liquidations.
func (p *liquidations) Prefetch(b *Batch, r *engine.Reads) {
	for i := range b.Fills {
		if l, ok, err := liquidated(&b.Fills[i]); ok && err == nil {
			p.fold.Want(r, &l)
		}
	}
}

// Apply takes liquidations.
func (p *liquidations) Apply(b *Batch, r *engine.Reads, _ time.Time) error {
	var list []market.PairLiquidation
	for i := range b.Fills {
		l, ok, err := liquidated(&b.Fills[i])
		if err != nil {
			return err
		}
		if ok {
			list = append(list, l)
		}
	}
	return p.fold.Add(r, list)
}

// liquidated is the position that a fill closed by force, or a part of one, as an order meets
// many others in the book: its fills are one liquidation. It is false for any other fill, such as that of the other side.
func liquidated(f *market.Fill) (l market.PairLiquidation, ok bool, err error) {
	if !f.Liquidates() {
		return l, false, nil
	}
	pair, ok := pairs.Perp(f.Coin)
	if !ok {
		return l, false, nil
	}
	l = market.PairLiquidation{Pair: pair.Key, ID: f.Tid, Of: fmt.Sprint(f.Address, " ", f.Oid), Time: f.Time, Long: f.Side == market.Sell}
	if l.Px, err = market.ParseDecimal(f.Px); err == nil {
		l.Sz, err = market.ParseDecimal(f.Sz)
	}
	if err != nil {
		return l, false, fmt.Errorf("fill %d of %s: %w", f.Tid, pair.Key, err)
	}
	l.Value = market.Notional(l.Px, l.Sz)
	return l, true, nil
}

// Changes returns the rows, and the view once in a while.
func (p *liquidations) Changes(now time.Time, settle bool) engine.Changes {
	c := p.fold.Changes(now, settle, pairliquidations.OfPerps, pairs.PerpKey)
	c.Held = !p.fold.Clean()
	return c
}
