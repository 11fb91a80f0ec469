// Package readunits bounds what a request reads of DynamoDB. A context carries a budget
// in read units ([WithBudget]), a client that [Meter] was given to counts what each of
// its reads costs, as DynamoDB reports it, and refuses those that a budget no longer
// covers, with an [*ExceededError].
//
// A read takes from the budget, before it starts, the most that DynamoDB charges for any
// such read, and gives back what it did not cost. So no budget is ever passed, however large
// the rows are. What is not left for a read under way beside others is waited for;
// a batch that is too much for what is left is cut, and its other keys come back as
// unprocessed ([Cut]).
//
// What is written is counted beside that, and refused by no budget ([Budget.Written]).
//
// A budget may also keep to what all requests of a distributor read of one partition in a
// second ([Shares]), as others read of it too.
package readunits

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

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
	paid     chan struct{} // closed when a read under way has been paid; nil while nobody waits

	shares      *Shares // nil: there are none
	distributor string
	begun       map[string]bool // the shared partitions of which something was read
	waited      time.Duration   // for more of them
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

// The most that reads cost, eventually consistent: a row has 400 KB, a query ends with the
// row that passes a megabyte, and a batch of whole rows returns 16 MB, of which each row is
// rounded up.
const (
	largestRow = 50
	queryMost  = 128 + largestRow
	batchMost  = 2048
	rounding   = 0.5
)

// read is one that is about to be made.
type read struct {
	rows  int     // at most; 0 is no read
	times float64 // as much as an eventually consistent one: 1 or 2
	batch *dynamodb.BatchGetItemInput
}

// most is what a read of so many rows can cost.
func (r read) most(rows int) float64 {
	if r.batch != nil {
		return r.times * min(largestRow*float64(rows), batchMost+rounding*float64(rows))
	}
	return r.times * min(largestRow*float64(rows), queryMost)
}

// reserve takes the price of a read from the budget, or of as many rows of a batch as it
// covers.
func (b *Budget) reserve(ctx context.Context, r read) (rows int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		left := b.most - b.spent - b.reserved
		rows = r.rows
		if r.batch != nil && b.under == 0 && r.most(rows) > left {
			rows = int(left / r.most(1))
		}
		switch {
		case rows > 0 && r.most(rows) <= left:
			b.under++
			b.reserved += r.most(rows)
			return rows, nil
		case b.under == 0:
			return 0, &ExceededError{b.most}
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

// pay settles a read.
func (b *Budget) pay(reserved, units float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved -= reserved
	if b.under--; b.under == 0 {
		b.reserved = 0 // sums of fractions leave something behind
	}
	b.spent += units
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
	rows, err := b.reserve(ctx, r)
	if err != nil {
		return middleware.InitializeOutput{}, middleware.Metadata{}, err
	}
	var later map[string]types.KeysAndAttributes
	if rows < r.rows {
		in.Parameters, later = cut(r.batch, rows)
	}
	holds, err := b.shares.reserve(ctx, b, in.Parameters)
	if err != nil {
		b.pay(r.most(rows), 0)
		return middleware.InitializeOutput{}, middleware.Metadata{}, err
	}
	out, metadata, err := next.HandleInitialize(ctx, in)
	units := cost(out.Result)
	b.pay(r.most(rows), units)
	b.shares.settle(ctx, b, holds, units)
	if batch, ok := out.Result.(*dynamodb.BatchGetItemOutput); ok && len(later) > 0 {
		batch.UnprocessedKeys = join(batch.UnprocessedKeys, later)
		metadata.Set(cutKey{}, true)
	}
	return out, metadata, err
}

type cutKey struct{}

// Cut reports whether a batch was cut to what its budget covers, so that it is to be gone on
// with at once.
func Cut(out *dynamodb.BatchGetItemOutput) bool {
	is, _ := out.ResultMetadata.Get(cutKey{}).(bool)
	return is
}

// cut returns a batch of the first keys of another, and the other ones.
func cut(in *dynamodb.BatchGetItemInput, keys int) (first *dynamodb.BatchGetItemInput, later map[string]types.KeysAndAttributes) {
	part := *in
	part.RequestItems, later = map[string]types.KeysAndAttributes{}, map[string]types.KeysAndAttributes{}
	for table, of := range in.RequestItems {
		n := min(keys, len(of.Keys))
		keys -= n
		now, then := of, of
		if now.Keys = of.Keys[:n:n]; n > 0 {
			part.RequestItems[table] = now
		}
		if then.Keys = of.Keys[n:]; len(then.Keys) > 0 {
			later[table] = then
		}
	}
	return &part, later
}

// join adds keys to those that DynamoDB has left.
func join(left, later map[string]types.KeysAndAttributes) map[string]types.KeysAndAttributes {
	for table, of := range left {
		more, ok := later[table]
		if !ok {
			more = of
			more.Keys = nil
		}
		more.Keys = slices.Concat(of.Keys, more.Keys)
		later[table] = more
	}
	return later
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
		r.rows = 1 << 20
		if in.Limit != nil {
			r.rows = int(*in.Limit)
		}
		consistent(in.ConsistentRead)
	case *dynamodb.GetItemInput:
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
		r.rows = 1
		consistent(in.ConsistentRead)
	case *dynamodb.BatchGetItemInput:
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
		for _, of := range in.RequestItems {
			r.rows += len(of.Keys)
			consistent(of.ConsistentRead)
		}
		r.batch = in
	}
	return r
}

// cost is what a read cost.
func cost(result any) (units float64) {
	var all []types.ConsumedCapacity
	switch out := result.(type) {
	case *dynamodb.QueryOutput:
		if out.ConsumedCapacity != nil {
			all = []types.ConsumedCapacity{*out.ConsumedCapacity}
		}
	case *dynamodb.GetItemOutput:
		if out.ConsumedCapacity != nil {
			all = []types.ConsumedCapacity{*out.ConsumedCapacity}
		}
	case *dynamodb.BatchGetItemOutput:
		all = out.ConsumedCapacity
	}
	for _, c := range all {
		if c.CapacityUnits != nil {
			units += *c.CapacityUnits
		}
	}
	return units
}
