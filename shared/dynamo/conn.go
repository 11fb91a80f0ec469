package dynamo

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"quotary/shared/sigv4"
)

const (
	// attemptMost bounds one request and its answer.
	attemptMost = 3 * time.Second
	// idleMost is how long a connection may lie idle: DynamoDB closes it
	// somewhat later, and a request on a closed connection is made twice.
	idleMost = 15 * time.Second
	// idleConns bounds the connections that are kept: a function has two or three
	// requests under way at a time.
	idleConns = 64
)

// pool keeps the connections to one endpoint. A request has one to itself and is
// written and read by its caller's goroutine: nothing runs in the background.
type pool struct {
	host   string // of the header
	path   []byte
	addr   string // to dial
	dial   func(ctx context.Context, network, addr string) (net.Conn, error)
	secure *tls.Config // nil for http

	mu   sync.Mutex
	idle []*conn // the last was used last
}

// newPool returns the pool of an endpoint, which connects as the transport of the
// SDK's HTTP client would; nil when it cannot: a client of another kind, or a proxy.
func newPool(endpoint *url.URL, client any) *pool {
	transport := transportOf(client)
	if transport == nil {
		return nil
	}
	if transport.Proxy != nil {
		if proxy, err := transport.Proxy(&http.Request{URL: endpoint, Header: http.Header{}}); err != nil || proxy != nil {
			return nil
		}
	}
	p := &pool{host: endpoint.Host, path: []byte(endpoint.EscapedPath()), dial: transport.DialContext}
	if p.dial == nil {
		p.dial = new(net.Dialer).DialContext
	}
	port := endpoint.Port()
	switch endpoint.Scheme {
	case "http":
		if port == "" {
			port = "80"
		}
	case "https":
		if port == "" {
			port = "443"
		}
		p.secure = transport.TLSClientConfig.Clone()
		if p.secure == nil {
			p.secure = new(tls.Config)
		}
		if p.secure.ServerName == "" {
			p.secure.ServerName = endpoint.Hostname()
		}
		p.secure.MinVersion = max(p.secure.MinVersion, tls.VersionTLS12)
		p.secure.NextProtos = []string{"http/1.1"}
	default:
		return nil
	}
	p.addr = net.JoinHostPort(endpoint.Hostname(), port)
	return p
}

func transportOf(client any) *http.Transport {
	switch client := client.(type) {
	case interface{ GetTransport() *http.Transport }: // the SDK's own
		return client.GetTransport()
	case *http.Client:
		transport, _ := client.Transport.(*http.Transport)
		return transport
	}
	return nil
}

// take returns an idle connection, or a new one.
func (p *pool) take(ctx context.Context, deadline time.Time) (*conn, error) {
	if c := p.kept(); c != nil {
		return c, nil
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	raw, err := p.dial(ctx, "tcp", p.addr)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if p.secure != nil {
		secure := tls.Client(raw, p.secure)
		if err := secure.HandshakeContext(ctx); err != nil {
			raw.Close()
			return nil, fmt.Errorf("connect: %w", err)
		}
		raw = secure
	}
	return &conn{Conn: raw, in: bufio.NewReaderSize(raw, 4096)}, nil
}

// kept returns the connection that was used last, nil when there is none of use.
func (p *pool) kept() *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return nil
	}
	c := p.idle[last]
	if time.Since(c.used) < idleMost {
		p.idle = p.idle[:last]
		return c
	}
	for _, old := range p.idle { // the others were used even earlier
		old.Close()
	}
	p.idle = nil
	return nil
}

// put gives a connection back that has nothing under way.
func (p *pool) put(c *conn) {
	c.used = time.Now()
	p.mu.Lock()
	full := len(p.idle) == idleConns
	if !full {
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
	if full {
		c.Close()
	}
}

// conn is a connection with the memory that its requests need.
type conn struct {
	net.Conn
	in   *bufio.Reader
	out  []byte
	sign sigv4.Signer
	used time.Time
}

// post is the request that answers are read as an answer to.
var post = &http.Request{Method: http.MethodPost}

// exchange makes a request and returns the answer.
func (p *pool) exchange(ctx context.Context, key *sigv4.Key, r sigv4.Request, body []byte) (status int, text string, err error) {
	deadline := time.Now().Add(attemptMost)
	c, err := p.take(ctx, deadline)
	if err != nil {
		return 0, "", err
	}
	kept := false
	defer func() {
		if !kept {
			c.Close()
		}
	}()
	if ends, ok := ctx.Deadline(); ok && ends.Before(deadline) {
		deadline = ends
	}
	if err := c.SetDeadline(deadline); err != nil {
		return 0, "", fmt.Errorf("set the deadline: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer stop()

	c.out = append(c.out[:0], "POST "...)
	c.out = append(append(c.out, r.Path...), " HTTP/1.1\r\n"...)
	c.out = c.sign.AppendHeader(c.out, key, r)
	c.out = append(append(c.out, "\r\n"...), body...)
	if _, err := c.Write(c.out); err != nil {
		return 0, "", fmt.Errorf("send: %w", err)
	}
	res, err := http.ReadResponse(c.in, post)
	if err != nil {
		return 0, "", fmt.Errorf("read the answer: %w", err)
	}
	if text, err = readText(res); err != nil {
		return 0, "", fmt.Errorf("read the answer: %w", err)
	}
	if kept = !res.Close && c.in.Buffered() == 0 && stop(); kept {
		p.put(c)
	}
	return res.StatusCode, text, nil
}

var errTooLong = errors.New("the answer is longer than any of DynamoDB's")

// readText reads the body of an answer to its end.
func readText(res *http.Response) (string, error) {
	defer res.Body.Close()
	if res.ContentLength > maxAnswer {
		return "", errTooLong
	}
	var buf bytes.Buffer
	if res.ContentLength > 0 {
		buf.Grow(int(res.ContentLength) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return "", err
	}
	if n > maxAnswer {
		return "", errTooLong
	}
	return buf.String(), nil
}
