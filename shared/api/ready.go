package api

import (
	"context"
	"errors"
	"strings"
	"time"

	"quotary/shared/data/delivered"
	"quotary/shared/store"
)

// When to ask again: for what a source is about to bring, and for what no source is
// configured for.
const (
	awaitedAfter      = 5 * time.Second
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

// awaited is the error of a handler: that a view was never published is a 503, as nothing is
// known of what it would hold.
func awaited(e *endpoint, in any, err error) error {
	if !errors.Is(err, store.ErrNoView) {
		return err
	}
	var holds []string
	for _, need := range e.NeedsOf(in) {
		holds = append(holds, need.Holds)
	}
	return NotReady(awaitedAfter, "%s have not arrived yet; try again later", strings.Join(holds, " and "))
}
