// Package accountstats is how each account trades, and what it was worth: one row an
// account, in which the projection that folds them keeps [market.TraderStats], rewritten as
// the account goes on, and one of its past, in which the older points of its curve are,
// rewritten once a day. What answers for many accounts at once reads nothing but these rows.
//
// A row is binary, since an answer may take 2,000 of them. It is bounded by
// what TraderStats keeps: a few hundred bytes of an account that trades now and then,
// some 20 KB of one that trades all the time in hundreds of coins. Ten flows take some
// 130 bytes of it, and 37 KB more the most that are kept, of an account whose funds move at
// every hour of 91 days.
package accountstats

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"strconv"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the series. The key is the account's address; there is one row, whose time is
// that of the epoch.
const Name = "accountstats"

// interval stands where other series have the width of their buckets: all of time is one.
const interval = "all"

// At is the key of an account's row.
func At(address string) store.SeriesAt {
	return store.SeriesAt{SeriesKey: store.SeriesKey{Name: Name, Key: address, Interval: interval}, Time: time.UnixMilli(0).UTC()}
}

// MostBytes is how many bytes [Append] makes of an account at most, for it to be stored: a busy one in a thousand
// coins has a fifth.
const MostBytes = 380 << 10

// Row is the row of an account.
func Row(address string, s *market.TraderStats) store.SeriesRow { return RowOf(address, s, "") }

// RowOf is the row of an account whose own row is of a version, a text of letters and
// digits. The two rows are written one after the other: where a crash came between,
// their versions differ, and neither is to be folded on. "" is of no version.
func RowOf(address string, s *market.TraderStats, version string) store.SeriesRow {
	at := At(address)
	return store.SeriesRow{SeriesKey: at.SeriesKey, Point: store.Point{Time: at.Time, Body: dataset.JSON(body{version}), Extra: Append(nil, s)}}
}

// VersionOf is the version of what is stored of an account: of what its own row holds, and of what it did
// lately.
func VersionOf(rows ...[]byte) string {
	h := fnv.New64a()
	for _, row := range rows {
		_, _ = h.Write(row) // never fails
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// Version is that of the account's own row with which a row was written.
func Version(p store.Point) string {
	b, err := dataset.FromJSON[body](p.Body)
	if err != nil {
		return ""
	}
	return b.Account
}

// body is the part of a row that people and other tools read.
type body struct {
	Account string `json:"account,omitempty"` // version of its own row
}

// pastInterval stands where other series have the width of their buckets.
const pastInterval = "past"

// PastAt is the key of the row of an account's past.
func PastAt(address string) store.SeriesAt {
	at := At(address)
	at.Interval = pastInterval
	return at
}

// PastRow is the row of an account's past.
func PastRow(address string, p *Past) store.SeriesRow {
	at := PastAt(address)
	return store.SeriesRow{SeriesKey: at.SeriesKey, Point: store.Point{Time: at.Time, Body: dataset.JSON(body{}), Extra: AppendPast(nil, p)}}
}

// Read returns what is known of accounts but for the older points of their curves, in the
// order of the addresses, which may repeat; nil of an account that is not known. What it
// yields is overwritten by the next step. An error ends the sequence.
func Read(ctx context.Context, series *store.Series, addresses []string) iter.Seq2[*market.TraderStats, error] {
	return func(yield func(*market.TraderStats, error) bool) {
		for one, err := range ReadWhole(ctx, series, addresses, false) {
			if !yield(one.TraderStats, err) {
				return
			}
		}
	}
}

// WithCurve is how an account trades, and all of its curve.
type WithCurve struct {
	*market.TraderStats                   // nil where the account is not known
	Venue               market.VenueCurve // what the venue says of before
	Version             string            // with which the row was written, see [VersionOf]

	Broken error // why its rows cannot be read, of [ReadAll]; then nothing else is known
}

// ReadCurves returns what is known of accounts, as [Read] does, with all points of their
// curves. It reads two rows of each.
func ReadCurves(ctx context.Context, series *store.Series, addresses []string) iter.Seq2[WithCurve, error] {
	return ReadWhole(ctx, series, addresses, true)
}

// ReadWhole is [ReadCurves] where whole says so, else [Read].
func ReadWhole(ctx context.Context, series *store.Series, addresses []string, whole bool) iter.Seq2[WithCurve, error] {
	return func(yield func(WithCurve, error) bool) {
		for one, err := range read(ctx, series, addresses, whole) {
			if err = cmp.Or(err, one.Broken); !yield(one, err) || err != nil {
				return
			}
		}
	}
}

// ReadAll is [ReadCurves] for who goes on with the other accounts where the rows of one cannot be read.
func ReadAll(ctx context.Context, series *store.Series, addresses []string) iter.Seq2[WithCurve, error] {
	return read(ctx, series, addresses, true)
}

func read(ctx context.Context, series *store.Series, addresses []string, whole bool) iter.Seq2[WithCurve, error] {
	return func(yield func(WithCurve, error) bool) {
		keys := make([]store.SeriesAt, 0, 2*len(addresses))
		for _, address := range addresses {
			keys = append(keys, At(address))
			if whole {
				keys = append(keys, PastAt(address))
			}
		}
		points, err := series.Load(ctx, keys)
		if err != nil {
			yield(WithCurve{}, err)
			return
		}
		var s market.TraderStats
		var d decoder
		for _, address := range addresses {
			of := WithCurve{TraderStats: &s}
			if p, known := points[At(address)]; !known {
				of.TraderStats = nil
			} else if err := d.decode(p.Extra, &s); err != nil {
				of = WithCurve{Broken: fmt.Errorf("read %s: %w", At(address).SeriesKey, err)}
			} else if whole {
				of.Version = Version(p)
			}
			if p, known := points[PastAt(address)]; known && of.TraderStats != nil {
				if of.Venue, err = d.past(p.Extra, &s); err != nil {
					of = WithCurve{Broken: fmt.Errorf("read %s: %w", PastAt(address).SeriesKey, err)}
				}
			}
			if !yield(of, nil) {
				return
			}
		}
	}
}
