package ingest

import (
	"net/http"
	"sync"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/functions/ingester/lease"
)

// silentFor is how long all sources of a group may say nothing, and the stores
// refuse, before the ingester is not ready.
const silentFor = 60 * time.Second

// Health answers how the ingester fares:
//
//	GET /healthz  200 while the process lives
//	GET /readyz   503 while a configured group of sources is silent for 60 s, or the stores refuse for that long
//	GET /metrics  figures as JSON
//
// The first two tell whether this process is active or stands by, and who holds
// the lease. One that stands by is ready: it is there to wait.
type Health struct {
	Lease *lease.Lease
	Now   func() time.Time

	mu   sync.Mutex
	duty *Duty // nil while this process stands by
}

// Duty is the work of the process that is active.
type Duty struct {
	Pipeline *Pipeline
	Feeds    func() hub.Totals // nil without feeds
	Began    time.Time
}

// Begin tells that this process is active.
func (h *Health) Begin(d Duty) { h.set(&d) }

// End tells that it stands by again.
func (h *Health) End() { h.set(nil) }

func (h *Health) set(d *Duty) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.duty = d
}

// Duty returns the work at hand, nil while this process stands by.
func (h *Health) Duty() *Duty {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.duty
}

// condition is the answer to /healthz and /readyz.
type condition struct {
	Status  string   `json:"status"`
	Reasons []string `json:"reasons,omitempty"` // why it is not ready
	Role    string   `json:"role"`
	Holder  string   `json:"holder"` // of the lease; "" while nobody is known to hold it
	Epoch   int64    `json:"epoch"`  // of the holder
}

// Roles of a process.
const (
	active  = "active"
	standby = "standby"
)

func (h *Health) condition(status string) condition {
	holder := h.Lease.Holder()
	c := condition{Status: status, Role: standby, Holder: holder.Owner, Epoch: holder.Epoch}
	if h.Duty() != nil {
		c.Role = active
	}
	return c
}

// Handler serves the three.
func (h *Health) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, h.condition("alive"))
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		d := h.Duty()
		if d == nil {
			answer(w, http.StatusOK, h.condition(standby))
			return
		}
		if why := d.trouble(h.Now()); len(why) > 0 {
			c := h.condition("not ready")
			c.Reasons = why
			answer(w, http.StatusServiceUnavailable, c)
			return
		}
		answer(w, http.StatusOK, h.condition("ready"))
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, h.figures()) })
	return mux
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(encode(body), '\n')) // a caller that went away needs no answer
}

// trouble tells why the ingester is not ready.
func (d *Duty) trouble(now time.Time) (why []string) {
	for _, group := range d.silent(now) {
		why = append(why, "source "+group+" is silent")
	}
	if since := d.Pipeline.Stats.TroubleSince.Load(); since > 0 && now.Sub(time.UnixMilli(since)) >= silentFor {
		why = append(why, "the stores refuse")
	}
	return why
}

// silent are the groups of sources that have said nothing for a while.
func (d *Duty) silent(now time.Time) (silent []string) {
	heard := map[string]time.Time{}
	var groups []string
	for _, s := range d.Pipeline.Sources {
		if s.Group == "" {
			continue
		}
		if _, ok := heard[s.Group]; !ok {
			groups = append(groups, s.Group)
			heard[s.Group] = d.Began
		}
		if seen := time.UnixMilli(s.Stats.LastSeen.Load()); seen.After(heard[s.Group]) {
			heard[s.Group] = seen
		}
	}
	for _, group := range groups {
		if now.Sub(heard[group]) >= silentFor {
			silent = append(silent, group)
		}
	}
	return silent
}

// figures are the answer to GET /metrics. Times are Unix milliseconds, 0 while
// there is none.
type figures struct {
	Role    string                   `json:"role"`
	Epoch   int64                    `json:"epoch"` // of the holder of the lease
	Sources map[string]sourceMetrics `json:"sources"`
	Writer  writerMetrics            `json:"writer"`
	Feeds   *feedMetrics             `json:"feeds,omitempty"` // absent where there are none
}

type feedMetrics struct {
	Connections int    `json:"connections"`
	Topics      int    `json:"topics"` // that somebody follows
	Sent        uint64 `json:"sent"`
	Discarded   uint64 `json:"discarded"`
	Waiting     int    `json:"waiting"`
}

type sourceMetrics struct {
	LagMs      *int64 `json:"lagMs"` // now less the newest event; null before the first
	LastEvent  int64  `json:"lastEvent"`
	LastSeen   int64  `json:"lastSeen"`
	Lines      int64  `json:"lines"`
	Malformed  int64  `json:"malformed"`
	Reconnects int64  `json:"reconnects"`
	Dropped    int64  `json:"dropped"`
}

type writerMetrics struct {
	Queued       int64 `json:"queued"` // deliveries that wait for a batch
	Batches      int64 `json:"batches"`
	Fills        int64 `json:"fills"`
	Trades       int64 `json:"trades"`
	Orders       int64 `json:"orders"` // statuses
	Rows         int64 `json:"rows"`
	Flushed      int64 `json:"flushed"`
	TroubleSince int64 `json:"troubleSince"`
}

func (h *Health) figures() figures {
	now := h.Now().UnixMilli()
	c := h.condition("")
	m := figures{Role: c.Role, Epoch: c.Epoch, Sources: map[string]sourceMetrics{}}
	d := h.Duty()
	if d == nil {
		return m
	}
	p := d.Pipeline
	m.Writer = writerMetrics{
		Queued:  p.Stats.Queued.Load(),
		Batches: p.Stats.Batches.Load(), Fills: p.Stats.Fills.Load(), Trades: p.Stats.Trades.Load(),
		Orders: p.Stats.Orders.Load(), Rows: p.Stats.Rows.Load(),
		Flushed: p.Stats.Flushed.Load(), TroubleSince: p.Stats.TroubleSince.Load(),
	}
	if d.Feeds != nil {
		totals := feedMetrics(d.Feeds())
		m.Feeds = &totals
	}
	for _, s := range p.everySource() {
		one := sourceMetrics{LastEvent: s.Stats.LastEvent.Load(), LastSeen: s.Stats.LastSeen.Load(), Lines: s.Stats.Lines.Load(),
			Malformed: s.Stats.Malformed.Load(), Reconnects: s.Stats.Reconnects.Load(), Dropped: s.Stats.Dropped.Load()}
		if one.LastEvent > 0 {
			lag := now - one.LastEvent
			one.LagMs = &lag
		}
		m.Sources[s.Name] = one
	}
	return m
}

// everySource is the sources and the spool.
func (p *Pipeline) everySource() []Source {
	if p.Spool == nil {
		return p.Sources
	}
	return append(p.Sources[:len(p.Sources):len(p.Sources)], Source{Name: "spool", Stats: p.Spool.Stats})
}
