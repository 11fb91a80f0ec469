// Package management reaches the clients of the WebSocket APIs through the management
// API of API Gateway (@connections), with the client of the AWS SDK.
//
// [Client] is the sink of a hub: each frame is one signed request. A request is made
// once: what is worth another try is [hub.ErrBusy], so that the hub and not a sleeping
// sender decides when. Only a request that a kept connection took, and that ended
// without a byte of an answer, is sent again at once on another one.
package management

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"quotary/functions/ingester/feeds/hub"
)

const (
	// requestTimeout bounds a request, the dialing of a connection included.
	requestTimeout = 5 * time.Second
	// idleTimeout is how long a connection to the API is kept unused: less than the
	// API's load balancer keeps it.
	idleTimeout = 45 * time.Second
	// idleConns is how many connections are kept to an endpoint: as many as a hub has
	// senders at most.
	idleConns = 256
)

// Client is the management API of all WebSocket APIs of a deployment.
type Client struct {
	config aws.Config
	valid  func() bool

	mu   sync.RWMutex
	apis map[string]*apigatewaymanagementapi.Client // by endpoint; there is one for each feed
}

// New returns a client with the region and the credentials of config. While valid is
// false no frame is sent: each fails with [hub.ErrBusy], since it may become true again.
func New(config aws.Config, valid func() bool) *Client {
	config = config.Copy()
	config.HTTPClient = inMemory{awshttp.NewBuildableClient().
		WithTimeout(requestTimeout).
		WithTransportOptions(func(t *http.Transport) {
			t.MaxIdleConns, t.MaxIdleConnsPerHost, t.IdleConnTimeout = 0, idleConns, idleTimeout
			t.DisableCompression = true
			// A connection of HTTP/2 would be one for all, and all would be lost with it.
			t.Protocols = new(http.Protocols)
			t.Protocols.SetHTTP1(true)
		})}
	config.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	return &Client{config: config, valid: valid, apis: map[string]*apigatewaymanagementapi.Client{}}
}

var errInvalid = fmt.Errorf("the lease is not valid: %w", hub.ErrBusy)

// Post sends a frame to a connection. See [hub.Sink] for its errors.
func (c *Client) Post(ctx context.Context, conn hub.Conn, frame []byte) error {
	if !c.valid() {
		return errInvalid
	}
	api, err := c.api(conn.Endpoint)
	if err != nil {
		return err
	}
	_, err = api.PostToConnection(ctx, &apigatewaymanagementapi.PostToConnectionInput{ConnectionId: &conn.ID, Data: frame})
	return outcome(err)
}

// Disconnect closes a connection. The error is [hub.ErrGone] when it was closed before.
func (c *Client) Disconnect(ctx context.Context, conn hub.Conn) error {
	api, err := c.api(conn.Endpoint)
	if err != nil {
		return err
	}
	_, err = api.DeleteConnection(ctx, &apigatewaymanagementapi.DeleteConnectionInput{ConnectionId: &conn.ID})
	return outcome(err)
}

// Probe asks whether a connection is open. The error is [hub.ErrGone] when it is not.
func (c *Client) Probe(ctx context.Context, conn hub.Conn) error {
	api, err := c.api(conn.Endpoint)
	if err != nil {
		return err
	}
	_, err = api.GetConnection(ctx, &apigatewaymanagementapi.GetConnectionInput{ConnectionId: &conn.ID})
	return outcome(err)
}

// api returns the client of an endpoint.
func (c *Client) api(endpoint string) (*apigatewaymanagementapi.Client, error) {
	c.mu.RLock()
	api := c.apis[endpoint]
	c.mu.RUnlock()
	if api != nil {
		return api, nil
	}
	if u, err := url.Parse(endpoint); err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("management endpoint %q is not an http or https URL: %w", endpoint, hub.ErrRejected)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if api = c.apis[endpoint]; api == nil {
		api = apigatewaymanagementapi.NewFromConfig(c.config, func(o *apigatewaymanagementapi.Options) { o.BaseEndpoint = &endpoint })
		c.apis[endpoint] = api
	}
	return api, nil
}

// outcome says what an error means for a frame: see [hub.Sink].
func outcome(err error) error {
	var (
		sending  *smithyhttp.RequestSendError
		answered *smithyhttp.ResponseError
		canceled *smithy.CanceledError
		network  *net.OpError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &canceled):
		return err
	case errors.As(err, &sending):
		// What was not written to its end cannot have been taken.
		if errors.As(err, &network) && slices.Contains([]string{"dial", "write", "readfrom"}, network.Op) {
			return fmt.Errorf("%w: %w", hub.ErrBusy, err)
		}
		return err
	case errors.As(err, &answered):
		if kind := meaning(answered.HTTPStatusCode()); kind != nil {
			return fmt.Errorf("%w: %w", kind, err)
		}
		return err
	}
	return fmt.Errorf("%w: %w", hub.ErrBusy, err) // it was not sent, as without credentials
}

// meaning returns what a status that is not a success says of the frame; nil when
// nobody knows.
func meaning(status int) error {
	switch {
	case status == http.StatusGone:
		return hub.ErrGone
	case status == http.StatusBadGateway, status == http.StatusGatewayTimeout, status/100 == 2:
		return nil
	case status == http.StatusTooManyRequests, status/100 == 5,
		status == http.StatusForbidden, status == http.StatusRequestTimeout: // the role may be about to change
		return hub.ErrBusy
	}
	return hub.ErrRejected
}

// inMemory gives net/http a body that it knows to be in memory. Then it sends header
// and body together, and can send them again when a kept connection turns out to be
// closed.
type inMemory struct{ client aws.HTTPClient }

func (m inMemory) Do(r *http.Request) (*http.Response, error) {
	// It repeats a request that ended before an answer began only if that may be done
	// twice; this says so, and is not sent.
	r.Header["X-Idempotency-Key"] = nil
	if r.Body != nil {
		frame := make([]byte, r.ContentLength)
		if _, err := io.ReadFull(r.Body, frame); err != nil {
			return nil, fmt.Errorf("read the body of a request: %w", err)
		}
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(frame)), nil }
		r.Body, _ = r.GetBody()
	}
	return m.client.Do(r)
}
