package perp

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/catalog"
	"quotary/shared/data/followrequests"
	"quotary/shared/data/funding"
	"quotary/shared/data/meta"
	"quotary/shared/market"
	"quotary/shared/store"
)

// sources are those that the configuration names, shown to the feeds where there
// are any. Where a node is followed, it emits every trade, and the public API is
// only asked for the rest.
func (c Config) sources(feeds *Feeds, hours *hyperliquid.Hours) []engine.Source[*Batch] {
	var sources []engine.Source[*Batch]
	if c.NodeDir != "" {
		sources = append(sources, c.nodeSources(feeds)...)
	}
	if c.URL != "" {
		stats := new(source.Stats)
		public := &hyperliquid.Feed{URL: c.URL, Trades: c.NodeDir == "", Books: true, Info: c.Info, Stats: stats, Log: c.log("hyperliquid", stats)}
		public.Stored = func(ctx context.Context) (map[string]json.RawMessage, error) {
			v, err := store.OrZero(meta.Published.Open(c.Stores.Views, time.Now).Get(ctx))
			return v.Perps, err
		}
		follow := tapped(feeds, public.Follow)
		if c.Provisional {
			follow = func(ctx context.Context, sink hyperliquid.Sink) error {
				return public.Follow(ctx, c.withProvisional(hours, tap(feeds, sink)))
			}
		}
		s := live("hyperliquid", public.Stats, follow)
		s.Group, s.Awaited = "hyperliquid", true
		s.Brings = catalog.AllOf(catalog.VenueMids, catalog.VenueMeta, catalog.VenueBooks)
		if public.Trades {
			s.Brings = append(s.Brings, catalog.AllOf(catalog.VenueTrades)...)
		}
		if c.Provisional {
			s.Brings = append(s.Brings, catalog.AllOf(catalog.VenueAccountTrades)...)
		}
		sources = append(sources, s)
	}
	if c.Info != nil {
		stats := new(source.Stats)
		contexts := &hyperliquid.Contexts{Info: c.Info, Stats: stats, Log: c.log("contexts", stats)}
		newest := func(ctx context.Context, coin string) (time.Time, error) {
			return funding.NewestFinal(ctx, c.Stores.Series, coin)
		}
		paid := &hyperliquid.Funding{Info: c.Info, Newest: newest, Stats: new(source.Stats), Log: c.Logger.With("source", "funding")}
		figures, rates := live("contexts", contexts.Stats, tapped(feeds, contexts.Follow)), live("funding", paid.Stats, paid.Follow)
		figures.Brings, figures.Awaited = catalog.AllOf(catalog.VenueContexts), true
		rates.Brings = catalog.AllOf(catalog.VenueFunding)
		sources = append(sources, figures, rates)
	}
	return sources
}

// anchors asks about the accounts that are wanted: the node's own endpoint where there is
// one, else the public one, which may be behind the node's files.
func (c Config) anchors(wanted *wantedAccounts, feeds *Feeds) engine.Source[*Batch] {
	a := &hyperliquid.Anchors{Info: c.NodeInfo, Stats: new(source.Stats), Log: c.Logger.With("source", "anchors")}
	if a.Info == nil {
		a.Info, a.Budget, a.Behind = c.Info, source.NewBudget(c.AnchorWeight, time.Now), publicBehind
	} else if c.Info != nil {
		a.Public, a.PublicBudget = c.Info, source.NewBudget(c.AnchorWeight, time.Now)
	}
	a.OldestWait = &wanted.oldestWait
	a.Wanted = func(ctx context.Context) ([]hyperliquid.WantedAnchor, error) {
		var followed followrequests.List[string]
		if feeds != nil && feeds.Accounts != nil {
			followed = feeds.Accounts()
		}
		if c.Wanted == nil {
			return wanted.list(followed, time.Now()), nil
		}
		asked, err := c.Wanted.List(ctx, time.Now())
		return wanted.list(slices.Concat(followed, asked), time.Now()), err
	}
	s := live("anchors", a.Stats, a.Follow)
	s.Brings = catalog.AllOf(catalog.VenueAccounts)
	return s
}

// vaults asks for the venue's vaults: those that it lists, and those that are asked for.
func (c Config) vaults(asked *vaultQuestions) engine.Source[*Batch] {
	v := &hyperliquid.Vaults{Info: c.Info, Stats: new(source.Stats), Log: c.Logger.With("source", "vaults"), Next: asked.next}
	return live("vaults", v.Stats, v.Follow)
}

// publicBehind is about how far the public API is behind a node.
const publicBehind = 500 * time.Millisecond

// nodeSources are the files of a node.
func (c Config) nodeSources(feeds *Feeds) []engine.Source[*Batch] {
	var sources []engine.Source[*Batch]
	coins := hyperliquid.NewCoins()
	files := func(stream string, read func(*market.Events, string, int64) (int, error)) *hyperliquid.Files {
		stats := new(source.Stats)
		return &hyperliquid.Files{Dir: folder(c.NodeDir, stream), Stats: stats, Read: read, Coins: coins, Log: c.log(stream, stats)}
	}
	for _, stream := range hyperliquid.Streams {
		of := files(stream, nil)
		if c.holes != nil && stream == hyperliquid.BlockStream {
			of.Holes = c.holes.note
		}
		sources = append(sources, c.stream(stream, "node", of, feeds, catalog.VenueFills, catalog.VenueAccountTrades, catalog.VenueAccountEvents, catalog.VenueTrades)...)
	}
	for _, stream := range hyperliquid.OrderStreams {
		sources = append(sources, c.stream(stream, "", files(stream, hyperliquid.ReadOrders), feeds, catalog.VenueOrders)...)
	}
	// What funding was paid, for which the public API is asked too, with its past; and
	// what moved on ledgers.
	for _, stream := range hyperliquid.LedgerStreams {
		sources = append(sources, c.stream(stream, "", files(stream, hyperliquid.ReadMisc), feeds, catalog.VenueLedgers, catalog.VenuePayments, catalog.VenueAccountEvents)...)
	}
	// It writes few of these, and none where it does not write fills.
	for _, stream := range hyperliquid.TwapStreams {
		sources = append(sources, c.stream(stream, "", files(stream, hyperliquid.ReadTwaps), feeds, catalog.VenueTwaps)...)
	}
	return sources
}

// log is that of a source.
func (c Config) log(name string, stats *source.Stats) *slog.Logger {
	return source.Watched(c.Logger.With("source", name), stats)
}

func folder(nodeDir, stream string) string { return filepath.Join(nodeDir, stream, "hourly") }

// live is a source without positions, whose silence is no trouble as long as it
// is in no group.
func live(name string, stats *source.Stats, follow func(context.Context, hyperliquid.Sink) error) engine.Source[*Batch] {
	return engine.Source[*Batch]{Name: name, Stats: stats, NoCheckpoint: true,
		Follow: func(ctx context.Context, _ engine.Position, sink engine.Sink[*Batch]) error {
			return follow(ctx, toBatches(sink, false))
		}}
}

// tapped shows the feeds what a source without positions emits.
func tapped(feeds *Feeds, follow func(context.Context, hyperliquid.Sink) error) func(context.Context, hyperliquid.Sink) error {
	return func(ctx context.Context, sink hyperliquid.Sink) error { return follow(ctx, tap(feeds, sink)) }
}

func tap(feeds *Feeds, sink hyperliquid.Sink) hyperliquid.Sink {
	if feeds == nil {
		return sink
	}
	return feeds.Tap(sink, false)
}

// stream is the sources of a node's files: of what happens now, which is shown to the
// feeds where there are any, and of what happened before.
func (c Config) stream(name, group string, files *hyperliquid.Files, feeds *Feeds, brings ...*catalog.Dataset) []engine.Source[*Batch] {
	s := c.split(name, files)
	now := s.follow
	if feeds != nil {
		s.show = feeds.Past
		now = func(ctx context.Context, from hyperliquid.Position, sink hyperliquid.Sink) error {
			return s.follow(ctx, from, feeds.Tap(sink, true))
		}
	}
	return []engine.Source[*Batch]{
		{Name: name, Group: group, Stats: files.Stats, Follow: follow(now), Brings: catalog.AllOf(brings...), Awaited: group != ""},
		{Name: name + " past", Stats: s.past.Stats, Follow: s.readPast, Background: true, Past: true},
	}
}
