// Package pairseries is what is kept over time of perpetuals of centralised exchanges, and
// of their coins: series of [market.Bar] and of [market.Liquidated]. Of the pairs of the
// perpetual exchange it has open interest, what was liquidated and, of funding, what was
// expected.
//
//	pairfunding       by pair: the funding rate that the exchange expected and, in the last
//	                  millisecond of a period, what it paid for it
//	coinfunding       by coin: the rates of all followed perpetuals, weighted by volume: those
//	                  that were expected and, in the last millisecond of a period, those paid
//	pairinterest      by pair: open interest, US dollars
//	coininterest      by coin, [Stable] or [CoinMargined]: the sum over followed perpetuals
//	pairratios        by pair: the share of accounts that are long
//	pairtopaccounts, pairtoppositions
//	                  by pair: the share of the top traders' accounts, and positions, that are long
//	pairloans         by perpetual: what is lent of quote coins in margin trading of its coin, for
//	                  one that is lent of the coin
//	pairliquidations  by pair: what was liquidated
//
// # Rows
//
// A row is a pack of parts: a quarter of an hour holds its minutes, a day its hours. So a
// pair costs two writes a minute, and every width from a minute to a day is composed of few
// rows: below an hour of the quarters, from there of the days. Parts without a value are
// left out, and so are rows without parts.
//
// What was liquidated is a sum, which must not take an order twice: the orders themselves
// are rows of a minute ([Orders]), from which the sums of that minute follow.
package pairseries

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/text/jsonscan"
)

// The series of bars.
var (
	Funding      = bars("pairfunding")
	CoinFunding  = bars("coinfunding")
	Interest     = bars("pairinterest")
	CoinInterest = bars("coininterest")
	Ratios       = bars("pairratios")
	TopAccounts  = bars("pairtopaccounts")
	TopPositions = bars("pairtoppositions")
	Loans        = bars("pairloans")
)

// OfRatio is the series of a kind of ratios.
func OfRatio(kind market.RatioKind) Series[market.Bar] {
	return [...]Series[market.Bar]{market.LongAccounts: Ratios, market.LongTopAccounts: TopAccounts, market.LongTopPositions: TopPositions, market.MarginLoans: Loans}[kind]
}

// Liquidations is the series of sums.
var Liquidations = Series[market.Liquidated]{
	series: packs("pairliquidations", codec[market.Liquidated]{
		append: func(l *market.Liquidated) []string {
			return []string{l.Long.String(), l.Short.String(), strconv.FormatInt(l.Count, 10), l.Largest.String()}
		},
		parse: parseLiquidated,
	}),
	merge: func(to, part *market.Liquidated) { to.Merge(part) },
	at:    func(l *market.Liquidated) *int64 { return &l.Time },
}

// Parts is how a series of another package has its parts.
type Parts[T any] struct {
	Fields func(*T) []string                             // as they are stored
	Parse  func(start int64, fields []string) (T, error) // reads them
	Merge  func(to, part *T)                             // adds a part to one before it
	At     func(*T) *int64                               // the start of its bucket, ms
	Fit    func(Pack[T]) Pack[T]                         // leaves out what a row has no room for, and changes no part
}

// New is a series of another package, of the same rows.
func New[T any](name string, p Parts[T]) Series[T] {
	s := Series[T]{series: packs(name, codec[T]{p.Fields, p.Parse}), merge: p.Merge, at: p.At}
	write := s.series.Append
	s.series.Append = func(b []byte, pack *Pack[T]) []byte {
		fit := p.Fit(*pack)
		return write(b, &fit)
	}
	return s
}

func bars(name string) Series[market.Bar] {
	return Series[market.Bar]{
		series: packs(name, codec[market.Bar]{append: barFields, parse: parseBar}),
		merge:  func(to, part *market.Bar) { to.Merge(part) },
		at:     func(b *market.Bar) *int64 { return &b.Time },
	}
}

// Stable and CoinMargined are the keys of a coin's open interest in perpetuals that are
// margined in a stable coin, and in the coin itself.
func Stable(coin string) string { return coin + ":stable" }

// CoinMargined is the key of a coin's open interest in inverse perpetuals.
func CoinMargined(coin string) string { return coin + ":coin" }

// Series is one of the series, of parts that are a T.
type Series[T any] struct {
	series dataset.Series[Pack[T]]
	merge  func(to, part *T)
	at     func(*T) *int64 // the start of its bucket
}

// Pack is the parts of a row by their starts, ms.
type Pack[T any] map[int64]T

// Tier is a width of rows with that of their parts.
type Tier struct{ Row, Part market.Interval }

// Tiers are those of every series, finest first.
var Tiers = [...]Tier{{market.Minute15, market.Minute1}, {market.Day1, market.Hour1}}

// Name is that of the series.
func (s Series[T]) Name() string { return s.series.Name }

// At is the key of the row of a tier that holds a time, ms.
func (s Series[T]) At(key string, t Tier, ms int64) store.SeriesAt {
	return s.series.At(key, t.Row, t.Row.StartMs(ms))
}

// Row is the row of a pack.
func (s Series[T]) Row(at store.SeriesAt, pack Pack[T]) store.SeriesRow {
	return store.SeriesRow{SeriesKey: at.SeriesKey, Point: store.Point{Time: at.Time, Body: s.series.Append(nil, &pack)}}
}

// Decode reads the body of a row.
func (s Series[T]) Decode(body []byte) (Pack[T], error) { return s.series.Decode(body) }

// Put writes parts of a width as the ingester does: those of minutes or of hours. It
// replaces whole rows.
func (s Series[T]) Put(ctx context.Context, series *store.Series, key string, t Tier, parts ...T) error {
	rows := map[store.SeriesAt]Pack[T]{}
	for i := range parts {
		at := s.At(key, t, *s.at(&parts[i]))
		if rows[at] == nil {
			rows[at] = Pack[T]{}
		}
		rows[at][*s.at(&parts[i])] = parts[i]
	}
	var list []store.SeriesRow
	for at, pack := range rows {
		list = append(list, s.Row(at, pack))
	}
	return series.Put(ctx, list)
}

// Window selects buckets that open from a time until another, both inclusive and open where
// they are zero: of more than Limit, above 0, the newest or, with Oldest, the oldest.
type Window struct {
	From, To time.Time
	Limit    int
	Oldest   bool
}

// Read returns the buckets of a width, a multiple of a minute that divides an hour or of
// an hour that divides a day, which a window selects: oldest first. They open at multiples
// of the width from 1970 on. Those without a value are left out.
func (s Series[T]) Read(ctx context.Context, series *store.Series, key string, width time.Duration, w Window) ([]T, error) {
	tier := Tiers[0]
	if width >= time.Hour {
		tier = Tiers[1]
	}
	rowMs, ms := tier.Row.NextMs(0), width.Milliseconds()
	// As many rows as Limit buckets have where no part is missing, and then more while they do.
	page := int((int64(w.Limit)*ms+rowMs-1)/rowMs) + 1
	var buckets []T
	from, to := startOf(tier, w.From), time.Time{}
	if !w.To.IsZero() {
		to = time.UnixMilli(w.To.UnixMilli()/ms*ms + ms)
	}
	for {
		rows, err := s.series.Read(ctx, series, key, tier.Row, dataset.Range{From: from, To: to, Limit: page, Newest: !w.Oldest})
		if err != nil {
			return nil, err
		}
		read := s.compose(rows, tier, ms, w)
		if w.Oldest {
			buckets = s.join(buckets, read)
		} else {
			buckets = s.join(read, buckets)
		}
		// One more than Limit, as the last one may lie in two rows.
		if len(rows) < page || len(buckets) > w.Limit {
			break
		}
		if w.Oldest {
			from = time.UnixMilli(tier.Row.NextMs(rows[len(rows)-1].Start.UnixMilli()))
		} else {
			to = rows[0].Start
		}
	}
	if extra := len(buckets) - w.Limit; extra > 0 {
		if w.Oldest {
			return buckets[:w.Limit], nil
		}
		return buckets[extra:], nil
	}
	return buckets, nil
}

// Newest returns the buckets of a period of K-lines that open at or before until: the newest, at
// most limit, oldest first. Those without a value are left out.
func (s Series[T]) Newest(ctx context.Context, series *store.Series, key string, p market.Period, until time.Time, limit int) ([]T, error) {
	to := p.Next(until)
	part, width := time.Hour, to.UnixMilli()-p.StartMs(until.UnixMilli())
	if width < part.Milliseconds() {
		part = time.Minute
	}
	w := Window{To: to.Add(-part), Limit: limit * max(1, int(width/part.Milliseconds()))}
	parts, err := s.Read(ctx, series, key, part, w)
	if err != nil {
		return nil, err
	}
	var buckets []T
	for i := range parts {
		open := p.StartMs(*s.at(&parts[i]))
		if n := len(buckets); n > 0 && *s.at(&buckets[n-1]) == open {
			s.merge(&buckets[n-1], &parts[i])
			continue
		}
		*s.at(&parts[i]) = open
		buckets = append(buckets, parts[i])
	}
	// Where parts are missing there are more buckets, of which the oldest may be cut: it falls out.
	return buckets[max(0, len(buckets)-limit):], nil
}

// startOf is the start of the row that holds a time, zero for the zero time.
func startOf(t Tier, at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return t.Row.Start(at)
}

// compose makes buckets of a width (ms) of the parts of rows, oldest first.
func (s Series[T]) compose(rows []dataset.Bucket[Pack[T]], tier Tier, width int64, w Window) (buckets []T) {
	for _, row := range rows {
		start := row.Start.UnixMilli()
		for at := start; at < tier.Row.NextMs(start); at = tier.Part.NextMs(at) {
			part, ok := row.Value[at]
			open := at / width * width
			if !ok || !w.From.IsZero() && open < w.From.UnixMilli() || !w.To.IsZero() && open > w.To.UnixMilli() {
				continue
			}
			if n := len(buckets); n == 0 || *s.at(&buckets[n-1]) != open {
				var bucket T
				*s.at(&bucket) = open
				buckets = append(buckets, bucket)
			}
			s.merge(&buckets[len(buckets)-1], &part)
		}
	}
	return buckets
}

// join puts later buckets behind earlier ones: the last and the first may be parts of one.
func (s Series[T]) join(earlier, later []T) []T {
	if n := len(earlier); n > 0 && len(later) > 0 && *s.at(&earlier[n-1]) == *s.at(&later[0]) {
		s.merge(&earlier[n-1], &later[0])
		later = later[1:]
	}
	return append(earlier, later...)
}

// codec writes a part as texts.
type codec[T any] struct {
	append func(*T) []string
	parse  func(start int64, fields []string) (T, error)
}

// packs is the series of packs: their bodies are objects of the fields of each part by
// its start, ms.
func packs[T any](name string, c codec[T]) dataset.Series[Pack[T]] {
	return dataset.Series[Pack[T]]{
		Name: name,
		Append: func(b []byte, pack *Pack[T]) []byte {
			stored := make(map[string][]string, len(*pack))
			for start, part := range *pack {
				stored[strconv.FormatInt(start, 10)] = c.append(&part)
			}
			return dataset.AppendJSON(b, &stored)
		},
		Decode: func(body []byte) (Pack[T], error) { return decodePack(body, c) },
	}
}

// decodePack reads the body of a row. It is read by a scanner, as a page of a trend or a map has
// thousands of parts.
func decodePack[T any](body []byte, c codec[T]) (Pack[T], error) {
	pack := Pack[T]{}
	var failed error
	scan := jsonscan.New(string(body))
	fields := make([]string, 0, 8)
	ok := scan.Object(func(text string) bool {
		start, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			failed = fmt.Errorf("start of a part: %w", err)
			return false
		}
		fields = fields[:0]
		if !scan.Array(func() bool {
			field, ok := scan.Text()
			fields = append(fields, field)
			return ok
		}) {
			return false
		}
		if pack[start], err = c.parse(start, fields); err != nil {
			failed = fmt.Errorf("part from %d: %w", start, err)
		}
		return err == nil
	})
	switch {
	case failed != nil:
		return nil, failed
	case !ok || !scan.End():
		return nil, fmt.Errorf("%w: its body is no object of lists of texts", errPart)
	}
	return pack, nil
}

// barFields are the values of a bar, and how far its first and last points are behind its
// start, ms.
func barFields(b *market.Bar) []string {
	return []string{
		b.Open.String(), b.High.String(), b.Low.String(), b.Close.String(),
		strconv.FormatInt(b.First-b.Time, 10), strconv.FormatInt(b.Last-b.Time, 10),
	}
}

var errPart = errors.New("is no part of a series")

func parseBar(start int64, fields []string) (market.Bar, error) {
	b := market.Bar{Time: start}
	if len(fields) != 6 {
		return b, errPart
	}
	for i, to := range [...]*market.Decimal{&b.Open, &b.High, &b.Low, &b.Close} {
		var err error
		if *to, err = market.ParseStored(fields[i]); err != nil {
			return b, err
		}
	}
	first, err1 := strconv.ParseInt(fields[4], 10, 64)
	last, err2 := strconv.ParseInt(fields[5], 10, 64)
	b.First, b.Last = start+first, start+last
	if err := errors.Join(err1, err2); err != nil {
		return b, err
	}
	if b.Empty() || b.Last < b.First || b.Low.Cmp(b.High) > 0 {
		return b, errPart
	}
	return b, nil
}

func parseLiquidated(start int64, fields []string) (market.Liquidated, error) {
	l := market.Liquidated{Time: start}
	if len(fields) != 4 {
		return l, errPart
	}
	var err error
	if l.Count, err = strconv.ParseInt(fields[2], 10, 64); err != nil || l.Count < 1 {
		return l, errors.Join(err, errPart)
	}
	for i, to := range map[int]*market.Decimal{0: &l.Long, 1: &l.Short, 3: &l.Largest} {
		if *to, err = market.ParseStored(fields[i]); err != nil {
			return l, err
		}
		if to.IsNeg() {
			return l, errPart
		}
	}
	return l, nil
}
