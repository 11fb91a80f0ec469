package api

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/data/delivered"
	"quotary/shared/store"
)

// When to ask again: for what a source is about to bring, and for what no source is
// configured for.
const (
	awaitedAfter      = 5 * time.Second
	hourlyAfter       = 5 * time.Minute
	unconfiguredAfter = time.Minute
)

// ready returns a 503 where no source has ever spoken of what a request is answered from: an
// empty answer would say that there is nothing. It costs one look at a view for each
// instance. Where that cannot be read, the request is answered.
func (f *Family) ready(ctx context.Context, e *endpoint, in any) error {
	if len(e.Needs) == 0 {
		return nil
	}
	err := f.Delivered.Check(ctx, e.NeedsOf(in))
	var missing *delivered.Awaited
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &missing):
		f.log.WarnContext(ctx, "cannot look whether sources have spoken; going on", "err", err)
		return nil
	case e.KeyCheck && !missing.Configured:
		return nil
	case missing.Configured:
		return NotReady(awaitedAfter, "%s; try again later", missing.Error())
	}
	return NotReady(unconfiguredAfter, "%s", missing.Error())
}

// whole finds out up to when what a request is answered from is whole, where that comes some time later. A time
// range that begins behind it is a 503: nothing is known of it. Where that cannot be read, the request is
// answered.
func (f *Family) whole(ctx context.Context, e *endpoint, in any, req *request) error {
	if f.Delivered == nil {
		return nil
	}
	known, err := f.Delivered.Until(ctx, e.NeedsOf(in))
	if err != nil {
		f.log.WarnContext(ctx, "cannot look up to when data is whole; going on", "err", err)
		return nil
	}
	if req.until = known.Until; known.Until.IsZero() {
		return nil
	}
	start, end := e.window(in, req.now)
	if !start.IsZero() && !start.Before(known.Until) {
		return e.behind(in, known.Until)
	}
	for _, hour := range known.Missing {
		if hour.Add(time.Hour).After(start) && hour.Before(end) {
			req.missing = append(req.missing, hour.Format(time.RFC3339))
		}
	}
	req.missing = req.missing[max(0, len(req.missing)-mostMissing):]
	return nil
}

// mostMissing bounds the hours that a header names: the newest ones.
const mostMissing = 48

// window is the time that a request is about; its start is zero where it has no beginning.
func (e *endpoint) window(in any, now time.Time) (start, end time.Time) {
	if spanner, ok := in.(catalog.Spanner); ok {
		if start, end = spanner.Span(now); end.IsZero() {
			end = now
		}
		return start, end
	}
	reacher, ok := in.(catalog.Reacher)
	if !ok && e.reach != nil {
		reacher, ok = reflect.ValueOf(in).Elem().FieldByIndex(e.reach).Interface().(catalog.Reacher)
	}
	if !ok || reacher.Reach() <= 0 {
		return time.Time{}, now
	}
	return now.Add(-reacher.Reach()), now
}

// behind is the answer to a request about what happened behind a time up to which all is known.
func (e *endpoint) behind(in any, until time.Time) error {
	return NotReady(hourlyAfter, "%s are known until %s, as they come with the hours that the venue publishes; try again later", holdsOf(e, in), until.UTC().Format(time.RFC3339))
}

// found is the answer to a lookup: nothing is found only where all is known that may be.
func (e *endpoint) found(in, out any, err error, req *request) error {
	var absent *absence
	if !e.Lookup || req.until.IsZero() || err != nil && !errors.As(err, &absent) {
		return err
	}
	if dater, ok := in.(catalog.Dater); ok && !dater.Latest(req.now).After(req.until) {
		return err // all is known of when it was to happen
	}
	if e.cursor != nil && reflect.ValueOf(in).Elem().FieldByIndex(e.cursor).Len() > 0 {
		return err // what is looked for was found on a page before
	}
	if v := reflect.Indirect(reflect.ValueOf(out)); err == nil && v.IsValid() && (v.Kind() != reflect.Slice || v.Len() > 0) {
		return nil
	}
	return e.behind(in, req.until)
}

// holdsOf is what a request needs, for people.
func holdsOf(e *endpoint, in any) string {
	var holds []string
	for _, need := range e.NeedsOf(in) {
		holds = append(holds, need.Holds)
	}
	return strings.Join(holds, " and ")
}

// awaited is the error of a handler: that a view was never published is a 503, as nothing is
// known of what it would hold.
func awaited(e *endpoint, in any, err error) error {
	if !errors.Is(err, store.ErrNoView) {
		return err
	}
	return NotReady(awaitedAfter, "%s have not arrived yet; try again later", holdsOf(e, in))
}
