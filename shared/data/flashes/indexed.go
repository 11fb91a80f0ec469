package flashes

import (
	"errors"
	"strconv"

	"quotary/shared/data/drop"
	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Indexed is which state of a flash is indexed, and where.
type Indexed struct {
	drop.Place

	// Platforms are those in whose index any of its states was: nil in rows that were written
	// before they were kept, where it may be any. It includes those of former states, as a view
	// without the newest may be read after a crash.
	Platforms []string `json:"platforms,omitempty"`
}

// indexedStates is a series of one row for each flash.
var indexedStates = dataset.Series[Indexed]{
	Name:   "flashplaces",
	Append: dataset.AppendJSON[Indexed],
	Decode: func(body []byte) (Indexed, error) {
		x, err := dataset.FromJSON[Indexed](body)
		if err == nil && (x.File == "" || x.Line < 1) {
			err = errors.New("a place without a file or a line")
		}
		return x, err
	},
}

// IndexedRow is the row of a flash.
func IndexedRow(id int64, x Indexed) store.SeriesRow {
	return indexedStates.Row(strconv.FormatInt(id, 10), market.Day1, 0, &x, 96)
}

// IndexedAt is the key of the row of a flash.
func IndexedAt(id int64) store.SeriesAt {
	return indexedStates.At(strconv.FormatInt(id, 10), market.Day1, 0)
}

// DecodeIndexed reads the body of a row.
func DecodeIndexed(body []byte) (Indexed, error) { return indexedStates.Decode(body) }
