package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/feeds"
	"quotary/functions/ingester/feeds/management"
	"quotary/functions/ingester/lease"
	"quotary/functions/ingester/perp"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/aws/metrics"
	"quotary/shared/catalog"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/keys"
	"quotary/shared/market"
	"quotary/shared/service/config"
	"quotary/shared/store/schema"
)

// feedsConfig is what is set of the WebSocket feeds.
type feedsConfig struct {
	on            bool          // drive them, where their table exists
	rate          int           // requests a second to the gateway
	idle, silence time.Duration // 0 means what the package feeds takes
}

func feedSettings(env *config.Env) feedsConfig {
	return feedsConfig{
		on:   env.Bool(catalog.EnvFeeds, true, "whether to drive the WebSocket feeds"),
		rate: env.Int(catalog.EnvFeedRate),
		idle: env.Duration(catalog.EnvFeedIdle), silence: env.Duration(catalog.EnvFeedSilence),
	}
}

// feedsOf makes the WebSocket feeds of a term, for the perp domain: none where their
// table does not exist, which is said once. They ask the public API of the domain, where
// there is one.
func (i *ingester) feedsOf(set feedsConfig, domain perp.Config) func(context.Context, engine.Stores, *lease.Term, <-chan struct{}) (*perp.Feeds, error) {
	var warn sync.Once
	return func(ctx context.Context, stores engine.Stores, term *lease.Term, pastRead <-chan struct{}) (*perp.Feeds, error) {
		found, err := i.findsConnections(ctx)
		if err != nil {
			return nil, err
		}
		if !found {
			warn.Do(func() {
				i.log.Warn(catalog.EnvFeeds+" is on, but the table of connections does not exist: going on without WebSocket feeds", "table", i.connectionsTable())
			})
			return nil, nil
		}
		connected := connections.New(i.dynamodb, i.connectionsTable(), time.Now)
		config := feeds.Config{
			Connections: connected,
			Follower:    connections.NewFollower(connected, i.dynamodb, dynamodbstreams.NewFromConfig(i.config)),
			Gateway:     management.New(i.config, term.Valid),
			Keys:        keys.New(i.dynamodb, i.prefix+schema.KeysTable, nil, time.Now),
			Log:         stores.Log, Series: stores.Series, PastRead: pastRead,
			Folds: domain.NodeDir != "", Hours: domain.Hours != nil,
			Logger: i.log.With("part", "feeds"),
			Rate:   set.rate, Idle: set.idle, Silence: set.silence,
		}
		if domain.Info != nil {
			config.Venue, config.Joined = domain.Info, hyperliquid.NewJoinedBooks(domain.URL, config.Logger)
			if domain.NodeInfo == nil {
				config.VenueWeight = feeds.WeightBeside(domain.AnchorWeight)
			}
		}
		f := feeds.New(config)
		return &perp.Feeds{Tap: f.Tap, Past: f.Past, Hour: f.Hour, Applied: func(e *market.Events, folded *perp.Folded) { f.Applied(e, folded) }, Run: f.Run, Accounts: f.Accounts, Figures: func() []engine.Figure {
			totals, waiting := f.Totals(), f.Waiting()
			return []engine.Figure{
				{Name: metrics.Connections, Unit: metrics.Count, Value: int64(totals.Connections)},
				{Name: metrics.FramesSent, Unit: metrics.Count, Value: int64(totals.Sent), Grows: true},
				{Name: metrics.FramesDropped, Unit: metrics.Count, Value: int64(totals.Discarded), Grows: true},
				{Name: metrics.FramesWaiting, Unit: metrics.Count, Value: int64(totals.Waiting)},
				{Name: metrics.AccountPollsWaiting, Unit: metrics.Count, Value: int64(waiting.Accounts)},
				{Name: metrics.AccountPollWait, Unit: metrics.Milliseconds, Value: waiting.Longest.Milliseconds()},
				{Name: metrics.SnapshotsWaiting, Unit: metrics.Count, Value: int64(waiting.Snapshots)},
				{Name: metrics.BooksNotJoined, Unit: metrics.Count, Value: int64(waiting.Books)},
				{Name: metrics.KeysUnread, Unit: metrics.Count, Value: int64(f.KeysUnread())},
			}
		}}, nil
	}
}

func (i *ingester) connectionsTable() string { return i.prefix + schema.ConnectionsTable }

// findsConnections reports whether the table of connections exists.
func (i *ingester) findsConnections(ctx context.Context) (bool, error) {
	table := i.connectionsTable()
	_, err := i.dynamodb.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for the table of connections: %w", err)
	}
	return true, nil
}
