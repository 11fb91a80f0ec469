package hub

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// target is one API, with the links to it.
type target struct {
	config  *ManagementConfig
	digests *digests
	secure  bool
	addr    string // to dial
	host    string // of the header
	name    string // of the certificate
	prefix  string // of the path, up to the connection id

	mu     sync.Mutex
	closed bool
	links  map[*link]struct{} // all
	idle   []*link            // the last is used first
	clock  *time.Timer        // ends links that are idle for too long; nil while none is
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
	t.digests = &m.digests
	m.mu.Lock()
	defer m.mu.Unlock()
	if other := m.targets[endpoint]; other != nil {
		return other, nil
	}
	t.closed = m.closed
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
		links:  map[*link]struct{}{},
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

// take returns a link for the caller alone, a new one if need be.
func (t *target) take(ctx context.Context, deadline time.Time) (*link, error) {
	t.mu.Lock()
	if last := len(t.idle) - 1; last >= 0 {
		l := t.idle[last]
		t.idle[last] = nil
		t.idle = t.idle[:last]
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
	if t.closed {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	t.links[l] = struct{}{}
	return l, nil
}

// give takes a link back.
func (t *target) give(l *link) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.spent || t.closed {
		t.end(l)
		return
	}
	l.used = time.Now()
	t.idle = append(t.idle, l)
	if t.clock == nil {
		t.clock = time.AfterFunc(idleMost, t.tidy)
	}
}

// idleMost is how long a link may be idle: less than the load balancer of the API
// keeps it.
const idleMost = 45 * time.Second

// tidy ends links that are idle for too long.
func (t *target) tidy() {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := 0
	for old < len(t.idle) && time.Since(t.idle[old].used) >= idleMost {
		t.end(t.idle[old])
		old++
	}
	t.idle = slices.Delete(t.idle, 0, old)
	if t.clock = nil; len(t.idle) > 0 && !t.closed {
		t.clock = time.AfterFunc(idleMost-time.Since(t.idle[0].used), t.tidy)
	}
}

// end closes a link. The caller holds t.mu.
func (t *target) end(l *link) {
	_ = l.conn.Close() // nothing is left to be written
	delete(t.links, l)
}

func (t *target) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for l := range t.links {
		t.end(l)
	}
	t.idle = nil
	if t.clock != nil {
		t.clock.Stop()
	}
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
