package datatest

import (
	"quotary/shared/data/indices"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
)

// PutIndexDays stores the days of indexes and shares, as the ingester does: those of a month in
// a row.
func PutIndexDays(t storetest.T, s *store.Series, days ...indices.DayEntry) {
	t.Helper()
	months := map[store.SeriesAt]indices.Days{}
	for i := range days {
		at, ok := indices.At(days[i].Key, days[i].Date)
		if !ok {
			panic(days[i].Date + " is no day")
		}
		months[at], _ = months[at].Add(days[i].Day)
	}
	for at, month := range months {
		storetest.PutSeries(t, s, indices.Row(at, month))
	}
}
