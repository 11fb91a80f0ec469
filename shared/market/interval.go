package market

import (
	"fmt"
	"strings"
	"time"
)

// Interval is the width of a time bucket. Buckets are aligned to the Unix
// epoch, except that a week opens on Monday 00:00 UTC and a month is a
// calendar month in UTC. The zero value is no interval.
type Interval uint8

// The intervals of the kline endpoints and of candleSnapshot.
const (
	Second1 Interval = iota + 1
	Second3
	Second5
	Second10
	Second15
	Second30
	Minute1
	Minute3
	Minute5
	Minute10
	Minute15
	Minute30
	Hour1
	Hour2
	Hour4
	Hour8
	Hour12
	Day1
	Day3
	Week1
	Month1
)

// intervals has name, width in ms and the stored tier it is composed of.
// A month has no fixed width.
var intervals = [...]struct {
	name   string
	width  int64
	stored Interval
}{
	Second1:  {"1s", 1_000, Second1},
	Second3:  {"3s", 3_000, Second1},
	Second5:  {"5s", 5_000, Second5},
	Second10: {"10s", 10_000, Second5},
	Second15: {"15s", 15_000, Second15},
	Second30: {"30s", 30_000, Second15},
	Minute1:  {"1m", 60_000, Minute1},
	Minute3:  {"3m", 180_000, Minute1},
	Minute5:  {"5m", 300_000, Minute5},
	Minute10: {"10m", 600_000, Minute5},
	Minute15: {"15m", 900_000, Minute15},
	Minute30: {"30m", 1_800_000, Minute15},
	Hour1:    {"1h", hourMs, Hour1},
	Hour2:    {"2h", 2 * hourMs, Hour1},
	Hour4:    {"4h", 4 * hourMs, Hour4},
	Hour8:    {"8h", 8 * hourMs, Hour4},
	Hour12:   {"12h", 12 * hourMs, Hour4},
	Day1:     {"1d", dayMs, Day1},
	Day3:     {"3d", 3 * dayMs, Day1},
	Week1:    {"1w", 7 * dayMs, Week1},
	Month1:   {"1M", 0, Day1},
}

const (
	hourMs = 3_600_000
	dayMs  = 24 * hourMs
	// firstMonday is 1970-01-05, the first Monday after the epoch, in ms.
	firstMonday = 4 * dayMs
)

// KlineTiers are the intervals in which klines are stored, finest first. Each
// divides the next; every other interval is composed of one of them, see
// [Interval.StoredAs].
var KlineTiers = [...]Interval{Second1, Second5, Second15, Minute1, Minute5, Minute15, Hour1, Hour4, Day1, Week1}

// TopTiers are the intervals in which the largest fills are stored, finest
// first; each divides the next.
var TopTiers = [...]Interval{Second1, Minute1, Hour1, Day1}

// SampleTiers are the intervals in which samples of a state are stored, finest
// first; each divides the next. A bucket has the first sample taken in it.
var SampleTiers = [...]Interval{Minute1, Minute5, Minute15, Hour1, Hour4}

// ParseInterval reads a name such as "15m". Case matters: 1m is a minute, 1M a
// month.
func ParseInterval(s string) (Interval, error) {
	for i := Second1; i <= Month1; i++ {
		if intervals[i].name == s {
			return i, nil
		}
	}
	names := make([]string, 0, len(intervals))
	for i := Second1; i <= Month1; i++ {
		names = append(names, intervals[i].name)
	}
	return 0, fmt.Errorf("interval %.20q is unknown; accepted are %s", s, strings.Join(names, ", "))
}

// String is the name on the wire.
func (i Interval) String() string {
	if i < Second1 || i > Month1 {
		return fmt.Sprintf("Interval(%d)", uint8(i))
	}
	return intervals[i].name
}

// StoredAs is the stored tier whose buckets make up one bucket of i.
func (i Interval) StoredAs() Interval { return intervals[i].stored }

// Start is the opening of the bucket that holds t.
func (i Interval) Start(t time.Time) time.Time {
	return time.UnixMilli(i.StartMs(t.UnixMilli())).UTC()
}

// Next is the opening of the bucket after the one that holds t.
func (i Interval) Next(t time.Time) time.Time {
	return time.UnixMilli(i.NextMs(t.UnixMilli())).UTC()
}

// StartMs is Start on Unix milliseconds.
func (i Interval) StartMs(ms int64) int64 {
	if i == Month1 {
		y, m, _ := time.UnixMilli(ms).UTC().Date()
		return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	}
	origin := int64(0)
	if i == Week1 {
		origin = firstMonday
	}
	width := intervals[i].width
	rest := (ms - origin) % width
	if rest < 0 {
		rest += width
	}
	return ms - rest
}

// NextMs is Next on Unix milliseconds.
func (i Interval) NextMs(ms int64) int64 {
	if i == Month1 {
		y, m, _ := time.UnixMilli(ms).UTC().Date()
		return time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	}
	return i.StartMs(ms) + intervals[i].width
}
