package pairseries_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// table is a recorded file: its rows by time, ms, each by the names of its columns.
func table(t *testing.T, path string) map[int64]map[string]string {
	t.Helper()
	lines := testenv.Recording(t, path)
	lines.Scan()
	names := strings.Split(lines.Text(), ",")
	rows := map[int64]map[string]string{}
	for lines.Scan() {
		row := map[string]string{}
		for i, field := range strings.Split(lines.Text(), ",") {
			row[names[i]] = field
		}
		ms := must.Get(strconv.ParseInt(row["time"], 10, 64))(t)
		rows[ms] = row
	}
	return rows
}

func number(t *testing.T, text string) market.Decimal {
	t.Helper()
	return must.Get(market.ParseDecimal(text))(t)
}

const (
	halfHour = 30 * time.Minute
	hourMs   = int64(time.Hour / time.Millisecond)
	halfMs   = hourMs / 2
)

// The recorded half hours of a price, a funding rate and open interest, taken as points,
// are read as they are, and as the hours that were recorded of the same source. In one hour
// of each its two recordings do not agree with each other.
func TestRecordedHalfHoursComposeTheRecordedHours(t *testing.T) {
	t.Parallel()
	halves, hours := table(t, "exchanges/btc_futures_30m.csv"), table(t, "exchanges/btc_futures_1h.csv")
	series := open(t)
	for name, differ := range map[string]int{"price": 1, "funding": 1, "oi": 2} {
		bar := func(row map[string]string, ms int64) market.Bar {
			return market.Bar{Time: ms, Open: number(t, row[name+"_open"]), High: number(t, row[name+"_high"]), Low: number(t, row[name+"_low"]), Close: number(t, row[name+"_close"])}
		}
		for _, tier := range pairseries.Tiers {
			parts := map[int64]market.Bar{}
			for ms, row := range halves {
				b := bar(row, ms)
				// It opens and closes its half hour, and was highest and lowest in it.
				for after, value := range map[int64]market.Decimal{1: b.Open, 600_000: b.High, 1_200_000: b.Low, halfMs - 1: b.Close} {
					start := tier.Part.StartMs(ms + after)
					part := parts[start]
					part.Time = start
					part.Add(ms+after, value)
					parts[start] = part
				}
			}
			list := make([]market.Bar, 0, len(parts))
			for _, part := range parts {
				list = append(list, part)
			}
			must.Do(t, pairseries.Interest.Put(t.Context(), series, name, tier, list...))
		}
		same := func(width time.Duration, recorded map[int64]map[string]string) (differ int) {
			bars := must.Get(pairseries.Interest.Read(t.Context(), series, name, width, pairseries.Window{Limit: 1000}))(t)
			compared := 0
			for _, got := range bars {
				row, ok := recorded[got.Time]
				if _, whole := halves[got.Time+width.Milliseconds()-halfMs]; !ok || !whole || halves[got.Time] == nil {
					continue
				}
				compared++
				got.First, got.Last = 0, 0
				if diff := cmp.Diff(bar(row, got.Time), got, equalDecimals); diff != "" {
					t.Logf("%s of %s (-recorded +read):\n%s", name, width, diff)
					differ++
				}
			}
			if compared < 284 {
				t.Errorf("%d of %s were compared", compared, width)
			}
			return differ
		}
		if n := same(halfHour, halves); n != 0 {
			t.Errorf("%s: %d half hours differ", name, n)
		}
		if n := same(time.Hour, hours); n != differ {
			t.Errorf("%s: %d hours differ, want %d", name, n, differ)
		}
	}
}

// What was liquidated in recorded half hours is read as it is, and hour by hour as the sum
// of the two. The hours of the same source are no sums of its half hours, so they are not
// what is compared with.
func TestRecordedLiquidationsOfHalfHoursAddUpToHours(t *testing.T) {
	t.Parallel()
	series := open(t)
	for path, columns := range map[string][2]string{
		"exchanges/btc_liquidations_30m.csv": {"long_usd", "short_usd"},
		"exchanges/btc_futures_30m.csv":      {"liquidation_long_usd", "liquidation_short_usd"},
	} {
		want := map[time.Duration]map[int64]market.Liquidated{halfHour: {}, time.Hour: {}}
		minutes := []market.Liquidated{}
		for ms, row := range table(t, path) {
			long, short := number(t, row[columns[0]]), number(t, row[columns[1]])
			for width, sums := range want {
				start := ms / width.Milliseconds() * width.Milliseconds()
				sum := sums[start]
				sum.Time, sum.Long, sum.Short = start, sum.Long.Add(long), sum.Short.Add(short)
				sums[start] = sum
			}
			// Longs in its first minute, shorts in its last one.
			minutes = append(minutes, market.Liquidated{Time: ms, Long: long, Count: 1}, market.Liquidated{Time: ms + halfMs - 60_000, Short: short, Count: 1})
		}
		merged := map[int64]market.Liquidated{}
		for i := range minutes {
			start := minutes[i].Time / hourMs * hourMs
			hour := merged[start]
			hour.Time = start
			hour.Merge(&minutes[i])
			merged[start] = hour
		}
		hours := slices.Collect(maps.Values(merged))
		for tier, parts := range map[pairseries.Tier][]market.Liquidated{pairseries.Tiers[0]: minutes, pairseries.Tiers[1]: hours} {
			must.Do(t, pairseries.Liquidations.Put(t.Context(), series, path, tier, parts...))
		}
		for width, sums := range want {
			if got := liquidated(t, series, path, width); !cmp.Equal(sums, got, equalDecimals) {
				t.Errorf("%s of %s (-want +got):\n%.2000s", path, width, cmp.Diff(sums, got, equalDecimals))
			}
		}
	}
}

// liquidated reads all of a key, without what the recordings do not tell.
func liquidated(t *testing.T, series *store.Series, key string, width time.Duration) map[int64]market.Liquidated {
	t.Helper()
	buckets := must.Get(pairseries.Liquidations.Read(t.Context(), series, key, width, pairseries.Window{Limit: 10_000}))(t)
	sums := map[int64]market.Liquidated{}
	for _, b := range buckets {
		b.Count = 0
		sums[b.Time] = b
	}
	return sums
}
