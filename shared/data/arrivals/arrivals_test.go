package arrivals

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/aws/readunits"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// A cursor may be of any age, also one that a client has made up, and there may be a note for each
// minute.
func TestNotesOfOldAreNotRead(t *testing.T) {
	t.Parallel()
	db := storetest.DynamoDB(t)
	kept := store.NewSeries(dynamodb.New(db.Options(), readunits.Meter), storetest.Tables(t, db)+schema.SeriesTable)
	start := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	const minutes, late = 2000, 20 * time.Minute
	rows := make([]store.SeriesRow, minutes)
	for i := range rows {
		at := start.Add(time.Duration(i) * time.Minute)
		rows[i] = series.Row("fills", market.Minute1, at.UnixMilli(), new(at.Add(-late).UnixMilli()), 16)
	}
	must.Do(t, kept.Put(t.Context(), rows))
	back := start.Add((minutes - 100) * time.Minute)
	for name, c := range map[string]struct {
		fresh, late time.Time
		want        time.Time
	}{
		"made up":          {time.UnixMicro(1), time.UnixMicro(1), time.UnixMilli(0)},
		"late of long ago": {back.Add(time.Hour), start, time.UnixMilli(0)},
		"right before":     {back.Add(-time.Minute), back.Add(-time.Minute), time.UnixMilli(0)},
		"at the time":      {back, back, back.Add(-late)},
		"of now":           {back.Add(90 * time.Minute), back.Add(90 * time.Minute), back.Add(90*time.Minute - late)},
		"of later":         {back.Add(101 * time.Minute), back.Add(101 * time.Minute), back.Add(100 * time.Minute)},
	} {
		ctx, read := readunits.WithBudget(t.Context(), 5000)
		cursor := market.CursorBetween("", market.ArrivalAt(c.fresh), market.ArrivalAt(c.late))
		if got, err := Since(ctx, kept, "fills", &cursor, back); err != nil || !got.Equal(c.want) || read.Spent() > 2 {
			t.Errorf("%s: %s, want %s, for %v read units, %v", name, got, c.want, read.Spent(), err)
		}
	}
}
