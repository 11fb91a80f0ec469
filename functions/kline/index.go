package main

import (
	"context"
	"strings"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/indices"
	"quotary/shared/market"
	"quotary/shared/store"
)

// daySeconds is the shortest period of an index.
const daySeconds catalog.KlinePeriod = 86400

// index returns K-lines of an index, of a share or of an exchange rate, which are known by the
// day: oldest first; none of a key that nobody knows.
func (r *reader) index(ctx context.Context, in catalog.CommonKlinesIn) (catalog.CommonKlineList, error) {
	list := catalog.CommonKlineList{KlineData: []catalog.KlineRow{}}
	seconds := daySeconds
	if in.Period != nil {
		seconds = *in.Period
	}
	if seconds < daySeconds {
		return list, api.BadParameter("period is invalid: indexes and exchange rates have K-lines of a day and more, 86400, 259200, 604800 and 2592000")
	}
	period, until, err := periodOf(ctx, seconds, in.OpenTime, in.Since)
	if err != nil {
		return list, err
	}
	key := string(in.Symbol)
	lines, err := r.indexLines(ctx, key, period, until, int(in.Size))
	if lower := strings.ToLower(key); err == nil && len(lines) == 0 && lower != key { // what a user typed
		lines, err = r.indexLines(ctx, lower, period, until, int(in.Size))
	}
	if err != nil {
		return list, err
	}
	for i := range lines {
		k := &lines[i]
		list.KlineData = append(list.KlineData, rowOf(k.Start, &k.Open, &k.High, &k.Low, &k.Close, k.Volume))
	}
	return list, nil
}

// indexLines are the newest K-lines that open at or before a time.
func (r *reader) indexLines(ctx context.Context, key string, period market.Period, until time.Time, limit int) ([]market.DayKline, error) {
	newest := func(days []market.DayQuote) ([]market.DayKline, error) {
		lines, err := market.DayKlines(days, period)
		for len(lines) > 0 && lines[len(lines)-1].Start > until.UnixMilli() {
			lines = lines[:len(lines)-1]
		}
		return lines[max(0, len(lines)-limit):], err
	}
	if strings.HasPrefix(key, catalog.RateKeys) {
		v, err := store.OrZero(r.rates.Get(ctx))
		if err != nil {
			return nil, err
		}
		quotes, _ := v.Quotes(key)
		return newest(quotes)
	}
	// Twice as many days as there would be without weekends and holidays are enough of most
	// indexes. Of others all days are read.
	recent := time.UnixMilli(period.Back(until, 2*limit))
	for _, from := range []time.Time{recent, {}} {
		days, err := indices.Read(ctx, r.series, key, from, period.Next(until))
		if err != nil {
			return nil, err
		}
		if lines, err := newest(days.Quotes(key)); err != nil || len(lines) == limit || from.IsZero() {
			return lines, err
		}
	}
	return nil, nil
}
