package engine

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"quotary/functions/ingester/lease"
	"quotary/functions/ingester/source"
)

func TestReadinessFollowsSourcesAndStoresOfEachDomain(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000)
	one, two, other := new(source.Stats), new(source.Stats), new(source.Stats)
	p := &Pipeline[*words]{Sources: []Source[*words]{{Name: "a", Group: "node", Stats: one}, {Name: "b", Group: "node", Stats: two}, {Name: "c", Group: "feed", Stats: other}}}
	p.began.Store(now.UnixMilli())
	small := &Runner{Domain: Domain{Name: "small"}, Lease: new(lease.Lease)}
	idle := &Runner{Domain: Domain{Name: "idle"}, Lease: new(lease.Lease)}
	h := &Health{Runners: []*Runner{small, idle}, Now: func() time.Time { return now }}
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		h.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code, w.Body.String()
	}
	if status, body := get("/readyz"); status != 200 || !strings.Contains(body, `{"status":"standby","domains":{"idle":{"role":"standby"`) {
		t.Errorf("/readyz of one that stands by: %d %s", status, body)
	}
	if status, body := get("/metrics"); status != 200 || !strings.Contains(body, `"role":"standby","epoch":0,"sources":{}`) {
		t.Errorf("/metrics of one that stands by: %d %s", status, body)
	}
	small.set(p, nil)
	expect := func(status int, holds string) {
		t.Helper()
		if got, body := get("/readyz"); got != status || !strings.Contains(body, holds) {
			t.Errorf("/readyz: %d %s, want %d %s", got, body, status, holds)
		}
	}
	expect(503, "nothing was written yet")
	p.Stats.Flushed.Store(now.UnixMilli())
	now = now.Add(59 * time.Second)
	expect(200, `"status":"ready"`)
	one.Backlog.Store(2_500_000)
	expect(503, "source a has 2.5 MB left of what happened before")
	one.Backlog.Store(0)
	p.Stats.CatchingUp.Store(2)
	expect(503, "2 projections are folded from what is stored")
	p.Stats.CatchingUp.Store(0)
	p.Sources = append(p.Sources, Source[*words]{Name: "c past", Stats: new(source.Stats), Past: true})
	expect(503, "1 sources look for what happened before")
	p.Stats.PastRead.Store(1)
	expect(200, `"status":"ready"`)
	p.Sources = p.Sources[:3]
	p.Stats.PastRead.Store(0)
	now = now.Add(2 * time.Second)
	expect(503, "source node is silent")
	two.LastSeen.Store(now.UnixMilli())
	expect(503, "source feed is silent")
	other.LastSeen.Store(now.UnixMilli())
	other.LastEvent.Store(now.Add(-3 * time.Second).UnixMilli())
	expect(200, `"status":"ready"`)
	p.trouble.begin("write word rows", now.Add(-time.Minute))
	expect(503, "the stores refuse: write word rows")
	p.trouble.end("write word rows")
	expect(200, `"status":"ready"`)
	idle.set(nil, errEnded)
	expect(503, "the work failed: "+errEnded.Error())
	if status, body := get("/healthz"); status != 200 || !strings.Contains(body, `"small":{"role":"active"`) || !strings.Contains(body, `"status":"alive"`) {
		t.Errorf("/healthz: %d %s", status, body)
	}
	var m struct{ Domains map[string]figures }
	_, body := get("/metrics")
	if err := json.Unmarshal([]byte(body), &m); err != nil || *m.Domains["small"].Sources["c"].LagMs != 3000 || m.Domains["small"].Sources["a"].LagMs != nil || len(m.Domains["small"].Sources) != 3 {
		t.Errorf("/metrics: %s %v", body, err)
	}
}
