package storetest

import (
	"testing"

	"quotary/shared/store"
)

// Publish replaces a view.
func Publish[T any](t testing.TB, views *store.Views, of store.ViewType[T], version T) {
	t.Helper()
	if err := views.Publish(t.Context(), of.Name, of.Encode(version)); err != nil {
		t.Fatal(err)
	}
}

// PutLog writes values to a log as the ingester does, as the rows that appendRows makes of
// them. It may be repeated.
func PutLog[T any](t testing.TB, log *store.Log, dataset string, appendRows func([]store.Row, []T) []store.Row, values ...T) {
	t.Helper()
	if err := log.Put(t.Context(), dataset, appendRows(nil, values)); err != nil {
		t.Fatal(err)
	}
}

// PutSeries writes rows. It may be repeated.
func PutSeries(t testing.TB, series *store.Series, rows ...store.SeriesRow) {
	t.Helper()
	if err := series.Put(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
}
