package market

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// PairTiers are the intervals in which the K-lines of pairs of centralised
// exchanges are stored, finest first. Each divides the next, and all of them divide
// a day that opens at 00:00 UTC. Every other [Period] is composed of one of them,
// see [Period.StoredAs].
var PairTiers = [...]Interval{Minute1, Minute5, Minute15, Hour1, Hour4, Day1}

// periods are the widths that clients ask for, in seconds. The last is a month.
var periods = [...]int64{60, 180, 300, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 3 * 86400, 7 * 86400, monthSeconds}

const monthSeconds = 30 * 86400

// firstOfThree is a day at which a K-line of three days opens on Binance, ms. Its
// documentation does not say; its answers did, as users report: 2017-08-17, the first
// day of BTCUSDT, and 2026-09-26, 2026-09-29 and 2026-10-02, each 1 modulo 3 in days
// since 1970.
const firstOfThree = 24 * hourMs

// DayOpen is when the days of a [Period] open.
type DayOpen int

// The openings of a day, Beijing time (UTC+8, without summer time).
const (
	OpenBeijing0 DayOpen = 0 // 00:00 Beijing time, 16:00 UTC of the day before
	OpenBeijing8 DayOpen = 8 // 08:00 Beijing time, 00:00 UTC
)

// Period is the width of the K-lines of a pair, with the opening of their days.
//
// Up to a day, buckets are counted from the opening of the first day of 1970. Those of
// three days open with every third day from the second one of 1970 on, as Binance's
// do; a week opens with its Monday. So an opening changes the buckets of six hours and
// of half a day to a week, and none of those that divide the eight hours between
// the two openings. A month is a calendar month in UTC, whichever the opening. The
// zero value is no period.
type Period struct {
	seconds int64
	opens   DayOpen
}

// NewPeriod returns the period of a width in seconds, where 2592000 is a calendar
// month. The error names the widths that there are.
func NewPeriod(seconds int64, opens DayOpen) (Period, error) {
	if !slices.Contains(periods[:], seconds) {
		names := make([]string, len(periods))
		for i, p := range periods {
			names[i] = strconv.FormatInt(p, 10)
		}
		return Period{}, fmt.Errorf("a period of %d seconds is unknown; accepted are %s", seconds, strings.Join(names, ", "))
	}
	return Period{seconds, opens}, nil
}

// StoredAs is the widest of [PairTiers] whose buckets make up one bucket of p.
func (p Period) StoredAs() Interval {
	if p.seconds == monthSeconds {
		return Day1
	}
	for _, tier := range slices.Backward(PairTiers[:]) {
		width := intervals[tier].width
		if 1000*p.seconds%width == 0 && p.origin()%width == 0 {
			return tier
		}
	}
	return Minute1
}

// Parts is the most buckets of [Period.StoredAs] that one bucket holds.
func (p Period) Parts() int {
	if p.seconds == monthSeconds {
		return 31
	}
	return int(1000 * p.seconds / intervals[p.StoredAs()].width)
}

// origin is the opening of one of the buckets, ms.
func (p Period) origin() int64 {
	origin := int64(0)
	switch p.seconds {
	case 3 * 86400:
		origin = firstOfThree
	case 7 * 86400:
		origin = firstMonday
	}
	if p.opens == OpenBeijing0 {
		origin -= 8 * hourMs
	}
	return origin
}

// StartMs is the opening of the bucket that holds a time, both in Unix ms.
func (p Period) StartMs(ms int64) int64 {
	if p.seconds == monthSeconds {
		return Month1.StartMs(ms)
	}
	width := 1000 * p.seconds
	rest := (ms - p.origin()) % width
	if rest < 0 {
		rest += width
	}
	return ms - rest
}

// Back is when the oldest of n periods opens at the latest, ms, of which the newest holds a
// time: sooner where some between them have no trade.
func (p Period) Back(t time.Time, n int) int64 {
	width := 1000 * p.seconds
	if p.seconds == monthSeconds {
		width = 28 * Day1.NextMs(0)
	}
	return p.StartMs(t.UnixMilli()) - int64(n-1)*width
}

// Next is the opening of the bucket after the one that holds t.
func (p Period) Next(t time.Time) time.Time {
	ms := t.UnixMilli()
	if p.seconds == monthSeconds {
		return time.UnixMilli(Month1.NextMs(ms)).UTC()
	}
	return time.UnixMilli(p.StartMs(ms) + 1000*p.seconds).UTC()
}
