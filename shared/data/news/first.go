package news

import (
	"errors"
	"strconv"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// firstSeen is a series of one row for each item, by its [Subject]: when any state of it
// was first seen, ms. By it an item that is in the view no more keeps its place among the
// others when it is edited.
var firstSeen = dataset.Series[int64]{
	Name:   "newsfirstseen",
	Append: func(b []byte, ms *int64) []byte { return strconv.AppendInt(b, *ms, 10) },
	Decode: func(body []byte) (int64, error) {
		ms, err := dataset.FromJSON[int64](body)
		if err == nil && ms <= 0 {
			err = errors.New("no time at which an item was first seen")
		}
		return ms, err
	},
}

// FirstSeenRow is the row of an item.
func FirstSeenRow(subject string, ms int64) store.SeriesRow {
	return firstSeen.Row(subject, market.Day1, 0, &ms, 16)
}

// FirstSeenAt is the key of the row of an item.
func FirstSeenAt(subject string) store.SeriesAt { return firstSeen.At(subject, market.Day1, 0) }

// DecodeFirstSeen reads the body of a row.
func DecodeFirstSeen(body []byte) (ms int64, err error) { return firstSeen.Decode(body) }
