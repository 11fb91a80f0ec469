// Package readunits bounds what a request reads of DynamoDB. A context carries a budget
// in read units ([WithBudget]), a client that [Meter] was given to counts what each of
// its reads costs, as DynamoDB reports it, and refuses those that a budget no longer
// covers, with an [*ExceededError].
//
// Reads that run side by side take from one budget before they start: the first one alone,
// and then each at what it will cost, reckoned from the dearest rows that the budget has
// paid so far. One that may be too much waits until those under way have been paid. So a
// budget is passed at most by how much dearer the reads under way are than all before.
//
// What is written is counted beside that, and refused by no budget ([Budget.Written]).
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
	written  float64 // write units
	spent    float64
	under    int           // reads under way
	reserved float64       // by them
	perRow   float64       // of the dearest page so far, as if it was read eventually consistent; 0 before the first is paid
	paid     chan struct{} // closed when a read under way has been paid; nil while nobody waits
}

type key struct{}

// WithBudget returns a context whose reads cost at most so many units together.
func WithBudget(ctx context.Context, units float64) (context.Context, *Budget) {
	b := &Budget{most: units}
	return context.WithValue(ctx, key{}, b), b
}

// Unbounded returns a context whose reads no budget bounds: those behind a write, which
// bring what was begun to its end.
func Unbounded(ctx context.Context) context.Context {
	return context.WithValue(ctx, key{}, (*Budget)(nil))
}

// Spent is how many units were read.
func (b *Budget) Spent() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// Written is how many write units were written; what a condition refused is not among them.
func (b *Budget) Written() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.written
}

// Units of the largest row and of the most that a query and a batch return, read
// eventually consistent: 400 KB, a megabyte and 16.
const (
	leastRow   = 0.5
	largestRow = 50
	queryMost  = 128
	batchMost  = 2048
)

// read is one that is about to be made.
type read struct {
	rows  int     // at most
	most  float64 // units that it can cost at most
	times float64 // as much as an eventually consistent one: 1 or 2
	batch bool    // of single rows, each of which costs leastRow at least, also where it is not there
}

// reserve takes the price of a read from the budget.
func (b *Budget) reserve(ctx context.Context, r read) (units float64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		units = r.times * min(r.most, float64(r.rows)*b.perRow)
		switch {
		case b.spent >= b.most, b.under == 0 && b.spent > 0 && b.spent+units > b.most:
			return 0, &ExceededError{b.most}
		case b.under == 0, b.perRow > 0 && b.spent+b.reserved+units <= b.most: // the first one alone tells what rows cost
			b.under++
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
func (b *Budget) pay(r read, reserved, units float64, rows int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved -= reserved
	if b.under--; b.under == 0 {
		b.reserved = 0 // sums of fractions leave something behind
	}
	b.spent += units
	units /= r.times
	if missing := r.rows - rows; r.batch && units > 0 {
		units = max(leastRow, units-leastRow*float64(missing))
	}
	b.perRow = max(b.perRow, units/float64(max(1, rows)))
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
	r := readOf(in.Parameters)
	if b == nil || r.rows == 0 {
		if b != nil {
			reportWrites(in.Parameters)
		}
		out, metadata, err := next.HandleInitialize(ctx, in)
		if b != nil {
			b.wrote(out.Result)
		}
		return out, metadata, err
	}
	reserved, err := b.reserve(ctx, r)
	if err != nil {
		return middleware.InitializeOutput{}, middleware.Metadata{}, err
	}
	out, metadata, err := next.HandleInitialize(ctx, in)
	units, got := cost(out.Result)
	b.pay(r, reserved, units, got)
	return out, metadata, err
}

// reportWrites has the cost of a write be reported.
func reportWrites(request any) {
	switch in := request.(type) {
	case *dynamodb.PutItemInput:
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	case *dynamodb.UpdateItemInput:
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	case *dynamodb.DeleteItemInput:
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	case *dynamodb.TransactWriteItemsInput:
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	}
}

// wrote counts what a write has cost.
func (b *Budget) wrote(result any) {
	var all []types.ConsumedCapacity
	add := func(one *types.ConsumedCapacity) {
		if one != nil {
			all = append(all, *one)
		}
	}
	switch out := result.(type) {
	case *dynamodb.PutItemOutput:
		add(out.ConsumedCapacity)
	case *dynamodb.UpdateItemOutput:
		add(out.ConsumedCapacity)
	case *dynamodb.DeleteItemOutput:
		add(out.ConsumedCapacity)
	case *dynamodb.TransactWriteItemsOutput:
		all = out.ConsumedCapacity
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range all {
		if all[i].CapacityUnits != nil {
			b.written += *all[i].CapacityUnits
		}
	}
}

// readOf is the read that a request makes, with its cost to be reported; one of no rows where
// it makes none.
func readOf(request any) (r read) {
	consistent := func(is *bool) {
		if is != nil && *is {
			r.times = 2
		}
	}
	r.times = 1
	switch in := request.(type) {
	case *dynamodb.QueryInput:
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
		r.rows, r.most = 1<<20, queryMost
		if in.Limit != nil {
			r.rows = int(*in.Limit)
		}
		consistent(in.ConsistentRead)
	case *dynamodb.GetItemInput:
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
		r.rows, r.most = 1, largestRow
		consistent(in.ConsistentRead)
	case *dynamodb.BatchGetItemInput:
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
		for _, of := range in.RequestItems {
			r.rows += len(of.Keys)
			consistent(of.ConsistentRead)
		}
		r.most, r.batch = min(batchMost, largestRow*float64(r.rows)), true
	}
	return r
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
