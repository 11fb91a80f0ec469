package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"

	"quotary/shared/attr"
	"quotary/shared/backoff"
)

// Limits of DynamoDB's batch requests.
const (
	maxBatchWrite = 25
	maxBatchGet   = 100
)

// defaultParallel is how many batch requests of one call run at a time.
const defaultParallel = 4

// Rows is the part of the DynamoDB client that reads and writes rows.
type Rows interface {
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

type item = attr.Item

// rowKey is the primary key of an item.
type rowKey struct{ pk, sk string }

func (k rowKey) item() item {
	return item{
		attrPK: attr.S(k.pk),
		attrSK: attr.S(k.sk),
	}
}

func keyOf(it item) rowKey { return rowKey{attr.Text(it, attrPK), attr.Text(it, attrSK)} }

// getAll reads the items of the keys, strongly consistent, 100 a request and
// `parallel` requests at a time; keys without an item are absent from the
// result. attributes are those to read besides the key.
func getAll(ctx context.Context, db Rows, table string, parallel int, keys []rowKey, attributes ...string) (map[rowKey]item, error) {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(orDefault(parallel))
	chunks := slices.Collect(slices.Chunk(keys, maxBatchGet))
	found := make([]map[rowKey]item, len(chunks))
	for i, chunk := range chunks {
		g.Go(func() (err error) {
			found[i], err = getChunk(ctx, db, table, chunk, attributes)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	all := make(map[rowKey]item, len(keys))
	for _, f := range found {
		maps.Copy(all, f)
	}
	return all, nil
}

func getChunk(ctx context.Context, db Rows, table string, chunk []rowKey, attributes []string) (map[rowKey]item, error) {
	projection, names := project(attributes)
	want := types.KeysAndAttributes{
		ConsistentRead:           aws.Bool(true),
		ProjectionExpression:     projection,
		ExpressionAttributeNames: names,
	}
	for _, k := range chunk {
		want.Keys = append(want.Keys, k.item())
	}
	found := make(map[rowKey]item, len(chunk))
	for try := 0; ; try++ {
		out, err := batchGet(ctx, db, map[string]types.KeysAndAttributes{table: want})
		switch {
		case throttled(err):
		case err != nil:
			return nil, fmt.Errorf("read %d rows: %w", len(want.Keys), err)
		default:
			for _, it := range out.Responses[table] {
				found[keyOf(it)] = it
			}
			left := out.UnprocessedKeys[table].Keys
			if len(left) == 0 {
				return found, nil
			}
			if len(left) < len(want.Keys) {
				try = 0
			}
			want.Keys = left
		}
		if err := pauses.Wait(ctx, try); err != nil {
			return nil, fmt.Errorf("read %d rows that DynamoDB left unprocessed: %w", len(want.Keys), err)
		}
	}
}

func batchGet(ctx context.Context, db Rows, want map[string]types.KeysAndAttributes) (*dynamodb.BatchGetItemOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return db.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: want})
}

// query runs one page of a query.
func query(ctx context.Context, db Rows, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return db.Query(ctx, in)
}

// project names the key and the attributes to a request. All names go through
// placeholders, so that none of DynamoDB's reserved words is in the way.
func project(attributes []string) (*string, map[string]string) {
	expression, names := "#pk, #sk", map[string]string{"#pk": attrPK, "#sk": attrSK}
	for _, a := range attributes {
		expression += ", #" + a
		names["#"+a] = a
	}
	return &expression, names
}

// throttled tells the errors by which DynamoDB refuses a whole batch for now.
func throttled(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && slices.Contains([]string{
		"ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException",
	}, api.ErrorCode())
}

// pauses are those between the tries of a request that DynamoDB refuses for now.
var pauses = backoff.Backoff{Min: 50 * time.Millisecond, Max: 5 * time.Second}

func orDefault(parallel int) int {
	if parallel <= 0 {
		return defaultParallel
	}
	return parallel
}
