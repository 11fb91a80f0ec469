package perp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"quotary/functions/ingester/engine"
	"quotary/shared/store"
)

// Projection folds the domain's batches.
type Projection = engine.Projection[*Batch]

// Projections returns all projections of the domain, without state, and the
// klines among them, from which the feeds read the open candles.
func Projections() ([]Projection, *Klines) {
	klines := NewKlines()
	return []Projection{
		klines,
		newTopFills(),
		newLastPrices(),
		newMidPrices(),
		newDescriptions(),
		newFigures(),
		newFundings(),
		newLastBooks(),
		newBookDepth(),
		newOpenInterest(),
	}, klines
}

// Logs are the domain's logs, whose rows need no state.
var Logs = []engine.Log[*Batch]{fillLog, otherLog, filledLog, ledgerLog}

// newest is the time of the newest row of a series, in ms, or -1 without any; ok is
// false while it is not read.
func newest(r *engine.Reads, series store.SeriesKey) (ms int64, ok bool) {
	t, ok := r.Latest(series)
	if t.IsZero() {
		return -1, ok
	}
	return t.UnixMilli(), ok
}

// restores is a view from which a projection is restored.
func restores[T any](name string, decode func([]byte) (T, error)) engine.RestoredView {
	return engine.RestoredView{Name: name, Check: func(body []byte) error {
		_, err := decode(body)
		return err
	}}
}

// restored decodes the view of that name, the zero value where there is none.
func restored[T any](views map[string][]byte, name string, decode func([]byte) (T, error)) (view T, err error) {
	body, ok := views[name]
	if !ok {
		return view, nil
	}
	if view, err = decode(body); err != nil {
		return view, fmt.Errorf("read view %s: %w", name, err)
	}
	return view, nil
}

// sorted returns the keys of a map in their order.
func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
