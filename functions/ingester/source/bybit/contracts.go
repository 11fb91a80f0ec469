package bybit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
)

const (
	hourMs      = 3_600_000
	fiveMinutes = 300_000

	fundingPage  = 200 // rows of an answer
	interestPage = 200
	ratioPage    = 500
)

var errRow = errors.New("it is outside of what was asked for, or comes twice")

// window is the query for what a pair had from a time until before another, ms.
func (m *Market) window(pair *market.Pair, from, to int64, limit int) url.Values {
	return url.Values{
		"category": {m.category}, "symbol": {pair.Symbol}, "limit": {strconv.Itoa(limit)},
		"startTime": {strconv.FormatInt(from, 10)}, "endTime": {strconv.FormatInt(to-1, 10)},
	}
}

// PastFundings returns the rates that were paid of a pair: see [source.PastFundings].
func (m *Market) PastFundings(ctx context.Context, pair market.Pair, from, to int64) ([]market.PairFunding, error) {
	if !m.Swap {
		return nil, nil
	}
	type row struct {
		Time string `json:"fundingRateTimestamp"`
		Rate string `json:"fundingRate"`
	}
	return source.PastFundings(&pair, from, to, fundingPage, func(begin, end int64) ([]row, error) {
		a, err := get[row](ctx, m.host, "/v5/market/funding/history", m.window(&pair, begin, end, fundingPage))
		return a.Result.List, err
	}, func(r *row) (at, rate string) { return r.Time, r.Rate })
}

// pastRow is what the exchange told of one time, as it wrote it.
type pastRow struct {
	openInterest
	Long string `json:"buyRatio"`
	Text string `json:"timestamp"`

	time int64 // ms
}

// past reads what a pair had every five minutes, in pages; each is taken oldest first.
func (m *Market) past(ctx context.Context, path, interval string, page int, pair *market.Pair, from, to int64, take func([]pastRow) error) error {
	if !m.Swap {
		return nil
	}
	from = (from + fiveMinutes - 1) / fiveMinutes * fiveMinutes
	for from < to {
		end := min(to, from+int64(page)*fiveMinutes)
		query := m.window(pair, from, end, page)
		query.Set(interval, "5min")
		a, err := get[pastRow](ctx, m.host, path, query)
		if err != nil {
			return err
		}
		rows := a.Result.List
		for i := range rows {
			if err = source.Milliseconds(rows[i].Text, &rows[i].time); err == nil && (rows[i].time < from || rows[i].time >= end) {
				err = errRow
			}
			if err != nil {
				return fmt.Errorf("the row of %.20q: %w", rows[i].Text, err)
			}
		}
		slices.SortFunc(rows, func(a, b pastRow) int { return cmp.Compare(a.time, b.time) })
		for i := 1; i < len(rows); i++ {
			if rows[i].time == rows[i-1].time {
				return fmt.Errorf("the row of %d: %w", rows[i].time, errRow)
			}
		}
		if err := take(rows); err != nil {
			return err
		}
		from = end
	}
	return nil
}

// PastInterests returns the open interest of a perpetual in steps of five minutes from a
// time until before another (ms), oldest first. The exchange tells what it was, and not
// what it was worth: that is at the mark price at which the five minutes opened.
func (m *Market) PastInterests(ctx context.Context, pair market.Pair, from, to int64) (list []market.PairInterest, err error) {
	err = m.past(ctx, "/v5/market/open-interest", "intervalTime", interestPage, &pair, from, to, func(rows []pastRow) error {
		if len(rows) == 0 {
			return nil
		}
		marks, err := m.marks(ctx, &pair, rows[0].time, rows[len(rows)-1].time)
		if err != nil {
			return err
		}
		for i := range rows {
			counted, err := rows[i].size()
			if err != nil {
				return fmt.Errorf("the row of %d: %w", rows[i].time, err)
			}
			if mark, ok := marks[rows[i].time]; ok {
				list = append(list, interest(&pair, rows[i].time, mark, counted))
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read open interest of %s: %w", pair.Key, err)
	}
	return list, nil
}

// marks are the mark prices of a pair at which five minutes opened, by when they did, from
// one opening to another (ms): no more than a page of open interest.
func (m *Market) marks(ctx context.Context, pair *market.Pair, first, last int64) (map[int64]market.Decimal, error) {
	a, err := get[[]string](ctx, m.host, "/v5/market/mark-price-kline", url.Values{
		"category": {m.category}, "symbol": {pair.Symbol}, "interval": {intervals[market.Minute5]}, "limit": {strconv.Itoa(interestPage)},
		"start": {strconv.FormatInt(first, 10)}, "end": {strconv.FormatInt(last, 10)},
	})
	if err != nil {
		return nil, err
	}
	marks := make(map[int64]market.Decimal, len(a.Result.List))
	for _, fields := range a.Result.List {
		if len(fields) < 2 { // open time, open
			return nil, fmt.Errorf("a mark price: %w", errRow)
		}
		var at int64
		var mark market.Decimal
		if err = errors.Join(source.Milliseconds(fields[0], &at), source.Decimals(source.Field{To: &mark, Name: "mark price", Text: fields[1]})); err != nil {
			return nil, fmt.Errorf("the mark price of %.20q: %w", fields[0], err)
		}
		if mark.IsPos() {
			marks[at] = mark
		}
	}
	return marks, nil
}

// PastRatios returns the share of accounts that are long likewise, and nil of the other kinds, of
// which the exchange tells nothing.
func (m *Market) PastRatios(ctx context.Context, kind market.RatioKind, pair market.Pair, from, to int64) (list []market.PairRatio, err error) {
	if kind != market.LongAccounts {
		return nil, nil
	}
	err = m.past(ctx, "/v5/market/account-ratio", "period", ratioPage, &pair, from, to, func(rows []pastRow) error {
		for i := range rows {
			one := market.PairRatio{Pair: pair.Key, Time: rows[i].time}
			if err := source.Decimals(source.Field{To: &one.Value, Name: "buyRatio", Text: rows[i].Long}); err != nil {
				return fmt.Errorf("the row of %d: %w", rows[i].time, err)
			}
			list = append(list, one)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read accounts of %s: %w", pair.Key, err)
	}
	return list, nil
}
