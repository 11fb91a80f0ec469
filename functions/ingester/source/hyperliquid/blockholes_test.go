package hyperliquid

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

// emptyBlock is a block of a time without events.
func emptyBlock(number int64, at string) string {
	return fmt.Sprintf(`{"local_time":"%s","block_time":"%s","block_number":%d,"events":[]}`+"\n", at, at, number)
}

// TestMissingBlocksAreNotedBeforeWhatComesBehind: wherever reading begins again, and whatever file is gone.
func TestMissingBlocksAreNotedBeforeWhatComesBehind(t *testing.T) {
	t.Parallel()
	const day = "2026-02-02T"
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"none is missing": {map[string]string{"20260202/9": emptyBlock(5, day+"09:10:00") + emptyBlock(6, day+"09:59:59.99"), "20260202/10": emptyBlock(7, day+"10:00:00")}, nil},
		"within an hour":  {map[string]string{"20260202/9": emptyBlock(5, day+"09:10:00") + emptyBlock(7, day+"09:10:01")}, []string{"20260202/9"}},
		"over hours": {map[string]string{"20260202/9": `{"block_time":"2026-02-02T11:59:50","block_number":5,"events":[` + strings.TrimSpace(fillLine(0)) + "]}\n", "20260202/14": emptyBlock(99, day+"14:00:00.1")},
			[]string{"20260202/11", "20260202/12", "20260202/13", "20260202/14"}},
		"a block comes again":  {map[string]string{"20260202/9": emptyBlock(5, day+"09:10:00") + emptyBlock(6, day+"09:10:01") + emptyBlock(5, day+"09:10:00") + emptyBlock(7, day+"09:10:02")}, nil},
		"numbers begin again":  {map[string]string{"20260202/9": emptyBlock(5_000_000, day+"09:10:00") + emptyBlock(1, day+"09:10:01") + emptyBlock(3, day+"09:10:02")}, []string{"20260202/9"}},
		"what is no block too": {map[string]string{"20260202/9": emptyBlock(5, day+"09:10:00") + "{}\nnothing\n" + emptyBlock(6, day+"09:10:01")}, nil},
	} {
		for _, each := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, begun again with each line: %t", name, each), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				for file, text := range c.files {
					node{t, dir}.write(file, text)
				}
				var noted []string
				at, refused := Position{}, false
				for {
					f := &Files{Dir: dir, Stats: new(Stats), Log: quiet, Poll: time.Millisecond, ends: true}
					f.Holes = func(_ context.Context, hours []string) error {
						if !refused { // it is noted when the line comes again
							refused = true
							return errors.New("no")
						}
						noted = append(noted, hours...)
						return nil
					}
					if each {
						f.Most = -1
					}
					before, lines := at, 0
					stop := errors.New("stop")
					err := f.Follow(t.Context(), at, func(_ context.Context, d Delivery) error {
						if lines++; each && lines == 2 {
							return stop
						}
						at = d.Position
						return nil
					})
					if !errors.Is(err, stop) {
						must.Do(t, err)
						break
					}
					if at == before {
						t.Fatalf("it stands still at %+v", at)
					}
				}
				check.Equal(t, c.want, AddHours(nil, noted))
			})
		}
	}
}

func TestTheNewestHoursWithHolesAreKept(t *testing.T) {
	t.Parallel()
	first := time.Date(2026, 2, 2, 0, 0, 0, 0, time.UTC)
	hours := addHoles(nil, first.UnixMilli(), first.Add(1000*time.Hour).UnixMilli())
	all := AddHours([]string{"20260101/5", "20260314/9", "no hour"}, hours)
	if len(hours) != MostHoles+1 || len(all) != MostHoles || all[0] != "20260301/17" || all[len(all)-1] != "20260315/16" || slices.Contains(all, "no hour") {
		t.Errorf("%d hours, of which %d are kept, from %s to %s", len(hours), len(all), all[0], all[len(all)-1])
	}
}
