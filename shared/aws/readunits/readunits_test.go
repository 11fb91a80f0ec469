package readunits_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"quotary/shared/aws/attr"
	"quotary/shared/aws/readunits"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// world is a table with 64 rows of some 4 KB, 8 a partition.
type world struct {
	db    *dynamodb.Client
	table string
}

func open(t *testing.T) world {
	t.Helper()
	db := storetest.DynamoDB(t)
	w := world{dynamodb.New(db.Options(), readunits.Meter), storetest.Tables(t, db) + schema.LogTable}
	for n := range 64 {
		must.Get(db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &w.table, Item: attr.Item{
			"pk": attr.S(partition(n / 8)), "sk": attr.S(string(rune('a' + n%8))), "body": attr.S(strings.Repeat("x", 4000)),
		}}))(t)
	}
	return w
}

func partition(n int) string { return "p" + string(rune('0'+n)) }

func (w world) query(ctx context.Context, of int) error {
	_, err := w.db.Query(ctx, &dynamodb.QueryInput{
		TableName: &w.table, KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: attr.Item{":p": attr.S(partition(of))}, Limit: aws.Int32(8),
	})
	return err
}

func (w world) get(ctx context.Context, of int) error {
	_, err := w.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &w.table, Key: attr.Item{"pk": attr.S(partition(of)), "sk": attr.S("a")}, ConsistentRead: aws.Bool(true)})
	return err
}

func TestReadsCostWhatDynamoDBReports(t *testing.T) {
	t.Parallel()
	w := open(t)
	ctx, budget := readunits.WithBudget(t.Context(), 100)
	must.Do(t, errors.Join(w.query(ctx, 0), w.get(ctx, 1)))
	if spent := budget.Spent(); spent != 4+1 { // 32 KB eventually, 4 KB strongly consistent
		t.Errorf("spent %v units, want 5", spent)
	}
	if err := w.query(t.Context(), 0); err != nil {
		t.Errorf("without a budget: %v", err)
	}
}

func TestAReadBeyondTheBudgetIsRefused(t *testing.T) {
	t.Parallel()
	w := open(t)
	ctx, budget := readunits.WithBudget(t.Context(), 10)
	must.Do(t, errors.Join(w.query(ctx, 0), w.query(ctx, 1)))
	var exceeded *readunits.ExceededError
	if err := w.query(ctx, 2); !errors.As(err, &exceeded) || exceeded.Budget != 10 {
		t.Errorf("the third query, of 12 units together: %v", err)
	}
	if err := w.get(ctx, 2); err != nil {
		t.Errorf("what the budget still covers: %v", err)
	}
	if err := w.query(readunits.Unbounded(ctx), 2); err != nil {
		t.Errorf("what no budget bounds: %v", err)
	}
	if spent := budget.Spent(); spent > 10 {
		t.Errorf("spent %v of 10", spent)
	}
}

// A read is reckoned at what its rows and its consistency will cost, from what was paid: of 10
// units 4 are spent, and these would cost 8 and 10.
func TestAReadIsReckonedAtWhatItWillCost(t *testing.T) {
	t.Parallel()
	w := open(t)
	keys := make([]map[string]types.AttributeValue, 20)
	for n := range keys {
		keys[n] = attr.Item{"pk": attr.S(partition(n / 8)), "sk": attr.S(string(rune('a' + n%8)))}
	}
	for name, read := range map[string]func(context.Context) error{
		"a strongly consistent query": func(ctx context.Context) error {
			_, err := w.db.Query(ctx, &dynamodb.QueryInput{
				TableName: &w.table, KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: attr.Item{":p": attr.S(partition(1))},
				Limit: aws.Int32(8), ConsistentRead: aws.Bool(true),
			})
			return err
		},
		"a batch": func(ctx context.Context) error {
			_, err := w.db.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{w.table: {Keys: keys}}})
			return err
		},
	} {
		ctx, budget := readunits.WithBudget(t.Context(), 10)
		must.Do(t, w.query(ctx, 0))
		var exceeded *readunits.ExceededError
		if err := read(ctx); !errors.As(err, &exceeded) || budget.Spent() != 4 {
			t.Errorf("%s: spent %v of 10, %v", name, budget.Spent(), err)
		}
	}
}

func TestReadsSideBySideTakeFromOneBudget(t *testing.T) {
	t.Parallel()
	w := open(t)
	ctx, budget := readunits.WithBudget(t.Context(), 16)
	var reads errgroup.Group
	refused := make(chan error, 8)
	for n := range 8 {
		reads.Go(func() error {
			var exceeded *readunits.ExceededError
			err := w.query(ctx, n)
			if errors.As(err, &exceeded) {
				refused <- err
				return nil
			}
			return err
		})
	}
	must.Do(t, reads.Wait())
	if spent := budget.Spent(); spent != 16 || len(refused) != 4 {
		t.Errorf("spent %v of 16, %d of 8 were refused", spent, len(refused))
	}
}
