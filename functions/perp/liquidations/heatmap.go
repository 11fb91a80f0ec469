package main

import (
	"context"
	"strconv"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/pairklines"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
)

// heatmapSource says of what estimates are made.
const heatmapSource = "klines and open interest"

// finer is how many times finer bands are in a map of one time than where many are shown, as in
// the history of estimated liquidations of the family futures.
const finer = 5

// remembered is for how many intervals the model remembers what was opened.
var remembered = map[string]int{"1m": 360, "5m": 288, "15m": 288, "30m": 336, "1h": 168}

// interestComes is for how long after an interval its open interest may still come: until then the
// estimate is of what was open before it, less what its prices have reached.
const interestComes = 2 * time.Minute

// span are the times of a heat map: starts of intervals.
type span struct {
	step        time.Duration
	period      market.Period
	first, last time.Time
	remembered  int // intervals before the first of which something may be open
}

// times are those of a request: the newest of its window.
func times(in *catalog.EstimatedHeatmapIn, now time.Time) (s span, err error) {
	if s.step, err = time.ParseDuration(in.Interval); err != nil {
		return s, err // it is one of five
	}
	if s.period, err = market.NewPeriod(int64(s.step.Seconds()), market.OpenBeijing8); err != nil {
		return s, err // likewise
	}
	end := now
	if in.EndTime != nil && in.EndTime.Time().Before(end) {
		end = in.EndTime.Time()
	}
	s.last = end.Truncate(s.step)
	s.first = s.last.Add(-time.Duration(in.Limit-1) * s.step)
	if in.StartTime != nil {
		if start := in.StartTime.Time().Add(s.step - time.Millisecond).Truncate(s.step); start.After(s.first) {
			s.first = start
		}
	}
	s.remembered = remembered[in.Interval]
	return s, nil
}

// estimatedHeatmap estimates what would have been liquidated at times of the past.
func (r *reader) estimatedHeatmap(ctx context.Context, in catalog.EstimatedHeatmapIn) (out catalog.EstimatedLiquidationHeatmap, err error) {
	if err := checkPerpetual(in.Coin); err != nil {
		return out, err
	}
	s, err := times(&in, api.Now(ctx))
	if err != nil {
		return out, err
	}
	out = catalog.EstimatedLiquidationHeatmap{
		Coin: string(in.Coin), Interval: in.Interval, TimePoints: []catalog.EstimatedHeatmapTime{},
		Window: catalog.EstimatedHeatmapWindow{StartTime: s.first.UnixMilli(), EndTime: s.last.UnixMilli(), BucketWidth: "0.0"},
		Meta:   catalog.EstimatedHeatmapMeta{Source: heatmapSource},
	}
	if s.last.Before(s.first) {
		return out, nil
	}
	buckets, err := r.buckets(ctx, string(in.Coin), &s)
	if err != nil {
		return out, err
	}
	var width market.Decimal
	for i := range buckets {
		if px := buckets[i].Average; px.IsPos() {
			width = market.BandWidth(px.Mul64(finer))
		}
	}
	if width.IsPos() {
		out.Window.BucketWidth = market.Text(width)
	}
	model := market.LiquidationModel{Window: int64(s.remembered) * s.step.Milliseconds()}
	known, late := false, api.Now(ctx).Add(-interestComes)
	for i := range buckets {
		b := &buckets[i]
		model.Add(b)
		share, now := model.Placed()
		known = now || known && time.UnixMilli(b.Time).Add(s.step).After(late)
		if b.Time < s.first.UnixMilli() {
			continue
		}
		out.TimePoints = append(out.TimePoints, estimate(&model, b.Time, width, in.Leverage, known))
		if now {
			out.Meta.Coverage = new(market.Text(share))
		}
	}
	for i := range out.TimePoints {
		out.Meta.BucketCount += int64(len(out.TimePoints[i].LongLiquidations) + len(out.TimePoints[i].ShortLiquidations))
	}
	out.Meta.RowCount = int64(len(out.TimePoints))
	return out, nil
}

// estimate is that of a model at a time, of which something is known or not.
func estimate(model *market.LiquidationModel, at int64, width market.Decimal, leverage string, known bool) catalog.EstimatedHeatmapTime {
	point := catalog.EstimatedHeatmapTime{TimeMs: at}
	if !known || !width.IsPos() {
		return point
	}
	point.LongLiquidations, point.ShortLiquidations = []catalog.EstimatedHeatmapBucket{}, []catalog.EstimatedHeatmapBucket{}
	for _, b := range model.BandsOf(width, func(of int64) bool { return leverage == "" || leverage == strconv.FormatInt(of, 10) }) {
		bucket := catalog.EstimatedHeatmapBucket{LowerPx: market.Text(b.From), UpperPx: market.Text(b.To), TotalNotional: market.Text(b.Value)}
		if b.Long {
			point.LongLiquidations = append(point.LongLiquidations, bucket)
		} else {
			point.ShortLiquidations = append(point.ShortLiquidations, bucket)
		}
	}
	return point
}

// buckets are what the model needs, oldest first: of a perpetual of which no open interest is
// kept, as outside of the main dex, K-lines alone. What has not traded under this very name, as
// btc, has none, though the keys of pairs do not tell it from one that has.
func (r *reader) buckets(ctx context.Context, coin string, s *span) ([]market.LiquidationBucket, error) {
	from := s.first.Add(-time.Duration(s.remembered) * s.step)
	count := int(s.last.Sub(from)/s.step) + 1
	candles, err := pairklines.NewestOfPerp(ctx, r.series, coin, s.period, s.last, count)
	if err != nil || len(candles) == 0 {
		return nil, err
	}
	var interest []market.Bar
	if pair, ok := pairs.Perp(coin); ok {
		interest, err = pairseries.Interest.Read(ctx, r.series, pair.Key, s.step, pairseries.Window{From: from, To: s.last, Limit: count})
		if err != nil {
			return nil, err
		}
	}
	return market.LiquidationBuckets(candles, interest, from.UnixMilli(), s.last.UnixMilli(), s.step.Milliseconds()), nil
}
