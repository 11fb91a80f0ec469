// Package accounts keeps the state of every account: a series in which an account has
// one row, found by its address and rewritten whole. Beside it may be earlier states of
// the account, see [Base].
//
// The figures are in the binary part of the row, since an account that trades often is
// written often, and DynamoDB charges by the kilobyte; its body says in JSON from when
// they are.
package accounts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the series.
const Name = "accounts"

// MostBytes is how many bytes [Append] makes of an account at most, for it to be stored: those of
// 2,000 coins, or of 800 open positions. A base has more beside them, and the store takes 400 KB.
const MostBytes = 128 << 10

// interval stands where other series have the width of their buckets: all of time is one.
const interval = "all"

// body is the part of a row that people and other tools read.
type body struct {
	Time     int64 `json:"time"`
	Since    int64 `json:"since"`
	Anchored int64 `json:"anchored,omitempty"`
	Bases    Bases `json:"bases,omitzero"`
}

// At is the key of an account's row; the address is 0x and 40 lower-case hex digits.
func At(address string) store.SeriesAt {
	return store.SeriesAt{SeriesKey: store.SeriesKey{Name: Name, Key: address, Interval: interval}, Time: time.UnixMilli(0).UTC()}
}

// Row is the row of an account without bases.
func Row(a *market.Account) store.SeriesRow { return RowOf(a, Bases{}) }

// RowOf is the row of an account with bases.
func RowOf(a *market.Account, bases Bases) store.SeriesRow {
	at := At(a.Address)
	return store.SeriesRow{SeriesKey: at.SeriesKey, Point: store.Point{
		Time: at.Time, Body: dataset.JSON(body{a.Time, a.Since, a.Anchored, bases}), Extra: Append(nil, a),
	}}
}

// Load reads accounts by their addresses; those that are not known are not in the
// result. It asks for 100 rows a request.
func Load(ctx context.Context, series *store.Series, addresses ...string) (map[string]*market.Account, error) {
	keys := make([]store.SeriesAt, len(addresses))
	for i, address := range addresses {
		keys[i] = At(address)
	}
	points, err := series.Load(ctx, keys)
	if err != nil {
		return nil, err
	}
	accounts := make(map[string]*market.Account, len(points))
	for at, p := range points {
		a, err := Decode(at.Key, p)
		if err != nil {
			return nil, err
		}
		accounts[at.Key] = a
	}
	return accounts, nil
}

// Decode reads the row of the account with an address.
func Decode(address string, p store.Point) (*market.Account, error) {
	a, err := decode(p.Extra)
	if err != nil {
		return nil, fmt.Errorf("read the row of account %.42s: %w", address, err)
	}
	a.Address = address
	for i := range a.Holdings {
		if h := &a.Holdings[i]; market.IsSpot(h.Coin) {
			h.Open = nil // as was written while outcomes counted as perpetuals
		}
	}
	return a, nil
}

var errBytes = errors.New("its bytes are no account")
