package engine

import (
	"context"
	"time"

	"quotary/shared/aws/metrics"
)

// reportEvery is the step in which CloudWatch keeps metrics.
const reportEvery = time.Minute

// Report writes the figures of a domain as metrics with the label Domain. It is
// used by one goroutine.
type Report struct {
	Runner *Runner
	Out    *metrics.Writer // nil reports nothing
	Now    func() time.Time

	work     Work // that the counters belong to
	reported map[string]int64
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
			r.report()
			return
		case <-tick.C:
			r.report()
		}
	}
}

func (r *Report) report() {
	domain := metrics.Label{Name: metrics.Domain, Value: r.Runner.Domain.Name}
	work, failed := r.Runner.now()
	if work == nil {
		of := []metrics.Metric{{Name: metrics.LeaseHeld, Unit: metrics.Count}}
		if failed != nil {
			of = append(of, metrics.Metric{Name: metrics.Stopped, Unit: metrics.Count, Value: 1})
		}
		r.Out.Write([]metrics.Label{domain}, of...)
		return
	}
	taken := int64(0)
	if r.work != work {
		r.work, r.reported, taken = work, map[string]int64{}, 1
	}
	now, s := r.Now(), work.Status()
	malformed := int64(0)
	for i := range s.Sources {
		malformed += s.Sources[i].figures(now).Malformed
	}
	of := []metrics.Metric{
		{Name: metrics.LeaseHeld, Unit: metrics.Count, Value: 1},
		{Name: metrics.LeaseTaken, Unit: metrics.Count, Value: taken},
		{Name: metrics.Rank, Unit: metrics.Count, Value: r.rank()},
		{Name: metrics.SilentSources, Unit: metrics.Count, Value: int64(len(s.silent(now)) + len(s.failed()) + len(s.crashed(now)))},
		{Name: metrics.Stopped, Unit: metrics.Count, Value: int64(min(1, len(s.refused(now))+len(s.Unpublished)))},
		{Name: metrics.RowsWritten, Unit: metrics.Count, Value: r.since(metrics.RowsWritten, s.Rows)},
		{Name: metrics.RowsQuarantined, Unit: metrics.Count, Value: r.since(metrics.RowsQuarantined, s.Quarantined)},
		{Name: metrics.Malformed, Unit: metrics.Count, Value: r.since(metrics.Malformed, malformed)},
		{Name: metrics.Queued, Unit: metrics.Count, Value: s.Queued},
		{Name: metrics.ProjectionsCatchingUp, Unit: metrics.Count, Value: s.CatchingUp},
	}
	if s.ArchiveDue > 0 {
		of = append(of,
			metrics.Metric{Name: metrics.RowsArchived, Unit: metrics.Count, Value: r.since(metrics.RowsArchived, s.Archived)},
			metrics.Metric{Name: metrics.ArchiveLag, Unit: metrics.Milliseconds, Value: max(0, now.UnixMilli()-s.ArchiveDue)})
	}
	if lag, ok := s.lag(now); ok {
		of = append(of, metrics.Metric{Name: metrics.Lag, Unit: metrics.Milliseconds, Value: lag})
	}
	for _, f := range s.Figures {
		if f.Grows {
			f.Value = r.since("own "+f.Name, f.Value)
		}
		of = append(of, metrics.Metric{Name: f.Name, Unit: f.Unit, Value: f.Value})
	}
	r.Out.Write([]metrics.Label{domain}, of...)
	for _, one := range s.Sources {
		r.Out.Write([]metrics.Label{domain, {Name: metrics.Source, Value: one.Name}}, r.ofSource(now, &one)...)
	}
}

func (r *Report) rank() int64 {
	if rank := r.Runner.Domain.Rank; rank != nil {
		return rank()
	}
	return 0
}

func (r *Report) ofSource(now time.Time, one *SourceStatus) []metrics.Metric {
	f := one.figures(now)
	of := []metrics.Metric{
		{Name: metrics.Reconnects, Unit: metrics.Count, Value: r.since(one.Name+metrics.Reconnects, f.Reconnects)},
		{Name: metrics.Malformed, Unit: metrics.Count, Value: r.since(one.Name+metrics.Malformed, f.Malformed)},
		{Name: metrics.SubscriptionsRefused, Unit: metrics.Count, Value: r.since(one.Name+metrics.SubscriptionsRefused, f.Dropped)},
	}
	if f.LagMs != nil {
		of = append(of, metrics.Metric{Name: metrics.Lag, Unit: metrics.Milliseconds, Value: *f.LagMs})
	}
	if f.LastSeen > 0 {
		of = append(of, metrics.Metric{Name: metrics.Silence, Unit: metrics.Milliseconds, Value: now.UnixMilli() - f.LastSeen})
	}
	return of
}

// since is how much a counter has grown since it was last reported. One that is smaller has
// begun again.
func (r *Report) since(name string, count int64) int64 {
	grown := count - r.reported[name]
	if r.reported[name] = count; grown < 0 {
		return count
	}
	return grown
}
