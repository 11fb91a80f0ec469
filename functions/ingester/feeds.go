package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"quotary/functions/ingester/ingest"
	"quotary/functions/ingester/live"
	"quotary/shared/connections"
	"quotary/shared/keys"
	"quotary/shared/lease"
	"quotary/shared/source/hyperliquid"
	"quotary/shared/store"
)

// openRing unwraps the data keys that the WebSocket feeds need; nil when they are
// switched off or their table does not exist.
func (s settings) openRing(ctx context.Context, c clients) (*keys.Ring, error) {
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
	return keys.OpenRing(ctx, source)
}

// newFeeds makes the WebSocket feeds of one term; nil without any.
func (i *ingester) newFeeds(stores ingest.Stores, term *lease.Term) *live.Feeds {
	if i.ring == nil {
		return nil
	}
	connected := connections.New(i.dynamodb, i.prefix+store.ConnectionsTable, time.Now)
	config := live.Config{
		Connections: connected,
		Follower:    connections.NewFollower(connected, i.dynamodb, dynamodbstreams.NewFromConfig(i.config)),
		Gateway:     newGateway(i.config, term.Valid, i.posts),
		Keys:        keys.New(i.dynamodb, i.prefix+store.KeysTable, i.ring, time.Now),
		Log:         stores.Log, Series: stores.Series,
		Logger: i.log.With("part", "feeds"),
		Idle:   i.idle, Silence: i.silence,
	}
	if i.info != nil {
		config.Venue, config.Joined = i.info, hyperliquid.NewJoinedBooks(i.url, config.Logger)
	}
	return live.New(config)
}
