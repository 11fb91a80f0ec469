// Package payments is the log of funding payments: one immutable row for what an
// account paid and received at a full hour, with all its coins, found by account. Of more
// coins than a row can hold there are several rows.
package payments

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the dataset. A row has the account's address as subject and as ID its first
// coin, which keeps two events of one millisecond apart; it is in no index.
const Name = "payments"

// stored is one payment in the body of a row, which is a list of them in the order of
// their coins.
type stored struct {
	Coin string `json:"coin"`
	USDC string `json:"usdc"`
	Szi  string `json:"szi"`
	Rate string `json:"fundingRate"`
}

var log = dataset.Log[[]market.FundingPayment]{Name: Name, Row: row, Decode: Decode}

// row is that of an account's payments of one event, which are in the order of their
// coins.
func row(list *[]market.FundingPayment) store.Row {
	first := &(*list)[0]
	body := make([]stored, len(*list))
	for i := range *list {
		p := &(*list)[i]
		body[i] = stored{p.Coin, p.USDC, p.Szi, p.Rate}
	}
	return store.Row{Subject: first.Address, Time: time.UnixMilli(first.Time).UTC(), ID: first.Coin, Body: dataset.JSON(body)}
}

// AppendRows appends the rows of payments to rows. The list has all payments of an
// event of the source or none ([market.FundingPayment.Seq]), so that whatever else is
// in it, the rows are the same.
func AppendRows(rows []store.Row, list []market.FundingPayment) []store.Row {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b market.FundingPayment) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Time, b.Time), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Coin, b.Coin))
	})
	list = slices.CompactFunc(list, func(a, b market.FundingPayment) bool { return sameRow(&a, &b) && a.Coin == b.Coin })
	for len(list) > 0 {
		n, bytes := 1, bytesOf(&list[0])
		for n < len(list) && sameRow(&list[0], &list[n]) {
			if bytes += bytesOf(&list[n]); bytes > mostBytes {
				break
			}
			n++
		}
		group := list[:n]
		rows, list = append(rows, row(&group)), list[n:]
	}
	return rows
}

// Missing counts how many rows of payments are not in the log, strongly consistent. The list is as that of [AppendRows].
func Missing(ctx context.Context, l *store.Log, list []market.FundingPayment) (int, error) {
	return l.Missing(ctx, Name, AppendRows(nil, list))
}

// mostBytes is how many bytes of payments a row has at most: an item of the store has 400 KB.
const mostBytes = 200 << 10

// bytesOf is how long a payment is in the body of a row at most: what JSON escapes has six bytes.
func bytesOf(p *market.FundingPayment) int {
	const members = len(`{"coin":"","usdc":"","szi":"","fundingRate":""},`)
	return members + 6*len(p.Coin) + len(p.USDC) + len(p.Szi) + len(p.Rate)
}

func sameRow(a, b *market.FundingPayment) bool {
	return a.Address == b.Address && a.Time == b.Time && a.Seq == b.Seq
}

// Window returns what an account paid and received between two times, both inclusive
// and open when zero, oldest first: of each hour the payments of all coins.
func Window(ctx context.Context, l *store.Log, address string, from, to time.Time) iter.Seq2[[]market.FundingPayment, error] {
	return log.Read(ctx, l, dataset.Query{Subject: address, From: from, To: to})
}

// Newest returns what an account paid and received, the newest hour first.
func Newest(ctx context.Context, l *store.Log, address string) iter.Seq2[[]market.FundingPayment, error] {
	return log.Read(ctx, l, dataset.Query{Subject: address, Newest: true, Expect: expectNewest})
}

// expectNewest is of how many hours a caller of [Newest] probably takes the payments.
const expectNewest = 100

var errBody = errors.New("a stored funding payment cannot be one")

// Decode reads a row. Which event the payments came in is not stored.
func Decode(r store.Row) ([]market.FundingPayment, error) {
	body, err := dataset.FromJSON[[]stored](r.Body)
	if err != nil {
		return nil, err
	}
	if len(body) == 0 || body[0].Coin != r.ID {
		return nil, errBody
	}
	list := make([]market.FundingPayment, len(body))
	for i, s := range body {
		list[i] = market.FundingPayment{Address: r.Subject, Coin: s.Coin, Time: r.Time.UnixMilli(), USDC: s.USDC, Szi: s.Szi, Rate: s.Rate}
		if list[i].Check() != nil || i > 0 && list[i-1].Coin >= s.Coin {
			return nil, errBody
		}
	}
	return list, nil
}
