package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"quotary/shared/backoff"
	"quotary/shared/upstream"
)

// Host asks one REST host. All requests to it share a budget of the weight that it
// allows, and pause together where it has asked for that: with a status of 429 or 418,
// for as long as its Retry-After says. It may be used by goroutines. The zero value of
// what may be set is that of most hosts.
type Host struct {
	Budget *Budget

	// Timeout bounds one try of a request; 0 means 10 s.
	Timeout time.Duration

	// Bounds are those of the answers of paths that have larger ones than usual
	// ([upstream.UsualBounds]); Usual are those of all others of this host. They are set before the
	// first request.
	Bounds map[string]upstream.Bounds
	Usual  upstream.Bounds

	// Header is sent with every request, e.g. a key; nil sends none. It is set before
	// the first.
	Header http.Header

	// Limited reports how long an answer asks to be left alone where the host says so in
	// a way of its own, 0 for any other answer; nil is for hosts that have none. A
	// Retry-After comes first.
	Limited func(status int, body []byte) time.Duration

	base string
	http *http.Client
	cool *cooldown
}

// cooldown is a pause that a host has asked for, shared by its pools.
type cooldown struct {
	mu    sync.Mutex
	until time.Time // nothing is asked before
}

// NewHost returns a host at base, e.g. https://api.binance.com, with a budget of so
// much weight a minute.
func NewHost(base string, perMinute int) *Host {
	return &Host{base: strings.TrimSuffix(base, "/"), http: upstream.NewClient(base), cool: new(cooldown), Budget: NewBudget(perMinute, time.Now), Usual: upstream.UsualBounds}
}

// Pool returns the same host for requests that it counts by themselves, so much weight a
// minute: they pause together with the others. What may be set of h is set before.
func (h *Host) Pool(perMinute int) *Host {
	pool := *h
	pool.Budget = NewBudget(perMinute, time.Now)
	return &pool
}

// Asking returns the same host for requests with other headers, which share its budget and its
// pauses.
func (h *Host) Asking(header http.Header) *Host {
	other := *h
	other.Header = header
	return &other
}

const (
	hostTimeout = 10 * time.Second
	hostTries   = 4
	refusalRead = 64 << 10 // bytes of an answer that is no success

	// Pauses of hosts that say none, and the longest that is obeyed: who asks before a ban
	// has ended makes it longer, and no host bans for more than three days.
	tooManyPause = time.Minute
	bannedPause  = 2 * time.Minute
	longestPause = 3 * 24 * time.Hour
)

var hostPauses = backoff.Backoff{Min: 500 * time.Millisecond, Max: 30 * time.Second}

// Get spends the weight, asks for a path with a query and decodes the JSON of the
// answer into out. Trouble that may pass is tried four times; after 429 and 418 the
// pause that they ask for comes first. The error is a [*upstream.RefusedError] where the host
// answered something else.
func (h *Host) Get(ctx context.Context, path string, query url.Values, weight int, out any) error {
	body, err := h.ask(ctx, path, query, weight, upstream.Bounds.ReadJSON)
	if err != nil {
		return err
	}
	if err := upstream.Decode(body, out); err != nil {
		return fmt.Errorf("ask for %s: read the answer: %w", path, err)
	}
	return nil
}

// Body is [Host.Get] for an answer that is no JSON, of which only the bytes are bounded.
func (h *Host) Body(ctx context.Context, path string, query url.Values, weight int) ([]byte, error) {
	return h.ask(ctx, path, query, weight, upstream.Bounds.Read)
}

// ask asks for a path whose answer read reads.
func (h *Host) ask(ctx context.Context, path string, query url.Values, weight int, read func(upstream.Bounds, io.Reader) ([]byte, error)) ([]byte, error) {
	bounds, ok := h.Bounds[path]
	if !ok {
		bounds = h.Usual
	}
	address := h.base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	var err error
	for try := range hostTries {
		if err = h.wait(ctx, weight); err != nil {
			break
		}
		var body []byte
		var again bool
		if body, again, err = h.once(ctx, address, func(r io.Reader) ([]byte, error) { return read(bounds, r) }); err == nil {
			return body, nil
		}
		if !again || try == hostTries-1 {
			break
		}
		if stop := hostPauses.Wait(ctx, try); stop != nil {
			break
		}
	}
	return nil, fmt.Errorf("ask for %s: %w", path, err)
}

// wait waits until the host may be asked.
func (h *Host) wait(ctx context.Context, weight int) error {
	if err := h.Budget.Spend(ctx, weight); err != nil {
		return err
	}
	for {
		h.cool.mu.Lock()
		pause := time.Until(h.cool.until)
		h.cool.mu.Unlock()
		if pause <= 0 {
			return nil
		}
		if err := backoff.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// once sends the request once; again reports whether an error may pass by.
func (h *Host) once(ctx context.Context, address string, read func(io.Reader) ([]byte, error)) (body []byte, again bool, err error) {
	timeout := h.Timeout
	if timeout == 0 {
		timeout = hostTimeout
	}
	trying, done := context.WithTimeout(ctx, timeout)
	defer done()
	req, err := http.NewRequestWithContext(trying, http.MethodGet, address, nil)
	if err != nil {
		return nil, false, err
	}
	for name, values := range h.Header {
		req.Header[name] = values
	}
	resp, err := h.http.Do(req)
	if err != nil {
		return nil, ctx.Err() == nil, upstream.Unquoted(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		read = func(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, refusalRead)) }
	}
	if body, err = read(resp.Body); err != nil {
		return nil, ctx.Err() == nil && !errors.Is(err, upstream.ErrBounds), err
	}
	if h.Limited != nil {
		if pause := h.Limited(resp.StatusCode, body); pause > 0 {
			h.pause(resp.Header.Get("Retry-After"), pause)
			return nil, true, &upstream.RefusedError{Status: resp.StatusCode}
		}
	}
	if resp.StatusCode != http.StatusOK {
		refused := &upstream.RefusedError{Status: resp.StatusCode}
		switch {
		case resp.StatusCode == http.StatusTooManyRequests:
			h.pause(resp.Header.Get("Retry-After"), tooManyPause)
		case resp.StatusCode == http.StatusTeapot: // banned
			h.pause(resp.Header.Get("Retry-After"), bannedPause)
		case resp.StatusCode < 500:
			return nil, false, refused
		}
		return nil, true, refused
	}
	return body, false, nil
}

// pause has everybody wait for as long as the host said, in seconds.
func (h *Host) pause(retryAfter string, fallback time.Duration) {
	pause := fallback
	if seconds, err := strconv.Atoi(retryAfter); err == nil && seconds > 0 {
		pause = time.Duration(min(seconds, int(longestPause/time.Second))) * time.Second
	}
	h.cool.mu.Lock()
	defer h.cool.mu.Unlock()
	if until := time.Now().Add(pause); until.After(h.cool.until) {
		h.cool.until = until
	}
}
