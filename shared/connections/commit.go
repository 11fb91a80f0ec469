package connections

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"quotary/shared/attr"
	"quotary/shared/backoff"
)

const (
	// requestTimeout bounds one request, its retries inside the SDK included.
	requestTimeout = 10 * time.Second

	// attempts is how often a change is tried that others keep crossing.
	attempts = 40
)

// pauses are those between the tries of a change that others cross.
var pauses = backoff.Backoff{Min: 10 * time.Millisecond, Max: 640 * time.Millisecond}

// errCrossed is the error of a change that others crossed every time.
var errCrossed = errors.New("the items kept changing")

// outcome says, for each item of a change, why the change was not made; nil: it was.
type outcome []types.CancellationReason

const (
	conditionFailed = "ConditionalCheckFailed"
	reasonConflict  = "TransactionConflict"
)

// refused reports whether the condition of an item failed.
func (o outcome) refused(i int) bool { return i < len(o) && aws.ToString(o[i].Code) == conditionFailed }

// crossed reports whether something else was under way on an item, or the table was
// short of capacity for it.
func (o outcome) crossed(i int) bool {
	return i < len(o) && slices.Contains([]string{reasonConflict, "ThrottlingError", "ProvisionedThroughputExceeded"}, aws.ToString(o[i].Code))
}

// any reports whether one of the items was crossed.
func (o outcome) any() bool {
	for i := range o {
		if o.crossed(i) {
			return true
		}
	}
	return false
}

// image is the item that refused, as it was.
func (o outcome) image(i int) image { return imageOf(o[i].Item) }

// commit makes a change: one write where it is of one item, else a transaction.
func (s *Store) commit(ctx context.Context, items ...types.TransactWriteItem) (outcome, error) {
	ctx, done := context.WithTimeout(ctx, requestTimeout)
	defer done()
	var err error
	if len(items) == 1 {
		err = s.single(ctx, items[0])
	} else {
		_, err = s.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
	}
	return outcomeOf(err, len(items))
}

// outcomeOf reads the error of a change of so many items.
func outcomeOf(err error, items int) (outcome, error) {
	var cancelled *types.TransactionCanceledException
	var failed *types.ConditionalCheckFailedException
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &failed):
		return outcome{{Code: aws.String(conditionFailed), Item: failed.Item}}, nil
	case errors.As(err, &cancelled):
		o := outcome(cancelled.CancellationReasons)
		for i := range o {
			if o.refused(i) || o.crossed(i) {
				return o, nil
			}
		}
	case crossed(err):
		o := make(outcome, items)
		for i := range o {
			o[i].Code = aws.String(reasonConflict)
		}
		return o, nil
	}
	return nil, err
}

// crossed reports whether a write failed because something else was under way on the
// same item, or because the table was short of capacity for it.
func crossed(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && slices.Contains([]string{
		"TransactionConflictException", "TransactionInProgressException", "ProvisionedThroughputExceededException", "ThrottlingException",
	}, api.ErrorCode())
}

func (s *Store) update(ctx context.Context, in *dynamodb.UpdateItemInput) (*dynamodb.UpdateItemOutput, error) {
	ctx, done := context.WithTimeout(ctx, requestTimeout)
	defer done()
	return s.db.UpdateItem(ctx, in)
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
		_, err = s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: w.Update.TableName, Key: w.Update.Key, UpdateExpression: w.Update.UpdateExpression, ConditionExpression: w.Update.ConditionExpression,
			ExpressionAttributeNames: w.Update.ExpressionAttributeNames, ExpressionAttributeValues: w.Update.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: w.Update.ReturnValuesOnConditionCheckFailure,
		})
	default:
		_, err = s.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: w.Delete.TableName, Key: w.Delete.Key, ConditionExpression: w.Delete.ConditionExpression,
			ExpressionAttributeNames: w.Delete.ExpressionAttributeNames, ExpressionAttributeValues: w.Delete.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: w.Delete.ReturnValuesOnConditionCheckFailure,
		})
	}
	return err
}

// write makes a change and repeats what others cross. The outcome is nil, or names the
// conditions that failed.
func (s *Store) write(ctx context.Context, items ...types.TransactWriteItem) (outcome, error) {
	for try := range attempts {
		o, err := s.commit(ctx, items...)
		if err != nil || !o.any() {
			return o, err
		}
		if err := pauses.Wait(ctx, try); err != nil {
			return nil, err
		}
	}
	return nil, errCrossed
}

// read returns one item, strongly consistent; it does not exist where there is none.
func (s *Store) read(ctx context.Context, k item) (image, error) {
	return s.get(ctx, k, true)
}

func (s *Store) get(ctx context.Context, k item, consistent bool) (image, error) {
	ctx, done := context.WithTimeout(ctx, requestTimeout)
	defer done()
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.table, Key: k, ConsistentRead: &consistent})
	if err != nil {
		return image{}, err
	}
	return imageOf(out.Item), nil
}

// here fails with [ErrGone] unless the connection is there and not being removed.
func (s *Store) here(ctx context.Context, id string) error {
	c, err := s.read(ctx, connectionKey(id))
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
	pages := dynamodb.NewQueryPaginator(s.db, &dynamodb.QueryInput{
		TableName:                 &s.table,
		ConsistentRead:            aws.Bool(true),
		KeyConditionExpression:    aws.String("pk = :pk AND sk BETWEEN :from AND :to"),
		ExpressionAttributeValues: item{":pk": attr.S(prefixConnection + id), ":from": attr.S(from), ":to": attr.S(to)},
	})
	for pages.HasMorePages() {
		page, err := timed(ctx, pages.NextPage)
		if err != nil {
			return nil, fmt.Errorf("read what a connection has: %w", err)
		}
		for _, it := range page.Items {
			found = append(found, imageOf(it))
		}
	}
	return found, nil
}

// after is a sort key behind all with a prefix, which ends in a '#'.
func after(prefix string) string { return prefix[:len(prefix)-1] + "$" }

// timed reads the next page, with a deadline of its own.
func timed[Page any](ctx context.Context, next func(context.Context, ...func(*dynamodb.Options)) (Page, error)) (Page, error) {
	ctx, done := context.WithTimeout(ctx, requestTimeout)
	defer done()
	return next(ctx)
}
