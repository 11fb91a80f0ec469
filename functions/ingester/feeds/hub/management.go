package hub

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
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
	// for one, the next after the answer; at most 128. More cost less for each, if
	// the API reads a request before the answer to the last is read, as HTTP/1.1
	// wants it; but one that takes its time keeps those behind it waiting, and all
	// that were on their way are lost track of together.
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
	groups  sync.Pool // of *[]*Delivery

	mu      sync.RWMutex
	closed  bool
	targets map[string]*target // by endpoint
}

// pipelineMost is how many answers the system holds surely, so that the API can
// send them all while requests are still being written.
const pipelineMost = 128

// NewManagement returns a sink. [Management.Close] frees what it keeps.
func NewManagement(config ManagementConfig) *Management {
	if config.Timeout <= 0 {
		config.Timeout = 5 * time.Second
	}
	config.Pipeline = min(max(config.Pipeline, 1), pipelineMost)
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Management{
		config:  config,
		keys:    sigv4.Keyring{Service: "execute-api", Region: config.Region, Credentials: config.Credentials},
		groups:  sync.Pool{New: func() any { return new([]*Delivery) }},
		targets: map[string]*target{},
	}
}

// Batch is the Pipeline of the configuration: see [Sink].
func (m *Management) Batch() int { return m.config.Pipeline }

// PostAll sends frames to connections (PostToConnection): see [Sink]. The error of a
// frame that the API will not take, as one of more than 128 KB, is [ErrRejected].
func (m *Management) PostAll(ctx context.Context, frames []Delivery) {
	m.send(ctx, http.MethodPost, frames)
}

// Disconnect closes a connection (DeleteConnection). Its errors are those of
// a [Delivery]; [ErrGone] says that it was closed before.
func (m *Management) Disconnect(ctx context.Context, c Conn) error {
	one := [1]Delivery{{Conn: c}}
	m.send(ctx, http.MethodDelete, one[:])
	return one[0].Err
}

// Close closes the connections to the API. It fails the requests that are under
// way and all later ones.
func (m *Management) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	for _, t := range m.targets {
		t.close()
	}
}

// errUnsent marks what was not sent yet.
var errUnsent = errors.New("not sent")

// send makes a request for each frame. Those to one endpoint go together.
func (m *Management) send(ctx context.Context, method string, frames []Delivery) {
	memory := m.groups.Get().(*[]*Delivery)
	group := *memory
	for i := range frames {
		frames[i].Err = errUnsent
	}
	for i := range frames {
		if frames[i].Err != errUnsent { //nolint:errorlint // the mark itself
			continue
		}
		group = group[:0]
		endpoint := frames[i].Conn.Endpoint
		for j := i; j < len(frames) && len(group) < m.config.Pipeline; j++ {
			if f := &frames[j]; f.Err == errUnsent && f.Conn.Endpoint == endpoint { //nolint:errorlint // the mark itself
				group = append(group, f)
			}
		}
		m.sendGroup(ctx, method, group)
	}
	clear(group)
	*memory = group[:0]
	m.groups.Put(memory)
}

// staleMost is how many links in a row may turn out to be closed.
const staleMost = 2

// sendGroup makes requests to one endpoint.
func (m *Management) sendGroup(ctx context.Context, method string, frames []*Delivery) {
	fail := func(err error) {
		for _, f := range frames {
			f.Err = err
		}
	}
	t, err := m.target(frames[0].Conn.Endpoint)
	if err != nil {
		fail(fmt.Errorf("%w: %w", ErrRejected, err))
		return
	}
	r := sigv4.Request{Method: method, Host: t.host, Now: sigv4.StampOf(m.config.Now())}
	key, err := m.keys.At(ctx, r.Now)
	if err != nil {
		fail(fmt.Errorf("%w: %w", ErrBusy, err))
		return
	}
	deadline := time.Now().Add(m.config.Timeout)
	for stale := 0; len(frames) > 0; stale++ {
		l, err := t.take(ctx, deadline)
		if err != nil {
			fail(fmt.Errorf("%w: %w", ErrBusy, err))
			return
		}
		answered, err := l.exchange(ctx, deadline, r, key, frames)
		t.give(l)
		frames = frames[answered:]
		if answered > 0 {
			stale = 0
		}
		if stale >= staleMost || !errors.Is(err, errStale) {
			fail(fmt.Errorf("%s %s: %w", method, t.host, err))
			return
		}
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
