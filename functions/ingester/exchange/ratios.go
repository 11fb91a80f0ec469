package exchange

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/packedrows"
	"quotary/shared/data/pairseries"
)

// ratios keeps the series of the share of accounts that are long.
type ratios struct {
	engine.Defaults[*Batch]
	pairs packedrows.Bars
}

func newRatios() *ratios {
	return &ratios{pairs: packedrows.NewBars(pairseries.Ratios, pointsEvery, pointsEvery)}
}

// Name is that of the series.
func (*ratios) Name() string { return pairseries.Ratios.Name() }

// Prefetch asks for the rows of ratios.
func (p *ratios) Prefetch(b *Batch, r *engine.Reads) {
	for i := range b.Ratios {
		p.pairs.Want(r, b.Ratios[i].Pair, b.Ratios[i].Time)
	}
}

// Apply takes ratios.
func (p *ratios) Apply(b *Batch, r *engine.Reads, _ time.Time) error {
	for i := range b.Ratios {
		if err := p.pairs.Add(r, b.Ratios[i].Pair, b.Ratios[i].Time, b.Ratios[i].Long); err != nil {
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
