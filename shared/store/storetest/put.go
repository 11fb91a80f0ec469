package storetest

import (
	"context"

	"quotary/shared/store"
	"quotary/shared/testing/must"
)

// T is a test, a benchmark or a property.
type T interface {
	must.T
	Context() context.Context
}

// Publish replaces a view.
func Publish[V any](t T, views *store.Views, of store.ViewType[V], version V) {
	t.Helper()
	must.Do(t, views.Publish(t.Context(), of.Name, of.Encode(version)))
}

// PutLog writes values to a log as the ingester does, as the rows that appendRows makes of
// them. It may be repeated.
func PutLog[V any](t T, log *store.Log, dataset string, appendRows func([]store.Row, []V) []store.Row, values ...V) {
	t.Helper()
	must.Do(t, log.Put(t.Context(), dataset, appendRows(nil, values)))
}

// PutSeries writes rows. It may be repeated.
func PutSeries(t T, series *store.Series, rows ...store.SeriesRow) {
	t.Helper()
	must.Do(t, series.Put(t.Context(), rows))
}
