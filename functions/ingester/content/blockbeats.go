package content

import (
	"net/url"
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/blockbeats"
	"quotary/functions/ingester/source/feeds"
	"quotary/shared/catalog"
	"quotary/shared/data/drop"
	"quotary/shared/data/flashes"
	"quotary/shared/data/news"
	"quotary/shared/service/config"
)

// BlockBeats is the vendor of flashes that is followed.
type BlockBeats struct {
	URL   *url.URL // of its lists; nil follows none
	Key   string   // "" for none
	Every time.Duration
}

// blockBeatsSettings reads whether the vendor is followed.
func blockBeatsSettings(env *config.Env) BlockBeats {
	return BlockBeats{
		URL:   config.Parsed(env, catalog.EnvBlockBeatsURL, url.Parse),
		Key:   env.Text(catalog.EnvBlockBeatsKey),
		Every: env.Duration(catalog.EnvBlockBeatsEvery),
	}
}

// vendorList is a list of the vendor as it is followed.
type vendorList struct {
	blockbeats.List
	stats *source.Stats
}

// blockBeatsSources are the vendor's lists: in each language all flashes, and those that are
// important, which nothing else says of a flash. A vendor may be silent for a night: none is
// in a group.
func (c Config) blockBeatsSources(client *feeds.Client) (sources []engine.Source[*Batch]) {
	if c.BlockBeats.URL == nil {
		return nil
	}
	for _, language := range []string{blockbeats.Chinese, blockbeats.English} {
		for _, important := range []bool{false, true} {
			v := vendorList{blockbeats.List{Language: language, Important: important, Key: c.BlockBeats.Key}, new(source.Stats)}
			name := v.file() + " " + language
			s := &feeds.Source{Client: client, URL: c.BlockBeats.URL, Format: v.Format(), Every: c.BlockBeats.Every, Stats: v.stats, Log: c.log(name, v.stats)}
			sources = append(sources, engine.Source[*Batch]{Name: name, Stats: v.stats, Follow: follow(s, v.batch), Brings: catalog.AllOf(catalog.ContentFlashes), Awaited: true})
		}
	}
	return sources
}

// maxFlash is how many characters of a flash are kept.
const maxFlash = 8000

// batch makes flashes of a delivery. One of a time that cannot be true is left out and
// counted: it would stand in a wrong place of all lists.
func (v vendorList) batch(d *feeds.Delivery) *Batch {
	b := NewBatch()
	for i := range d.Items {
		one := &d.Items[i]
		f := flashes.Flash{Place: v.place(one, d.Time), Entry: flashes.Entry{
			ID: news.ID("blockbeats", v.Language+" "+one.Key), Time: published(one.Published, d.Time), Language: v.Language, Platform: flashes.House,
			Title: one.Title, Content: feeds.Text(one.Content, maxFlash), Important: v.Important, Source: "BlockBeats", Link: one.Link,
			Pictures: strings.Join(strings.Fields(one.Image), "%20"),
		}}
		if f.Time == 0 || f.Check() != nil {
			v.stats.Malformed.Add(1)
			continue
		}
		b.Flashes = append(b.Flashes, f)
	}
	return b
}

// place orders the states of a flash. That which was seen last holds, but one of the important
// holds before one of all; and before any place of a file: of what operators say themselves of
// a flash the vendor takes nothing back. The first state is the same row whenever it is seen
// again: as if it was when it was published.
func (v vendorList) place(one *feeds.Item, seen time.Time) drop.Place {
	at := seen
	if !one.Revised && one.Published.Before(seen) {
		at = one.Published
	}
	return drop.Place{Time: 1, File: v.file(), Line: max(1, at.UnixMilli())}
}

// file is what the list is called in places.
func (v vendorList) file() string {
	if v.Important {
		return "blockbeats important"
	}
	return "blockbeats"
}
