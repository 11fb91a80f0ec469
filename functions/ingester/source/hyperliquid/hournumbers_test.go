package hyperliquid

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/market"
)

// Whoever believed the number of one line would take each later block for one that was read.
func TestNumbersThatNoHourHasStopNothing(t *testing.T) {
	t.Parallel()
	const far = 1_000_000_000_000
	alone := fmt.Sprintf(`{"local_time":"","block_time":"","block_number":%d,"events":[]}`+"\n", far)
	insert := func(at int) func([]string) []string {
		return func(lines []string) []string { return slices.Insert(slices.Clone(lines), at, alone) }
	}
	shift := func(lines []string) []string {
		shifted := make([]string, len(lines))
		for i, line := range lines {
			shifted[i] = strings.Replace(line, `"block_number":`, `"block_number":`+fmt.Sprint(far/1000), 1)
		}
		return shifted
	}
	const hours, wrong = 6, 1
	for name, c := range map[string]struct {
		misc, fills func([]string) []string // what the files of an hour are made of
		lost        bool                    // what is behind the line in its file
	}{
		"in misc events":            {misc: insert(1)},
		"in fills":                  {fills: insert(5)},
		"in both":                   {misc: insert(2), fills: insert(2)},
		"first of the misc events":  {misc: insert(0), lost: true},
		"first of the fills":        {fills: insert(0), lost: true},
		"of all misc events":        {misc: shift},
		"of both files of the hour": {misc: shift, fills: shift},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, hours, func(t *testing.T, h *hoursTest) {
				m := &h.hours[wrong]
				if c.misc != nil {
					m.misc = c.misc(m.misc)
				}
				if c.fills != nil {
					m.fills = c.fills(m.fills)
				}
				for i := range hours {
					h.publish(i)
				}
				h.start()
				h.pass(12 * time.Hour)
				var want market.Events
				for i := range hours {
					if i == wrong && c.lost {
						continue
					}
					e := h.hours[i].events(t)
					want.Merge(&e)
				}
				got := h.events(false)
				if c.lost {
					of := func(ms int64) bool { return hourAt(time.UnixMilli(ms)) == h.hours[wrong].at }
					got.Fills = slices.DeleteFunc(got.Fills, func(f market.Fill) bool { return of(f.Time) })
					got.Payments = slices.DeleteFunc(got.Payments, func(p market.FundingPayment) bool { return of(p.Time) })
					got.Funding = slices.DeleteFunc(got.Funding, func(f market.Funding) bool { return of(f.Time) })
					got.Ledgers = slices.DeleteFunc(got.Ledgers, func(l market.Ledger) bool { return of(l.Time) })
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%.2000s", diff)
				}
			})
		})
	}
}
