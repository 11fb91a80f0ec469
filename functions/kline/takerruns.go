package main

import (
	"context"
	"strconv"

	"quotary/shared/market"
	"quotary/shared/store"
)

// runsOf are the large runs of takers of a pair that began before the newest bucket ends, oldest
// first.
func (r *reader) runsOf(ctx context.Context, ask *indicatorAsk) (runs []market.TakerRun, err error) {
	v, err := store.OrZero(r.runs.Get(ctx))
	if err != nil {
		return nil, err
	}
	end := ask.period.Next(ask.until).UnixMilli()
	for _, run := range v.Runs(ask.pair.Key, market.RunFrom(ask.pair.Coin())) {
		if run.Start < end {
			runs = append(runs, run)
		}
	}
	return runs, nil
}

// takerCounts are rows of how many runs of buyers, and of sellers, began in a bucket. That of the
// oldest run may have had others, which are kept no more.
func (r *reader) takerCounts(ctx context.Context, ask *indicatorAsk) (rows [][]string, err error) {
	runs, err := r.runsOf(ctx, ask)
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	type counts struct{ bucket, bought, sold int64 }
	var list []counts
	oldest := ask.period.StartMs(runs[0].Start)
	for i := range runs {
		bucket := ask.period.StartMs(runs[i].Start)
		if bucket == oldest {
			continue
		}
		if n := len(list); n == 0 || list[n-1].bucket != bucket {
			list = append(list, counts{bucket: bucket})
		}
		if last := &list[len(list)-1]; runs[i].Side == market.Buy {
			last.bought++
		} else {
			last.sold++
		}
	}
	for _, c := range list[max(0, len(list)-ask.size):] {
		rows = append(rows, []string{seconds(c.bucket), strconv.FormatInt(c.bought, 10), strconv.FormatInt(c.sold, 10)})
	}
	return rows, nil
}

// takerRuns are rows of single runs.
func (r *reader) takerRuns(ctx context.Context, ask *indicatorAsk) (rows [][]string, err error) {
	runs, err := r.runsOf(ctx, ask)
	for _, run := range runs[max(0, len(runs)-ask.size):] {
		side := "buy"
		if run.Side == market.Sell {
			side = "sell"
		}
		rows = append(rows, []string{
			seconds(run.Start), ask.pair.Key, ask.pair.Coin(), side, run.StartPx.String(), run.FarPx.String(),
			run.Size.String(), run.Value.String(), strconv.FormatInt(run.Count, 10),
		})
	}
	return rows, err
}
