package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"
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

type item = map[string]types.AttributeValue

// rowKey is the primary key of an item.
type rowKey struct{ pk, sk string }

func (k rowKey) item() item {
	return item{
		attrPK: &types.AttributeValueMemberS{Value: k.pk},
		attrSK: &types.AttributeValueMemberS{Value: k.sk},
	}
}

func keyOf(it item) rowKey { return rowKey{text(it, attrPK), text(it, attrSK)} }

// putAll writes the items, 25 a request and `parallel` requests at a time; of
// items with the same key the last one (a request may not name a key twice).
// What DynamoDB leaves unprocessed is tried again until ctx ends. On an error
// any part of the items may have been written.
func putAll(ctx context.Context, db Rows, table string, parallel int, items []item) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(orDefault(parallel))
	for chunk := range slices.Chunk(distinct(items), maxBatchWrite) {
		g.Go(func() error { return putChunk(ctx, db, table, chunk) })
	}
	return g.Wait()
}

func distinct(items []item) []item {
	at := make(map[rowKey]int, len(items))
	kept := make([]item, 0, len(items))
	for _, it := range items {
		k := keyOf(it)
		if i, double := at[k]; double {
			kept[i] = it
			continue
		}
		at[k] = len(kept)
		kept = append(kept, it)
	}
	return kept
}

func putChunk(ctx context.Context, db Rows, table string, chunk []item) error {
	writes := make([]types.WriteRequest, len(chunk))
	for i, it := range chunk {
		writes[i].PutRequest = &types.PutRequest{Item: it}
	}
	for try := 0; ; try++ {
		out, err := batchWrite(ctx, db, map[string][]types.WriteRequest{table: writes})
		switch {
		case throttled(err):
		case err != nil:
			return fmt.Errorf("write %d rows: %w", len(writes), err)
		default:
			left := out.UnprocessedItems[table]
			if len(left) == 0 {
				return nil
			}
			if len(left) < len(writes) {
				try = 0 // it goes on: no need to slow down further
			}
			writes = left
		}
		if err := sleep(ctx, backoff(try)); err != nil {
			return fmt.Errorf("write %d rows that DynamoDB left unprocessed: %w", len(writes), err)
		}
	}
}

func batchWrite(ctx context.Context, db Rows, writes map[string][]types.WriteRequest) (*dynamodb.BatchWriteItemOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: writes})
}

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
		if err := sleep(ctx, backoff(try)); err != nil {
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

// backoff returns the pause before the next try: a random part of a ceiling
// that doubles from 50 ms to 5 s.
func backoff(try int) time.Duration {
	ceiling := min(50*time.Millisecond<<min(try, 10), 5*time.Second)
	return ceiling/4 + rand.N(ceiling*3/4)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

func text(it item, name string) string {
	if s, ok := it[name].(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func orDefault(parallel int) int {
	if parallel <= 0 {
		return defaultParallel
	}
	return parallel
}
