package arrivals

import (
	"iter"
	"slices"
	"testing"
	"time"

	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// event is one that arrived.
type event struct {
	ms int64
	at market.Arrival
}

// Between what is late and the cursor lies more than a page reads, also of one millisecond more than
// it shows.
func TestWhatArrivedIsPagedOnHoweverFarBackItHappened(t *testing.T) {
	t.Parallel()
	const name, before, limit = "fills", 3*readMost + 100, 7
	series := storetest.Open(t).Series
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var log []event
	add := func(happened, arrived time.Time) event {
		e := event{happened.UnixMilli(), market.ArrivalAt(arrived) + market.Arrival(2*len(log))}
		if arrived.Sub(happened) > market.LateAfter {
			e.at |= 1
		}
		log = append(log, e)
		return e
	}
	for i := range before {
		at := start.Add(time.Duration(i) * 2 * time.Second)
		add(at, at)
	}
	now := start.Add(before * 2 * time.Second)
	cursor := market.CursorAt(name, market.ArrivalAt(now))
	late := Late{Series: series}
	var want []event
	for i := range 40 { // of one millisecond each ten, and late by up to all of it
		arrived := now.Add(time.Duration(1+i/10) * time.Minute)
		e := add(start.Add(time.Duration(i/10)*10*time.Hour), arrived)
		must.Do(t, late.Add(t.Context(), name, e.at, e.ms))
		want = append(want, e, add(arrived, arrived))
	}
	must.Do(t, SaveStored(t.Context(), series, market.ArrivalAt(now.Add(time.Hour))))
	slices.SortStableFunc(log, func(a, b event) int { return int(a.ms - b.ms) })
	read := 0
	rows := func(from time.Time) iter.Seq2[event, error] {
		return func(yield func(event, error) bool) {
			for _, e := range log {
				if e.ms < from.UnixMilli() {
					continue
				}
				if read++; !yield(e, nil) {
					return
				}
			}
		}
	}
	var got []event
	for pages := 0; ; pages++ {
		read = 0
		list, next, err := Page(t.Context(), series, name, cursor, limit, rows, func(e *event) (market.Arrival, int64) { return e.at, e.ms })
		if err != nil || len(list) > limit || read > readMost+100 || pages > 100 {
			t.Fatalf("page %d has %d events of %d rows, %v", pages, len(list), read, err)
		}
		got = append(got, list...)
		if next.Text() == cursor.Text() {
			break
		}
		cursor = must.Get(market.ParseArrivalCursor(next.Text()))(t)
	}
	order := func(a, b event) int { return int(a.at - b.at) }
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got, want) {
		t.Errorf("%d events, want %d", len(got), len(want))
	}
	if last := want[len(want)-1]; cursor.Before(last.at) || cursor.Search.To != 0 {
		t.Errorf("the last page ends at %+v", cursor)
	}
}

// What arrived late longer ago than notes are read for is found behind an older cursor.
func TestWhatArrivedLateLongAgoIsPagedOn(t *testing.T) {
	t.Parallel()
	const name = "fills"
	series := storetest.Open(t).Series
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	day := func(n int) time.Time { return start.AddDate(0, 0, n) }
	log := []event{{day(-9).UnixMilli(), market.ArrivalAt(day(-9))}, {day(-5).UnixMilli(), market.ArrivalAt(day(1)) | 1}, {day(3).UnixMilli(), market.ArrivalAt(day(3))}}
	late := Late{Series: series}
	must.Do(t, late.Add(t.Context(), name, log[1].at, log[1].ms))
	must.Do(t, SaveStored(t.Context(), series, market.ArrivalAt(day(30))))
	rows := func(from time.Time) iter.Seq2[event, error] {
		return func(yield func(event, error) bool) {
			for _, e := range log {
				if e.ms >= from.UnixMilli() && !yield(e, nil) {
					return
				}
			}
		}
	}
	list, _, err := Page(t.Context(), series, name, market.CursorAt(name, market.ArrivalAt(day(0))), 7, rows, func(e *event) (market.Arrival, int64) { return e.at, e.ms })
	if err != nil || !slices.Equal(list, log[1:]) {
		t.Errorf("%v, %v, want %v", list, err, log[1:])
	}
}
