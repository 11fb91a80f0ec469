package content

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"html"
	"log/slog"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/feeds"
	"quotary/shared/catalog"
	"quotary/shared/data/news"
)

// sources are the feeds that the configuration lists. All that is followed shares a client,
// so that a host with many feeds is asked one question at a time. A feed may be silent for
// days: none is in a group.
func (c Config) sources(client *feeds.Client) []engine.Source[*Batch] {
	var sources []engine.Source[*Batch]
	twins := map[string]*feeds.Twins{} // by publisher
	for _, f := range c.Feeds {
		if twins[f.Source] == nil {
			twins[f.Source] = new(feeds.Twins)
		}
		stats := new(source.Stats)
		s := &feeds.Source{Client: client, URL: f.URL, Every: f.Every, Twins: twins[f.Source], Stats: stats, Log: c.log(f.name(), stats)}
		sources = append(sources, engine.Source[*Batch]{Name: f.name(), Stats: stats, Follow: follow(s, f.batch), Brings: catalog.AllOf(catalog.ContentNews), Awaited: true})
	}
	return sources
}

// log is that of a source.
func (c Config) log(name string, stats *source.Stats) *slog.Logger {
	return source.Watched(c.Logger.With("source", name), stats)
}

// name is that of the source: its host, and a sum of the rest of the address, which may
// be secret.
func (f *Feed) name() string {
	sum := sha256.Sum256([]byte(f.URL.EscapedPath() + "?" + f.URL.RawQuery))
	return "feed " + f.URL.Host + " " + hex.EncodeToString(sum[:4])
}

// follow follows a feed, of whose deliveries batch makes batches.
func follow(s *feeds.Source, batch func(*feeds.Delivery) *Batch) func(context.Context, engine.Position, engine.Sink[*Batch]) error {
	return func(ctx context.Context, from engine.Position, sink engine.Sink[*Batch]) error {
		var at feeds.Position
		if err := from.Decode(&at); err != nil {
			return err
		}
		return s.Follow(ctx, at, func(ctx context.Context, d feeds.Delivery) error {
			position, err := engine.PositionOf(d.Position)
			if err != nil {
				return err
			}
			return sink(ctx, engine.Delivery[*Batch]{Batch: batch(&d), Position: position, Spoken: true})
		})
	}
}

// batch makes news of a delivery. An item without a date of its own is as old as those beside
// it in the feed.
func (f *Feed) batch(d *feeds.Delivery) *Batch {
	b := NewBatch()
	for i := range d.Items {
		one := &d.Items[i]
		seen, at := d.Time.UnixMilli(), one.Published
		if at.IsZero() {
			at = one.Neighbour
		}
		b.News = append(b.News, news.Item{
			ID: news.ID(f.Source, one.Key), Source: f.Source, Key: one.Key, Language: f.Language,
			Title: one.Title, Describe: one.Summary, Content: cmp.Or(one.Content, html.EscapeString(one.Summary)), Cover: one.Image, Link: one.Link,
			Author: one.Author, Avatar: d.Image, Published: published(at, d.Time), Seen: seen, FirstSeen: seen,
		})
	}
	return b
}

// earliest is before any news of coins; ahead is by how much a publisher's clock may
// be ahead of ours.
var (
	earliest = time.Date(2008, 1, 1, 0, 0, 0, 0, time.UTC)
	ahead    = 10 * time.Minute
)

// published is a time of publication in Unix s, 0 for one that cannot be true.
func published(at, seen time.Time) int64 {
	if at.Before(earliest) || at.After(seen.Add(ahead)) {
		return 0
	}
	return at.Unix()
}
