package venue

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"quotary/shared/testing/must"
)

func TestBookDiffsAloneReproduceTheBook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := busy(t, Config{NodeDir: dir, HistoryDays: 2, FillsPerSecond: 40}, 90*time.Second)
	type resting struct{ User, Coin, Side, Px, Sz string }
	book := map[int64]resting{}
	for _, l := range lines(t, dir, streamDiffs) {
		for _, ev := range l.Events {
			var d struct {
				resting
				Oid  int64
				Diff json.RawMessage `json:"raw_book_diff"`
			}
			must.Do(t, json.Unmarshal(ev, &d))
			have, known := book[d.Oid]
			if string(d.Diff) == `"remove"` {
				if !known {
					t.Fatalf("block %d removes order %d, which is not there", l.BlockNumber, d.Oid)
				}
				delete(book, d.Oid)
				continue
			}
			var x struct {
				New    *struct{ Sz string }
				Update *struct{ OrigSz, NewSz string }
			}
			must.Do(t, json.Unmarshal(d.Diff, &x))
			switch {
			case x.New != nil && !known:
				d.Sz = x.New.Sz
			case x.Update != nil && known && have.Sz == x.Update.OrigSz:
				d.Sz = x.Update.NewSz
			default:
				t.Fatalf("block %d: %s after %+v", l.BlockNumber, ev, have)
			}
			book[d.Oid] = d.resting
		}
	}
	e := v.eng
	count := 0
	for c := range e.books {
		for _, side := range [][]level{e.books[c].bids, e.books[c].asks} {
			for _, l := range side {
				for _, o := range l.orders {
					count++
					want := resting{e.prof[o.User].Addr, e.mk[c].Name, sideOf(o.Buy), dec(o.Px, e.mk[c].PxDec), dec(o.Sz, e.mk[c].SzDec)}
					if book[o.Oid] != want {
						t.Errorf("order %d is %+v, the diffs give %+v", o.Oid, want, book[o.Oid])
					}
				}
			}
		}
	}
	if count != len(book) || count < 100 {
		t.Errorf("%d orders in the books, the diffs leave %d", count, len(book))
	}
}

func TestOrderStatusesEndOnceAndAgreeWithTheFills(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := busy(t, Config{NodeDir: dir, HistoryDays: 2, FillsPerSecond: 40}, 90*time.Second)
	type life struct {
		status string
		left   string
		orig   string
	}
	orders := map[int64]life{}
	for _, l := range lines(t, dir, streamOrders) {
		for _, ev := range l.Events {
			var s struct {
				Status string
				Order  struct {
					Oid        int64
					Sz, OrigSz string
				}
			}
			must.Do(t, json.Unmarshal(ev, &s))
			before := orders[s.Order.Oid].status
			if before != "" && before != "open" && before != "triggered" {
				t.Fatalf("order %d is %s after %s", s.Order.Oid, s.Status, before)
			}
			orders[s.Order.Oid] = life{s.Status, s.Order.Sz, s.Order.OrigSz}
		}
	}
	filled := map[int64]int64{} // hundred-millionths
	for _, f := range withoutDust(nodeFills(t, dir)) {
		if _, ok := orders[f.Oid]; !ok {
			t.Fatalf("fill %d is of order %d, which has no status", f.Tid, f.Oid)
		}
		filled[f.Oid] += scaled(t, f.Sz)
	}
	open := 0
	for oid, o := range orders {
		switch o.status {
		case "open":
			open++
		case "filled":
			if o.left != "0.0" {
				t.Errorf("order %d is filled with %s left", oid, o.left)
			}
			if got := scaled(t, o.orig); got < filled[oid] || filled[oid] == 0 {
				t.Errorf("order %d of %s was filled for %d", oid, o.orig, filled[oid])
			}
		case "iocCancelRejected", "badAloPxRejected":
			if filled[oid] != 0 {
				t.Errorf("order %d is %s but traded %d", oid, o.status, filled[oid])
			}
		}
	}
	if open != len(v.eng.live) {
		t.Errorf("%d orders are open, the statuses leave %d", len(v.eng.live), open)
	}
}

// scaled reads a size as hundred-millionths.
func scaled(t *testing.T, s string) int64 {
	t.Helper()
	r := rat(t, s)
	r.Mul(r, rat(t, "100000000.0"))
	if !r.IsInt() {
		t.Fatalf("%s has too many decimals", s)
	}
	return r.Num().Int64()
}

func TestTwapsExecuteWhatTheirStatusSays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	busy(t, Config{NodeDir: dir, HistoryDays: 4, FillsPerSecond: 20, Traders: 400}, 20*time.Minute)
	type state struct {
		Coin, User, Side, Sz, ExecutedSz, ExecutedNtl string
		Minutes                                       int64
		Timestamp                                     int64
		Randomize                                     bool
	}
	executed := map[int64]int64{}
	for _, f := range nodeFills(t, dir) {
		if f.TwapID != nil && f.Crossed {
			executed[*f.TwapID] += scaled(t, f.Sz)
		}
	}
	began := map[int64]state{}
	ended, kinds, failed := map[string]int{}, map[string]int{}, 0
	for _, l := range lines(t, dir, streamTwaps) {
		for _, ev := range l.Events {
			var s struct {
				TwapID int64 `json:"twap_id"`
				Status json.RawMessage
				State  state
			}
			must.Do(t, json.Unmarshal(ev, &s))
			first, running := began[s.TwapID]
			switch status := string(s.Status); status {
			case `{"error":"Insufficient margin to place order."}`:
				failed++
				if !running && executed[s.TwapID] == 0 {
					continue // it was refused
				}
				fallthrough
			case `"finished"`, `"terminated"`:
				ended[status]++
				if !running || s.State.Sz != first.Sz || s.State.User != first.User || s.State.Timestamp != first.Timestamp {
					t.Errorf("%s after %+v", ev, first)
				}
				if got := scaled(t, s.State.ExecutedSz); got != executed[s.TwapID] || got > scaled(t, s.State.Sz) {
					t.Errorf("TWAP %d says it executed %s, its fills add up to %d", s.TwapID, s.State.ExecutedSz, executed[s.TwapID])
				}
			case `"activated"`:
				kinds[fmt.Sprint(strings.Contains(s.State.Coin, "/") || strings.HasPrefix(s.State.Coin, "@"), s.State.Randomize)]++
				if running || s.State.ExecutedSz != "0.0" {
					t.Errorf("%s", ev)
				}
				began[s.TwapID] = s.State
			default:
				t.Errorf("status %s", status)
			}
		}
	}
	if ended[`"finished"`] < 5 || ended[`"terminated"`] == 0 || failed == 0 || len(kinds) != 4 {
		t.Errorf("%v TWAPs ended, %d failed; of spot and randomized there are %v", ended, failed, kinds)
	}
}
