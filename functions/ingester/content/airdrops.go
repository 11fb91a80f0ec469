package content

import (
	"errors"

	"quotary/shared/data/airdrops"
	"quotary/shared/data/drop"
)

var errAnnounced = errors.New("publish_time must not be in the future, by more than ten minutes")

// airdropEntries are airdrops; the view has no contents.
var airdropEntries = entries[airdrops.Airdrop]{
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
	view: func(all []airdrops.Airdrop) []airdrops.Airdrop { return airdrops.NewView(all).Airdrops }, most: airdrops.Listed,
	encode: func(all []airdrops.Airdrop) []byte { return airdrops.Encode(airdrops.View{Airdrops: all}) },
	decode: func(body []byte) ([]airdrops.Airdrop, error) {
		v, err := airdrops.Decode(body)
		return v.Airdrops, err
	},
}
