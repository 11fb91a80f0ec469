package ingest

import (
	"net/http"
	"time"

	"quotary/shared/feed"
)

// silentFor is how long all sources of a group may say nothing, and the stores
// refuse, before the ingester is not ready.
const silentFor = 60 * time.Second

// Health answers how the ingester fares:
//
//	GET /healthz  200 while the process lives
//	GET /readyz   503 while a configured group of sources is silent for 60 s, or the stores refuse for that long
//	GET /metrics  figures as JSON
type Health struct {
	Pipeline *Pipeline
	Feeds    func() feed.Totals // nil without feeds
	Started  time.Time
	Now      func() time.Time
}

// Handler serves the three.
func (h *Health) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]string{"status": "alive"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if why := h.trouble(); len(why) > 0 {
			answer(w, http.StatusServiceUnavailable, map[string]any{"status": "not ready", "reasons": why})
			return
		}
		answer(w, http.StatusOK, map[string]string{"status": "ready"})
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, h.metrics()) })
	return mux
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(encode(body), '\n')) // a caller that went away needs no answer
}

// trouble tells why the ingester is not ready.
func (h *Health) trouble() (why []string) {
	now := h.Now()
	heard := map[string]time.Time{}
	var groups []string
	for _, s := range h.Pipeline.Sources {
		if s.Group == "" {
			continue
		}
		if _, ok := heard[s.Group]; !ok {
			groups = append(groups, s.Group)
			heard[s.Group] = h.Started
		}
		if seen := time.UnixMilli(s.Stats.LastSeen.Load()); seen.After(heard[s.Group]) {
			heard[s.Group] = seen
		}
	}
	for _, group := range groups {
		if now.Sub(heard[group]) >= silentFor {
			why = append(why, "source "+group+" is silent")
		}
	}
	if since := h.Pipeline.Stats.TroubleSince.Load(); since > 0 && now.Sub(time.UnixMilli(since)) >= silentFor {
		why = append(why, "the stores refuse")
	}
	return why
}

// metrics are the figures of GET /metrics. Times are Unix milliseconds, 0 while
// there is none.
type metrics struct {
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
	Batches      int64 `json:"batches"`
	Fills        int64 `json:"fills"`
	Trades       int64 `json:"trades"`
	Rows         int64 `json:"rows"`
	Flushed      int64 `json:"flushed"`
	TroubleSince int64 `json:"troubleSince"`
}

func (h *Health) metrics() metrics {
	now := h.Now().UnixMilli()
	p := h.Pipeline
	m := metrics{Sources: map[string]sourceMetrics{}, Writer: writerMetrics{
		Batches: p.Stats.Batches.Load(), Fills: p.Stats.Fills.Load(), Trades: p.Stats.Trades.Load(), Rows: p.Stats.Rows.Load(),
		Flushed: p.Stats.Flushed.Load(), TroubleSince: p.Stats.TroubleSince.Load(),
	}}
	if h.Feeds != nil {
		totals := feedMetrics(h.Feeds())
		m.Feeds = &totals
	}
	sources := p.Sources
	if p.Spool != nil {
		sources = append(sources[:len(sources):len(sources)], Source{Name: "spool", Stats: p.Spool.Stats})
	}
	for _, s := range sources {
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
