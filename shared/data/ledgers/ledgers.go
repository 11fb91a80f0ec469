// Package ledgers is the log of ledger updates: one immutable row for each deposit,
// withdrawal and transfer of an account, found by account, and apart from the others what
// came from outside the venue or left it.
package ledgers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the dataset. A row has the account's address as subject and
// "<hash>#<digest of the delta>" as ID, since one transaction may update a ledger
// more than once and the venue's own updates share one hash; index A is the address, of
// deposits and withdrawals of USDC.
const Name = "ledgers"

// stored is the body of a row.
type stored struct {
	Hash  string          `json:"hash"`
	Type  string          `json:"type"`
	Funds string          `json:"funds,omitempty"`
	USDC  string          `json:"usdc,omitempty"`
	Fee   string          `json:"fee,omitempty"`
	Value string          `json:"value,omitempty"`
	Delta json.RawMessage `json:"delta"`
}

var log = dataset.Log[market.Ledger]{Name: Name, Row: row, Decode: Decode}

func row(l *market.Ledger) store.Row {
	digest := sha256.Sum256(l.Delta)
	r := store.Row{
		Subject: l.Address,
		Time:    time.UnixMilli(l.Time).UTC(),
		Arrival: int64(l.Arrived.At),
		Again:   l.Arrived.Again,
		Seq:     l.Seq,
		ID:      l.Hash + "#" + hex.EncodeToString(digest[:8]),
		Body:    dataset.JSON(stored{l.Hash, l.Type, l.Funds, l.USDC, l.Fee, l.Value, l.Delta}),
	}
	if l.USDC != "" {
		r.Index[0] = l.Address
	}
	return r
}

// AppendRows appends the row of each update to rows.
func AppendRows(rows []store.Row, list []market.Ledger) []store.Row {
	return log.AppendRows(rows, list)
}

// Newest returns the updates of an account from a time on, or all for the zero time,
// newest first, at most limit of them.
func Newest(ctx context.Context, l *store.Log, address string, from time.Time, limit int) iter.Seq2[market.Ledger, error] {
	return log.Read(ctx, l, dataset.Query{Subject: address, From: from, Newest: true, Limit: limit})
}

// Window returns the updates of an account between two times, both inclusive and open when
// zero, oldest first. The caller takes limit of them at most.
func Window(ctx context.Context, l *store.Log, address string, from, to time.Time, limit int) iter.Seq2[market.Ledger, error] {
	return log.Read(ctx, l, dataset.Query{Subject: address, From: from, To: to, Limit: limit})
}

// NewestFunds returns the deposits and withdrawals of USDC of an account between two times, both
// inclusive and open when zero, newest first. The caller probably takes expect of them.
func NewestFunds(ctx context.Context, l *store.Log, address string, from, to time.Time, expect int) iter.Seq2[market.Ledger, error] {
	return log.Read(ctx, l, dataset.Query{Subject: address, Index: store.A, From: from, To: to, Newest: true, Expect: expect})
}

// Arrivals says of each of the updates whether it is in the log, strongly consistent, and then with which
// place in the order of arrival, 0 for none.
func Arrivals(ctx context.Context, l *store.Log, list []market.Ledger) ([]store.StoredArrival, error) {
	return l.Arrivals(ctx, Name, AppendRows(make([]store.Row, 0, len(list)), list))
}

var errBody = errors.New("a stored ledger update has no type or an amount that is no decimal")

// Decode reads a row.
func Decode(r store.Row) (market.Ledger, error) {
	s, err := dataset.FromJSON[stored](r.Body)
	if err != nil {
		return market.Ledger{}, err
	}
	for _, amount := range [...]string{s.USDC, s.Fee, s.Value} {
		if amount != "" {
			if _, err := market.ParseDecimal(amount); err != nil {
				return market.Ledger{}, errBody
			}
		}
	}
	if s.Type == "" {
		return market.Ledger{}, errBody
	}
	l := market.Ledger{Address: r.Subject, Time: r.Time.UnixMilli(), Hash: s.Hash, Seq: r.Seq, Type: s.Type, Funds: s.Funds, USDC: s.USDC, Fee: s.Fee, Value: s.Value, Delta: s.Delta, Arrived: market.Arrived{At: market.Arrival(r.Arrival)}}
	switch {
	case l.Funds != "":
	case l.Type == market.LedgerDeposit, l.Type == market.LedgerWithdraw: // as was written while these were the only ones
		l.Funds = l.Type
	default:
		l.Route()
	}
	return l, nil
}
