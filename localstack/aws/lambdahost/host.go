package lambdahost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"sync"
	"time"
)

// MaxPayload bounds an event and an answer, in bytes: Lambda's own limit.
const MaxPayload = 6 << 20

// Defaults for what a Function or a Config leaves zero.
const (
	DefaultMaxInstances = 8
	DefaultTimeout      = 29 * time.Second
	DefaultQueue        = 16 // times MaxInstances
	DefaultIdleTimeout  = 5 * time.Minute
	DefaultInitTimeout  = 10 * time.Second
)

// Function says how one function is run.
type Function struct {
	// Path is the executable, as os/exec takes it.
	Path string
	// Args are its arguments; deployed functions have none.
	Args []string
	// Dir is the working folder; empty is the host's own.
	Dir string
	// Env holds "NAME=value" entries, beside the variables that Lambda sets.
	Env []string
	// MaxInstances bounds the processes at one time; 0 is DefaultMaxInstances.
	MaxInstances int
	// MaxQueue bounds the invocations waiting for an instance; 0 is
	// DefaultQueue for each instance, below 0 none may wait, which also means
	// that none may wait for a cold start.
	MaxQueue int
	// Timeout bounds one invocation from when an instance gets it; 0 is DefaultTimeout. The
	// wait in the queue is bounded by it and Config.InitTimeout together.
	Timeout time.Duration
}

// Config is what a Host needs.
type Config struct {
	// Functions by name: 1 to 64 letters, digits, hyphens and underscores.
	Functions map[string]Function
	// Logs takes what functions write to stdout and stderr, whole lines, one
	// Write each, never two at a time. Nil discards them.
	Logs io.Writer
	// Log takes what the host itself reports. Nil discards it.
	Log *slog.Logger
	// IdleTimeout is how long an instance without work is kept; 0 is
	// DefaultIdleTimeout.
	IdleTimeout time.Duration
	// InitTimeout is how long a process may take until it asks for its first
	// event; 0 is DefaultInitTimeout.
	InitTimeout time.Duration
	// Region and AccountID appear in ARNs and in the functions' environment.
	// Empty are "us-east-1" and "000000000000".
	Region, AccountID string
	// Now is the clock of the deadlines that functions get; nil is time.Now.
	Now func() time.Time
}

// Host runs functions. Make one with New, end it with Close.
type Host struct {
	cfg       Config
	functions map[string]*function
	address   string // of the Runtime API
	server    *http.Server
	spawner   *spawner
	logs      *lineSink
	slots     chan struct{} // one taken by every Event invocation under way

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup // one for every goroutine of the host; added to under mu
}

var functionName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// New opens the Runtime API on a loopback port. No process is started before the
// first invocation needs it.
func New(cfg Config) (*Host, error) {
	cfg = cfg.withDefaults()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the Runtime API: %w", err)
	}
	h := &Host{
		cfg:       cfg,
		functions: make(map[string]*function, len(cfg.Functions)),
		address:   listener.Addr().String(),
		spawner:   newSpawner(),
		logs:      &lineSink{out: cfg.Logs},
		slots:     make(chan struct{}, maxBackground),
	}
	h.server = h.runtimeServer()
	for name, f := range cfg.Functions {
		if !functionName.MatchString(name) {
			h.spawner.stop()
			_ = listener.Close()
			return nil, fmt.Errorf("function name %q: want 1 to 64 letters, digits, hyphens or underscores", name)
		}
		h.functions[name] = newFunction(h, name, f)
	}
	h.start(func() {
		if err := h.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			h.cfg.Log.Error("the Runtime API ended", "error", err.Error())
		}
	})
	return h, nil
}

// Invoke runs a function once and returns its answer. The payload must not change
// until the function has ended, which can be after Invoke returned.
//
// When ctx ends first, Invoke returns its error and the function runs on: what
// has begun is not cut short because nobody waits for it any longer. A payload
// still waiting in the queue then is dropped.
//
// Errors: ErrUnknownFunction, ErrPayloadTooLarge, ErrThrottled, ErrClosed, a
// *FunctionError (which wraps ErrTimeout when time ran out), or ctx's own.
func (h *Host) Invoke(ctx context.Context, name string, payload []byte) ([]byte, error) {
	answer, err := h.invoke(ctx, name, newRequestID(), payload)
	if err != nil {
		return nil, fmt.Errorf("invoke %q: %w", name, err)
	}
	return answer, nil
}

func (h *Host) invoke(ctx context.Context, name, requestID string, payload []byte) ([]byte, error) {
	f := h.functions[name]
	switch {
	case f == nil:
		return nil, ErrUnknownFunction
	case len(payload) > MaxPayload:
		return nil, ErrPayloadTooLarge
	}
	return f.invoke(ctx, requestID, payload)
}

// start runs a goroutine that Close waits for; false once the host is closing.
func (h *Host) start(run func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.running.Go(run)
	return true
}

// Close refuses new invocations, lets those under way finish until ctx ends,
// then ends every process and waits until they are gone. It returns ctx's error
// when invocations were cut short, and ErrClosed when it was called before.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	again := h.closed
	h.closed = true
	h.mu.Unlock()
	if again {
		return ErrClosed
	}
	for _, f := range h.functions {
		f.shutDown()
	}
	var cutShort error
	for _, f := range h.functions {
		if err := f.wait(ctx); err != nil {
			cutShort = fmt.Errorf("close the function host: %w", err)
		}
	}
	h.closeServer()
	h.spawner.stop()
	h.running.Wait()
	return cutShort
}

// closeServer ends the Runtime API. It is called when every process is gone, so that
// nobody is left to be answered.
func (h *Host) closeServer() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := h.server.Shutdown(ctx); err != nil {
		_ = h.server.Close() // whoever still holds a connection is no function
	}
}

func (c Config) withDefaults() Config {
	if c.Logs == nil {
		c.Logs = io.Discard
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.IdleTimeout <= 0 {
		c.IdleTimeout = DefaultIdleTimeout
	}
	if c.InitTimeout <= 0 {
		c.InitTimeout = DefaultInitTimeout
	}
	if c.Region == "" {
		c.Region = "us-east-1"
	}
	if c.AccountID == "" {
		c.AccountID = "000000000000"
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}
