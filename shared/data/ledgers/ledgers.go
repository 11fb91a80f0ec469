// Package ledgers is the log of ledger updates: one immutable row for each deposit,
// withdrawal and transfer of an account, found by account and by account and type.
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
// more than once and the venue's own updates share one hash; index A is
// "<address>/<type>".
const Name = "ledgers"

// stored is the body of a row.
type stored struct {
	Hash  string          `json:"hash"`
	Type  string          `json:"type"`
	USDC  string          `json:"usdc,omitempty"`
	Fee   string          `json:"fee,omitempty"`
	Delta json.RawMessage `json:"delta"`
}

var log = dataset.Log[market.Ledger]{Name: Name, Row: row, Decode: Decode}

func row(l *market.Ledger) store.Row {
	digest := sha256.Sum256(l.Delta)
	return store.Row{
		Subject: l.Address,
		Time:    time.UnixMilli(l.Time).UTC(),
		ID:      l.Hash + "#" + hex.EncodeToString(digest[:8]),
		Index:   [4]string{ofType(l.Address, l.Type)},
		Body:    dataset.JSON(stored{l.Hash, l.Type, l.USDC, l.Fee, l.Delta}),
	}
}

func ofType(address, kind string) string { return address + "/" + kind }

// AppendRows appends the row of each update to rows.
func AppendRows(rows []store.Row, list []market.Ledger) []store.Row {
	return log.AppendRows(rows, list)
}

// Put writes updates. It may be repeated.
func Put(ctx context.Context, l *store.Log, list ...market.Ledger) error {
	return log.Put(ctx, l, list)
}

// Newest returns the updates of an account between two times, both inclusive and
// open when zero, newest first: of one type, or of all for "", and at most limit of
// them, or all for 0.
func Newest(ctx context.Context, l *store.Log, address, kind string, from, to time.Time, limit int) iter.Seq2[market.Ledger, error] {
	q := dataset.Query{Subject: address, From: from, To: to, Newest: true, Limit: limit}
	if kind != "" {
		q.Subject, q.Index = ofType(address, kind), store.A
	}
	return log.Read(ctx, l, q)
}

var errBody = errors.New("a stored ledger update has no type or an amount that is no decimal")

// Decode reads a row.
func Decode(r store.Row) (market.Ledger, error) {
	s, err := dataset.FromJSON[stored](r.Body)
	if err != nil {
		return market.Ledger{}, err
	}
	for _, amount := range [...]string{s.USDC, s.Fee} {
		if amount != "" {
			if _, err := market.ParseDecimal(amount); err != nil {
				return market.Ledger{}, errBody
			}
		}
	}
	if s.Type == "" {
		return market.Ledger{}, errBody
	}
	return market.Ledger{Address: r.Subject, Time: r.Time.UnixMilli(), Hash: s.Hash, Type: s.Type, USDC: s.USDC, Fee: s.Fee, Delta: s.Delta}, nil
}
