package content

import (
	"quotary/shared/data/drop"
	"quotary/shared/data/members"
)

// memberEntries are the members who write posts.
var memberEntries = entries[members.Member, members.View]{
	name: members.Name, schema: members.Schema,
	parse: func(line []byte, at drop.Place) (members.Member, error) {
		entry, err := members.Parse(line)
		return members.Member{Entry: entry, Place: at}, err
	},
	in:         func(b *Batch) *[]members.Member { return &b.Members },
	appendRows: members.AppendRows, decodeRow: members.DecodeRow,
	key:  func(m *members.Member) (string, drop.Place) { return m.MemberID, m.Place },
	held: func(m members.Member) members.Member { return m },
	view: members.NewView, list: func(v members.View) []members.Member { return v.Members }, most: members.Listed,
	published: members.Published,
}
