package contention_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"quotary/shared/aws/contention"
	"quotary/shared/backoff"
)

func cancelled(codes ...string) error {
	e := &types.TransactionCanceledException{}
	for _, code := range codes {
		e.CancellationReasons = append(e.CancellationReasons, types.CancellationReason{Code: aws.String(code)})
	}
	return e
}

func TestOnlyContentionIsRepeated(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err    error
		repeat bool
	}{
		"no error":                              {nil, false},
		"a conflict with a transaction":         {&types.TransactionConflictException{}, true},
		"the same transaction, under way":       {&types.TransactionInProgressException{}, true},
		"no capacity":                           {&types.ProvisionedThroughputExceededException{}, true},
		"throttled":                             {&smithy.GenericAPIError{Code: "ThrottlingException"}, true},
		"a condition":                           {&types.ConditionalCheckFailedException{}, false},
		"a transaction with a conflict":         {cancelled("None", "TransactionConflict"), true},
		"a transaction without capacity":        {cancelled("ThrottlingError", "None"), true},
		"a transaction with both":               {cancelled("ConditionalCheckFailed", "TransactionConflict"), false},
		"a transaction of a wrong request":      {cancelled("ValidationError"), false},
		"a request that DynamoDB does not know": {&smithy.GenericAPIError{Code: "ValidationException"}, false},
		"no answer":                             {context.DeadlineExceeded, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := contention.Is(tt.err); got != tt.repeat {
				t.Errorf("repeated: %t", got)
			}
		})
	}
}

func TestEachWriteOfATransactionHasItsReason(t *testing.T) {
	t.Parallel()
	o, err := contention.Classify(cancelled("None", "ConditionalCheckFailed", "TransactionConflict"), 3)
	if err != nil || o.Refused(0) || !o.Refused(1) || o.Refused(2) || o.Contended(1) || !o.Contended(2) || !o.AnyContended() {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := contention.Classify(&types.ProvisionedThroughputExceededException{}, 2); err != nil || !o.Contended(0) || !o.Contended(1) {
		t.Errorf("a throttled request: %+v, %v", o, err)
	}
	if o, err := contention.Classify(nil, 2); o != nil || err != nil {
		t.Errorf("no error: %+v, %v", o, err)
	}
	wrong := cancelled("ValidationError")
	if o, err := contention.Classify(wrong, 1); o != nil || !errors.Is(err, wrong) {
		t.Errorf("a wrong request: %+v, %v", o, err)
	}
}

func TestARequestIsRepeatedSoManyTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		retry := contention.Retry{Tries: 5, Pauses: backoff.Backoff{Min: time.Second, Max: time.Minute}, Timeout: time.Second}
		made := 0
		err := retry.Do(t.Context(), func(ctx context.Context) error {
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("a try has no deadline")
			}
			made++
			return &types.TransactionConflictException{}
		})
		if made != 5 || !contention.Is(err) {
			t.Errorf("%d tries, %v", made, err)
		}
		made = 0
		err = retry.Do(t.Context(), func(context.Context) error {
			if made++; made < 3 {
				return &types.TransactionConflictException{}
			}
			return nil
		})
		if made != 3 || err != nil {
			t.Errorf("%d tries, %v", made, err)
		}
		ctx, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		retry.Tries = 0
		err = retry.Do(ctx, func(context.Context) error { return &types.TransactionConflictException{} })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without end: %v", err)
		}
	})
}
