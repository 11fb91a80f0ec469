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

// sockets are the WebSocket APIs of a gateway and their open connections.
type sockets struct {
	apis map[string]*socketAPI // by path within the stage
	base string                // of the management API: /api/@connections/

	// ctx ends when the gateway stops and has waited long enough for functions
	// that are told of the beginning or the end of a connection.
	ctx    context.Context
	cancel context.CancelFunc

	closing atomic.Bool
	running sync.WaitGroup // one for each connection and manager, added to under mu

	mu       sync.RWMutex
	places   int // free ones; each connection holds one from its handshake on
	open     map[string]*socket
	managers map[*manager]struct{}
}

type socketAPI struct {
	SocketAPI
	resource  *resource // for the log and for refusals
	arn       string    // of $connect
	variables []byte    // the member stageVariables of every event, with its comma
}

func newSockets(cfg Config, prefix string, routes *tree) (*sockets, error) {
	s := &sockets{
		apis:     make(map[string]*socketAPI, len(cfg.Sockets)),
		base:     prefix + "/@connections/",
		places:   cfg.SocketLimits.Connections,
		open:     make(map[string]*socket),
		managers: make(map[*manager]struct{}),
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
			variables: stageVariables(api.StageVariables),
		}
	}
	return s, nil
}

// at is the API at a path within the stage; nil for none.
func (s *sockets) at(path string) *socketAPI {
	return s.apis[strings.TrimSuffix(path, "/")]
}

// reserve takes a place for a connection that is about to be made.
func (s *sockets) reserve() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.places == 0 || s.closing.Load() {
		return false
	}
	s.places--
	s.running.Add(1)
	return true
}

// free gives back the place of a connection that is no more, or never was.
func (s *sockets) free(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
	s.places++
	s.running.Done()
}

func (s *sockets) add(c *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[c.id] = c
}

// find returns an open connection; nil when there is none of that id any longer.
// It waits for a handshake that is being completed.
func (s *sockets) find(id []byte) *socket {
	s.mu.RLock()
	c := s.open[string(id)]
	s.mu.RUnlock()
	if c == nil {
		return nil
	}
	if <-c.opened; c.ended.Load() {
		return nil
	}
	return c
}

// admit registers a manager; false when the gateway is closing.
func (s *sockets) admit(m *manager) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return false
	}
	s.managers[m] = struct{}{}
	s.running.Add(1)
	return true
}

func (s *sockets) dismiss(m *manager) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.managers, m)
	s.running.Done()
}

// close ends every connection and waits until their functions know. When ctx ends
// first, what is left is cut short. It may be called again.
func (s *sockets) close(ctx context.Context) {
	s.mu.Lock()
	s.closing.Store(true)
	for m := range s.managers {
		m.interrupt()
	}
	all := make([]*socket, 0, len(s.open))
	for _, c := range s.open {
		all = append(all, c)
	}
	s.mu.Unlock()
	for _, c := range all {
		<-c.opened
		c.end(goingAway)
	}
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		s.cancel()
		s.mu.Lock()
		for _, c := range s.open {
			c.cut()
		}
		for m := range s.managers {
			_ = m.conn.Close()
		}
		s.mu.Unlock()
		<-done
	}
	s.cancel()
}

// idLength is that of connection ids in bytes, before base64.
const idLength = 11

// validID tells whether an id can ever have been one.
func validID(id []byte) bool {
	var decoded [idLength + 4]byte
	if len(id) != base64.URLEncoding.EncodedLen(idLength) {
		return false
	}
	n, err := base64.URLEncoding.Decode(decoded[:], id)
	return err == nil && n == idLength
}
