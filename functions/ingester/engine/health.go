package engine

import (
	"cmp"
	"fmt"
	"net/http"
	"time"
)

// silentFor is how long all sources of a group may say nothing, and the stores
// refuse, before a domain is not ready.
const silentFor = 60 * time.Second

// Health answers how the domains of a process fare:
//
//	GET /healthz  200 while the process lives
//	GET /readyz   503 while a domain is not ready: a source that is configured has not
//	              said anything since the start, a group of them is silent for 60 s, the
//	              stores refuse for that long, its work failed, a source or a view cannot
//	              be stored, a source has crashed within five minutes, or what happened
//	              before is not all written yet
//	GET /metrics  figures as JSON
//
// The first two say of each domain whether this process is active or stands by,
// and who holds the lease. One that stands by is ready: it is there to wait.
type Health struct {
	Runners []*Runner
	Now     func() time.Time
}

// condition is the answer to /healthz and /readyz.
type condition struct {
	Status  string                     `json:"status"` // alive; ready, standby (everywhere) or not ready
	Domains map[string]domainCondition `json:"domains"`
}

type domainCondition struct {
	Role    string   `json:"role"`
	Holder  string   `json:"holder"`            // of the lease; "" while nobody is known to hold it
	Epoch   int64    `json:"epoch"`             // of the holder
	Reasons []string `json:"reasons,omitempty"` // why it is not ready
	Awaited []string `json:"awaited,omitempty"` // sources that have not said anything yet, with their last errors: nor is it then
}

// Roles of a process in a domain.
const (
	active  = "active"
	standby = "standby"
)

// Handler serves the three.
func (h *Health) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		c, _ := h.condition()
		c.Status = "alive"
		respond(w, http.StatusOK, c)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		c, ready := h.condition()
		if !ready {
			respond(w, http.StatusServiceUnavailable, c)
			return
		}
		respond(w, http.StatusOK, c)
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		now, all := h.Now(), map[string]figures{}
		for _, r := range h.Runners {
			all[r.Domain.Name] = r.figures(now)
		}
		respond(w, http.StatusOK, map[string]any{"domains": all})
	})
	return mux
}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(encode(body), '\n')) // a caller that went away needs no answer
}

func (h *Health) condition() (c condition, ready bool) {
	c = condition{Status: standby, Domains: map[string]domainCondition{}}
	ready = true
	for _, r := range h.Runners {
		d := r.condition(h.Now())
		c.Domains[r.Domain.Name] = d
		if d.Role == active && c.Status == standby {
			c.Status = "ready"
		}
		ready = ready && len(d.Reasons)+len(d.Awaited) == 0
	}
	if !ready {
		c.Status = "not ready"
	}
	return c, ready
}

func (r *Runner) condition(now time.Time) domainCondition {
	holder := r.Lease.Holder()
	d := domainCondition{Role: standby, Holder: holder.Owner, Epoch: holder.Epoch}
	work, failed := r.now()
	if failed != nil {
		d.Reasons = append(d.Reasons, "the work failed: "+failed.Error())
	}
	if work == nil {
		return d
	}
	d.Role = active
	s := work.Status()
	d.Awaited = s.awaited()
	for _, group := range s.silent(now) {
		if s.awaits(group) {
			continue // which is said of its sources
		}
		d.Reasons = append(d.Reasons, "source "+group+" is silent")
	}
	for _, name := range s.failed() {
		d.Reasons = append(d.Reasons, "source "+name+" is stopped: its checkpoint cannot be stored")
	}
	for _, name := range s.crashed(now) {
		d.Reasons = append(d.Reasons, "source "+name+" has crashed and was begun again")
	}
	for _, name := range s.Unpublished {
		d.Reasons = append(d.Reasons, "view "+name+" is not published: it cannot be stored")
	}
	for _, what := range s.refused(now) {
		d.Reasons = append(d.Reasons, "the stores refuse: "+what)
	}
	d.Reasons = append(d.Reasons, s.backlog()...)
	return d
}

// backlog is what is still to be done before everything that happened before is
// readable.
func (s *Status) backlog() (left []string) {
	if s.Flushed == 0 {
		left = append(left, "nothing was written yet")
	}
	said := false
	for _, one := range s.Sources {
		if bytes := one.Stats.Backlog.Load(); bytes > 0 {
			left, said = append(left, fmt.Sprintf("source %s has %.1f MB left of what happened before", one.Name, float64(bytes)/1e6)), true
		}
	}
	if s.PastLeft > 0 && !said {
		left = append(left, fmt.Sprintf("%d sources look for what happened before", s.PastLeft))
	}
	if s.CatchingUp > 0 {
		left = append(left, fmt.Sprintf("%d projections are folded from what is stored", s.CatchingUp))
	}
	return left
}

// refused is what the stores have refused for long.
func (s *Status) refused(now time.Time) []string {
	if s.Refused == nil {
		return nil
	}
	return s.Refused(now.Add(-silentFor))
}

// failed are the sources that were stopped for good.
func (s *Status) failed() (failed []string) {
	for _, one := range s.Sources {
		if one.Stats.Failed.Load() {
			failed = append(failed, one.Name)
		}
	}
	return failed
}

// crashed are the sources that have crashed within the last minutes.
func (s *Status) crashed(now time.Time) (crashed []string) {
	for _, one := range s.Sources {
		if at := one.Stats.Crashed.Load(); at > 0 && now.Sub(time.UnixMilli(at)) < failuresForgotten {
			crashed = append(crashed, one.Name)
		}
	}
	return crashed
}

// name is that of the group of a source, or its own without one.
func (s *SourceStatus) name() string { return cmp.Or(s.Group, s.Name) }

// awaited are the sources, by their groups, that have not said anything yet, with the last
// error of each.
func (s *Status) awaited() (awaited []string) {
	spoke, trouble := map[string]bool{}, map[string]string{}
	for _, one := range s.Sources {
		name := one.name()
		spoke[name] = spoke[name] || one.Stats.LastSeen.Load() > 0
		trouble[name] = cmp.Or(trouble[name], one.Stats.Trouble())
	}
	for _, one := range s.Sources {
		name := one.name()
		if !one.Awaited || spoke[name] || one.Stats.Failed.Load() {
			continue
		}
		spoke[name] = true // is said once
		text := "source " + name + " has not said anything yet"
		if why := trouble[name]; why != "" {
			text += ": " + why
		}
		awaited = append(awaited, text)
	}
	return awaited
}

// silent are the groups of sources that have said nothing for a while, those among them that
// have never spoken.
func (s *Status) silent(now time.Time) (silent []string) {
	heard := map[string]int64{}
	var groups []string
	for _, one := range s.Sources {
		if one.Group == "" {
			continue
		}
		if _, ok := heard[one.Group]; !ok {
			groups = append(groups, one.Group)
			heard[one.Group] = s.Began
		}
		heard[one.Group] = max(heard[one.Group], one.Stats.LastSeen.Load())
	}
	for _, group := range groups {
		if now.Sub(time.UnixMilli(heard[group])) >= silentFor {
			silent = append(silent, group)
		}
	}
	return silent
}

// awaits reports whether a group has never spoken, of which something is awaited.
func (s *Status) awaits(group string) (awaits bool) {
	for _, one := range s.Sources {
		if one.Group != group {
			continue
		}
		if one.Stats.LastSeen.Load() > 0 {
			return false
		}
		awaits = awaits || one.Awaited
	}
	return awaits
}

// lag is how far the group of sources that is furthest behind is behind its newest
// event, in ms; ok is false while no group has emitted one.
func (s *Status) lag(now time.Time) (ms int64, ok bool) {
	newest := map[string]int64{}
	for _, one := range s.Sources {
		if at := one.Stats.LastEvent.Load(); one.Group != "" && at > 0 {
			newest[one.Group] = max(newest[one.Group], at)
		}
	}
	for _, at := range newest {
		ms, ok = max(ms, now.UnixMilli()-at), true
	}
	return ms, ok
}

// figures are a domain's part of the answer to GET /metrics. Times are Unix
// milliseconds, 0 while there is none.
type figures struct {
	Role    string                   `json:"role"`
	Epoch   int64                    `json:"epoch"` // of the holder of the lease
	Sources map[string]sourceFigures `json:"sources"`
	Writer  writerFigures            `json:"writer"`
	Own     map[string]int64         `json:"own,omitempty"` // figures of the domain's own

	Parts map[string]map[string]string `json:"parts,omitempty"` // see [Status.Parts]
}

type sourceFigures struct {
	LagMs      *int64 `json:"lagMs"` // now less the newest event; null before the first
	LastEvent  int64  `json:"lastEvent"`
	LastSeen   int64  `json:"lastSeen"`
	Backlog    int64  `json:"backlog"` // about how many bytes are left of what happened before
	Lines      int64  `json:"lines"`
	Malformed  int64  `json:"malformed"`
	Gaps       int64  `json:"gaps"`
	Reconnects int64  `json:"reconnects"`
	Dropped    int64  `json:"dropped"`
	Crashes    int64  `json:"crashes"`

	LinesPerSecond int64 `json:"linesPerSecond,omitempty"` // of the file that is being read
}

type writerFigures struct {
	Queued      int64    `json:"queued"` // deliveries that wait for a batch
	Batches     int64    `json:"batches"`
	Events      int64    `json:"events"`
	Rows        int64    `json:"rows"`
	Quarantined int64    `json:"quarantined"`
	CatchingUp  int64    `json:"catchingUp"` // projections
	Flushed     int64    `json:"flushed"`
	Refused     []string `json:"refused,omitempty"`     // what the stores refuse now
	Unpublished []string `json:"unpublished,omitempty"` // views whose newest version no store takes
}

func (r *Runner) figures(now time.Time) figures {
	c := r.condition(now)
	f := figures{Role: c.Role, Epoch: c.Epoch, Sources: map[string]sourceFigures{}}
	work, _ := r.now()
	if work == nil {
		return f
	}
	s := work.Status()
	f.Writer = writerFigures{Queued: s.Queued, Batches: s.Batches, Events: s.Events, Rows: s.Rows, Quarantined: s.Quarantined, CatchingUp: s.CatchingUp, Flushed: s.Flushed, Unpublished: s.Unpublished}
	if s.Refused != nil {
		f.Writer.Refused = s.Refused(now)
	}
	f.Parts = s.Parts
	for _, own := range s.Figures {
		if f.Own == nil {
			f.Own = map[string]int64{}
		}
		f.Own[own.Name] = own.Value
	}
	for _, one := range s.Sources {
		f.Sources[one.Name] = one.figures(now)
	}
	return f
}

func (s *SourceStatus) figures(now time.Time) sourceFigures {
	f := sourceFigures{LastEvent: s.Stats.LastEvent.Load(), LastSeen: s.Stats.LastSeen.Load(), Backlog: s.Stats.Backlog.Load(), Lines: s.Stats.Lines.Load(),
		Malformed: s.Stats.Malformed.Load(), Gaps: s.Stats.Gaps.Load(), Reconnects: s.Stats.Reconnects.Load(), Dropped: s.Stats.Dropped.Load(), Crashes: s.Stats.Crashes.Load(), LinesPerSecond: s.Stats.LinesPerSecond.Load()}
	if f.LastEvent > 0 {
		lag := now.UnixMilli() - f.LastEvent
		f.LagMs = &lag
	}
	return f
}
