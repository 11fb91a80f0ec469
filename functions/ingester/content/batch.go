package content

import (
	"quotary/shared/data/airdrops"
	"quotary/shared/data/flashes"
	"quotary/shared/data/members"
	"quotary/shared/data/news"
	"quotary/shared/data/readings"
)

// Batch is what the domain's sources emit. It belongs to one goroutine at a time.
type Batch struct {
	News     []news.Item
	Airdrops []airdrops.Airdrop
	Flashes  []flashes.Flash
	Members  []members.Member
	Readings []readings.Reading
}

// NewBatch returns an empty batch.
func NewBatch() *Batch { return new(Batch) }

// Merge appends a batch that came later, and may keep what that holds. Nil is no
// events.
func (b *Batch) Merge(later *Batch) {
	if later == nil {
		return
	}
	b.News = append(b.News, later.News...)
	b.Airdrops = append(b.Airdrops, later.Airdrops...)
	b.Flashes = append(b.Flashes, later.Flashes...)
	b.Members = append(b.Members, later.Members...)
	b.Readings = append(b.Readings, later.Readings...)
}

// Len is the number of events.
func (b *Batch) Len() int {
	return len(b.News) + len(b.Airdrops) + len(b.Flashes) + len(b.Members) + len(b.Readings)
}
