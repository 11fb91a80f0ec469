package traders_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/aws/metrics"
	"quotary/shared/data/traderhistory"
	"quotary/shared/service/traderwindows"
	"quotary/shared/store/storetest"
	"quotary/shared/table"
	"quotary/shared/testing/must"
	"quotary/shared/traderfields"
)

// TestAnAccountThatCannotBeReadHoldsUpNoOther: one row of a million is no reason to publish none. Its own row, and
// what it did in the past, stay as they were until it can be read.
func TestAnAccountThatCannotBeReadHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	w := open(t)
	other := w.add(false, w.ms-hourMs)
	broken := map[int]*account{}            // by which of its rows cannot be read
	for _, row := range []int{0, 1, 2, 4} { // its state, how it trades, what it did lately and what it did on a day
		broken[row] = w.add(false, w.ms-10*dayMs, w.ms-2*hourMs)
	}
	work := w.term()
	must.Do(t, work.Publish(t.Context()))
	before := w.rows()
	unread := func(want int64) {
		t.Helper()
		for _, f := range work.Status().Figures {
			if f.Name == metrics.UnreadTraders && f.Value != want {
				t.Errorf("%d accounts cannot be read, want %d", f.Value, want)
			}
		}
	}
	w.ms += 5 * 60_000
	for row, a := range broken {
		torn := a.rows()[row]
		torn.Extra = []byte("torn")
		w.note(a, w.ms)
		storetest.PutSeries(t, w.Series, torn)
	}
	other.do(9, w.ms)
	w.store(other)
	must.Do(t, work.Publish(t.Context()))
	unread(int64(len(broken)))
	rows := w.rows()
	w.has(rows[other.address], w.trader(other), isDone)
	of, fields := traderwindows.Window{From: w.ms - w.ms%hourMs - 2*hourMs, To: w.ms - w.ms%hourMs + hourMs}, asked()
	for _, found := range must.Get(w.windows().Ask(t.Context(), of, &table.Query{Order: fields[0], Limit: 9}, fields))(t).Rows {
		want := w.past(w.accounts[found.Address[19]], of)
		for i, f := range fields {
			field := &traderfields.Fields[f]
			if v, known := field.Figure(want, traderhistory.Period); isDone(field) && (found.Values[i].Value != v || found.Values[i].Known != known) {
				t.Errorf("%s of account %d in the last hours is %+v, want %d, known %t", field.Name, found.Address[19], found.Values[i], v, known)
			}
		}
	}
	for row, a := range broken {
		if diff := cmp.Diff(before[a.address], rows[a.address]); diff != "" {
			t.Errorf("without row %d of it an account is (-before +now):\n%s", row, diff)
		}
	}
	w.ms += 5 * 60_000
	for _, a := range broken {
		a.do(7, w.ms)
		w.store(a)
	}
	must.Do(t, work.Publish(t.Context()))
	unread(0)
	for _, a := range broken {
		w.has(w.rows()[a.address], w.trader(a), isDone)
	}
	for range 101 {
		a := w.add(false)
		torn := a.rows()[0]
		torn.Extra = []byte("torn")
		storetest.PutSeries(t, w.Series, torn)
		w.note(a, w.ms)
	}
	if err := work.Publish(t.Context()); err == nil || !strings.Contains(err.Error(), "the rows of more than 100 accounts cannot be read") {
		t.Errorf("without 101 accounts: %v", err)
	}
}

// TestAHotAccountThatCannotBeReadIsNotLost in a new hour, nor where another process goes on.
func TestAHotAccountThatCannotBeReadIsNotLost(t *testing.T) {
	t.Parallel()
	w := open(t)
	other := w.add(true, w.ms-hourMs)
	var broken []*account // by its rows, but for those of what it did on single days
	for range 4 {
		broken = append(broken, w.add(true, w.ms-2*hourMs))
	}
	work := w.term()
	must.Do(t, work.Publish(t.Context()))
	w.ms += 2 * hourMs // all were noted just before the first version
	must.Do(t, work.Publish(t.Context()))
	for row, a := range broken {
		torn := a.rows()[row]
		torn.Extra = []byte("torn")
		storetest.PutSeries(t, w.Series, torn)
		if row < 2 {
			w.note(a, w.ms)
		}
	}
	for _, again := range []bool{false, true} {
		if w.ms += 2 * hourMs; again {
			work = w.term()
		}
		must.Do(t, work.Publish(t.Context()))
		rows := w.rows()
		w.has(rows[other.address], w.trader(other), isAny)
		for row, a := range broken {
			if hot := work.Status().Figures[0].Value; rows[a.address].Values == nil || hot != 5 {
				t.Errorf("without row %d of it an account has no row, or %d rows are hot, want 5", row, hot)
			}
		}
	}
	for _, a := range broken {
		w.store(a)
	}
	w.ms += 5 * 60_000
	must.Do(t, work.Publish(t.Context()))
	for _, a := range w.accounts {
		w.has(w.rows()[a.address], w.trader(a), isAny)
	}
}
