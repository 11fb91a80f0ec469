// Package venuerelay asks the venue what only the venue knows, on behalf of a caller. Its host is
// what the operator has set, and what is asked is put together here of members that were checked:
// nothing else of a caller's text reaches it. An answer is bounded in size and time and kept for some
// seconds by the instance; all instances together keep to one budget (package relaybudget). A
// venue that is not there is left alone for a moment, so that it costs the callers behind no time,
// and so is a question at which it fails, which costs those of others nothing.
package venuerelay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"quotary/shared/api"
	"quotary/shared/aws/metrics"
	"quotary/shared/catalog"
	"quotary/shared/data/relaybudget"
	"quotary/shared/lru"
	"quotary/shared/service"
	"quotary/shared/text/visible"
	"quotary/shared/upstream"
)

const (
	within = 5 * time.Second // for an answer

	// keepFor is for how long an answer is given again, keepMost how many answers and keepLarge
	// how large one may be that is kept.
	keepFor, keepMost, keepLarge = 5 * time.Second, 200, 256 << 10

	awayFor = 5 * time.Second // that a venue is left alone for that has failed

	// several is at how many different questions in a row a venue fails that is not there. One at
	// which its proxy alone fails is a stranger's choice.
	several = 5
)

// bounds are those of an answer: the largest are those of vaults, below 2 MB.
var bounds = upstream.Bounds{Bytes: 4 << 20, Rows: 20_000}

// Relay asks the venue. It is safe for concurrent use.
type Relay struct {
	url    string
	http   *http.Client
	budget *relaybudget.Budget
	clock  func() time.Time
	kept   lru.Cache[string, kept]
	away   atomic.Int64 // ns: nothing is asked before

	mu      sync.Mutex
	failing []string // different questions, since the last that was answered

	Metrics *metrics.Writer // counts what became of questions; nil does not
}

// kept is an answer, or why there is none, and when it came.
type kept struct {
	answer []byte
	err    error
	at     time.Time
}

// Open returns the relay of a deployment, by its settings.
func Open(o *service.Opened) (*Relay, error) {
	weight, base := o.Env.Int(catalog.EnvRelayWeight), o.Env.Text(catalog.EnvHyperliquidURL)
	if err := o.Env.Err(); err != nil {
		return nil, err
	}
	if weight == 0 {
		base = ""
	}
	r := New(base, relaybudget.Open(o.Documents, weight, o.Clock), o.Clock)
	r.Metrics = o.Family.Metrics
	return r, nil
}

// New returns a relay to the venue at base, e.g. https://api.hyperliquid.xyz, or one that refuses
// where base is empty.
func New(base string, budget *relaybudget.Budget, clock func() time.Time) *Relay {
	r := &Relay{budget: budget, clock: clock, kept: lru.Cache[string, kept]{Size: keepMost}}
	if base != "" {
		r.url, r.http = strings.TrimSuffix(base, "/")+"/info", upstream.NewClient(base)
	}
	return r
}

// ErrRefused is the answer of a venue that does not take a question.
var ErrRefused = errors.New("the exchange does not take the question")

// Ask asks a question of the venue that weighs so much there. The members of a question are plain
// values. The error is [ErrRefused] where the venue takes it for none of its questions, or one for
// the caller.
func (r *Relay) Ask(ctx context.Context, weight int, question map[string]any) (json.RawMessage, error) {
	if r.url == "" {
		return nil, api.NotReady(0, "the exchange alone knows it, which this deployment does not ask: its operator has turned that off")
	}
	body, err := json.Marshal(question) // whose members are sorted
	if err != nil {
		return nil, err
	}
	now := r.clock()
	if k, ok := r.kept.Get(string(body)); ok && now.Sub(k.at) < keepFor {
		r.count("kept")
		return k.answer, k.err
	}
	if rest := time.Duration(r.away.Load() - now.UnixNano()); rest > 0 {
		r.count("away")
		return nil, errAway(rest)
	}
	wait, err := r.budget.Spend(ctx, api.Caller(ctx).Distributor, weight)
	if err != nil {
		return nil, err
	}
	if wait > 0 {
		r.count("spent")
		return nil, api.NotReady(roundUp(wait), "what this deployment may ask the exchange is spent for now: ask again in %d seconds", int(roundUp(wait).Seconds()))
	}
	answer, err := r.ask(ctx, body)
	if ctx.Err() == nil { // else its caller waits less than the venue may take
		r.learn(string(body), err)
	}
	switch {
	case err == nil:
		r.count("answered")
	case errors.Is(err, ErrRefused):
		r.count("refused")
	default:
		r.count("failed")
		err = errAway(keepFor)
	}
	if len(answer) <= keepLarge {
		r.kept.Set(string(body), kept{answer, err, now})
	}
	return answer, err
}

// learn takes from what became of a question whether the venue is there.
func (r *Relay) learn(question string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case isAway(err):
	case isThere(err):
		r.failing = nil
		return
	default:
		if !slices.Contains(r.failing, question) {
			r.failing = append(r.failing, question)
		}
		if len(r.failing) < several {
			return
		}
	}
	r.failing = nil
	r.away.Store(r.clock().Add(awayFor).UnixNano())
}

// isAway reports whether an error says of the venue itself that it is not there, whatever is asked.
func isAway(err error) bool {
	var refused *upstream.RefusedError
	if errors.As(err, &refused) {
		return refused.Status == http.StatusTooManyRequests
	}
	var dial *net.OpError
	return errors.As(err, &dial) && dial.Op == "dial" || errors.Is(err, upstream.ErrPrivate)
}

// isThere reports whether the venue itself has answered: one that is too large, or that it fails at,
// is for nobody else's question.
func isThere(err error) bool {
	var refused *upstream.RefusedError
	if errors.As(err, &refused) {
		return refused.Status == http.StatusInternalServerError // with which it fails at a coin that there is not
	}
	return err == nil || errors.Is(err, ErrRefused) || errors.Is(err, errNoJSON) || errors.Is(err, upstream.ErrBounds)
}

func (r *Relay) ask(ctx context.Context, body []byte) ([]byte, error) {
	ctx, done := context.WithTimeout(ctx, within)
	defer done()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := r.http.Do(req)
	if err != nil {
		return nil, upstream.Unquoted(err)
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK:
		answer, err := bounds.ReadJSON(res.Body)
		if err == nil && !json.Valid(answer) {
			err = errNoJSON
		}
		return visible.JSON(answer), err
	case 400, 404, 422: // with which it refuses a question
		return nil, ErrRefused
	}
	return nil, &upstream.RefusedError{Status: res.StatusCode}
}

var errNoJSON = errors.New("the answer is no JSON")

// errAway tells a caller when to ask again.
func errAway(rest time.Duration) error {
	return api.NotReady(roundUp(rest), "the exchange does not answer: ask again in %d seconds", int(roundUp(rest).Seconds()))
}

func roundUp(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

func (r *Relay) count(outcome string) {
	r.Metrics.Count(metrics.Relayed, metrics.Label{Name: metrics.Outcome, Value: outcome})
}
