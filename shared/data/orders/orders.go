// Package orders is the log of what became of orders: one immutable row for each
// status that an order came to, found by account, by account and coin, by order
// id and by client order id.
//
// The statuses of orders that were filled and all others are two datasets, of
// which a deployment may keep the first alone; [Statuses] and [Latest] read them
// as one.
package orders

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/text/jsontext"
)

// Names of the datasets: the statuses of orders that were filled, and every other
// status. A row has the account's address as subject and "<oid>#<status>" as ID,
// so that statuses may come in any order and again; the indexes are A
// "<address>/<coin>", B order id, C "<address>/<client order id>"; the body is
// the venue's {"order","status","statusTimestamp"}, with hash, builder and builderFee.
const (
	FilledName = "filledorders"
	OtherName  = "orders"
)

var (
	filled = dataset.Log[market.OrderStatus]{Name: FilledName, Row: row, Decode: Decode}
	other  = dataset.Log[market.OrderStatus]{Name: OtherName, Row: row, Decode: Decode}
)

func row(s *market.OrderStatus) store.Row {
	oid := strconv.FormatInt(s.Oid, 10)
	r := store.Row{
		Subject: s.Address,
		Time:    s.When(),
		ID:      oid + "#" + s.Status,
		Seq:     s.Seq,
		Arrival: int64(s.Arrived.At),
		Again:   s.Arrived.Again,
		Index:   [4]string{ofPart(s.Address, s.Coin), oid},
		Body:    appendBody(make([]byte, 0, 640), s),
	}
	if s.Cloid != "" {
		r.Index[2] = ofPart(s.Address, s.Cloid)
	}
	return r
}

// appendBody appends the body of a row: what the venue writes, and where they are known the
// transaction and the builder, which it writes beside.
func appendBody(b []byte, s *market.OrderStatus) []byte {
	b = s.AppendJSON(b)
	if s.Hash == "" && s.Builder == "" {
		return b
	}
	b = jsontext.AppendString(append(b[:len(b)-1], `,"hash":`...), s.Hash)
	b = jsontext.AppendString(append(b, `,"builder":`...), s.Builder)
	return append(strconv.AppendInt(append(b, `,"builderFee":`...), s.BuilderFee, 10), '}')
}

func ofPart(address, part string) string { return address + "/" + part }

// AppendRows appends the rows of those statuses that belong to a dataset,
// [FilledName] or [OtherName]. The statuses have passed
// [market.OrderStatus.Check].
func AppendRows(rows []store.Row, list []market.OrderStatus, name string) []store.Row {
	for i := range list {
		if (list[i].Status == market.StatusFilled) == (name == FilledName) {
			rows = append(rows, row(&list[i]))
		}
	}
	return rows
}

// Selection names orders: see [OfAccount], [OfOrder] and [OfClientID].
type Selection struct {
	subject string
	index   store.Index
}

// OfAccount names the orders of an account in one coin, or in all for "".
func OfAccount(address, coin string) Selection {
	if coin == "" {
		return Selection{subject: address}
	}
	return Selection{subject: ofPart(address, coin), index: store.A}
}

// OfOrder names one order by the venue's id.
func OfOrder(oid int64) Selection {
	return Selection{subject: strconv.FormatInt(oid, 10), index: store.B}
}

// OfClientID names the orders to which an account gave a client order id.
func OfClientID(address, cloid string) Selection {
	return Selection{subject: ofPart(address, cloid), index: store.C}
}

func (of Selection) query(limit, expect int) dataset.Query {
	return dataset.Query{Subject: of.subject, Index: of.index, Newest: true, Limit: limit, Expect: expect}
}

// perOrder is how many statuses are looked through for each order that is asked
// for, and leastStatuses for all together; most orders come to two statuses, one
// that waits for a price to three.
const (
	perOrder      = 8
	leastStatuses = 1000
)

// Statuses returns what the orders came to, newest first, at most limit of them.
// An error ends the sequence.
func Statuses(ctx context.Context, log *store.Log, of Selection, limit int) iter.Seq2[market.OrderStatus, error] {
	return statuses(ctx, log, of.query(limit, 0))
}

// Before returns what the orders came to up to a time, or all for the zero time, newest first.
// The caller probably takes expect of them.
func Before(ctx context.Context, log *store.Log, of Selection, to time.Time, expect int) iter.Seq2[market.OrderStatus, error] {
	q := of.query(0, expect)
	q.To = to
	return statuses(ctx, log, q)
}

// FilledBefore is Before of those that were filled alone.
func FilledBefore(ctx context.Context, log *store.Log, of Selection, to time.Time, expect int) iter.Seq2[market.OrderStatus, error] {
	q := of.query(0, expect)
	q.To = to
	return filled.Read(ctx, log, q)
}

// FilledSince returns the orders of an account that were filled from a time on, newest first.
func FilledSince(ctx context.Context, log *store.Log, address string, from time.Time) iter.Seq2[market.OrderStatus, error] {
	return filled.Read(ctx, log, dataset.Query{Subject: address, From: from, Newest: true, Expect: expectSince})
}

// From returns what the orders of an account came to from a time on, in a coin or in all for "",
// oldest first, of the datasets named.
func From(ctx context.Context, log *store.Log, names []string, address, coin string, from time.Time) iter.Seq2[market.OrderStatus, error] {
	q := OfAccount(address, coin).query(0, 0)
	q.From, q.Newest = from, false
	if len(names) == 1 && names[0] == FilledName {
		return filled.Read(ctx, log, q)
	}
	return statuses(ctx, log, q)
}

// expectSince is how many orders of an account were probably filled since a client left.
const expectSince = 100

// statuses merges the statuses of both datasets, in the order that is asked for.
func statuses(ctx context.Context, log *store.Log, q dataset.Query) iter.Seq2[market.OrderStatus, error] {
	return func(yield func(market.OrderStatus, error) bool) {
		a, stop := next(filled.Read(ctx, log, q))
		defer stop()
		b, stop := next(other.Read(ctx, log, q))
		defer stop()
		for n := 0; (a.ok || b.ok) && (n < q.Limit || q.Limit == 0); n++ {
			if err := cmp.Or(a.err, b.err); err != nil {
				yield(market.OrderStatus{}, err)
				return
			}
			from := a
			if !a.ok || b.ok && newer(&b.status, &a.status) == q.Newest {
				from = b
			}
			if !yield(from.status, nil) {
				return
			}
			from.advance()
		}
	}
}

// head is the next status of a sequence; ok is false after the last.
type head struct {
	status market.OrderStatus
	err    error
	ok     bool
	pull   func() (market.OrderStatus, error, bool)
}

func next(list iter.Seq2[market.OrderStatus, error]) (h *head, stop func()) {
	pull, stop := iter.Pull2(list)
	h = &head{pull: pull}
	h.advance()
	return h, stop
}

func (h *head) advance() { h.status, h.err, h.ok = h.pull() }

func newer(a, b *market.OrderStatus) bool {
	return a.Time > b.Time || a.Time == b.Time && a.Seq > b.Seq
}

// Latest returns each order with its newest status, the newest order first, at
// most limit of them. Sz of an open order is what rests of it now.
func Latest(ctx context.Context, log *store.Log, of Selection, limit int) ([]market.OrderStatus, error) {
	list, err := latest(statuses(ctx, log, of.query(LookThrough(limit), limit)), limit)
	if err != nil {
		return nil, err
	}
	return list, Resting(ctx, log, list)
}

// Current leaves out of a list of orders, each with its newest status up to a time, those that
// have come to something else since. An order that has ended comes to nothing more.
func Current(ctx context.Context, log *store.Log, list []market.OrderStatus) ([]market.OrderStatus, error) {
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(readsAtOnce)
	changed := make([]bool, len(list))
	for i := range list {
		s := &list[i]
		if s.Status != market.StatusOpen && s.Status != market.StatusTriggered {
			continue
		}
		reads.Go(func() error {
			for now, err := range statuses(ctx, log, OfOrder(s.Oid).query(1, 1)) {
				if err != nil {
					return err
				}
				changed[i] = newer(&now, s)
			}
			return nil
		})
	}
	if err := reads.Wait(); err != nil {
		return nil, err
	}
	kept := list[:0]
	for i := range list {
		if !changed[i] {
			kept = append(kept, list[i])
		}
	}
	return kept, nil
}

// Filled returns the orders that were filled, newest first, at most limit of them.
func Filled(ctx context.Context, log *store.Log, of Selection, limit int) ([]market.OrderStatus, error) {
	return latest(filled.Read(ctx, log, of.query(LookThrough(limit), limit)), limit)
}

// LookThrough is how many statuses are looked through at most for so many orders.
func LookThrough(limit int) int { return max(leastStatuses, perOrder*limit) }

// latest takes the first status of each order.
func latest(list iter.Seq2[market.OrderStatus, error], limit int) ([]market.OrderStatus, error) {
	var orders []market.OrderStatus
	seen := make(map[int64]bool)
	for status, err := range list {
		if err != nil {
			return nil, err
		}
		if seen[status.Oid] {
			continue
		}
		seen[status.Oid] = true
		if orders = append(orders, status); len(orders) == limit {
			break
		}
	}
	return orders, nil
}

// Decode reads a row. The status passes [market.OrderStatus.Check].
func Decode(r store.Row) (market.OrderStatus, error) {
	var body struct {
		Order  market.OrderStatus `json:"order"`
		Status string             `json:"status"`
		Time   int64              `json:"statusTimestamp"`

		Hash       string `json:"hash"`
		Builder    string `json:"builder"`
		BuilderFee int64  `json:"builderFee"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return market.OrderStatus{}, err
	}
	s := body.Order
	s.Address, s.Time, s.Status, s.Seq = r.Subject, body.Time, body.Status, r.Seq
	s.Hash, s.Builder, s.BuilderFee = body.Hash, body.Builder, body.BuilderFee
	s.Arrived.At = market.Arrival(r.Arrival)
	return s, s.Check()
}
