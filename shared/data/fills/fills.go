// Package fills is the log of fills: one row for each account's side of
// each execution, which replaces a provisional one and never changes again, found by account, by account and coin, by order, by TWAP and by
// builder.
package fills

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"strconv"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the dataset. A row has the account's address as subject and the fill's own id
// as ID (see [market.Fill.AppendID]); the indexes are A "<address>/<coin>", B order id, C TWAP
// id, D builder; the body is the fill as the venue writes it. That of a provisional fill says so; the fill
// as the venue's hour has it replaces it.
const Name = "fills"

// provisional ends the body of a provisional fill.
const provisional = `,"provisional":true}`

var log = dataset.Log[market.Fill]{Name: Name, Row: row, Decode: Decode}

func row(f *market.Fill) store.Row {
	oid := strconv.FormatInt(f.Oid, 10)
	r := store.Row{
		Subject: f.Address,
		Time:    f.When(),
		ID:      string(f.AppendID(nil)),
		Seq:     f.Seq,
		Arrival: int64(f.Arrived.At),
		Again:   f.Arrived.Again,
		Index:   [4]string{ofCoin(f.Address, f.Coin), oid, "", f.Builder},
		Body:    f.AppendJSON(make([]byte, 0, 480)),
	}
	if f.Provisional {
		r.Index[1] = ""
		r.New, r.Again = r.Again, false // whatever is stored is no less
		r.Body = append(r.Body[:len(r.Body)-1], provisional...)
	}
	if f.TwapID != nil {
		r.Index[2] = strconv.FormatInt(*f.TwapID, 10)
	}
	return r
}

func ofCoin(address, coin string) string { return address + "/" + coin }

// AppendRows appends the row of each fill to rows. The fills have passed
// [market.Fill.Check].
func AppendRows(rows []store.Row, list []market.Fill) []store.Row {
	return log.AppendRows(rows, list)
}

// Missing counts how many of the fills are not in the log, strongly consistent.
func Missing(ctx context.Context, l *store.Log, list []market.Fill) (int, error) {
	return l.Missing(ctx, Name, AppendRows(make([]store.Row, 0, len(list)), list))
}

// Newest returns the fills of an account, newest first: of one coin, or of all
// for "", and at most limit of them, or all for 0.
func Newest(ctx context.Context, l *store.Log, address, coin string, limit int) iter.Seq2[market.Fill, error] {
	q := ofAccount(address, coin)
	q.Newest, q.Limit = true, limit
	return log.Read(ctx, l, q)
}

// Before is Newest of the fills up to a time, or all for the zero time, of which the caller
// probably takes expect.
func Before(ctx context.Context, l *store.Log, address, coin string, to time.Time, expect int) iter.Seq2[market.Fill, error] {
	q := ofAccount(address, coin)
	q.Newest, q.To, q.Expect = true, to, expect
	return log.Read(ctx, l, q)
}

// Since returns the fills of an account from a time on, newest first.
func Since(ctx context.Context, l *store.Log, address string, from time.Time) iter.Seq2[market.Fill, error] {
	return log.Read(ctx, l, dataset.Query{Subject: address, From: from, Newest: true, Expect: expectSince})
}

// From returns the fills of an account from a time on, in a coin or in all for "", oldest first.
func From(ctx context.Context, l *store.Log, address, coin string, from time.Time) iter.Seq2[market.Fill, error] {
	q := ofAccount(address, coin)
	q.From = from
	return log.Read(ctx, l, q)
}

// expectSince is how many fills an account probably has since a client left.
const expectSince = 100

// ofAccount selects the fills of an account in a coin, or in all for "".
func ofAccount(address, coin string) dataset.Query {
	if coin == "" {
		return dataset.Query{Subject: address}
	}
	return dataset.Query{Subject: ofCoin(address, coin), Index: store.A}
}

// Window returns the fills of an account between two times, both inclusive and
// open when zero, oldest first.
func Window(ctx context.Context, l *store.Log, address string, from, to time.Time) iter.Seq2[market.Fill, error] {
	return log.Read(ctx, l, dataset.Query{Subject: address, From: from, To: to})
}

// NewestOfCoin returns the confirmed fills of an account in a coin between two times, both
// inclusive and open when zero, newest first, at most limit of them.
func NewestOfCoin(ctx context.Context, l *store.Log, address, coin string, from, to time.Time, limit int) iter.Seq2[market.Fill, error] {
	return Confirmed(log.Read(ctx, l, dataset.Query{Subject: ofCoin(address, coin), Index: store.A, From: from, To: to, Newest: true, Expect: limit}), limit)
}

// ByOrder returns the fills of an order from a time on, or all for the zero time, in
// the order of execution.
func ByOrder(ctx context.Context, l *store.Log, oid int64, from time.Time) iter.Seq2[market.Fill, error] {
	return log.Read(ctx, l, dataset.Query{Subject: strconv.FormatInt(oid, 10), Index: store.B, From: from})
}

// ByTwap returns the fills of a TWAP order from a time on, or all for the zero time,
// in the order of execution.
func ByTwap(ctx context.Context, l *store.Log, twapID int64, from time.Time) iter.Seq2[market.Fill, error] {
	return log.Read(ctx, l, dataset.Query{Subject: strconv.FormatInt(twapID, 10), Index: store.C, From: from})
}

// ByBuilder returns the fills that a builder routed up to a time, or all for the zero
// time, newest first. The caller probably takes expect of them.
func ByBuilder(ctx context.Context, l *store.Log, builder string, to time.Time, expect int) iter.Seq2[market.Fill, error] {
	return log.Read(ctx, l, dataset.Query{Subject: builder, Index: store.D, To: to, Newest: true, Expect: expect})
}

// Confirmed are those of fills that are not provisional, at most limit of them.
func Confirmed(list iter.Seq2[market.Fill, error], limit int) iter.Seq2[market.Fill, error] {
	return func(yield func(market.Fill, error) bool) {
		n := 0
		for f, err := range list {
			if err == nil && f.Provisional {
				continue
			}
			if n++; !yield(f, err) || n == limit {
				return
			}
		}
	}
}

// IsProvisional reports whether a row is that of a provisional fill.
func IsProvisional(r store.Row) bool { return bytes.HasSuffix(r.Body, []byte(provisional)) }

// Arrivals says of each of the fills whether it is in the log, strongly consistent, and then with which
// place in the order of arrival, 0 for none.
func Arrivals(ctx context.Context, l *store.Log, list []market.Fill) ([]store.StoredArrival, error) {
	return l.Arrivals(ctx, Name, AppendRows(make([]store.Row, 0, len(list)), list))
}

// Unconfirmed are those of the fills that are not in the log, or provisional there, strongly consistent.
func Unconfirmed(ctx context.Context, l *store.Log, list []market.Fill) ([]market.Fill, error) {
	bodies, err := l.Bodies(ctx, Name, AppendRows(make([]store.Row, 0, len(list)), list))
	if err != nil {
		return nil, err
	}
	var left []market.Fill
	for i := range list {
		if bodies[i] == nil || IsProvisional(store.Row{Body: bodies[i]}) {
			left = append(left, list[i])
		}
	}
	return left, nil
}

// Decode reads a row. The fill passes [market.Fill.Check].
func Decode(r store.Row) (market.Fill, error) {
	f := market.Fill{Address: r.Subject, Seq: r.Seq, Arrived: market.Arrived{At: market.Arrival(r.Arrival)}, Provisional: IsProvisional(r)}
	if err := json.Unmarshal(r.Body, &f); err != nil {
		return market.Fill{}, err
	}
	return f, f.Check()
}
