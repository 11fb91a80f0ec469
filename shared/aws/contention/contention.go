// Package contention reads the errors of writes to DynamoDB: which of them were refused
// by a condition, and which only met others.
//
// DynamoDB fails a write, or cancels a transaction, while a transaction is under way on
// one of its items, and while a table is short of capacity. Such a write may succeed a
// moment later and is to be repeated ([Retry]); one whose condition does not hold is not.
package contention

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"quotary/shared/aws/batch"
	"quotary/shared/backoff"
)

const (
	conditionFailed = "ConditionalCheckFailed"
	conflict        = "TransactionConflict"
)

// Outcome says of each write of a request that failed why it did; it is nil for one that
// was made.
type Outcome []types.CancellationReason

// Classify reads the error of a request of so many writes. What is neither a condition that
// does not hold nor contention is returned as the error.
func Classify(err error, writes int) (Outcome, error) {
	var cancelled *types.TransactionCanceledException
	var refused *types.ConditionalCheckFailedException
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &refused):
		return Outcome{{Code: aws.String(conditionFailed), Item: refused.Item}}, nil
	case errors.As(err, &cancelled):
		o := Outcome(cancelled.CancellationReasons)
		for i := range o {
			if o.Refused(i) || o.Contended(i) {
				return o, nil
			}
		}
	case batch.Throttled(err) || isConflict(err):
		o := make(Outcome, writes)
		for i := range o {
			o[i].Code = aws.String(conflict)
		}
		return o, nil
	}
	return nil, err
}

func isConflict(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && slices.Contains([]string{"TransactionConflictException", "TransactionInProgressException"}, api.ErrorCode())
}

// Refused reports whether the condition of a write does not hold. The write's Item is
// then the item as it is, where the request asks for that.
func (o Outcome) Refused(i int) bool {
	return i < len(o) && aws.ToString(o[i].Code) == conditionFailed
}

// Contended reports whether something else was under way on the item of a write, or its
// table was short of capacity.
func (o Outcome) Contended(i int) bool {
	return i < len(o) && slices.Contains([]string{conflict, "ThrottlingError", "ProvisionedThroughputExceeded"}, aws.ToString(o[i].Code))
}

// AnyContended reports whether one of the writes was contended.
func (o Outcome) AnyContended() bool {
	for i := range o {
		if o.Contended(i) {
			return true
		}
	}
	return false
}

// Is reports whether a request failed by contention alone, so that a repetition may
// succeed.
func Is(err error) bool {
	o, err := Classify(err, 1)
	for i := range o {
		if o.Refused(i) {
			return false
		}
	}
	return err == nil && o.AnyContended()
}

// Retry says how a request is repeated that meets contention.
type Retry struct {
	Tries   int             // 0 is without end, until the context ends
	Pauses  backoff.Backoff // after a try
	Timeout time.Duration   // of one try, the SDK's own included; 0 is without
}

// Do makes a request, and again for as long as [Is] says so of its error.
func (r Retry) Do(ctx context.Context, request func(context.Context) error) error {
	for try := 0; ; try++ {
		err := r.once(ctx, request)
		if err == nil || !Is(err) || r.Tries > 0 && try+1 >= r.Tries {
			return err
		}
		if ended := r.Pauses.Wait(ctx, try); ended != nil {
			return fmt.Errorf("%w: %w", err, ended)
		}
	}
}

func (r Retry) once(ctx context.Context, request func(context.Context) error) error {
	if r.Timeout > 0 {
		var done context.CancelFunc
		ctx, done = context.WithTimeout(ctx, r.Timeout)
		defer done()
	}
	return request(ctx)
}
