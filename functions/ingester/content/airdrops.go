package content

import (
	"errors"

	"quotary/shared/data/airdrops"
	"quotary/shared/data/drop"
)

var errAnnounced = errors.New("publish_time must not be in the future, by more than ten minutes")

// airdropEntries are airdrops; the view has no contents.
var airdropEntries = entries[airdrops.Airdrop, airdrops.View]{
	name: airdrops.Name, schema: airdrops.Schema,
	parse: func(line []byte, at drop.Place) (airdrops.Airdrop, error) {
		entry, err := airdrops.Parse(line)
		if err == nil && entry.PublishTime > at.Time+ahead.Milliseconds() { // it would stay on top of all lists
			err = errAnnounced
		}
		return airdrops.Airdrop{Entry: entry, Place: at}, err
	},
	in:         func(b *Batch) *[]airdrops.Airdrop { return &b.Airdrops },
	appendRows: airdrops.AppendRows, decodeRow: airdrops.DecodeRow,
	key:  func(a *airdrops.Airdrop) (string, drop.Place) { return a.AirdropID, a.Place },
	held: airdrops.Airdrop.WithoutContent,
	view: airdrops.NewView, list: func(v airdrops.View) []airdrops.Airdrop { return v.Airdrops }, most: airdrops.Listed,
	published: airdrops.Published,
}
