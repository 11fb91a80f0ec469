// Package accountstats is how each account trades: one row an account, in which the
// projection that folds them keeps [market.TraderStats], rewritten as the account goes
// on. What answers for many accounts at once reads nothing but these rows.
//
// A row is binary, since an answer may take 2,000 of them. It is bounded by
// what TraderStats keeps: a few hundred bytes of an account that trades now and then,
// some 25 KB of one that trades all the time in hundreds of coins. Ten flows take some
// 130 bytes of it, and 37 KB more the most that are kept, of an account whose funds move at
// every hour of 91 days.
package accountstats

import (
	"context"
	"fmt"
	"iter"
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

// Row is the row of an account.
func Row(address string, s *market.TraderStats) store.SeriesRow { return RowOf(address, s, "") }

// RowOf is the row of an account whose own row is of a version, a text of letters and
// digits. The two rows are written one after the other: where a crash came between,
// their versions differ, and neither is to be folded on. "" is of no version.
func RowOf(address string, s *market.TraderStats, version string) store.SeriesRow {
	at := At(address)
	return store.SeriesRow{SeriesKey: at.SeriesKey, Point: store.Point{Time: at.Time, Body: dataset.JSON(body{version}), Extra: Append(nil, s)}}
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

// Read returns what is known of accounts, in the order of the addresses, which may
// repeat; nil of an account that is not known. What it yields is overwritten by the
// next step. An error ends the sequence.
func Read(ctx context.Context, series *store.Series, addresses []string) iter.Seq2[*market.TraderStats, error] {
	return func(yield func(*market.TraderStats, error) bool) {
		keys := make([]store.SeriesAt, len(addresses))
		for i, address := range addresses {
			keys[i] = At(address)
		}
		points, err := series.Load(ctx, keys)
		if err != nil {
			yield(nil, err)
			return
		}
		var s market.TraderStats
		var d decoder
		for _, at := range keys {
			of := &s
			if p, known := points[at]; !known {
				of = nil
			} else if err := d.decode(p.Extra, &s); err != nil {
				yield(nil, fmt.Errorf("read %s: %w", at.SeriesKey, err))
				return
			}
			if !yield(of, nil) {
				return
			}
		}
	}
}
