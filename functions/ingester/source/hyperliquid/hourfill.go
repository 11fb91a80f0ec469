package hyperliquid

import (
	"context"
	"fmt"
	"time"

	"quotary/shared/market"
)

// Fill reads the hours that are asked for and no others, each once its files are there and whole, until ctx ends or the
// sink fails. What of an hour is known already, the sink knows. Behind all of an hour filled is called.
func (h *Hours) Fill(ctx context.Context, asked func(context.Context) ([]string, error), sink HoursSink, filled func(ctx context.Context, hour string) error) error {
	h.forget()
	return h.rounds(ctx, func() error {
		hours, err := asked(ctx)
		if err != nil {
			return err
		}
		left := int64(len(hours))
		h.Figures.Owed.Store(left)
		for _, name := range hours {
			read, err := h.fill(ctx, name, sink)
			if err == nil && read {
				err = filled(ctx, name)
			}
			if err != nil {
				return err
			}
			if read {
				left--
				h.Figures.Hours.Add(1)
				h.Figures.Owed.Store(left)
			}
		}
		return nil
	})
}

// fill reads an hour, and reports whether it could. One in which blocks are missing is waited for as long as any.
func (h *Hours) fill(ctx context.Context, name string, sink HoursSink) (read bool, err error) {
	hour, err := parseHour(name)
	if err != nil {
		return false, err
	}
	ended := time.Since(hour.ends())
	if ended < 0 {
		return false, nil
	}
	files, err := h.files(ctx, hour)
	if err != nil || ended < passAfter && !h.hopeful(&files, hour) {
		return false, err
	}
	copies, missing, err := h.copies(ctx, hour, &files)
	if err != nil || len(missing) > 0 {
		return false, err
	}
	if c := copies[fillStream]; c.holes > 0 && ended < passAfter {
		h.faults[c.key] = &hourFault{etag: c.file.ETag, tries: brokenTries, err: fmt.Errorf("%s lacks %d blocks", c.key, c.holes), whole: true}
		return false, nil
	}
	h.Log.Info("an hour in which the node's files lack blocks is read", "hour", name)
	run := hourRun{h: h, deliver: func(e market.Events, _ byStream) error {
		return sink(ctx, HoursDelivery{Events: e, Late: true, Old: ended >= passAfter})
	}}
	return true, run.read(ctx, copies)
}
