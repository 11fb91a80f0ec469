package main

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/service/markedpositions"
)

// mostBuckets is how many an answer has at most: some 200 bytes each, of 5 MB.
const mostBuckets = 25_000

// positionsSource says of what a heat map of the market is made.
const positionsSource = "positions"

// marketHeatmap sums up by price where the open positions in a coin would be liquidated.
func (r *reader) marketHeatmap(ctx context.Context, in catalog.MarketHeatmapIn) (out catalog.MarketLiquidationHeatmap, err error) {
	var lower, upper market.Decimal
	if in.LowerPx != nil {
		lower = in.LowerPx.Decimal
	}
	if in.UpperPx != nil {
		if upper = in.UpperPx.Decimal; upper.Cmp(lower) <= 0 {
			return out, api.BadParameter("invalid upper_px: it must be above 0 and above lower_px")
		}
	}
	t, err := r.positions.Of(ctx, string(in.Coin))
	if err != nil {
		return out, err
	}
	width := in.BucketSize.Decimal
	h := t.Heatmap(string(in.Coin), width, lower, upper)
	if n := len(h.Longs) + len(h.Shorts); n > mostBuckets {
		if in.LowerPx != nil || in.UpperPx != nil {
			return out, api.BadParameter("%d buckets are more than the %d that are answered: narrow lower_px and upper_px, or take a bucket_size of at least %s", n, mostBuckets, leastWidth(t, string(in.Coin), width, lower, upper))
		}
		nearest(&h, t.Marks.Px[string(in.Coin)], width)
	}
	return answer(t, &in, &h), nil
}

// nearest keeps the buckets nearest to the mark, as many as are answered.
func nearest(h *market.Heatmap, mark, width market.Decimal) {
	at, err := mark.MustDiv(width).Floor().Int64()
	if err != nil {
		at = math.MaxInt64 // all of them lie below
	}
	away := func(b market.HeatBucket) uint64 {
		if b.Number > at {
			return uint64(b.Number - at) //nolint:gosec // it is above
		}
		return uint64(at - b.Number) //nolint:gosec // it is not above
	}
	all := slices.SortedFunc(slices.Values(slices.Concat(h.Longs, h.Shorts)), func(x, y market.HeatBucket) int { return cmp.Compare(away(x), away(y)) })
	first := away(all[mostBuckets]) // the nearest that is left out, with all that are as far away
	out := func(b market.HeatBucket) bool { return away(b) >= first }
	h.Longs, h.Shorts = slices.DeleteFunc(h.Longs, out), slices.DeleteFunc(h.Shorts, out)
}

// leastWidth is the least width above the one that was asked for with which all buckets between two
// prices are answered: 1, 2 or 5 times a power of ten.
func leastWidth(t markedpositions.Table, coin string, width, lower, upper market.Decimal) market.Decimal {
	var wider []market.Decimal
	for power := catalog.LeastBucket; len(wider) < 60; power = power.Mul(market.DecimalFromInt(10)) {
		for _, times := range [...]int64{1, 2, 5} {
			if one := power.Mul(market.DecimalFromInt(times)); one.Cmp(width) > 0 {
				wider = append(wider, one)
			}
		}
	}
	at := sort.Search(len(wider)-1, func(i int) bool {
		h := t.Heatmap(coin, wider[i], lower, upper)
		return len(h.Longs)+len(h.Shorts) <= mostBuckets
	})
	return wider[at]
}

func answer(t markedpositions.Table, in *catalog.MarketHeatmapIn, h *market.Heatmap) catalog.MarketLiquidationHeatmap {
	coin, width := string(in.Coin), in.BucketSize.Decimal
	out := catalog.MarketLiquidationHeatmap{
		Coin: coin, TimeMs: t.Marks.Of(market.DexOf(coin)), LongLiquidations: marketBuckets(h.Longs, width), ShortLiquidations: marketBuckets(h.Shorts, width),
	}
	if mark, ok := t.Marks.Px[coin]; ok {
		out.MarkPx = market.Text(mark)
	}
	out.Window = catalog.MarketHeatmapWindow{LowerPx: out.MarkPx, UpperPx: out.MarkPx, BucketWidth: market.Text(width)}
	if all := slices.Concat(h.Longs, h.Shorts); len(all) > 0 {
		number := func(x, y market.HeatBucket) int { return cmp.Compare(x.Number, y.Number) }
		out.Window.LowerPx = market.Text(border(slices.MinFunc(all, number).Number, width))
		out.Window.UpperPx = market.Text(border(slices.MaxFunc(all, number).Number+1, width))
	}
	empty := len(h.Longs)+len(h.Shorts) == 0
	if in.LowerPx != nil {
		if out.Window.LowerPx = market.Text(in.LowerPx.Decimal); empty {
			out.Window.UpperPx = out.Window.LowerPx
		}
	}
	if in.UpperPx != nil {
		if out.Window.UpperPx = market.Text(in.UpperPx.Decimal); empty && in.LowerPx == nil {
			out.Window.LowerPx = out.Window.UpperPx
		}
	}
	if in.IncludeMeta {
		out.Meta = &catalog.MarketHeatmapMeta{OpenPositions: h.Open, WithLiqPrice: h.Known, BucketCount: int64(len(h.Longs) + len(h.Shorts)), Source: positionsSource}
		if t.Covered != nil {
			out.Meta.Coverage = new(t.Covered.String())
		}
	}
	return out
}

func marketBuckets(list []market.HeatBucket, width market.Decimal) []catalog.MarketHeatmapBucket {
	buckets := make([]catalog.MarketHeatmapBucket, len(list))
	for i := range list {
		b := &list[i]
		buckets[i] = catalog.MarketHeatmapBucket{
			LowerPx: market.Text(border(b.Number, width)), UpperPx: market.Text(border(b.Number+1, width)), PositionCount: b.Positions, AddressCount: b.Addresses,
			TotalSz: market.Text(b.Size), TotalNotional: market.Text(b.Notional.Decimal()),
		}
	}
	return buckets
}

// border is where a bucket begins.
func border(number int64, width market.Decimal) market.Decimal {
	return width.Mul(market.DecimalFromInt(number))
}
