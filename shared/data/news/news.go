// Package news is what publishers have written: the log of every revision of every
// news item, and the view of the newest items, from which lists are answered.
//
// # Rows
//
// A publisher may change an item after it was published. Each state in which it was
// seen is one immutable row under the item ([Subject]), at the time at which it was
// seen, with a digest of what it says as ID; so the item is its newest row ([ByID]).
// Index A is the item's number. Where a source is read again after a crash, a row may
// be there again at a later time, with the same text: readers see no difference.
//
// # Numbers
//
// The API names items by whole numbers that any JSON reader takes, up to 2^53-1.
// They are made from the publisher and its key alone ([ID]): the same after a loss of
// everything, and in every deployment. Among a million items, two have the same number
// once in 18,000 deployments. Then the number stays that of the item that was seen
// first, and the other one is not listed.
package news

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strconv"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/store"
)

// Name of the dataset, and of the view of the newest items.
const Name = "news"

// MaxID is the largest number of an item.
const MaxID = 1<<53 - 1

// Language is that of an item, as the API numbers it.
type Language int

// The languages. The API documents a second number for Chinese, 0, which says nothing
// that 10 does not.
const (
	Chinese Language = 10
	English Language = 11
)

// Languages are the names by which settings know them.
var Languages = map[string]Language{"cn": Chinese, "en": English}

// Item is a news item in the state in which it was seen at a time.
type Item struct {
	ID       int64    `json:"id"`     // 1 to MaxID
	Source   string   `json:"source"` // the publisher's name
	Key      string   `json:"key"`    // among the publisher's
	Language Language `json:"language"`

	Title    string `json:"title"`    // text
	Describe string `json:"describe"` // a summary, text
	Content  string `json:"content"`  // HTML of harmless elements
	Cover    string `json:"cover"`    // absolute address of a picture, "" for none
	Link     string `json:"link"`     // absolute address of the article, "" for none
	Author   string `json:"author"`   // "" for none
	Avatar   string `json:"avatar"`   // absolute address of the publisher's picture, "" for none

	Published int64 `json:"published"` // Unix s; 0 where the publisher gives no time that can be true
	Seen      int64 `json:"seen"`      // when it was seen, ms
	FirstSeen int64 `json:"-"`         // when any state of it was first seen, ms: not part of a row
}

// ID is the number of a publisher's item.
func ID(source, key string) int64 {
	digest := owner(source, key)
	return max(1, int64(binary.BigEndian.Uint64(digest[:8])>>11))
}

// owner distinguishes items that have the same number.
func owner(source, key string) [32]byte { return sha256.Sum256([]byte(source + "\x00" + key)) }

// Subject is that of an item's rows.
func Subject(source, key string) string {
	digest := owner(source, key)
	return hex.EncodeToString(digest[:16])
}

// CreateTime is when the item was published, or else first seen, Unix s.
func (i *Item) CreateTime() int64 {
	if i.Published > 0 {
		return i.Published
	}
	return i.FirstSeen / 1000
}

var log = dataset.Log[Item]{Name: Name, Row: row, Decode: Decode}

func row(i *Item) store.Row {
	return store.Row{
		Subject: Subject(i.Source, i.Key),
		Time:    time.UnixMilli(i.Seen).UTC(),
		ID:      digest(i),
		Index:   [4]string{strconv.FormatInt(i.ID, 10)},
		Body:    dataset.JSON(i),
	}
}

// digest is a short one of what an item says, whenever it was seen.
func digest(i *Item) string {
	says := *i
	says.Seen = 0
	sum := sha256.Sum256(dataset.JSON(&says))
	return hex.EncodeToString(sum[:8])
}

// AppendRows appends the row of each item to rows.
func AppendRows(rows []store.Row, items []Item) []store.Row { return log.AppendRows(rows, items) }

var errBody = errors.New("a stored news item has no number, publisher, key, title or time")

// Decode reads a row. Its FirstSeen is that of the row.
func Decode(r store.Row) (Item, error) {
	i, err := dataset.FromJSON[Item](r.Body)
	if err != nil {
		return Item{}, err
	}
	if i.ID < 1 || i.ID > MaxID || i.Source == "" || i.Key == "" || i.Title == "" || i.Seen <= 0 || i.Published < 0 {
		return Item{}, errBody
	}
	i.FirstSeen = i.Seen
	return i, nil
}

// ByID returns the item of a number in its newest state; ok is false where there is
// none. It is two queries, of two rows each.
func ByID(ctx context.Context, l *store.Log, id int64) (item Item, ok bool, err error) {
	first, ok, err := one(ctx, l, dataset.Query{Subject: strconv.FormatInt(id, 10), Index: store.A, Limit: 1})
	if !ok || err != nil {
		return Item{}, false, err
	}
	item, ok, err = one(ctx, l, dataset.Query{Subject: Subject(first.Source, first.Key), Newest: true, Limit: 1})
	item.FirstSeen = first.Seen
	return item, ok, err
}

// one returns the first item that a query selects.
func one(ctx context.Context, l *store.Log, q dataset.Query) (Item, bool, error) {
	for item, err := range log.Read(ctx, l, q) {
		return item, err == nil, err
	}
	return Item{}, false, nil
}
