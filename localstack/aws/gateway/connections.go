package gateway

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// connections are the WebSocket APIs of a gateway and their open connections.
type connections struct {
	apis map[string]*socketAPI // by path within the stage

	// ctx is of the calls of functions. It ends when the gateway stops and has waited
	// long enough.
	ctx    context.Context
	cancel context.CancelFunc

	closing atomic.Bool
	running sync.WaitGroup // one for each connection, from its handshake until release

	mu   sync.Mutex
	free int // how many more connections there may be
	open map[string]*connection
}

type socketAPI struct {
	SocketAPI
	resource *resource // for the log and for refusals
	arn      string    // of $connect
}

func newConnections(cfg Config, routes *tree) (*connections, error) {
	s := &connections{
		apis: make(map[string]*socketAPI, len(cfg.Sockets)),
		free: cfg.SocketLimits.Connections,
		open: make(map[string]*connection),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for _, api := range cfg.Sockets {
		path := strings.TrimSuffix(api.Path, "/")
		if s.apis[path] != nil {
			return nil, fmt.Errorf("WebSocket API %s is there twice", api.Path)
		}
		segments, err := parseSegments(path)
		if err != nil {
			return nil, fmt.Errorf("WebSocket API %s: %w", api.Path, err)
		}
		if r, params := routes.find(segments, nil); r != nil && len(params) == 0 {
			return nil, fmt.Errorf("%s is a path of the REST API and of a WebSocket API", api.Path)
		}
		if api.APIID == "" {
			api.APIID = cfg.APIID
		}
		s.apis[path] = &socketAPI{
			SocketAPI: api,
			resource:  &resource{path: api.Path, allow: http.MethodGet},
			arn:       "arn:aws:execute-api:" + cfg.Region + ":" + cfg.AccountID + ":" + api.APIID + "/" + cfg.Stage + "/$connect",
		}
	}
	return s, nil
}

// api is the API at a path within the stage; nil for none.
func (s *connections) api(path string) *socketAPI {
	return s.apis[strings.TrimSuffix(path, "/")]
}

// reserve takes the place of a connection that is about to be made; false when there
// is none.
func (s *connections) reserve() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == 0 || s.closing.Load() {
		return false
	}
	s.free--
	s.running.Add(1)
	return true
}

// release frees the place of a connection that is no more, or never was.
func (s *connections) release(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c.id)
	s.free++
	s.running.Done()
}

// add makes a connection known. It ends at once when the gateway is closing.
func (s *connections) add(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[c.id] = c
	if s.closing.Load() {
		c.end(goingAway)
	}
}

// find returns an open connection; nil when there is none of that id any longer.
func (s *connections) find(id string) *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.open[id]; c != nil && !c.ended() {
		return c
	}
	return nil
}

// close ends every connection and waits until their functions have been called with
// $disconnect. When ctx ends first, calls under way are abandoned. It may be called
// again.
func (s *connections) close(ctx context.Context) {
	s.mu.Lock()
	s.closing.Store(true)
	for _, c := range s.open {
		c.end(goingAway)
	}
	s.mu.Unlock()
	defer context.AfterFunc(ctx, s.cancel)()
	s.running.Wait()
	s.cancel()
}

// idLength is that of connection ids in bytes, before base64.
const idLength = 11

// validID reports whether an id can ever have been one.
func validID(id string) bool {
	decoded, err := base64.URLEncoding.DecodeString(id)
	return err == nil && len(decoded) == idLength
}
