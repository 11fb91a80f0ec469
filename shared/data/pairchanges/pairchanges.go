// Package pairchanges is the log of sudden changes of the followed pairs: one row for each, found by
// all together and by kind, in the order of time. A row is named by its pair, its kind and what
// brought it about, so that it is one however often that comes.
package pairchanges

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the dataset. A row has the subject [all], and index A is the number of its kind.
const Name = "pairchanges"

const (
	all     = "all"
	keptFor = 7 * 24 * time.Hour
	most    = 100
)

// stored is the body of a row.
type stored struct {
	Px market.Decimal `json:"px"`
}

var log = dataset.Log[market.PairChange]{Name: Name, Row: row, Decode: decode}

func row(c *market.PairChange) store.Row {
	kind, at := strconv.Itoa(int(c.Kind)), time.UnixMilli(c.Time).UTC()
	return store.Row{
		Subject: all, Time: at, ID: c.Pair + "#" + kind + "#" + c.Of, Index: [4]string{kind}, Expires: at.Add(keptFor), Body: dataset.JSON(stored{c.Px}),
	}
}

var errRow = errors.New("a stored change has no pair, no kind or no price")

func decode(r store.Row) (market.PairChange, error) {
	body, err := dataset.FromJSON[stored](r.Body)
	if err != nil {
		return market.PairChange{}, err
	}
	c := market.PairChange{Time: r.Time.UnixMilli(), Px: body.Px}
	pair, rest, _ := strings.Cut(r.ID, "#")
	kind, of, found := strings.Cut(rest, "#")
	number, err := strconv.Atoi(kind)
	if err != nil || !found || pair == "" || !c.Px.IsPos() {
		return market.PairChange{}, errRow
	}
	c.Pair, c.Kind, c.Of = pair, market.ChangeKind(number), of
	return c, nil
}

// AppendRows appends the row of each to rows.
func AppendRows(rows []store.Row, list []market.PairChange) []store.Row {
	return log.AppendRows(rows, list)
}

// Newest returns the changes of the last seven days: the newest 100, the last one first; those of
// all kinds where kind is 0.
func Newest(ctx context.Context, l *store.Log, kind market.ChangeKind, now time.Time) (list []market.PairChange, err error) {
	q := dataset.Query{Subject: all, From: now.Add(-keptFor), Newest: true, Limit: most}
	if kind != 0 {
		q.Subject, q.Index = strconv.Itoa(int(kind)), store.A
	}
	for c, err := range log.Read(ctx, l, q) {
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}
