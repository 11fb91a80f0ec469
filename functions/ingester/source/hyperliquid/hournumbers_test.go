package hyperliquid

import (
	"errors"
	"fmt"
	"io"
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

// What stands before the events or behind them is found without reading these.
func TestNumbersAreFoundAtBothEndsOfALine(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		`{"block_number":7,"events":[{"a":1}]}`:            true,
		`{"events":[{"a":[1]}],"block_number":7}`:          true,
		`{"events":[{"a":1}],"block_number":7,"b":2}`:      true,
		`{"a":[1],"block_number":7,"events":[{"a":1}]}`:    false,
		`{"a":{"block_number":8},"block_number":7,"b":[]}`: false,
	} {
		if number, ok, found := blockOf([]byte(line)); found != want || found && (number != 7 || !ok) {
			t.Errorf("%s is block %d, ok %t, found %t", line, number, ok, found)
		}
	}
}

// A line that has to be read as a whole for its number takes a hundred times as long: a file may be of
// nothing else, and has as many bytes as any.
func TestAFileWhoseBlocksHaveToBeSearchedForIsBroken(t *testing.T) {
	t.Parallel()
	line := `{"a":[` + strings.Repeat("0,", 1<<19) + `0],"block_number":%d,"events":[]}` + "\n"
	var blocks []io.Reader
	for n := range 20 {
		blocks = append(blocks, strings.NewReader(fmt.Sprintf(line, n+1)))
	}
	l := &hourLines{lines: &lines{max: maxLine, r: io.MultiReader(blocks...)}}
	var err error
	read := -1
	for ; err == nil; read++ {
		_, err = l.nextBlock()
	}
	if !errors.Is(err, errHourText) || read != 15 {
		t.Errorf("behind %d lines of %d bytes: %v", read, len(line), err)
	}
}
