package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/feeds"
	"quotary/functions/ingester/feeds/management"
	"quotary/functions/ingester/lease"
	"quotary/functions/ingester/perp"
	"quotary/shared/connections"
	"quotary/shared/keys"
	"quotary/shared/market"
	"quotary/shared/metrics"
	"quotary/shared/source/hyperliquid"
	"quotary/shared/store/schema"
)

// hasFeeds reports whether there are WebSocket feeds: not when they are switched
// off or their table does not exist.
func (i *ingester) hasFeeds(ctx context.Context) (bool, error) {
	if !i.feeds {
		return false, nil
	}
	table := i.prefix + schema.ConnectionsTable
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

// feedsOf makes the WebSocket feeds of a term, for the perp domain. They ask the
// public API through info, which is nil where there is none.
func (i *ingester) feedsOf(info *hyperliquid.Info) func(engine.Stores, *lease.Term) *perp.Feeds {
	return func(stores engine.Stores, term *lease.Term) *perp.Feeds {
		connected := connections.New(i.dynamodb, i.prefix+schema.ConnectionsTable, time.Now)
		config := feeds.Config{
			Connections: connected,
			Follower:    connections.NewFollower(connected, i.dynamodb, dynamodbstreams.NewFromConfig(i.config)),
			Gateway:     management.New(i.config, term.Valid),
			Keys:        keys.New(i.dynamodb, i.prefix+schema.KeysTable, nil, time.Now),
			Log:         stores.Log, Series: stores.Series,
			Logger: i.log.With("part", "feeds"),
			Idle:   i.idle, Silence: i.silence,
		}
		if info != nil {
			config.Venue, config.Joined = info, hyperliquid.NewJoinedBooks(i.url, config.Logger)
		}
		f := feeds.New(config)
		return &perp.Feeds{Tap: f.Tap, Applied: func(e *market.Events, k *perp.Klines) { f.Applied(e, k) }, Run: f.Run, Figures: func() []engine.Figure {
			totals := f.Totals()
			return []engine.Figure{
				{Name: metrics.Connections, Unit: metrics.Count, Value: int64(totals.Connections)},
				{Name: metrics.FramesSent, Unit: metrics.Count, Value: int64(totals.Sent), Grows: true},
				{Name: metrics.FramesDropped, Unit: metrics.Count, Value: int64(totals.Discarded), Grows: true},
				{Name: metrics.FramesWaiting, Unit: metrics.Count, Value: int64(totals.Waiting)},
			}
		}}
	}
}
