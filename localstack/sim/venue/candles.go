package venue

import "time"

// candle is one bucket of trades; V is base volume in size units, Q quote units.
type candle struct {
	T             int64 // open time, ms
	O, H, L, C, V int64
	Q, N          int64
}

// addTrade adds a trade to the newest bucket of a fixed length, or opens one.
func addTrade(list []candle, t tradeRec, length int64, depth int) []candle {
	at := t.Time / length * length
	if n := len(list); n > 0 && list[n-1].T == at {
		list[n-1].merge(candle{T: at, O: t.Px, H: t.Px, L: t.Px, C: t.Px, V: t.Sz, Q: t.Px * t.Sz, N: 1})
		return list
	}
	return push(list, candle{T: at, O: t.Px, H: t.Px, L: t.Px, C: t.Px, V: t.Sz, Q: t.Px * t.Sz, N: 1}, depth)
}

// merge adds a later candle to c.
func (c *candle) merge(d candle) {
	c.H, c.L, c.C = max(c.H, d.H), min(c.L, d.L), d.C
	c.V += d.V
	c.Q += d.Q
	c.N += d.N
}

// intervals are the candle intervals of the venue.
var intervals = map[string]time.Duration{
	"1m": time.Minute, "3m": 3 * time.Minute, "5m": 5 * time.Minute, "15m": 15 * time.Minute, "30m": 30 * time.Minute,
	"1h": time.Hour, "2h": 2 * time.Hour, "4h": 4 * time.Hour, "8h": 8 * time.Hour, "12h": 12 * time.Hour,
	"1d": 24 * time.Hour, "3d": 72 * time.Hour, "1w": 168 * time.Hour, "1M": 720 * time.Hour,
}

// bucketOf returns the open and close time (ms) of the candle that holds ms.
// A week opens on Monday, a month on its first day, all in UTC.
func bucketOf(interval string, ms int64) (open, end int64) {
	if interval == "1M" {
		t := time.UnixMilli(ms).UTC()
		first := time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
		return first.UnixMilli(), first.AddDate(0, 1, 0).UnixMilli() - 1
	}
	length := intervals[interval].Milliseconds()
	shift := int64(0)
	if interval == "1w" {
		shift = 4 * 86_400_000 // 1970-01-01 was a Thursday
	}
	open = ms - ((ms-shift)%length+length)%length
	return open, open + length - 1
}

// candles aggregates a market's trades to an interval, between two times (ms,
// by open time; the candle under way at from is included).
func (s *marketState) candles(interval string, from, to int64) []candle {
	src, depth := s.Minutes, depthMinutes
	if intervals[interval] >= time.Hour {
		src, depth = s.Hours, depthHours
	}
	var out []candle
	first, _ := bucketOf(interval, from)
	for _, c := range last(src, depth) {
		if c.T < first || c.T > to {
			continue
		}
		at, _ := bucketOf(interval, c.T)
		if n := len(out); n > 0 && out[n-1].T == at {
			out[n-1].merge(c)
			continue
		}
		c.T = at
		out = append(out, c)
	}
	return out
}

// flat adds candles without a trade behind the first one, up to a time (ms).
func flat(traded []candle, interval string, to int64) (all []candle) {
	for i, c := range traded {
		all = append(all, c)
		next := to + 1
		if i+1 < len(traded) {
			next = traded[i+1].T
		}
		for _, end := bucketOf(interval, c.T); end+1 < next; _, end = bucketOf(interval, end+1) {
			all = append(all, candle{T: end + 1, O: c.C, H: c.C, L: c.C, C: c.C})
		}
	}
	return all
}

// day sums the last 24 hours: base and quote volume, and the price 24 hours
// ago (the oldest price known when there is none).
func (e *engine) day(c int) (base, quote, prev int64) {
	s := &e.Mk[c]
	since := e.ms() - 86_400_000
	prev = e.mk[c].Start
	for i := len(s.Minutes) - 1; i >= 0; i-- {
		m := s.Minutes[i]
		if m.T < since {
			return base, quote, m.C
		}
		base += m.V
		quote += m.Q
		prev = m.O
	}
	return base, quote, prev
}
