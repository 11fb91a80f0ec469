package exchange

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/alerts"
	"quotary/shared/data/strategysignals"
	"quotary/shared/store"
)

// logRows keeps a log whose rows come with the batches as they are.
type logRows[T any] struct {
	engine.Defaults[*Batch]
	name   string
	of     func(*Batch) []T
	append func([]store.Row, []T) []store.Row
	rows   []store.Row // that are not written
}

func newFiredAlerts() Projection {
	return &logRows[alerts.Fired]{name: alerts.Name, of: func(b *Batch) []alerts.Fired { return b.Fired }, append: alerts.AppendRows}
}

func newStrategySignals() Projection {
	return &logRows[strategysignals.Signal]{name: strategysignals.Name, of: func(b *Batch) []strategysignals.Signal { return b.Strategies }, append: strategysignals.AppendRows}
}

// Name is that of the log.
func (p *logRows[T]) Name() string { return p.name }

// Apply takes what the batch has of it.
func (p *logRows[T]) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	p.rows = p.append(p.rows, p.of(b))
	return nil
}

// Changes returns the rows.
func (p *logRows[T]) Changes(time.Time, bool) (c engine.Changes) {
	if len(p.rows) > 0 {
		c.Log = []engine.LogRows{{Dataset: p.name, Rows: p.rows}}
		p.rows = nil
	}
	return c
}
