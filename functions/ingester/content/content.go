// Package content is the domain of what people write: news, flashes, posts, announcements of
// exchanges and airdrops, and of what programs word for them. Its sources are the feeds of publishers, the exchanges and the vendor
// of flashes that the operator names ([Settings]), drops ([Drops]), and the markets themselves (package
// marketflash) with the K-lines of coins; the package engine runs it.
//
// # What is written, and who reads it
//
//	log news              one row each state of a news item: news-detail
//	series newsfirstseen  when each item was first seen, by which those without a date are ordered
//	view news             the headings of the newest items: news-list
//	log airdrops          one row for each entry, dropped or announced: the text of airdrop/detail
//	view airdrops         the newest airdrops without their texts: what else is said of airdrops
//	log flashes           one row each state of a flash, an announced listing or a post: what the view does not hold
//	series flashplaces    which state of each flash is indexed
//	views flashindex-*    the words of all flashes, and of all posts: newsflash/search, social/search
//	log members           one row each entry of an author of posts: the view is folded from them
//	view members          the authors of posts: social/members
//	view flashes          the newest flashes and posts: newsflash, flashList, newsflash/list, social/latest
//	view readings         what indicators say of each coin: ai-coins
//
// # Adding a projection
//
// As in the package perp: its dataset below shared/data, its file here, its
// constructor in [Projections], its batches in the table of the property test.
package content

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/lease"
	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/feeds"
)

// Name is that of the domain.
const Name = "content"

// Config is what the domain follows and where it writes.
type Config struct {
	Stores  engine.Stores
	Objects engine.DropObjects // where drops lie
	Bucket  string
	Logger  *slog.Logger

	Feeds      []Feed        // of news; none follows none
	DropsEvery time.Duration // between two looks for drops

	Announcements      []string      // names of the exchanges whose announcements are followed
	AnnouncementsURL   string        // where all of them are simulated; "" asks themselves
	AnnouncementsEvery time.Duration // between two looks

	Exchanges  bool       // some are followed, by their own domain
	Venue      bool       // the perpetual exchange is, by its own
	BlockBeats BlockBeats // the zero value follows no vendor of flashes
}

// Domain returns the domain for a process to run.
func (c Config) Domain(host engine.Host) engine.Domain {
	c.Stores, c.Logger = host.Stores, host.Logger
	c.Objects, c.Bucket = host.Objects, host.Bucket
	return engine.Domain{Name: Name, Begin: c.begin}
}

// begin makes the pipeline of one term.
func (c Config) begin(_ context.Context, term *lease.Term) (engine.Work, error) {
	c.Stores = c.Stores.Under(term)
	p := c.pipeline()
	p.Term = term
	return p, nil
}

func (c Config) pipeline() *engine.Pipeline[*Batch] {
	client := feeds.NewClient()
	projections, logs := Projections()
	return &engine.Pipeline[*Batch]{Domain: Name, Stores: c.Stores, NewBatch: NewBatch, Logs: logs, Projections: projections, Holds: holds, Logger: c.Logger,
		Sources: slices.Concat(c.sources(client), c.blockBeatsSources(client), c.announcementSources(), []engine.Source[*Batch]{c.drops(), c.markets(), c.readings()})}
}

// drops is the source of files that operators load.
func (c Config) drops() engine.Source[*Batch] {
	drops := &engine.Drops[*Batch]{Domain: Name, Datasets: Drops, NewBatch: NewBatch, Objects: c.Objects, Bucket: c.Bucket, Series: c.Stores.Series,
		Every: c.DropsEvery, Stats: new(source.Stats), Logger: c.Logger.With("source", "drops")}
	return drops.Source()
}
