package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/store"
)

// topTrades returns the largest fills of a coin in a window that ends now,
// largest first.
func (f *fills) topTrades(ctx context.Context, in catalog.TopTradesIn) ([]catalog.TopFill, error) {
	now := api.Now(ctx)
	w := &window{
		series: f.series,
		coin:   string(in.Coin),
		from:   now.Add(-in.Interval.Duration()).UnixMilli(),
		to:     now.UnixMilli(),
		limit:  int(in.Limit),
	}
	if err := w.read(ctx); err != nil {
		return nil, err
	}
	list := make([]catalog.TopFill, len(w.top))
	for i, r := range w.top {
		list[i] = catalog.TopFill{
			Time: r.Time, Address: r.Address, Coin: r.Coin, Side: r.Side.String(), Oid: r.Oid, IsTaker: r.IsTaker,
			Px: r.Px, Sz: r.Sz, Val: market.Text(r.Val), EndPosition: market.Text(r.EndPosition),
		}
	}
	return list, nil
}

// window ranks the fills of a coin between from and to (ms, both inclusive).
//
// The rankings of days, hours, minutes and seconds are stored. The window is
// covered by the widest that lie within it: days inside, hours towards both
// ends, then minutes, then seconds. A wide ranking exists only once its bucket
// has closed and the ingester got to it; where one is missing, the next finer
// ones are read in its place. So nothing that is stored is missed (but for a
// fill so late that its hour had closed: it counts from when the ingester has
// ranked that hour anew), and a window of seven days takes a few hundred rows.
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
			whole := span{tier.StartMs(s.from + widthMs(tier) - 1), tier.StartMs(s.to)}
			if whole.from >= whole.to {
				next = append(next, s)
				continue
			}
			inside = append(inside, whole)
			next = append(next, span{s.from, whole.from}, span{whole.to, s.to})
		}
		missing, err := w.rank(ctx, tier, inside)
		if err != nil {
			return err
		}
		left = few(append(next, missing...))
	}
	return nil
}

// rank reads the rows of a tier in the spans, whose edges are edges of buckets,
// and ranks their fills. It returns the buckets without a row.
func (w *window) rank(ctx context.Context, tier market.Interval, spans []span) (missing []span, err error) {
	key := store.SeriesKey{Name: store.TopFillSeries, Key: w.coin, Interval: tier.String()}
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
				return nil, fmt.Errorf("%s at %s: %w", key, p.Time.Format(time.RFC3339), err)
			}
		}
		missing = append(missing, span{next, s.to})
	}
	return missing, nil
}

// add ranks the fills of a row. They stand largest first, so reading ends with
// the first that has no place in a full ranking.
func (w *window) add(body []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	if _, err := decoder.Token(); err != nil {
		return err
	}
	for decoder.More() {
		var fill catalog.TopFill
		if err := decoder.Decode(&fill); err != nil {
			return err
		}
		r, err := ranked(&fill)
		if err != nil {
			return err
		}
		if n := len(w.top); n == w.limit && w.top[n-1].Compare(&r) < 0 {
			return nil
		}
		if w.from <= r.Time && r.Time <= w.to {
			w.top.Add(r, w.limit)
		}
	}
	return nil
}

func ranked(fill *catalog.TopFill) (market.Ranked, error) {
	val, err := market.ParseDecimal(fill.Val)
	if err != nil {
		return market.Ranked{}, fmt.Errorf("val %w", err)
	}
	end, err := market.ParseDecimal(fill.EndPosition)
	if err != nil {
		return market.Ranked{}, fmt.Errorf("endPosition %w", err)
	}
	if fill.Side != "A" && fill.Side != "B" {
		return market.Ranked{}, fmt.Errorf("side %.10q is neither A nor B", fill.Side)
	}
	return market.Ranked{
		Time: fill.Time, Address: fill.Address, Coin: fill.Coin, Side: market.Side(fill.Side[0]), Oid: fill.Oid,
		IsTaker: fill.IsTaker, Px: fill.Px, Sz: fill.Sz, Val: val, EndPosition: end,
	}, nil
}

// maxSpans bounds the requests of one tier.
const maxSpans = 8

// few joins spans that touch, and then those with the narrowest gaps between
// them, until at most maxSpans are left. Reading a gap a second time does no
// harm: a fill is ranked once.
func few(spans []span) []span {
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
