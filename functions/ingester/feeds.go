package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"quotary/functions/ingester/ingest"
	"quotary/functions/ingester/live"
	"quotary/shared/connections"
	"quotary/shared/keys"
	"quotary/shared/source/hyperliquid"
	"quotary/shared/store"
)

// openFeeds opens the WebSocket feeds; nil when they are switched off or their
// table does not exist.
func (s settings) openFeeds(ctx context.Context, c clients, stores ingest.Stores, info *hyperliquid.Info, log *slog.Logger) (*live.Feeds, error) {
	if !s.feeds {
		return nil, nil
	}
	table := s.prefix + store.ConnectionsTable
	_, err := c.dynamodb.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for the table of connections: %w", err)
	}
	source := keys.File(s.keys)
	if s.keys == "" {
		if s.wrapped == "" {
			return nil, errors.New("QUOTARY_DATA_KEYS is not set: the data keys that seal secrets, wrapped by KMS (or QUOTARY_DATA_KEYS_FILE with plain ones on a local stack); the WebSocket feeds look at the keys of their clients, and QUOTARY_FEEDS=off leaves them out")
		}
		source = keys.KMS(kms.NewFromConfig(c.config), s.wrapped)
	}
	ring, err := keys.OpenRing(ctx, source)
	if err != nil {
		return nil, err
	}
	connected := connections.New(c.dynamodb, table, time.Now)
	config := live.Config{
		Connections: connected,
		Follower:    connections.NewFollower(connected, c.dynamodb, dynamodbstreams.NewFromConfig(c.config)),
		Gateway:     newGateway(c.config),
		Keys:        keys.New(c.dynamodb, s.prefix+store.KeysTable, ring, time.Now),
		Log:         stores.Log, Series: stores.Series,
		Logger: log.With("part", "feeds"),
		Idle:   s.idle,
	}
	if info != nil {
		config.Venue = info
	}
	return live.New(config), nil
}
