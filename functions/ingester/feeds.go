package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"quotary/functions/ingester/feeds"
	"quotary/functions/ingester/feeds/management"
	"quotary/functions/ingester/ingest"
	"quotary/functions/ingester/lease"
	"quotary/shared/connections"
	"quotary/shared/keys"
	"quotary/shared/source/hyperliquid"
	"quotary/shared/store/schema"
)

// hasFeeds tells whether there are WebSocket feeds: not when they are switched off
// or their table does not exist.
func (s settings) hasFeeds(ctx context.Context, c clients) (bool, error) {
	if !s.feeds {
		return false, nil
	}
	table := s.prefix + schema.ConnectionsTable
	_, err := c.dynamodb.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for the table of connections: %w", err)
	}
	return true, nil
}

// newFeeds makes the WebSocket feeds of one term; nil without any.
func (i *ingester) newFeeds(stores ingest.Stores, term *lease.Term) *feeds.Feeds {
	if !i.serves {
		return nil
	}
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
	if i.info != nil {
		config.Venue, config.Joined = i.info, hyperliquid.NewJoinedBooks(i.url, config.Logger)
	}
	return feeds.New(config)
}
