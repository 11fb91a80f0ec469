package source

import (
	"slices"

	"quotary/shared/market"
)

const (
	hourMs = 3_600_000

	// LongestPeriod is how long a funding period is at most, ms. Most are.
	LongestPeriod = 8 * hourMs

	// FundingLookback is how long before a time the rates have to be read that were paid from
	// it on (ms), for [PaidFundings]: the period of the first, and what payments may be late.
	FundingLookback = LongestPeriod + 60_000
)

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
