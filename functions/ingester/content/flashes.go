package content

import (
	"errors"
	"strconv"

	"quotary/shared/data/drop"
	"quotary/shared/data/flashes"
)

var errAhead = errors.New("time must not be in the future, by more than ten minutes")

// flashEntries are flashes and posts.
var flashEntries = entries[flashes.Flash, flashes.View]{
	name: flashes.Name, schema: flashes.Schema,
	parse: func(line []byte, at drop.Place) (flashes.Flash, error) {
		entry, err := flashes.Parse(line)
		if err == nil && entry.Time > at.Time/1000+int64(ahead.Seconds()) { // it would stay on top of all lists
			err = errAhead
		}
		return flashes.Flash{Entry: entry, Place: at}, err
	},
	in:         func(b *Batch) *[]flashes.Flash { return &b.Flashes },
	appendRows: flashes.AppendRows, decodeRow: flashes.DecodeRow,
	key:  func(f *flashes.Flash) (string, drop.Place) { return strconv.FormatInt(f.ID, 10), f.Place },
	held: func(f flashes.Flash) flashes.Flash { return f },
	view: flashes.NewView, list: func(v flashes.View) []flashes.Flash { return v.Flashes }, most: 6 * flashes.Listed,
	published: flashes.Published,
}
