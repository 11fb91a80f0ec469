package feed

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// ManagementConfig says how a [Management] reaches its API. Region and
// Credentials are needed.
type ManagementConfig struct {
	Region      string
	Credentials aws.CredentialsProvider // asked for each request: it must cache
	TLS         *tls.Config             // of https endpoints; nil for the default
	Timeout     time.Duration           // of a request; 0 for 5 s
	Now         func() time.Time        // nil for time.Now
}

// Management is the management API of API Gateway for WebSocket connections, as
// the sink of a [Hub]. It speaks HTTP/1.1 over connections that it keeps, as many
// as there were requests at a time; it knows no proxies. It makes each request
// once: what is worth another try it says is [ErrBusy], so that the hub and not a
// sleeping sender decides when.
type Management struct {
	config  ManagementConfig
	keys    keyring
	digests digests

	mu      sync.RWMutex
	targets map[string]*target // by endpoint
}

// NewManagement returns a sink. [Management.Close] frees what it keeps.
func NewManagement(config ManagementConfig) *Management {
	if config.Timeout <= 0 {
		config.Timeout = 5 * time.Second
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Management{
		config:  config,
		keys:    keyring{region: config.Region, credentials: config.Credentials},
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

// Close closes the connections to the API that are not in use.
func (m *Management) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.targets {
		t.close()
	}
}

func (m *Management) call(ctx context.Context, method string, c Conn, frame []byte) error {
	t, err := m.target(c.Endpoint)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRejected, err)
	}
	now := stampOf(m.config.Now())
	key, err := m.keys.at(ctx, now)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	deadline := time.Now().Add(m.config.Timeout)
	for again := false; ; again = true {
		l, err := t.take(ctx, deadline, again)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrBusy, err)
		}
		l.write(t, c.ID, frame, key, request{method: method, host: t.host, payload: m.digests.of(frame), now: now})
		status, err := l.exchange(ctx, deadline)
		if errors.Is(err, errStale) && !again {
			continue // the API had closed it while it was idle
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", method, t.host, err)
		}
		t.put(l)
		return outcome(method, status)
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

	mu   sync.Mutex
	idle []*link // the last used is the first to be used again
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

// idleMost is how long a link may be idle before it is not used again: less than
// the load balancer of the API keeps it.
const idleMost = 45 * time.Second

// take returns an idle link, or dials one.
func (t *target) take(ctx context.Context, deadline time.Time, fresh bool) (*link, error) {
	for !fresh {
		t.mu.Lock()
		last := len(t.idle) - 1
		if last < 0 {
			t.mu.Unlock()
			break
		}
		l := t.idle[last]
		t.idle[last] = nil
		t.idle = t.idle[:last]
		t.mu.Unlock()
		if deadline.Sub(l.used) < idleMost+t.config.Timeout {
			return l, nil
		}
		l.conn.Close()
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", t.addr)
	if err != nil {
		return nil, err
	}
	if t.secure {
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
		conn = secure
	}
	return newLink(conn), nil
}

// put keeps a link for the next request, unless the API closes it. It also
// closes one that was idle for too long, if there is any: the first.
func (t *target) put(l *link) {
	if l.spent {
		l.conn.Close()
		return
	}
	var old *link
	l.used = time.Now()
	t.mu.Lock()
	if len(t.idle) > 0 && l.used.Sub(t.idle[0].used) > idleMost {
		old = t.idle[0]
		t.idle = append(t.idle[:0], t.idle[1:]...)
	}
	t.idle = append(t.idle, l)
	t.mu.Unlock()
	if old != nil {
		old.conn.Close()
	}
}

func (t *target) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.idle {
		l.conn.Close()
	}
	t.idle = nil
}
