package api

import (
	"context"
	"time"

	"quotary/shared/gate/usage"
)

// reserve is what is kept of the time of an invocation, for the refund and for the
// answer with its log line: Lambda kills at the deadline and logs nothing of the
// request.
const reserve = usage.RefundTimeout + 200*time.Millisecond

// WithReserve returns a context that ends half a second before the deadline of an
// invocation, if that has one, so that work which takes too long can still be
// answered and logged.
func WithReserve(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, deadline.Add(-reserve))
	}
	return context.WithCancel(ctx)
}
