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
	Time     int64  `json:"time"`
	Since    int64  `json:"since"`
	Anchored int64  `json:"anchored,omitempty"`
	Bases    Bases  `json:"bases,omitzero"`
	Ahead    []byte `json:"ahead,omitempty"` // of [Append], see [Known]
}

// At is the key of an account's row; the address is 0x and 40 lower-case hex digits.
func At(address string) store.SeriesAt {
	return store.SeriesAt{SeriesKey: store.SeriesKey{Name: Name, Key: address, Interval: interval}, Time: time.UnixMilli(0).UTC()}
}

// Row is the row of an account without bases.
func Row(a *market.Account) store.SeriesRow { return RowOf(a, nil, Bases{}) }

// RowOf is the row of an account with bases, and with what the venue has said behind its events; nil for nothing. More of
// that than [MostBytes] is left out.
func RowOf(a, ahead *market.Account, bases Bases) store.SeriesRow {
	at := At(a.Address)
	var said []byte
	if ahead != nil {
		if said = Append(nil, ahead); len(said) > MostBytes {
			said = nil
		}
	}
	return store.SeriesRow{SeriesKey: at.SeriesKey, Point: store.Point{
		Time: at.Time, Body: dataset.JSON(body{a.Time, a.Since, a.Anchored, bases, said}), Extra: Append(nil, a),
	}}
}

// Load reads accounts by their addresses, as their events have made them; those that are not known are not in the
// result. It asks for 100 rows a request.
func Load(ctx context.Context, series *store.Series, addresses ...string) (map[string]*market.Account, error) {
	return load(ctx, series, addresses, Decode)
}

func load[T any](ctx context.Context, series *store.Series, addresses []string, decode func(address string, p store.Point) (T, error)) (map[string]T, error) {
	keys := make([]store.SeriesAt, len(addresses))
	for i, address := range addresses {
		keys[i] = At(address)
	}
	points, err := series.Load(ctx, keys)
	if err != nil {
		return nil, err
	}
	accounts := make(map[string]T, len(points))
	for at, p := range points {
		if accounts[at.Key], err = decode(at.Key, p); err != nil {
			return nil, err
		}
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
