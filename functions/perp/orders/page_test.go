package main

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/testing/check"
)

// TestPagesOfOrdersAreTheListOfThem follows the cursors of an account whose orders come to
// several statuses, many of them in one millisecond, and are open beyond the ends of pages.
func TestPagesOfOrdersAreTheListOfThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	account := 0
	rapid.Check(t, func(rt *rapid.T) {
		account++
		address := fmt.Sprintf("0x%040x", account)
		var list []market.OrderStatus
		for n := range int64(rapid.IntRange(0, 12).Draw(rt, "orders")) {
			ms := rapid.Int64Range(0, 6).Draw(rt, "opened")
			for _, status := range rapid.SampledFrom([][]string{{"open"}, {"open", "filled"}, {"open", "canceled"}, {"filled"}, {"open", "triggered", "filled"}, {"open", "triggered"}}).Draw(rt, "statuses") {
				s := one(int64(account)*100+n, ms, status)
				s.Address, s.Seq = address, int64(len(list))
				list = append(list, s)
				ms += rapid.Int64Range(0, 5).Draw(rt, "later")
			}
		}
		w.put(t, list...)
		newestFirst := slices.Clone(list)
		slices.SortStableFunc(newestFirst, func(a, b market.OrderStatus) int {
			if a.Time != b.Time {
				return int(b.Time - a.Time)
			}
			return int(b.Seq - a.Seq)
		})
		var all, filled []string
		seen := map[int64]bool{}
		for _, s := range newestFirst {
			name := fmt.Sprint(s.Oid-9000, " ", s.Status)
			if !seen[s.Oid] {
				all = append(all, name)
			}
			seen[s.Oid] = true
			if s.Status == market.StatusFilled {
				filled = append(filled, name)
			}
		}
		limit := rapid.IntRange(1, 5).Draw(rt, "limit")
		check.Equal(rt, all, w.pages(t, fmt.Sprintf("/orders/%s/latest?limit=%d", address, limit)))
		check.Equal(rt, filled, w.pages(t, fmt.Sprintf("/filled-orders/%s/latest?limit=%d", address, limit)))
	})
}

// pages follows the cursors of a target to the end.
func (w *world) pages(t *testing.T, target string) (all []string) {
	t.Helper()
	for next := ""; ; {
		answer := w.Get(t, w.SubKey, root+target+next)
		for _, o := range apitest.Data[[]catalog.OrderWrapper](t, answer) {
			all = append(all, fmt.Sprint(o.Order.Oid-9000, " ", o.Status))
		}
		cursor := answer.Header[catalog.HeaderNextCursor]
		if cursor == "" {
			return all
		}
		next = "&cursor=" + cursor
	}
}

func TestACursorThatIsNoneIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/orders/", "/filled-orders/"} {
		w.Get(t, w.SubKey, root+path+alice+"/latest?cursor=x").Refused(t, http.StatusBadRequest, "invalid cursor")
	}
}
