package ingest

import (
	"context"
	"time"

	"quotary/shared/metrics"
)

// reportEvery is the step in which CloudWatch keeps metrics.
const reportEvery = time.Minute

// Report writes the figures of an ingester as metrics. It is used by one
// goroutine.
type Report struct {
	Health *Health
	Out    *metrics.Writer // nil reports nothing

	duty *Duty // that the counters belong to
	told map[string]int64
}

// Run reports once a minute, and a last time when ctx ends.
func (r *Report) Run(ctx context.Context) {
	if r.Out == nil {
		return
	}
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			r.tell()
			return
		case <-tick.C:
			r.tell()
		}
	}
}

func (r *Report) tell() {
	d := r.Health.Duty()
	if d == nil {
		r.Out.Write(nil, metrics.Metric{Name: metrics.LeaseHeld, Unit: metrics.Count})
		return
	}
	taken := int64(0)
	if r.duty != d {
		r.duty, r.told, taken = d, map[string]int64{}, 1
	}
	now, f := r.Health.Now(), r.Health.figures()
	of := []metrics.Metric{
		{Name: metrics.LeaseHeld, Unit: metrics.Count, Value: 1},
		{Name: metrics.LeaseTaken, Unit: metrics.Count, Value: taken},
		{Name: metrics.Rank, Unit: metrics.Count, Value: r.rank()},
		{Name: metrics.SilentSources, Unit: metrics.Count, Value: int64(len(d.silent(now)))},
		{Name: metrics.RowsWritten, Unit: metrics.Count, Value: r.since(metrics.RowsWritten, f.Writer.Rows)},
		{Name: metrics.Queued, Unit: metrics.Count, Value: f.Writer.Queued},
	}
	if lag, ok := d.lag(now); ok {
		of = append(of, metrics.Metric{Name: metrics.Lag, Unit: metrics.Milliseconds, Value: lag})
	}
	if f.Feeds != nil {
		of = append(of,
			metrics.Metric{Name: metrics.Connections, Unit: metrics.Count, Value: int64(f.Feeds.Connections)},
			metrics.Metric{Name: metrics.FramesSent, Unit: metrics.Count, Value: r.since(metrics.FramesSent, int64(f.Feeds.Sent))},
			metrics.Metric{Name: metrics.FramesDropped, Unit: metrics.Count, Value: r.since(metrics.FramesDropped, int64(f.Feeds.Discarded))},
			metrics.Metric{Name: metrics.FramesWaiting, Unit: metrics.Count, Value: int64(f.Feeds.Waiting)})
	}
	r.Out.Write(nil, of...)
	for name, s := range f.Sources {
		r.Out.Write([]metrics.Label{{Name: metrics.Source, Value: name}}, r.ofSource(now, name, &s)...)
	}
}

func (r *Report) rank() int64 {
	if rank := r.Health.Lease.Rank; rank != nil {
		return rank()
	}
	return 0
}

func (r *Report) ofSource(now time.Time, name string, s *sourceMetrics) []metrics.Metric {
	of := []metrics.Metric{
		{Name: metrics.Reconnects, Unit: metrics.Count, Value: r.since(name+metrics.Reconnects, s.Reconnects)},
		{Name: metrics.Malformed, Unit: metrics.Count, Value: r.since(name+metrics.Malformed, s.Malformed)},
		{Name: metrics.SubscriptionsRefused, Unit: metrics.Count, Value: r.since(name+metrics.SubscriptionsRefused, s.Dropped)},
	}
	if s.LagMs != nil {
		of = append(of, metrics.Metric{Name: metrics.Lag, Unit: metrics.Milliseconds, Value: *s.LagMs})
	}
	if s.LastSeen > 0 {
		of = append(of, metrics.Metric{Name: metrics.Silence, Unit: metrics.Milliseconds, Value: now.UnixMilli() - s.LastSeen})
	}
	return of
}

// since is how much a counter has grown since it was last reported.
func (r *Report) since(name string, count int64) int64 {
	grown := count - r.told[name]
	r.told[name] = count
	return grown
}

// lag is how far the group of sources that is furthest behind is behind its
// newest event, in ms; ok is false while no group has told one.
func (d *Duty) lag(now time.Time) (ms int64, ok bool) {
	newest := map[string]int64{}
	for _, s := range d.Pipeline.Sources {
		if at := s.Stats.LastEvent.Load(); s.Group != "" && at > 0 {
			newest[s.Group] = max(newest[s.Group], at)
		}
	}
	for _, at := range newest {
		ms, ok = max(ms, now.UnixMilli()-at), true
	}
	return ms, ok
}
