package topfills

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/market"
	"quotary/shared/store"
)

// Window returns the largest fills of a coin between two times, ms and both
// inclusive: at most limit of them, the largest first.
//
// The rankings of days, hours, minutes and seconds are stored. The window is
// covered by the widest that lie within it: days inside, hours towards both
// ends, then minutes, then seconds. A wide ranking exists only once its bucket
// has closed and the ingester got to it; where one is missing, the next finer
// ones are read in its place. So nothing that is stored is missed (but for a
// fill so late that its hour had closed: it counts from when the ingester has
// ranked that hour again), and a window of seven days takes a few hundred rows.
func Window(ctx context.Context, s *store.Series, coin string, from, to int64, limit int) (market.Top, error) {
	w := window{series: s, coin: coin, from: from, to: to, limit: limit}
	err := w.read(ctx)
	return w.top, err
}

// window is the state of one Window.
type window struct {
	series   *store.Series
	coin     string
	from, to int64
	limit    int

	top market.Top
}

// span is a time from (inclusive) to (exclusive), in ms.
type span struct{ from, to int64 }

func (w *window) read(ctx context.Context) error {
	left := []span{{w.from, w.to + 1}}
	for _, tier := range slices.Backward(market.TopTiers[:]) {
		var inside, next []span
		for _, s := range left {
			if tier == market.TopTiers[0] { // the edges within a second are cut by time
				inside = append(inside, span{tier.StartMs(s.from), tier.NextMs(s.to - 1)})
				continue
			}
			complete := span{tier.StartMs(s.from + widthMs(tier) - 1), tier.StartMs(s.to)}
			if complete.from >= complete.to {
				next = append(next, s)
				continue
			}
			inside = append(inside, complete)
			next = append(next, span{s.from, complete.from}, span{complete.to, s.to})
		}
		missing, err := w.rank(ctx, tier, inside)
		if err != nil {
			return err
		}
		left = merged(append(next, missing...))
	}
	return nil
}

// rank reads the rows of a tier in the spans, whose edges are edges of buckets,
// and ranks their fills. It returns the buckets without a row.
func (w *window) rank(ctx context.Context, tier market.Interval, spans []span) (missing []span, err error) {
	key := Key(w.coin, tier)
	found := make([][]store.Point, len(spans))
	g, ctx := errgroup.WithContext(ctx)
	for i, s := range spans { // few by then
		g.Go(func() (err error) {
			found[i], err = w.series.Range(ctx, key, time.UnixMilli(s.from), time.UnixMilli(s.to), 0, false)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for i, s := range spans {
		next := s.from
		for _, p := range found[i] {
			ms := p.Time.UnixMilli()
			missing = append(missing, span{next, ms})
			next = ms + widthMs(tier)
			if err := w.add(p.Body); err != nil {
				return nil, fmt.Errorf("read %s at %s: %w", key, p.Time.Format(time.RFC3339), err)
			}
		}
		missing = append(missing, span{next, s.to})
	}
	return missing, nil
}

// add ranks the fills of a row. They stand largest first, so reading ends with
// the first that has no place in a full ranking.
func (w *window) add(body []byte) error {
	return scan(body, func(r *market.Ranked) bool {
		if n := len(w.top); n == w.limit && w.top[n-1].Compare(r) < 0 {
			return false
		}
		if w.from <= r.Time && r.Time <= w.to {
			w.top.Add(*r, w.limit)
		}
		return true
	})
}

// maxSpans bounds the requests of one tier.
const maxSpans = 8

// merged joins spans that touch, and then those with the narrowest gaps between
// them, until at most maxSpans are left. Reading a gap a second time does no
// harm: a fill is ranked once.
func merged(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var joined []span
	for _, s := range spans {
		switch last := len(joined) - 1; {
		case s.from >= s.to:
		case last >= 0 && s.from <= joined[last].to:
			joined[last].to = max(joined[last].to, s.to)
		default:
			joined = append(joined, s)
		}
	}
	if len(joined) <= maxSpans {
		return joined
	}
	// Keep the widest gaps. Gap i lies before span i+1.
	gaps := make([]int, len(joined)-1)
	for i := range gaps {
		gaps[i] = i
	}
	slices.SortStableFunc(gaps, func(a, b int) int {
		return cmp.Compare(joined[b+1].from-joined[b].to, joined[a+1].from-joined[a].to)
	})
	kept := gaps[:maxSpans-1]
	slices.Sort(kept)
	var hulls []span
	first := 0
	for _, gap := range append(kept, len(joined)-1) {
		hulls = append(hulls, span{joined[first].from, joined[gap].to})
		first = gap + 1
	}
	return hulls
}

// widthMs is the width of the tier's buckets, all alike.
func widthMs(tier market.Interval) int64 { return tier.NextMs(0) - tier.StartMs(0) }
