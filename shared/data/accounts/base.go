package accounts

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// baseInterval is that of the rows that hold bases: their times are the numbers of their
// places.
const baseInterval = "base"

// Bases are the times of an account's bases, each in a place of its own, ms; 0 is none.
// Other rows that may be in a place are of no use.
type Bases [2]int64

// Base is an earlier state of an account, from which it can be folded again where its
// logs do not reach back to its beginning any more.
type Base struct {
	At    int64 // ms: it lacks nothing that happened before, but for what came late
	State *market.Account
	Stats []byte // its row of accountstats, as bytes
	Facts []byte // its open row of traderfacts; nil in bases of before there were any
}

// baseBody is the part of a base that people and other tools read.
type baseBody struct {
	At    int64 `json:"at"`
	Stats int   `json:"stats,omitempty"` // how many bytes these take; 0 where there is nothing behind them
}

// BaseAt is the key of the base in a place.
func BaseAt(address string, place int) store.SeriesAt {
	return store.SeriesAt{SeriesKey: store.SeriesKey{Name: Name, Key: address, Interval: baseInterval}, Time: time.UnixMilli(int64(place)).UTC()}
}

// BaseRow is the row of a base in a place.
func BaseRow(place int, b *Base) store.SeriesRow {
	at := BaseAt(b.State.Address, place)
	state := Append(nil, b.State)
	extra := slices.Concat(binary.AppendUvarint(nil, uint64(len(state))), state, b.Stats, b.Facts)
	body := baseBody{At: b.At}
	if b.Facts != nil {
		body.Stats = len(b.Stats)
	}
	return store.SeriesRow{SeriesKey: at.SeriesKey, Point: store.Point{Time: at.Time, Body: dataset.JSON(body), Extra: extra}}
}

// DecodeBase reads a base of the account with an address.
func DecodeBase(address string, p store.Point) (*Base, error) {
	b, err := dataset.FromJSON[baseBody](p.Body)
	if err != nil {
		return nil, fmt.Errorf("read a base of account %.42s: %w", address, err)
	}
	n, read := binary.Uvarint(p.Extra)
	if read <= 0 || n > uint64(len(p.Extra)-read) {
		return nil, fmt.Errorf("read a base of account %.42s: %w", address, errBytes)
	}
	rest := p.Extra[read:]
	state, err := Decode(address, store.Point{Extra: rest[:n]})
	base := &Base{At: b.At, State: state, Stats: rest[n:]}
	if b.Stats < 0 || b.Stats > len(base.Stats) {
		return nil, fmt.Errorf("read a base of account %.42s: %w", address, errBytes)
	}
	if b.Stats > 0 {
		base.Stats, base.Facts = base.Stats[:b.Stats], base.Stats[b.Stats:]
	}
	return base, err
}

// BasesOf are the bases of an account by its row.
func BasesOf(p store.Point) (Bases, error) {
	b, err := dataset.FromJSON[body](p.Body)
	if err != nil {
		return Bases{}, fmt.Errorf("read the bases of an account: %w", err)
	}
	return b.Bases, nil
}
