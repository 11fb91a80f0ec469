package main

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/pairklines"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
)

// cycle is how long ago positions may have been opened, and the width of the buckets of
// which they are inferred.
type cycle struct {
	window, step time.Duration
	period       market.Period // of the step
}

// cycles are those that can be asked for.
var cycles = map[string]cycle{
	"24h": newCycle(24*time.Hour, 5*time.Minute),
	"7d":  newCycle(7*24*time.Hour, time.Hour),
}

func newCycle(window, step time.Duration) cycle {
	period, err := market.NewPeriod(int64(step.Seconds()), market.OpenBeijing8)
	if err != nil {
		panic(err) // both are periods of K-lines
	}
	return cycle{window, step, period}
}

// finer is how many times finer bands are in a map of one time than where many times are
// shown.
const finer = 5

// mapFor is how long a map is kept: as long as a view. K-lines of an open bucket are written every few
// seconds.
const mapFor = 10 * time.Second

// mapOf is what a map is made of.
type mapOf struct{ pair, cycle string }

// liquidationMap estimates what would be liquidated now.
func (r *reader) liquidationMap(ctx context.Context, in catalog.LiquidationMapIn) (catalog.LiquidationMap, error) {
	of, now := mapOf{pairKey(in.DBKey), in.Cycle}, api.Now(ctx)
	all, err := r.maps.get(of, now, func() (catalog.LiquidationMap, error) { return r.makeMap(ctx, of, now) })
	if err != nil || in.Leverage == "" {
		return all, err
	}
	one := catalog.LiquidationMap{Time: all.Time, DataMap: map[string]catalog.LiquidationSides{}}
	if sides, ok := all.DataMap[in.Leverage]; ok {
		one.DataMap[in.Leverage] = sides
	}
	return one, nil
}

// makeMap is a map of all leverages.
func (r *reader) makeMap(ctx context.Context, of mapOf, now time.Time) (catalog.LiquidationMap, error) {
	out := catalog.LiquidationMap{DataMap: map[string]catalog.LiquidationSides{}}
	c := cycles[of.cycle]
	buckets, err := r.buckets(ctx, of.pair, c, now, 1)
	if err != nil {
		return out, err
	}
	model := market.LiquidationModel{Window: c.window.Milliseconds()}
	last := market.LiquidationBucket{}
	for i := range buckets {
		model.Add(&buckets[i])
		if buckets[i].Average.IsPos() {
			last = buckets[i]
		}
	}
	if !last.Average.IsPos() {
		return out, nil
	}
	newest := buckets[len(buckets)-1].Time
	out.Time = &newest
	for _, share := range market.LiquidationLeverages {
		out.DataMap[strconv.FormatInt(share.Leverage, 10)] = catalog.LiquidationSides{
			Mapping: [3]string{"from", "to", "turnover"}, Short: []catalog.LiquidationRow{}, Long: []catalog.LiquidationRow{}, Timestamp: newest,
		}
	}
	for _, b := range model.Bands(market.BandWidth(last.Average)) {
		leverage := strconv.FormatInt(b.Leverage, 10)
		sides := out.DataMap[leverage]
		row := catalog.LiquidationRow{number(b.From), number(b.To), number(b.Value)}
		if b.Long {
			sides.Long = append(sides.Long, row)
		} else {
			sides.Short = append(sides.Short, row)
		}
		out.DataMap[leverage] = sides
	}
	return out, nil
}

// estimatesOf is what estimates until now are made of.
type estimatesOf struct {
	mapOf
	leverage string
	limit    int64
}

// estimatedLiquidations estimates what would have been liquidated at times of the past.
func (r *reader) estimatedLiquidations(ctx context.Context, in catalog.EstimatedLiquidationsIn) (catalog.EstimatedLiquidationHistory, error) {
	if in.StartTime != nil || in.EndTime != nil {
		return r.makeEstimates(ctx, &in)
	}
	of := estimatesOf{mapOf{pairKey(in.DBKey), in.Cycle}, in.Leverage, in.Limit}
	return r.estimates.get(of, api.Now(ctx), func() (catalog.EstimatedLiquidationHistory, error) { return r.makeEstimates(ctx, &in) })
}

func (r *reader) makeEstimates(ctx context.Context, in *catalog.EstimatedLiquidationsIn) (catalog.EstimatedLiquidationHistory, error) {
	out := catalog.EstimatedLiquidationHistory{TimePoints: map[string]catalog.EstimatedLiquidationsAt{}}
	c := cycles[in.Cycle]
	until := api.Now(ctx)
	if in.EndTime != nil && in.EndTime.Time().Before(until) {
		until = in.EndTime.Time()
	}
	buckets, err := r.buckets(ctx, pairKey(in.DBKey), c, until, int(in.Limit))
	if err != nil {
		return out, err
	}
	first := until.Add(-time.Duration(in.Limit-1) * c.step).UnixMilli()
	if in.StartTime != nil {
		first = max(first, in.StartTime.Time().UnixMilli())
	}
	model := market.LiquidationModel{Window: c.window.Milliseconds()}
	known := false // open interest: nothing is estimated before
	for i := range buckets {
		b := &buckets[i]
		model.Add(b)
		if known = known || b.Interest.IsPos(); !known {
			continue
		}
		if b.Time < c.period.StartMs(first) || b.Time < first && in.StartTime != nil || !b.Average.IsPos() {
			continue
		}
		out.TimePoints[strconv.FormatInt(b.Time/1000, 10)] = estimate(&model, b.Average, in.Leverage)
	}
	return out, nil
}

// estimate is that of a model at a price.
func estimate(model *market.LiquidationModel, px market.Decimal, leverage string) catalog.EstimatedLiquidationsAt {
	at := catalog.EstimatedLiquidationsAt{
		Columns: [5]string{"leverage", "direction", "from_price", "to_price", "turnover"}, Name: "estimated_liq_vpc", Values: []catalog.EstimatedLiquidationRow{},
	}
	for _, b := range model.Bands(market.BandWidth(px.Mul64(finer))) {
		of, side := strconv.FormatInt(b.Leverage, 10), "short"
		if b.Long {
			side = "long"
		}
		if leverage == "" || leverage == of {
			at.Values = append(at.Values, catalog.EstimatedLiquidationRow{of, side, number(b.From), number(b.To), number(b.Value)})
		}
	}
	return at
}

// number writes a decimal as a JSON number with all of its digits.
func number(d market.Decimal) json.Number { return json.Number(d.String()) }

// buckets are what a model needs for a number of times, of which the last is the bucket
// that holds until: oldest first, those without trade and open interest left out. Where no
// open interest is known, as of a spot pair, there are none.
func (r *reader) buckets(ctx context.Context, pair string, c cycle, until time.Time, times int) ([]market.LiquidationBucket, error) {
	if of, listed, err := r.lookup.Lookup(ctx, pair); err != nil || listed && !of.Swap {
		return nil, err
	}
	count := int(c.window/c.step) + times
	var candles []market.Candle
	interest, err := r.pairBars(ctx, pairseries.Interest, pair, c.step, pairseries.Window{To: until, Limit: count}, func() (err error) {
		candles, err = r.candles(ctx, pair, c.period, until, count)
		return err
	})
	if err != nil || len(interest) == 0 {
		return nil, err
	}
	oldest := c.period.StartMs(until.UnixMilli()) - int64(count-1)*c.step.Milliseconds()
	return market.LiquidationBuckets(candles, interest, oldest, until.UnixMilli(), c.step.Milliseconds()), nil
}

// candles are the newest K-lines of a pair, oldest first.
func (r *reader) candles(ctx context.Context, pair string, p market.Period, until time.Time, count int) ([]market.Candle, error) {
	if !isPerp(pair) {
		return r.lookup.Klines(ctx, pair, p, until, count)
	}
	coin, err := r.coinOf(ctx, pair)
	if err != nil || coin == "" {
		return nil, err
	}
	return pairklines.NewestOfPerp(ctx, r.series, coin, p, until, count)
}
