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

	"quotary/functions/ingester/feeds/hub"
)

// gateway is the management API of the WebSocket APIs: frames go through the
// lean client of package feed, rare questions through the SDK's.
type gateway struct {
	frames *hub.Management
	config aws.Config
	valid  func() bool // whether frames may be sent

	mu      sync.Mutex
	clients map[string]*apigatewaymanagementapi.Client // by endpoint; there are four
}

// newGateway sends frames while valid, and posts so many of them on a connection
// before it has the answer to the first.
func newGateway(config aws.Config, valid func() bool, posts int) *gateway {
	config.HTTPClient = awshttp.NewBuildableClient().WithTimeout(3 * time.Second).WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConnsPerHost = 16
	})
	config.RetryMaxAttempts = 1 // the next look asks again
	return &gateway{
		frames:  hub.NewManagement(hub.ManagementConfig{Region: config.Region, Credentials: config.Credentials, Pipeline: posts}),
		config:  config,
		valid:   valid,
		clients: map[string]*apigatewaymanagementapi.Client{},
	}
}

// errNoTerm leaves a frame to be tried again: the term may go on.
var errNoTerm = fmt.Errorf("the lease is not valid: %w", hub.ErrBusy)

// PostAll sends frames while the lease is valid.
func (g *gateway) PostAll(ctx context.Context, all []hub.Delivery) {
	if !g.valid() {
		for i := range all {
			all[i].Err = errNoTerm
		}
		return
	}
	g.frames.PostAll(ctx, all)
}

// Batch is how many frames PostAll takes.
func (g *gateway) Batch() int { return g.frames.Batch() }

// Disconnect closes a connection.
func (g *gateway) Disconnect(ctx context.Context, c hub.Conn) error {
	return g.frames.Disconnect(ctx, c)
}

// Probe asks whether a connection is there; the error is [hub.ErrGone] when it
// is not.
func (g *gateway) Probe(ctx context.Context, c hub.Conn) error {
	_, err := g.client(c.Endpoint).GetConnection(ctx, &apigatewaymanagementapi.GetConnectionInput{ConnectionId: &c.ID})
	var response *awshttp.ResponseError
	if errors.As(err, &response) && response.HTTPStatusCode() == http.StatusGone {
		return hub.ErrGone
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
