package feed

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"quotary/shared/sigv4"
)

// ManagementConfig says how a [Management] reaches its API. Region and
// Credentials are needed.
type ManagementConfig struct {
	Region      string
	Credentials aws.CredentialsProvider // asked for each request: it must cache
	TLS         *tls.Config             // of https endpoints; nil for the default
	Timeout     time.Duration           // of a request; 0 for 5 s
	// Pipeline is how many requests may be on their way on one connection: 0 or 1
	// for one, the next after the answer. More cost less for each, if the API reads
	// a request before it answered the last, as HTTP/1.1 wants it; but one that
	// takes its time keeps those behind it waiting.
	Pipeline int
	Now      func() time.Time // nil for time.Now
}

// Management is the management API of API Gateway for WebSocket connections, as
// the sink of a [Hub]. It speaks HTTP/1.1 over connections that it keeps, as many
// as requests at a time need; it knows no proxies. It makes each request
// once: what is worth another try it says is [ErrBusy], so that the hub and not a
// sleeping sender decides when.
type Management struct {
	config  ManagementConfig
	keys    sigv4.Keyring
	digests digests

	mu      sync.RWMutex
	targets map[string]*target // by endpoint
}

// NewManagement returns a sink. [Management.Close] frees what it keeps.
func NewManagement(config ManagementConfig) *Management {
	if config.Timeout <= 0 {
		config.Timeout = 5 * time.Second
	}
	config.Pipeline = max(config.Pipeline, 1)
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Management{
		config:  config,
		keys:    sigv4.Keyring{Service: "execute-api", Region: config.Region, Credentials: config.Credentials},
		targets: map[string]*target{},
	}
}

// Post sends a frame to a connection (PostToConnection). Besides the errors of
// [Sink], it returns one that is [ErrRejected] for a frame that the API will not
// take, as one of more than 128 KB.
func (m *Management) Post(ctx context.Context, c Conn, frame []byte) error {
	return m.call(ctx, http.MethodPost, c, frame)
}

// Disconnect closes a connection (DeleteConnection). Its errors are those of
// Post; [ErrGone] says that it was closed before.
func (m *Management) Disconnect(ctx context.Context, c Conn) error {
	return m.call(ctx, http.MethodDelete, c, nil)
}

// Close closes the connections to the API. It fails the requests that are under
// way, and returns when no goroutine is left.
func (m *Management) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.targets {
		t.close()
	}
}

var calls = sync.Pool{New: func() any { return &call{done: make(chan struct{}, 1)} }}

func (m *Management) call(ctx context.Context, method string, c Conn, frame []byte) error {
	t, err := m.target(c.Endpoint)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRejected, err)
	}
	now := sigv4.StampOf(m.config.Now())
	key, err := m.keys.At(ctx, now)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	r := sigv4.Request{Method: method, Host: t.host, Payload: m.digests.of(frame), Now: now}
	deadline := time.Now().Add(m.config.Timeout)
	for attempt := 0; ; attempt++ {
		l, err := t.take(ctx, deadline)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrBusy, err)
		}
		status, err := l.exchange(ctx, deadline, c.ID, frame, key, r)
		switch {
		case err == nil:
			return outcome(method, status)
		case attempt >= staleMost || !errors.Is(err, errStale):
			return fmt.Errorf("%s %s: %w", method, t.host, err)
		}
	}
}

// staleMost is how many links in a row may turn out to be closed.
const staleMost = 2

// exchange sends a request and waits for its answer.
func (l *link) exchange(ctx context.Context, deadline time.Time, id string, frame []byte, key *sigv4.Key, r sigv4.Request) (int, error) {
	c := calls.Get().(*call)
	c.deadline, c.status, c.err = deadline, 0, nil
	if err := l.send(c, id, frame, key, r); err != nil {
		return 0, err
	}
	select {
	case <-c.done:
		status, err := c.status, c.err
		calls.Put(c)
		return status, err
	case <-ctx.Done():
		return 0, ctx.Err() // the answer will find nobody; c is not used again
	}
}

// outcome tells what a status means for the frame.
func outcome(method string, status int) error {
	kind := ErrRejected
	switch {
	case status/100 == 2:
		return nil
	case status == http.StatusGone:
		kind = ErrGone
	case status == http.StatusBadGateway, status == http.StatusGatewayTimeout:
		return fmt.Errorf("%s: status %d", method, status) // who knows
	case status == http.StatusTooManyRequests, status/100 == 5,
		status == http.StatusForbidden, status == http.StatusRequestTimeout: // the role may be about to change
		kind = ErrBusy
	}
	return fmt.Errorf("%s: status %d: %w", method, status, kind)
}

// target is one API.
type target struct {
	config *ManagementConfig
	secure bool
	addr   string // to dial
	host   string // of the header
	name   string // of the certificate
	prefix string // of the path, up to the connection id

	mu      sync.Mutex
	links   map[*link]bool // all; true while in ready
	ready   []*link        // with a place for a call: the last is used first
	reading sync.WaitGroup
}

func (m *Management) target(endpoint string) (*target, error) {
	m.mu.RLock()
	t := m.targets[endpoint]
	m.mu.RUnlock()
	if t != nil {
		return t, nil
	}
	t, err := newTarget(endpoint, &m.config)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if other := m.targets[endpoint]; other != nil {
		return other, nil
	}
	m.targets[endpoint] = t
	return t, nil
}

func newTarget(endpoint string, config *ManagementConfig) (*target, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("management endpoint %q is not an http or https URL", endpoint)
	}
	t := &target{
		config: config,
		secure: u.Scheme == "https",
		host:   u.Host,
		name:   u.Hostname(),
		prefix: strings.TrimSuffix(u.EscapedPath(), "/") + "/@connections/",
		links:  map[*link]bool{},
	}
	usual := "80"
	if t.secure {
		usual = "443"
	}
	if u.Port() == "" || u.Port() == usual {
		t.host = strings.TrimSuffix(u.Host, ":"+usual)
		t.addr = net.JoinHostPort(u.Hostname(), usual)
	} else {
		t.addr = net.JoinHostPort(u.Hostname(), u.Port())
	}
	return t, nil
}

// idleMost is how long a link may be idle: less than the load balancer of the API
// keeps it.
const idleMost = 45 * time.Second

// take returns a link on which the caller has a place, a new one if need be.
func (t *target) take(ctx context.Context, deadline time.Time) (*link, error) {
	t.mu.Lock()
	if last := len(t.ready) - 1; last >= 0 {
		l := t.ready[last]
		if l.load++; l.load == t.config.Pipeline {
			t.ready[last] = nil
			t.ready = t.ready[:last]
			t.links[l] = false
		}
		t.mu.Unlock()
		return l, nil
	}
	t.mu.Unlock()
	conn, err := t.dial(ctx, deadline)
	if err != nil {
		return nil, err
	}
	l := newLink(t, conn)
	t.mu.Lock()
	defer t.mu.Unlock()
	l.load = 1
	if t.links[l] = l.load < t.config.Pipeline; t.links[l] {
		t.ready = append(t.ready, l)
	}
	t.reading.Go(l.read)
	return l, nil
}

// free gives a place on a link back.
func (t *target) free(l *link) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l.load--
	if ready, known := t.links[l]; known && !ready {
		t.links[l] = true
		t.ready = append(t.ready, l)
	}
}

func (t *target) remove(l *link) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.links, l)
	t.ready = slices.DeleteFunc(t.ready, func(other *link) bool { return other == l })
}

func (t *target) close() {
	t.mu.Lock()
	for l := range t.links {
		l.conn.Close()
	}
	t.mu.Unlock()
	t.reading.Wait()
}

func (t *target) dial(ctx context.Context, deadline time.Time) (net.Conn, error) {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", t.addr)
	if err != nil || !t.secure {
		return conn, err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.config.TLS != nil {
		config = t.config.TLS.Clone()
	}
	if config.ServerName == "" {
		config.ServerName = t.name
	}
	config.NextProtos = []string{"http/1.1"}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secure, nil
}
