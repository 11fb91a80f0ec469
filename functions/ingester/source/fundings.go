package source

import (
	"fmt"
	"slices"

	"quotary/shared/market"
	"quotary/shared/upstream"
)

const (
	hourMs = 3_600_000

	// LongestPeriod is how long a funding period is at most, ms. Most are.
	LongestPeriod = 8 * hourMs

	// FundingLookback is how long before a time the rates have to be read that were paid from
	// it on (ms), for [PaidFundings]: the period of the first, and what payments may be late.
	FundingLookback = LongestPeriod + 60_000
)

// PastFundings reads the rates that were paid of a pair from a time until before another (ms) and
// returns them oldest first, with their periods: see [PaidFundings]. It is for an exchange that
// answers the newest first, in pages of at most so many rows: ask returns those from a time until
// before another, or older ones too, and text what a row says of when and of how much.
func PastFundings[Row any](pair *market.Pair, from, to int64, most int, ask func(from, to int64) ([]Row, error), text func(*Row) (at, rate string)) (list []market.PairFunding, err error) {
	begin := from - FundingLookback
	for end := to; end > begin; {
		rows, err := ask(begin, end)
		if err != nil {
			return nil, fmt.Errorf("read funding of %s: %w", pair.Key, err)
		}
		for i := range rows {
			f := market.PairFunding{Pair: pair.Key, Paid: true}
			at, rate := text(&rows[i])
			err := Milliseconds(at, &f.Time)
			if err == nil && f.Time >= end {
				err = errNotNewestFirst
			}
			if err == nil {
				f.Rate, err = market.ParseDecimal(rate)
			}
			if err != nil {
				return nil, fmt.Errorf("read funding of %s: the row of %.20q: %w", pair.Key, at, err)
			}
			list, end = append(list, f), f.Time
		}
		if err := CheckPaid(len(list), begin, to); err != nil {
			return nil, fmt.Errorf("read funding of %s: %w", pair.Key, err)
		}
		if len(rows) < most {
			break
		}
	}
	slices.Reverse(list)
	return PaidFundings(list, from), nil
}

// CheckPaid returns an error for more rates than can have been paid from a time until before
// another, ms: one each hour, and as many special ones. Pages of an exchange that tells more of
// them need not end.
func CheckPaid(rates int, from, to int64) error {
	if most := 2 * (1 + (to-from)/hourMs); int64(rates) > most {
		return fmt.Errorf("%w: it has more than %d rates", upstream.ErrBounds, most)
	}
	return nil
}

// PaidFundings sets the periods of the rates that were paid of a pair, which are oldest first
// and begin [FundingLookback] before a time, ms, and returns those from that time on. Exchanges
// change the periods of pairs and say of the past only when a rate was paid: its period is as
// long as since the one before, in whole hours, and the longest where nothing was paid for
// longer. That of the first rate of a pair is as long as the next. Where two were paid less than
// half an hour apart it is not known how long the later one's was: 0.
func PaidFundings(list []market.PairFunding, from int64) []market.PairFunding {
	for i := range list {
		list[i].Period = LongestPeriod
		if i > 0 {
			list[i].Period = min((list[i].Time-list[i-1].Time+hourMs/2)/hourMs*hourMs, LongestPeriod)
		}
	}
	if len(list) > 1 {
		list[0].Period = list[1].Period
	}
	return slices.DeleteFunc(list, func(f market.PairFunding) bool { return f.Time < from })
}
