package exchange

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/packedrows"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
)

// ratios keeps the series of a kind of ratios.
type ratios struct {
	engine.Defaults[*Batch]
	kind  market.RatioKind
	pairs packedrows.Bars
}

func newRatios(kind market.RatioKind) *ratios {
	return &ratios{kind: kind, pairs: packedrows.NewBars(pairseries.OfRatio(kind), pointsEvery, pointsEvery)}
}

// Name is that of the series.
func (p *ratios) Name() string { return pairseries.OfRatio(p.kind).Name() }

// Prefetch asks for the rows of ratios.
func (p *ratios) Prefetch(b *Batch, r *engine.Reads) {
	for i := range b.Ratios {
		if one := &b.Ratios[i]; one.Kind == p.kind {
			p.pairs.Want(r, one.Pair, one.Time)
		}
	}
}

// Apply takes ratios.
func (p *ratios) Apply(b *Batch, r *engine.Reads, _ time.Time) error {
	for i := range b.Ratios {
		one := &b.Ratios[i]
		if one.Kind != p.kind {
			continue
		}
		if err := p.pairs.Add(r, one.Pair, one.Time, one.Value); err != nil {
			return err
		}
	}
	return nil
}

// Changes returns the rows once a minute.
func (p *ratios) Changes(now time.Time, settle bool) engine.Changes {
	rows := p.pairs.Changes(now, settle)
	return engine.Changes{Fine: rows, Held: !p.pairs.Clean()} // all of it is of the past
}
