package exchange

import (
	"time"

	"quotary/shared/market"
)

// rowRoom bounds how many rows of a log one pair brings about within an interval of the clock. An
// exchange may say whatever it likes, as often as it likes: each row is paid for, and where too many
// of one partition are written everything that is written behind them waits.
type rowRoom struct {
	most int
	each market.Interval

	start int64          // of the interval that is counted, ms
	rows  map[string]int // in it, by pair
}

// take reports whether there is room for one more row of a pair, and counts it.
func (r *rowRoom) take(pair string, now time.Time) bool {
	if start := r.each.StartMs(now.UnixMilli()); start != r.start || r.rows == nil {
		r.start, r.rows = start, map[string]int{}
	}
	if r.rows[pair] >= r.most {
		return false
	}
	r.rows[pair]++
	return true
}
