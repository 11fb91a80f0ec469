package content

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/binance"
	"quotary/functions/ingester/source/bybit"
	"quotary/functions/ingester/source/okx"
	"quotary/shared/catalog"
	"quotary/shared/data/airdrops"
	"quotary/shared/data/drop"
	"quotary/shared/data/flashes"
	"quotary/shared/data/news"
	"quotary/shared/market"
	"quotary/shared/service/config"
)

// announcers are the exchanges whose announcements can be followed, by the name that the
// configuration uses: each opens one at an address or, for "", at its own.
var announcers = map[string]func(url string) source.Announcer{
	"binance": func(url string) source.Announcer { return binance.OpenAnnouncements(url) },
	"bybit":   func(url string) source.Announcer { return bybit.OpenAnnouncements(url) },
	"okx":     func(url string) source.Announcer { return okx.OpenAnnouncements(url) },
}

// announcementSettings reads which exchanges are followed.
func announcementSettings(env *config.Env) (exchanges []string, url string, every time.Duration) {
	for name := range strings.SplitSeq(env.Text(catalog.EnvAnnouncements), ",") {
		if name = strings.TrimSpace(name); name == "" || slices.Contains(exchanges, name) {
			continue
		}
		if announcers[name] == nil {
			env.Refuse(catalog.EnvAnnouncements, fmt.Errorf("names %q: accepted are %s", name, strings.Join(slices.Sorted(maps.Keys(announcers)), ", ")))
		}
		exchanges = append(exchanges, name)
	}
	return exchanges, env.Text(catalog.EnvAnnouncementsURL), env.Duration(catalog.EnvAnnouncementsEvery)
}

// announcementSources are the exchanges that the configuration names. An exchange may be
// silent for days: none is in a group.
func (c Config) announcementSources() (sources []engine.Source[*Batch]) {
	for _, name := range c.Announcements {
		stats := new(source.Stats)
		s := &source.Announcements{Of: announcers[name](c.AnnouncementsURL), Every: c.AnnouncementsEvery, Stats: stats, Log: c.log("announcements "+name, stats)}
		sources = append(sources, engine.Source[*Batch]{Name: "announcements " + name, Stats: stats, Follow: followAnnouncements(s),
			Brings: catalog.AllOf(catalog.ContentFlashes, catalog.ContentAirdrops), Awaited: true})
	}
	return sources
}

func followAnnouncements(s *source.Announcements) func(context.Context, engine.Position, engine.Sink[*Batch]) error {
	return func(ctx context.Context, from engine.Position, sink engine.Sink[*Batch]) error {
		var known source.AnnouncementsAt
		if err := from.Decode(&known); err != nil {
			return err
		}
		return s.Follow(ctx, known, func(ctx context.Context, list []market.Announcement, at source.AnnouncementsAt) error {
			position, err := engine.PositionOf(at)
			if err != nil {
				return err
			}
			return sink(ctx, engine.Delivery[*Batch]{Batch: announced(list, time.Now()), Position: position, Spoken: len(list) == 0})
		})
	}
}

// announced makes a batch of announcements that were seen at a time: listings are flashes,
// and what is about a campaign is an airdrop.
func announced(list []market.Announcement, seen time.Time) *Batch {
	b := NewBatch()
	for i := range list {
		a := &list[i]
		// Of two states the one that was seen last holds, and a drop that was put later. The
		// first is the same row whenever it is seen again.
		place := drop.Place{Time: a.Published, File: "announcements/" + a.Venue, Line: 1}
		if a.Revised {
			place.Line = 2 + max(0, (seen.UnixMilli()-a.Published)/1000)
		}
		if a.Listing {
			b.Flashes = append(b.Flashes, listings(a, place)...)
		}
		if campaign, ok := airdrops.Announced(a, place); ok {
			b.Airdrops = append(b.Airdrops, campaign)
		}
	}
	return b
}

// listings are the flashes of an announcement, one in each language in which it was made. Their
// numbers follow from the exchange and its id.
func listings(a *market.Announcement, place drop.Place) []flashes.Flash {
	flash := func(id string, language airdrops.Language, said, other market.AnnouncementText) flashes.Flash {
		return flashes.Flash{Place: place, Entry: flashes.Entry{
			ID: news.ID(place.File, id), Time: a.Published / 1000, Language: string(language), Platform: flashes.House, Title: said.Title, Content: said.Text,
			TransTitle: other.Title, TransContent: other.Text, FlashType: flashes.TypeListing, MemberID: flashes.MemberID(a.Venue), Source: airdrops.ExchangeName(a.Venue, language), Link: said.URL,
		}}
	}
	list := []flashes.Flash{flash(a.ID, airdrops.English, a.AnnouncementText, a.Chinese)}
	if a.Chinese.Title != "" {
		list = append(list, flash(a.ID+" cn", airdrops.Chinese, a.Chinese, a.AnnouncementText))
	}
	return list
}
