// Package readunits bounds what a request reads of DynamoDB. A context carries a budget
// in read units ([WithBudget]), a client that [Meter] was given to counts what each of
// its reads costs, as DynamoDB reports it, and refuses those that a budget no longer
// covers, with an [*ExceededError].
//
// Reads that run side by side take from one budget before they start: what a page will
// cost is reckoned from the dearest rows that the budget has paid so far, and one that
// may be too much waits until those under way have been paid. So a budget is passed by
// what is misjudged of one page at most, whatever the number of reads.
package readunits

import (
	"context"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// ExceededError is why a read was refused.
type ExceededError struct {
	Budget float64 // read units
}

// Error implements error.
func (e *ExceededError) Error() string {
	return fmt.Sprintf("more than the %v read units of its budget would be read", e.Budget)
}

// Budget is what may be read, and what was. The zero value is spent.
type Budget struct {
	most float64

	mu       sync.Mutex
	spent    float64
	reserved float64       // by reads under way
	perRow   float64       // of the dearest page so far
	paid     chan struct{} // closed when a read under way has been paid; nil while nobody waits
}

type key struct{}

// WithBudget returns a context whose reads cost at most so many units together.
func WithBudget(ctx context.Context, units float64) (context.Context, *Budget) {
	b := &Budget{most: units}
	return context.WithValue(ctx, key{}, b), b
}

// Spent is how many units were read.
func (b *Budget) Spent() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// Units of a row before any has been read: of 2 KB, read eventually consistent, and of a
// page of a megabyte, beyond which a query never reads.
const (
	firstRow = 0.25
	page     = 128
)

// reserve takes the price of a read of so many rows from the budget.
func (b *Budget) reserve(ctx context.Context, rows int) (units float64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		units = min(page, float64(rows)*max(b.perRow, firstRow))
		switch {
		case b.spent >= b.most, b.reserved == 0 && b.spent > 0 && b.spent+units > b.most:
			return 0, &ExceededError{b.most}
		case b.reserved == 0, b.spent+b.reserved+units <= b.most:
			b.reserved += units
			return units, nil
		}
		if b.paid == nil {
			b.paid = make(chan struct{})
		}
		paid := b.paid
		b.mu.Unlock()
		select {
		case <-paid:
			b.mu.Lock()
		case <-ctx.Done():
			b.mu.Lock()
			return 0, ctx.Err()
		}
	}
}

// pay settles a read that has returned so many rows.
func (b *Budget) pay(reserved, units float64, rows int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved -= reserved
	b.spent += units
	if rows > 0 {
		b.perRow = max(b.perRow, units/float64(rows))
	}
	if b.paid != nil {
		close(b.paid)
		b.paid = nil
	}
}

// Meter has a client count what it reads, and keep to the budgets of its contexts.
func Meter(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("ReadUnits", meter), middleware.After)
	})
}

func meter(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
	b, _ := ctx.Value(key{}).(*Budget)
	rows := asked(in.Parameters)
	if b == nil || rows == 0 {
		return next.HandleInitialize(ctx, in)
	}
	reserved, err := b.reserve(ctx, rows)
	if err != nil {
		return middleware.InitializeOutput{}, middleware.Metadata{}, err
	}
	out, metadata, err := next.HandleInitialize(ctx, in)
	units, got := cost(out.Result)
	b.pay(reserved, units, got)
	return out, metadata, err
}

// asked is how many rows a request may read, with its cost to be reported; 0 where it is
// no read.
func asked(request any) (rows int) {
	switch in := request.(type) {
	case *dynamodb.QueryInput:
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
		if in.Limit != nil {
			return int(*in.Limit)
		}
		return 1 << 20
	case *dynamodb.GetItemInput:
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
		return 1
	case *dynamodb.BatchGetItemInput:
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
		for _, of := range in.RequestItems {
			rows += len(of.Keys)
		}
	}
	return rows
}

// cost is what a read cost, and how many rows it read.
func cost(result any) (units float64, rows int) {
	var all []types.ConsumedCapacity
	switch out := result.(type) {
	case *dynamodb.QueryOutput:
		rows = int(out.ScannedCount)
		if out.ConsumedCapacity != nil {
			all = []types.ConsumedCapacity{*out.ConsumedCapacity}
		}
	case *dynamodb.GetItemOutput:
		rows = 1
		if out.ConsumedCapacity != nil {
			all = []types.ConsumedCapacity{*out.ConsumedCapacity}
		}
	case *dynamodb.BatchGetItemOutput:
		all = out.ConsumedCapacity
		for _, items := range out.Responses {
			rows += len(items)
		}
	}
	for _, c := range all {
		if c.CapacityUnits != nil {
			units += *c.CapacityUnits
		}
	}
	return units, rows
}
