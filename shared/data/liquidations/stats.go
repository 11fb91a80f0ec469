package liquidations

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Stats is the series of sums, by coin and of [All].
var Stats = pairseries.New("liquidationstats", pairseries.Parts[market.LiquidationStats]{
	Fields: statsFields, Parse: parseStats, Fit: fitStats,
	Merge: func(to, part *market.LiquidationStats) { to.Merge(part) },
	At:    func(s *market.LiquidationStats) *int64 { return &s.Time },
})

// statsFields are two counts, four sums, the digests of the addresses, and the coins.
func statsFields(s *market.LiquidationStats) []string {
	digests := make([]byte, 0, len(s.Addresses)*len(market.AddressDigest{}))
	for _, d := range s.Addresses {
		digests = append(digests, d[:]...)
	}
	fields := []string{
		strconv.FormatInt(s.Longs, 10), strconv.FormatInt(s.Shorts, 10),
		s.LongValue.String(), s.ShortValue.String(), s.LongPnl.String(), s.ShortPnl.String(),
		base64.RawStdEncoding.EncodeToString(digests),
	}
	return append(fields, s.Coins...)
}

const statsBeforeCoins = 7

var errStats = errors.New("is no sum of liquidations")

func parseStats(start int64, fields []string) (s market.LiquidationStats, err error) {
	if len(fields) < statsBeforeCoins {
		return s, errStats
	}
	s.Time = start
	for i, to := range [...]*int64{&s.Longs, &s.Shorts} {
		if *to, err = strconv.ParseInt(fields[i], 10, 64); err != nil || *to < 0 {
			return s, errStats
		}
	}
	for i, to := range [...]*market.Decimal{&s.LongValue, &s.ShortValue, &s.LongPnl, &s.ShortPnl} {
		if *to, err = market.ParseStored(fields[2+i]); err != nil {
			return s, err
		}
	}
	digests, err := base64.RawStdEncoding.Strict().DecodeString(fields[6])
	if err != nil {
		return s, err
	}
	var d market.AddressDigest
	for one := range slices.Chunk(digests, len(d)) {
		if copy(d[:], one) < len(d) {
			return s, errStats
		}
		s.Addresses = append(s.Addresses, d)
	}
	s.Coins = append([]string(nil), fields[statsBeforeCoins:]...)
	return s, nil
}

// fitStats leaves out of a row that is too large the addresses of the busiest parts and, where that is
// not enough, their coins: of these the venue names as many as it likes.
func fitStats(pack pairseries.Pack[market.LiquidationStats]) pairseries.Pack[market.LiquidationStats] {
	size := 0
	for _, s := range pack {
		size += sizeOfStats(&s)
	}
	if size <= MostBytes {
		return pack
	}
	fit := maps.Clone(pack)
	for _, of := range [...]struct {
		count func(*market.LiquidationStats) int
		leave func(*market.LiquidationStats)
	}{
		{func(s *market.LiquidationStats) int { return len(s.Addresses) }, func(s *market.LiquidationStats) { s.Addresses = nil }},
		{func(s *market.LiquidationStats) int { return len(s.Coins) }, func(s *market.LiquidationStats) { s.Coins = nil }},
	} {
		parts := slices.SortedFunc(maps.Values(fit), func(a, b market.LiquidationStats) int {
			return cmp.Or(cmp.Compare(of.count(&b), of.count(&a)), cmp.Compare(a.Time, b.Time))
		})
		for i := range parts {
			if size <= MostBytes {
				return fit
			}
			s := &parts[i]
			size -= sizeOfStats(s)
			of.leave(s)
			size += sizeOfStats(s)
			fit[s.Time] = *s
		}
	}
	return fit
}

// sizeOfStats is how many bytes a part takes in a row, at most.
func sizeOfStats(s *market.LiquidationStats) int {
	const start = 24 // of the bucket, with what stands between parts
	return start + len(dataset.JSON(statsFields(s)))
}

// hoursMost is how many hours a window may have.
const hoursMost = 61 * 24

// Window sums up the events of a coin, or of [All], from a time on. Its Time is that time.
func Window(ctx context.Context, series *store.Series, coin string, from time.Time) (market.LiquidationStats, error) {
	first, err := firstEvents(ctx, series, from)
	if err != nil {
		return market.LiquidationStats{}, err
	}
	return window(ctx, series, coin, from, first)
}

// firstEvents are those of the minute in which a window begins.
func firstEvents(ctx context.Context, series *store.Series, from time.Time) ([]market.LiquidationEvent, error) {
	return between(ctx, series, from, minuteFrom(from))
}

// minuteFrom is the first full minute of a window.
func minuteFrom(from time.Time) time.Time {
	return market.Minute1.Next(from.Add(-time.Millisecond))
}

func window(ctx context.Context, series *store.Series, coin string, from time.Time, first []market.LiquidationEvent) (market.LiquidationStats, error) {
	var sum market.LiquidationSum
	for i := range first {
		if e := &first[i]; coin == All || e.Coin == coin {
			sum.Add(e)
			if coin == All {
				sum.Coin(e.Coin)
			}
		}
	}
	minute := minuteFrom(from)
	hour := market.Hour1.Next(minute.Add(-time.Millisecond))
	var parts []market.LiquidationStats
	if minute.Before(hour) {
		minutes, err := Stats.Read(ctx, series, coin, time.Minute, pairseries.Window{From: minute, To: hour.Add(-time.Minute), Limit: 60})
		if err != nil {
			return market.LiquidationStats{}, err
		}
		parts = minutes
	}
	hours, err := Stats.Read(ctx, series, coin, time.Hour, pairseries.Window{From: hour, Limit: hoursMost})
	if err != nil {
		return market.LiquidationStats{}, err
	}
	for _, part := range append(parts, hours...) {
		sum.Merge(&part)
	}
	return sum.Stats(from.UnixMilli()), nil
}

// CoinStats is a sum of one coin.
type CoinStats struct {
	Coin string
	market.LiquidationStats
}

// coinReads is how many coins are read at a time.
const coinReads = 16

// ByCoin sums up the events from a time on of each coin that has one: the largest value first.
func ByCoin(ctx context.Context, series *store.Series, from time.Time) ([]CoinStats, error) {
	first, err := firstEvents(ctx, series, from)
	if err != nil {
		return nil, err
	}
	all, err := window(ctx, series, All, from, first)
	if err != nil {
		return nil, err
	}
	list := make([]CoinStats, len(all.Coins))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(coinReads)
	for i, coin := range all.Coins {
		group.Go(func() error {
			sum, err := window(ctx, series, coin, from, first)
			list[i] = CoinStats{coin, sum}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b CoinStats) int {
		return cmp.Or(b.LongValue.Add(b.ShortValue).Cmp(a.LongValue.Add(a.ShortValue)), strings.Compare(a.Coin, b.Coin))
	})
	return list, nil
}

// HistoryBack is how far back [History] reaches.
const HistoryBack = 366 * 24 * time.Hour

// History sums up the events of a coin, or of [All], by periods that open at multiples of a width
// from 1970 on, oldest first: of as many as limit, of which the last is the one that holds now,
// those since the first event that is known. A width is whole minutes, and above a day whole
// hours.
func History(ctx context.Context, series *store.Series, coin string, width time.Duration, now time.Time, limit int) ([]market.LiquidationStats, error) {
	ms := width.Milliseconds()
	last := now.UnixMilli() / ms * ms
	oldest := max(last-int64(limit-1)*ms, now.Add(-HistoryBack).UnixMilli()/ms*ms)
	since, known, err := Since(ctx, series)
	if err != nil || !known {
		return nil, err
	}
	if oldest = max(oldest, since.UnixMilli()/ms*ms); oldest > last {
		return nil, nil
	}
	count := int((last-oldest)/ms) + 1
	parts, err := read(ctx, series, coin, width, oldest, count)
	if err != nil {
		return nil, err
	}
	list := make([]market.LiquidationStats, count)
	for i := range list {
		list[i].Time = oldest + int64(i)*ms
	}
	for _, part := range parts {
		list[(part.Time-oldest)/ms] = part
	}
	return list, nil
}

// read reads the buckets of a width: those of hours are composed of hours, others of minutes.
func read(ctx context.Context, series *store.Series, coin string, width time.Duration, from int64, count int) ([]market.LiquidationStats, error) {
	part := time.Minute
	if width%time.Hour == 0 {
		part = time.Hour
	}
	end := from + int64(count)*width.Milliseconds()
	w := pairseries.Window{From: time.UnixMilli(from), To: time.UnixMilli(end).Add(-part), Limit: int(width/part) * count}
	parts, err := Stats.Read(ctx, series, coin, part, w)
	if err != nil {
		return nil, err
	}
	var list []market.LiquidationStats
	for len(parts) > 0 {
		at, n := parts[0].Time-(parts[0].Time-from)%width.Milliseconds(), 0
		var sum market.LiquidationSum
		for ; n < len(parts) && parts[n].Time < at+width.Milliseconds(); n++ {
			sum.Merge(&parts[n])
		}
		list, parts = append(list, sum.Stats(at)), parts[n:]
	}
	return list, nil
}

// Since is the hour of the first event that is known; false where none is.
func Since(ctx context.Context, series *store.Series) (hour time.Time, known bool, err error) {
	rows, err := series.Range(ctx, Stats.At(All, pairseries.Tiers[1], 0).SeriesKey, time.Time{}, time.Time{}, 1, false)
	if err != nil || len(rows) == 0 {
		return hour, false, err
	}
	pack, err := Stats.Decode(rows[0].Body)
	if err != nil {
		return hour, false, err
	}
	for start := range pack {
		if at := time.UnixMilli(start); hour.IsZero() || at.Before(hour) {
			hour = at
		}
	}
	return hour, !hour.IsZero(), nil
}
