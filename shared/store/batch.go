package store

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
	"quotary/shared/aws/batch"
	"quotary/shared/backoff"
)

// defaultParallel is how many batch requests of one call run at a time.
const defaultParallel = 4

// Rows is the part of the DynamoDB client that reads and writes rows.
type Rows interface {
	batch.Getter
	batch.Putter
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

// getAll reads the items of the keys, strongly consistent or eventually, for half the
// price; keys without an item are absent from the result. attributes are those to read
// besides the key.
func getAll(ctx context.Context, db Rows, table string, parallel int, eventual bool, retry batch.Retry, keys []rowKey, attributes ...string) (map[rowKey]item, error) {
	want := types.KeysAndAttributes{ConsistentRead: aws.Bool(!eventual)}
	want.ProjectionExpression, want.ExpressionAttributeNames = project(attributes)
	wanted := make([]item, len(keys))
	for i, k := range keys {
		wanted[i] = k.item()
	}
	items, err := batch.GetAll(ctx, db, table, wanted, want, orDefault(parallel), retry)
	found := make(map[rowKey]item, len(items))
	for _, it := range items {
		found[keyOf(it)] = it
	}
	return found, err
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

// untilContextEnds is how requests are repeated that DynamoDB refuses for now.
var untilContextEnds = batch.Retry{Pauses: pauses, Timeout: requestTimeout}

// whileCallerWaits is how reads are repeated for somebody who is told to ask again: longer than
// DynamoDB takes to give a hot partition more capacity, nobody should hold a function.
var whileCallerWaits = batch.Retry{
	Tries: 4, Pauses: backoff.Backoff{Min: 50 * time.Millisecond, Max: 250 * time.Millisecond},
	Timeout: requestTimeout, Within: time.Second,
}

var pauses = backoff.Backoff{Min: 50 * time.Millisecond, Max: 5 * time.Second}

func orDefault(parallel int) int {
	if parallel <= 0 {
		return defaultParallel
	}
	return parallel
}
