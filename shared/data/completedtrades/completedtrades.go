// Package completedtrades is the log of completed trades: one row for each position
// of an account in a perpetual that was closed, found by account and by account and
// coin, in the order in which they were closed.
//
// It has no retention, other than the logs of what the sources say: it is far smaller, one
// row for all fills of a position, and what an account has earned in all time is of all of
// them. So a trade may be listed whose fills have expired. What it was, fill by fill, is
// refused then, by an answer that says from when on fills are stored.
package completedtrades

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the dataset. A row has the account's address as subject, the time of the
// fill that closed the position, and "<coin>#<trade id of that fill>" as ID, so that
// a trade that is folded again replaces itself, even where more of its beginning has
// become known; index A is "<address>/<coin>".
const Name = "completedtrades"

// stored is the body of a row.
type stored struct {
	Coin        string `json:"coin"`
	Long        bool   `json:"long"`
	Isolated    bool   `json:"isolated,omitempty"`
	Leverage    int64  `json:"leverage,omitempty"`
	Size        string `json:"size"`
	EntryPx     string `json:"entryPx"`
	ClosePx     string `json:"closePx"`
	Start       int64  `json:"start"`
	Tid         int64  `json:"tid"`
	Partial     bool   `json:"partial,omitempty"`
	Pnl         string `json:"pnl"`
	Fee         string `json:"fee"`
	Funding     string `json:"funding"`
	MaxSize     string `json:"maxSize"`
	MaxValue    string `json:"maxValue"`
	Fills       int64  `json:"fills"`
	OpenOrders  int64  `json:"openOrders"`
	CloseOrders int64  `json:"closeOrders"`
	Liquidated  bool   `json:"liquidated,omitempty"`
}

var log = dataset.Log[market.CompletedTrade]{Name: Name, Row: row, Decode: Decode}

func row(t *market.CompletedTrade) store.Row {
	return store.Row{
		Subject: t.Address,
		Time:    t.When(),
		ID:      t.Coin + "#" + strconv.FormatInt(t.Tid, 10),
		Seq:     t.Seq,
		Index:   [4]string{ofCoin(t.Address, t.Coin)},
		Body: dataset.JSON(stored{
			t.Coin, t.Long, t.Isolated, t.Leverage, market.Text(t.Size), market.Text(t.EntryPx), market.Text(t.ClosePx), t.Start, t.Tid, t.Partial,
			market.Text(t.Pnl), market.Text(t.Fee), market.Text(t.Funding), market.Text(t.MaxSize), market.Text(t.MaxValue), t.Fills, t.OpenOrders, t.CloseOrders, t.Liquidated,
		}),
	}
}

func ofCoin(address, coin string) string { return address + "/" + coin }

// AppendRows appends the row of each trade to rows.
func AppendRows(rows []store.Row, list []market.CompletedTrade) []store.Row {
	return log.AppendRows(rows, list)
}

// Selection selects completed trades of an account. Times are those of the fills that closed
// them.
type Selection struct {
	Address  string
	Coin     string    // "" is all coins
	From, To time.Time // both inclusive; zero is open
}

func (of Selection) query() dataset.Query {
	q := dataset.Query{Subject: of.Address, From: of.From, To: of.To}
	if of.Coin != "" {
		q.Subject, q.Index = ofCoin(of.Address, of.Coin), store.A
	}
	return q
}

// Newest returns trades in the order in which they were closed, the last one first, at
// most limit of them, or all for 0. An error ends the sequence.
func Newest(ctx context.Context, l *store.Log, of Selection, limit int) iter.Seq2[market.CompletedTrade, error] {
	q := of.query()
	q.Newest, q.Limit = true, limit
	return log.Read(ctx, l, q)
}

// Oldest returns trades in the order in which they were closed. An error ends the
// sequence.
func Oldest(ctx context.Context, l *store.Log, of Selection) iter.Seq2[market.CompletedTrade, error] {
	return log.Read(ctx, l, of.query())
}

// Count is how many trades there are, at most so many, counted in the store.
func Count(ctx context.Context, l *store.Log, of Selection, most int) (int, error) {
	return log.Count(ctx, l, of.query(), most)
}

var errBody = errors.New("a stored completed trade has no coin, no size or ends before it begins")

// Decode reads a row.
func Decode(r store.Row) (market.CompletedTrade, error) {
	s, err := dataset.FromJSON[stored](r.Body)
	if err != nil {
		return market.CompletedTrade{}, err
	}
	t := market.CompletedTrade{
		Address: r.Subject, Coin: s.Coin, Long: s.Long, Isolated: s.Isolated, Leverage: s.Leverage, Start: s.Start, End: r.Time.UnixMilli(), Seq: r.Seq, Tid: s.Tid,
		Partial: s.Partial, Fills: s.Fills, OpenOrders: s.OpenOrders, CloseOrders: s.CloseOrders, Liquidated: s.Liquidated,
	}
	for _, amount := range [...]struct {
		text string
		to   *market.Decimal
	}{
		{s.Size, &t.Size}, {s.EntryPx, &t.EntryPx}, {s.ClosePx, &t.ClosePx}, {s.Pnl, &t.Pnl}, {s.Fee, &t.Fee}, {s.Funding, &t.Funding},
		{s.MaxSize, &t.MaxSize}, {s.MaxValue, &t.MaxValue},
	} {
		if *amount.to, err = market.ParseStored(amount.text); err != nil {
			return market.CompletedTrade{}, fmt.Errorf("read an amount: %w", err)
		}
	}
	if t.Coin == "" || !t.Size.IsPos() || t.Start > t.End {
		return market.CompletedTrade{}, errBody
	}
	return t, nil
}
