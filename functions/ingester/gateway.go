package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"

	"quotary/shared/feed"
	"quotary/shared/lease"
)

// gateway is the management API of the WebSocket APIs: frames go through the
// lean client of package feed, rare questions through the SDK's.
type gateway struct {
	*feed.Management
	config aws.Config
	term   *lease.Term // in which frames may be sent

	mu      sync.Mutex
	clients map[string]*apigatewaymanagementapi.Client // by endpoint; there are four
}

func newGateway(config aws.Config, term *lease.Term) *gateway {
	config.HTTPClient = awshttp.NewBuildableClient().WithTimeout(3 * time.Second).WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConnsPerHost = 16
	})
	config.RetryMaxAttempts = 1 // the next look asks again
	return &gateway{
		Management: feed.NewManagement(feed.ManagementConfig{Region: config.Region, Credentials: config.Credentials}),
		config:     config,
		term:       term,
		clients:    map[string]*apigatewaymanagementapi.Client{},
	}
}

// Post sends a frame while the lease is valid. What waits meanwhile is tried
// again: the term may go on.
func (g *gateway) Post(ctx context.Context, c feed.Conn, frame []byte) error {
	if !g.term.Valid() {
		return fmt.Errorf("the lease is not valid: %w", feed.ErrBusy)
	}
	return g.Management.Post(ctx, c, frame)
}

// Probe asks whether a connection is there; the error is [feed.ErrGone] when it
// is not.
func (g *gateway) Probe(ctx context.Context, c feed.Conn) error {
	_, err := g.client(c.Endpoint).GetConnection(ctx, &apigatewaymanagementapi.GetConnectionInput{ConnectionId: &c.ID})
	var response *awshttp.ResponseError
	if errors.As(err, &response) && response.HTTPStatusCode() == http.StatusGone {
		return feed.ErrGone
	}
	if err != nil {
		return fmt.Errorf("ask for a connection: %w", err)
	}
	return nil
}

func (g *gateway) client(endpoint string) *apigatewaymanagementapi.Client {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.clients[endpoint]
	if c == nil {
		c = apigatewaymanagementapi.NewFromConfig(g.config, func(o *apigatewaymanagementapi.Options) { o.BaseEndpoint = &endpoint })
		g.clients[endpoint] = c
	}
	return c
}
