package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"quotary/functions/ingester/lease"
	"quotary/functions/ingester/source"
	"quotary/shared/aws/metrics"
	"quotary/shared/testing/check"
)

// reported is what one report says, by source; "" is the domain.
func reported(t *testing.T, r *Report, out *bytes.Buffer) map[string]map[string]float64 {
	t.Helper()
	out.Reset()
	r.report()
	all := map[string]map[string]float64{}
	for line := range strings.Lines(out.String()) {
		var members map[string]any
		if err := json.Unmarshal([]byte(line), &members); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if members[metrics.Domain] != "small" {
			t.Errorf("its domain is %v", members[metrics.Domain])
		}
		source, _ := members[metrics.Source].(string)
		all[source] = map[string]float64{}
		for name, value := range members {
			if n, ok := value.(float64); ok {
				all[source][name] = n
			}
		}
	}
	return all
}

func TestAReportIsOfWhatHappenedSinceTheOneBefore(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.UnixMilli(1_800_000_000_000)
	clock := func() time.Time { return now }
	runner := &Runner{Domain: Domain{Name: "small"}, Lease: new(lease.Lease)}
	r := &Report{Runner: runner, Out: metrics.New(&out, "quotary-test", clock), Now: clock}
	expect := func(want map[string]map[string]float64) {
		t.Helper()
		check.Equal(t, want, reported(t, r, &out))
	}
	expect(map[string]map[string]float64{"": {metrics.LeaseHeld: 0}})

	node, public, asked := new(source.Stats), new(source.Stats), new(source.Stats)
	p := &Pipeline[*words]{Sources: []Source[*words]{{Name: "node", Group: "node", Stats: node}, {Name: "public", Group: "hyperliquid", Stats: public}, {Name: "asked", Stats: asked}}}
	p.began.Store(now.UnixMilli())
	sent := int64(100)
	p.Figures = func() []Figure {
		return []Figure{{Name: metrics.Connections, Unit: metrics.Count, Value: 3}, {Name: metrics.FramesSent, Unit: metrics.Count, Value: sent, Grows: true}}
	}
	runner.set(p, nil)
	none := map[string]float64{metrics.Reconnects: 0, metrics.Malformed: 0, metrics.SubscriptionsRefused: 0}
	expect(map[string]map[string]float64{
		"": {metrics.LeaseHeld: 1, metrics.LeaseTaken: 1, metrics.Rank: 0, metrics.SilentSources: 0, metrics.Stopped: 0, metrics.RowsWritten: 0, metrics.RowsQuarantined: 0, metrics.Malformed: 0, metrics.Queued: 0, metrics.ProjectionsCatchingUp: 0,
			metrics.Connections: 3, metrics.FramesSent: 100},
		"node": none, "public": none, "asked": none,
	})

	now = now.Add(time.Minute)
	runner.Domain.Rank = func() int64 { return 2 }
	public.LastEvent.Store(now.Add(-2 * time.Second).UnixMilli())
	public.LastSeen.Store(now.Add(-time.Second).UnixMilli())
	public.Reconnects.Store(2)
	public.Malformed.Store(5)
	node.Malformed.Store(1)
	asked.LastEvent.Store(1) // of no group: nobody waits for it
	p.Stats.Rows.Store(40)
	p.Stats.Queued.Store(4)
	p.Stats.CatchingUp.Store(1)
	p.Stats.Quarantined.Store(2)
	p.trouble.begin("write word rows", now.Add(-time.Minute))
	sent = 150
	expect(map[string]map[string]float64{
		"": {metrics.LeaseHeld: 1, metrics.LeaseTaken: 0, metrics.Rank: 2, metrics.SilentSources: 1, metrics.Stopped: 1, metrics.RowsWritten: 40, metrics.RowsQuarantined: 2, metrics.Malformed: 6, metrics.Queued: 4, metrics.ProjectionsCatchingUp: 1, metrics.Lag: 2000,
			metrics.Connections: 3, metrics.FramesSent: 50},
		"node":   {metrics.Reconnects: 0, metrics.Malformed: 1, metrics.SubscriptionsRefused: 0},
		"public": {metrics.Reconnects: 2, metrics.Malformed: 5, metrics.SubscriptionsRefused: 0, metrics.Lag: 2000, metrics.Silence: 1000},
		"asked":  {metrics.Reconnects: 0, metrics.Malformed: 0, metrics.SubscriptionsRefused: 0, metrics.Lag: float64(now.UnixMilli() - 1)},
	})
	node.LastEvent.Store(now.Add(-9 * time.Second).UnixMilli())
	if lag := reported(t, r, &out)[""][metrics.Lag]; lag != 9000 {
		t.Errorf("the lag is %v, want that of the group furthest behind", lag)
	}
	runner.set(nil, nil)
	expect(map[string]map[string]float64{"": {metrics.LeaseHeld: 0}})
	runner.set(nil, errors.New("no"))
	expect(map[string]map[string]float64{"": {metrics.LeaseHeld: 0, metrics.Stopped: 1}})
}
