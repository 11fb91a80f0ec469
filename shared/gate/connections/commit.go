package connections

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
	"quotary/shared/aws/contention"
	"quotary/shared/aws/readunits"
	"quotary/shared/backoff"
)

const (
	// requestTimeout bounds one request, its retries inside the SDK included.
	requestTimeout = 10 * time.Second

	// attempts is how often a change is tried that keeps meeting others.
	attempts = 40
)

// retries are those of a change that meets others.
var retries = contention.Retry{Tries: attempts, Pauses: backoff.Backoff{Min: 10 * time.Millisecond, Max: 640 * time.Millisecond}, Timeout: requestTimeout}

// errContended is the error of a change that met others every time.
var errContended = errors.New("the items kept changing")

// refusedItem is the item of a write whose condition does not hold, as it is.
func refusedItem(o contention.Outcome, i int) image { return imageOf(o[i].Item) }

// commit makes a change: one write where it is of one item, else a transaction.
func (s *Store) commit(ctx context.Context, items ...types.TransactWriteItem) (contention.Outcome, error) {
	ctx, done := context.WithTimeout(ctx, requestTimeout)
	defer done()
	var err error
	if len(items) == 1 {
		err = s.single(ctx, items[0])
	} else {
		_, err = s.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
	}
	return contention.Classify(err, len(items))
}

// update makes one write, and repeats it when others are under way on its item.
func (s *Store) update(ctx context.Context, in *dynamodb.UpdateItemInput) (out *dynamodb.UpdateItemOutput, err error) {
	err = retries.Do(ctx, func(ctx context.Context) error {
		out, err = s.db.UpdateItem(ctx, in)
		return err
	})
	return out, err
}

// single makes the write that would be the only one of a transaction, at half its cost
// and without holding its item.
func (s *Store) single(ctx context.Context, w types.TransactWriteItem) (err error) {
	switch {
	case w.Put != nil:
		_, err = s.db.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: w.Put.TableName, Item: w.Put.Item, ConditionExpression: w.Put.ConditionExpression,
			ExpressionAttributeNames: w.Put.ExpressionAttributeNames, ExpressionAttributeValues: w.Put.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: w.Put.ReturnValuesOnConditionCheckFailure,
		})
	case w.Update != nil:
		_, err = s.db.UpdateItem(ctx, attr.Alone(w.Update))
	default:
		_, err = s.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: w.Delete.TableName, Key: w.Delete.Key, ConditionExpression: w.Delete.ConditionExpression,
			ExpressionAttributeNames: w.Delete.ExpressionAttributeNames, ExpressionAttributeValues: w.Delete.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: w.Delete.ReturnValuesOnConditionCheckFailure,
		})
	}
	return err
}

// write makes a change and repeats it when it meets others. The outcome is nil, or
// names the conditions that do not hold.
func (s *Store) write(ctx context.Context, items ...types.TransactWriteItem) (contention.Outcome, error) {
	for try := range attempts {
		o, err := s.commit(ctx, items...)
		if err != nil || !o.AnyContended() {
			return o, err
		}
		if err := retries.Pauses.Wait(ctx, try); err != nil {
			return nil, err
		}
	}
	return nil, errContended
}

// read returns one item, strongly consistent; it does not exist where there is none.
func (s *Store) read(ctx context.Context, k item) (image, error) {
	return s.get(ctx, k, true)
}

func (s *Store) get(ctx context.Context, k item, consistent bool) (image, error) {
	var out *dynamodb.GetItemOutput
	err := retries.Do(ctx, func(ctx context.Context) (err error) {
		out, err = s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.table, Key: k, ConsistentRead: &consistent})
		return err
	})
	if err != nil {
		return image{}, err
	}
	return imageOf(out.Item), nil
}

// requireConnection fails with [ErrGone] unless the connection is there and not being removed.
func (s *Store) requireConnection(ctx context.Context, id string) error {
	c, err := s.read(readunits.Unbounded(ctx), connectionKey(id)) // behind a write
	switch {
	case err != nil:
		return fmt.Errorf("read a connection: %w", err)
	case !c.exists() || c.closing():
		return ErrGone
	}
	return nil
}

// query returns the items of a connection whose sort keys lie between two, strongly
// consistent, in their order.
func (s *Store) query(ctx context.Context, id, from, to string) (found []image, err error) {
	err = s.visit(ctx, prefixConnection+id, from, to, func(im image) { found = append(found, im) })
	return found, err
}

// visit is query for any partition, page by page.
func (s *Store) visit(ctx context.Context, partition, from, to string, visit func(image)) error {
	pages := dynamodb.NewQueryPaginator(s.db, &dynamodb.QueryInput{
		TableName:                 &s.table,
		ConsistentRead:            aws.Bool(true),
		KeyConditionExpression:    aws.String("pk = :pk AND sk BETWEEN :from AND :to"),
		ExpressionAttributeValues: item{":pk": attr.S(partition), ":from": attr.S(from), ":to": attr.S(to)},
	})
	for pages.HasMorePages() {
		page, err := timed(ctx, pages.NextPage)
		if err != nil {
			return fmt.Errorf("read what a connection has: %w", err)
		}
		for _, it := range page.Items {
			visit(imageOf(it))
		}
	}
	return nil
}

// after is a sort key behind all with a prefix, which ends in a '#'.
func after(prefix string) string { return prefix[:len(prefix)-1] + "$" }

// timed reads the next page, with a deadline of its own.
func timed[Page any](ctx context.Context, next func(context.Context, ...func(*dynamodb.Options)) (Page, error)) (Page, error) {
	ctx, done := context.WithTimeout(ctx, requestTimeout)
	defer done()
	return next(ctx)
}
