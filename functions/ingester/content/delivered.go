package content

import (
	"quotary/shared/catalog"
	"quotary/shared/data/flashes"
)

// holds says of which datasets a batch holds something.
func holds(b *Batch, say func(catalog.Need)) {
	if len(b.News) > 0 {
		say(catalog.ContentNews.On(""))
	}
	for i := range b.Flashes {
		if b.Flashes[i].Platform == flashes.Social {
			say(catalog.ContentPosts.On(""))
		} else {
			say(catalog.ContentFlashes.On(""))
		}
	}
	if len(b.Members) > 0 {
		say(catalog.ContentMembers.On(""))
	}
	if len(b.Readings) > 0 {
		say(catalog.ContentReadings.On(""))
	}
	if len(b.Airdrops) > 0 {
		say(catalog.ContentAirdrops.On(""))
	}
}
