package keys

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
	"quotary/shared/aws/batch"
	"quotary/shared/aws/contention"
	"quotary/shared/backoff"
	"quotary/shared/lru"
)

// DynamoDB is what the store needs of the client.
type DynamoDB interface {
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, options ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Store is the table of keys. It is safe for concurrent use.
type Store struct {
	db     DynamoDB
	table  string
	ring   *Ring
	now    func() time.Time
	owners lru.Cache[string, string]              // access key -> its distributor
	levels lru.Cache[levelID, seenLevel]          // levels as they were read
	grants lru.Cache[string, map[string]struct{}] // text of a distributor's grants -> the same, decoded
	starts lru.Cache[listID, starts]              // where parts of lists begin
}

// New returns the store on a table with the keys pk and sk. A program that needs no
// secret has a nil ring: of what it may call, only [Store.Resolve], [Store.Reseal] and
// what makes new secrets need one.
func New(db DynamoDB, table string, ring *Ring, now func() time.Time) *Store {
	return &Store{
		db: db, table: table, ring: ring, now: now,
		owners: lru.Cache[string, string]{Size: 4096},
		levels: lru.Cache[levelID, seenLevel]{Size: 1024},
		grants: lru.Cache[string, map[string]struct{}]{Size: 256},
		starts: lru.Cache[listID, starts]{Size: 256},
	}
}

// read gets one item, strongly consistent; nil when it does not exist.
func (s *Store) read(ctx context.Context, key item) (item, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: key, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// readAll gets items by their keys, strongly consistent, in no particular order.
// Those that do not exist are absent. The zero projection reads whole items.
func (s *Store) readAll(ctx context.Context, keys []item, p projection) ([]item, error) {
	want := p.keys()
	want.ConsistentRead = aws.Bool(true)
	return batch.GetAll(ctx, s.db, s.table, keys, want, parallelReads, unread)
}

// parallelReads is how many requests of one call run at a time.
const parallelReads = 4

// query reads the part of a partition whose sort keys have the prefix, strongly
// consistent, in the order of the sort keys. The zero projection reads whole items.
func (s *Store) query(ctx context.Context, partition, prefix string, projection projection) ([]item, error) {
	in := s.partition(partition, projection)
	if prefix != "" {
		in.KeyConditionExpression = aws.String("pk = :pk AND begins_with(sk, :prefix)")
		in.ExpressionAttributeValues[":prefix"] = attr.S(prefix)
	}
	var items []item
	for pages := dynamodb.NewQueryPaginator(s.db, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
	}
	return items, nil
}

// partition is a request for all of a partition, strongly consistent, in the order of
// the sort keys.
func (s *Store) partition(name string, projection projection) *dynamodb.QueryInput {
	in := &dynamodb.QueryInput{
		TableName:                 &s.table,
		ConsistentRead:            aws.Bool(true),
		KeyConditionExpression:    aws.String("pk = :pk"),
		ExpressionAttributeValues: item{":pk": attr.S(name)},
	}
	if projection.expression != "" {
		in.ProjectionExpression = &projection.expression
		in.ExpressionAttributeNames = maps.Clone(projection.names)
	}
	return in
}

// maxAttempts bounds the retries of what others' changes got in the way of.
const maxAttempts = 16

// errStale is what a step of [Store.retry] returns when the state that it was
// computed from has changed meanwhile.
var errStale = errors.New("changed meanwhile")

// retry runs a step again, after a growing random pause, for as long as
// others' changes come first.
func (s *Store) retry(ctx context.Context, step func() error) error {
	for attempt := range maxAttempts {
		err := step()
		if !errors.Is(err, errStale) {
			return err
		}
		if err := pauses.Wait(ctx, attempt); err != nil {
			return err
		}
	}
	return ErrBusy
}

// pauses are those between tries: other changes of an item take a few ms.
var pauses = backoff.Backoff{Min: 5 * time.Millisecond, Max: 640 * time.Millisecond}

// unread is how often the table is asked again for keys that it left unread.
var unread = batch.Retry{Tries: maxAttempts, Pauses: pauses}

// transact writes all or nothing. When a condition does not hold it returns an
// [*unmetError]; when another transaction was under way on the same items, errStale.
func (s *Store) transact(ctx context.Context, writes ...types.TransactWriteItem) error {
	_, err := s.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
	o, err := contention.Classify(err, len(writes))
	if o.AnyContended() {
		return errStale
	}
	failed := &unmetError{}
	for i := range o {
		if o.Refused(i) {
			failed.conditions = append(failed.conditions, i)
		}
	}
	if len(failed.conditions) > 0 {
		return failed
	}
	return err
}

// unmetError says which of the writes of a transaction had a condition that does
// not hold.
type unmetError struct{ conditions []int }

func (u *unmetError) Error() string {
	return fmt.Sprintf("the conditions of writes %v do not hold", u.conditions)
}

// isUnmet reports whether a condition of a single write did not hold.
func isUnmet(err error) bool {
	var failed *types.ConditionalCheckFailedException
	return errors.As(err, &failed)
}

// update changes one item if the condition holds and reports whether it did.
func (s *Store) update(ctx context.Context, u *types.Update) (done bool, err error) {
	err = s.retry(ctx, func() error {
		_, err := s.db.UpdateItem(ctx, attr.Alone(u))
		done = err == nil
		switch {
		case isUnmet(err):
			return nil
		case contention.Is(err):
			return errStale
		}
		return err
	})
	return done, err
}

// put is a write that creates an item and fails when it exists.
func (s *Store) put(it item) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &s.table, Item: it, ConditionExpression: aws.String("attribute_not_exists(pk)"),
	}}
}
