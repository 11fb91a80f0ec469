package hyperliquid

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"quotary/shared/venue/wire"
)

// MostHoles bounds the hours with holes that are noted: those of two weeks, the newest.
const MostHoles = 14 * 24

// blockHoles finds the hours in which a stream lacks blocks: what happened while the node was not there, it never
// writes.
type blockHoles struct {
	note  func(ctx context.Context, hours []string) error // nil looks for none
	block int64                                           // number of the last one, 0 before the first
	hours []string                                        // that are not noted yet
}

// look takes the next line, before which the newest event was of a time, ms.
func (b *blockHoles) look(line []byte, newest int64) {
	if b.note == nil {
		return
	}
	number, ok, _ := blockOf(line)
	switch {
	case !ok, number <= b.block && b.block-number <= mostHourLines: // it comes again
	case b.block > 0 && number > b.block+1:
		b.hours = addHoles(b.hours, newest, timeOfBlock(line))
		b.block = number
	default: // the next one, or numbers begin again
		b.block = number
	}
}

// tell has the hours noted.
func (b *blockHoles) tell(ctx context.Context) error {
	if len(b.hours) == 0 {
		return nil
	}
	if err := b.note(ctx, b.hours); err != nil {
		return fmt.Errorf("note that blocks are missing: %w", err)
	}
	b.hours = nil
	return nil
}

// addHoles adds the hours from one time, ms, to another; 0 is not known.
func addHoles(hours []string, from, to int64) []string {
	if to == 0 {
		to = time.Now().UnixMilli()
	}
	if from == 0 || from > to {
		from = to
	}
	from = max(from, to-MostHoles*time.Hour.Milliseconds())
	for h := hourAt(time.UnixMilli(from)); h.compare(hourAt(time.UnixMilli(to))) <= 0; h = h.next() {
		hours = append(hours, h.String())
	}
	return slices.Compact(hours)
}

// timeOfBlock is when the block of a line was made, ms; 0 where the line does not say.
func timeOfBlock(line []byte) int64 {
	_, text, _ := bytes.Cut(line, []byte(`"block_time":"`))
	text, _, ended := bytes.Cut(text[:min(len(text), 64)], []byte(`"`))
	at, err := time.Parse(wire.NodeTime, string(text))
	if !ended || err != nil {
		return 0
	}
	return at.UnixMilli()
}

// AddHours adds names of hours to others: each once, in the order of time, and no more than [MostHoles]. What names none is left out.
func AddHours(hours, more []string) []string {
	all := slices.DeleteFunc(slices.Concat(hours, more), func(name string) bool {
		_, err := parseHour(name)
		return err != nil
	})
	slices.SortFunc(all, func(a, b string) int {
		x, _ := parseHour(a)
		y, _ := parseHour(b)
		return x.compare(y)
	})
	all = slices.Compact(all)
	return all[max(0, len(all)-MostHoles):]
}
