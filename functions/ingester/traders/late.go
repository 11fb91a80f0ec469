package traders

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"quotary/functions/ingester/objects"
	"quotary/shared/data/traderfacts"
	"quotary/shared/data/traderhistory"
	"quotary/shared/market"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
)

// Who is made again from its logs is noted with the beginning of these, and may have done something in
// every hour since: then the files of all of them would be written again, which takes an hour. So a
// publication looks at the recent hours of everybody, and of long ago at so many hours of so many accounts.
const (
	recentHours = 48
	lateHours   = 240
	lateAtOnce  = 20_000
	// settled is how long after it was noted the hours of an account of long ago are looked at: by then its rows
	// are written, and the note is read no more.
	settled = 2 * time.Hour
)

// late is what a publication does about hours of long ago.
type late struct {
	traderhistory.Late
	changed  bool                   // it is another than in the last version
	accounts traderhistory.Accounts // those whose hours are looked at, from when on more is known of them, ms
	from, to int64                  // the hours that are looked at, ms
}

// readLate reads who waits for its hours of long ago.
func (h *history) readLate(ctx context.Context) error {
	if h.next.Late == (tablefile.Named{}) {
		return nil
	}
	body, err := h.bucket.Range(ctx, h.next.Late.Key, 0, h.next.Late.Bytes)
	if err == nil {
		h.late.Late, err = traderhistory.DecodeLate(body)
	}
	if err != nil {
		return fmt.Errorf("read who did something long ago: %w", err)
	}
	return nil
}

// beginLate chooses the hours of long ago that this publication looks at, of whom: the next ones of those whose
// turn it is, or the newest of the next accounts.
func (h *history) beginLate(now time.Time, hours int64, atOnce int) {
	l := &h.late
	if len(l.Turn) == 0 {
		if !l.Begin(atOnce, now.Add(-settled).UnixMilli()) {
			return
		}
		l.changed, h.next.LateBefore = true, h.recent
	}
	l.to, l.from = h.next.LateBefore, h.next.LateBefore-hours*hourMs
	l.accounts = traderhistory.Accounts{}
	first := int64(math.MaxInt64)
	for a, of := range l.Turn {
		if first = min(first, of.Since); of.Since < l.to {
			l.accounts[a] = of.Since
		}
	}
	h.next.LateBefore = l.from
	if first >= l.from { // all is looked at then
		l.Turn, l.changed, h.next.LateBefore = nil, true, 0
	}
}

// looksAt reports whether an account is one of those whose hours of long ago are looked at, and the hour one of
// these.
func (l *late) looksAt(a table.Address, hour int64) bool {
	since, ok := l.accounts[a]
	return ok && hour >= max(since, l.from) && hour < l.to
}

// takeInLate takes in what accounts did in the hours of long ago that are looked at.
func (w *Work) takeInLate(ctx context.Context, h *history) error {
	sorted := slices.SortedFunc(maps.Keys(h.late.accounts), market.CompareAccounts)
	for some := range slices.Chunk(sorted, atOnce) {
		i, texts := 0, make([]string, len(some))
		for k, a := range some {
			texts[k] = market.AddressOf(a)
		}
		for did, err := range traderfacts.ReadHours(ctx, w.Series, texts, h.late.from, h.late.to) {
			if err != nil {
				return err
			}
			a := some[i]
			if i++; did.Broken != nil {
				h.leave(a)
				continue
			}
			if err := h.takeIn(ctx, a, did, func(hour int64) bool { return h.late.looksAt(a, hour) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeLate writes who waits, where that has changed.
func (h *history) writeLate(ctx context.Context) error {
	switch {
	case !h.late.changed:
		return nil
	case len(h.late.Turn)+len(h.late.Waiting) == 0:
		h.next.Late = tablefile.Named{}
		return nil
	}
	body := h.late.Encode()
	for {
		h.next.Late = traderhistory.NamedLate(h.version, body)
		err := h.bucket.Create(ctx, h.next.Late.Key, body)
		if err == nil {
			return nil
		}
		if !errors.Is(err, objects.ErrExists) {
			return fmt.Errorf("write who did something long ago: %w", err)
		}
		h.version++
	}
}
