package flashes

import (
	"errors"
	"strconv"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/source/drop"
	"quotary/shared/store"
)

// places is a series of one row for each flash: which of its states is indexed.
var places = dataset.Series[drop.Place]{
	Name:   "flashplaces",
	Append: dataset.AppendJSON[drop.Place],
	Decode: func(body []byte) (drop.Place, error) {
		p, err := dataset.FromJSON[drop.Place](body)
		if err == nil && (p.File == "" || p.Line < 1) {
			err = errors.New("a place without a file or a line")
		}
		return p, err
	},
}

// PlaceRow is the row of a flash.
func PlaceRow(id int64, p drop.Place) store.SeriesRow {
	return places.Row(strconv.FormatInt(id, 10), market.Day1, 0, &p, 64)
}

// PlaceAt is the key of the row of a flash.
func PlaceAt(id int64) store.SeriesAt {
	return places.At(strconv.FormatInt(id, 10), market.Day1, 0)
}

// DecodePlace reads the body of a row.
func DecodePlace(body []byte) (drop.Place, error) { return places.Decode(body) }
