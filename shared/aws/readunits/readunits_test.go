package readunits_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"quotary/shared/aws/attr"
	"quotary/shared/aws/batch"
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
	ctx, budget := readunits.WithBudget(t.Context(), 200)
	must.Do(t, errors.Join(w.query(ctx, 0), w.get(ctx, 1)))
	if spent := budget.Spent(); spent != 4+1 { // 32 KB eventually, 4 KB strongly consistent
		t.Errorf("spent %v units, want 5", spent)
	}
	if err := w.query(t.Context(), 0); err != nil {
		t.Errorf("without a budget: %v", err)
	}
}

// A query of eight rows costs 4 units here, and could cost 178 with large ones.
func TestAReadThatMayPassTheBudgetIsRefused(t *testing.T) {
	t.Parallel()
	w := open(t)
	ctx, budget := readunits.WithBudget(t.Context(), 185)
	must.Do(t, errors.Join(w.query(ctx, 0), w.query(ctx, 1)))
	var exceeded *readunits.ExceededError
	if err := w.query(ctx, 2); !errors.As(err, &exceeded) || exceeded.Budget != 185 {
		t.Errorf("the third query, behind 8 units: %v", err)
	}
	if err := w.get(ctx, 2); err != nil {
		t.Errorf("what the budget still covers: %v", err)
	}
	if err := w.query(readunits.Unbounded(ctx), 2); err != nil {
		t.Errorf("what no budget bounds: %v", err)
	}
	if spent := budget.Spent(); spent != 9 {
		t.Errorf("spent %v", spent)
	}
}

// However large rows are: the first are small, and nothing tells that the others are not.
func TestNoBudgetIsPassed(t *testing.T) {
	t.Parallel()
	w := open(t)
	const large = 30 // of 49 units each
	var keys []attr.Item
	for n := range large {
		key := attr.Item{"pk": attr.S("large"), "sk": attr.S(string(rune('a' + n)))}
		row := maps.Clone(key)
		row["body"] = attr.S(strings.Repeat("x", 390_000))
		must.Get(w.db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &w.table, Item: row}))(t)
		keys = append(keys, key)
	}
	small := make([]attr.Item, 60)
	for n := range small {
		small[n] = attr.Item{"pk": attr.S(partition(n / 8)), "sk": attr.S(string(rune('a' + n%8)))}
	}
	read := func(ctx context.Context, keys []attr.Item, consistent bool) (int, error) {
		found, err := batch.GetAll(ctx, w.db, w.table, keys, types.KeysAndAttributes{ConsistentRead: &consistent}, 4, batch.Retry{Tries: 1})
		return len(found), err
	}
	query := func(ctx context.Context) error {
		_, err := w.db.Query(ctx, &dynamodb.QueryInput{TableName: &w.table, KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: attr.Item{":p": attr.S("large")}, ConsistentRead: aws.Bool(true)})
		return err
	}
	for _, most := range []float64{100, 450, 1000} {
		for name, reads := range map[string]func(context.Context) error{
			"a batch":        func(ctx context.Context) error { _, err := read(ctx, keys, false); return err },
			"a strong batch": func(ctx context.Context) error { _, err := read(ctx, keys, true); return err },
			"queries": func(ctx context.Context) error {
				return errors.Join(query(ctx), query(ctx), query(ctx), query(ctx), query(ctx))
			},
			"reads side by side": func(ctx context.Context) error {
				var group errgroup.Group
				for range 3 {
					group.Go(func() error { return query(ctx) })
					group.Go(func() error { _, err := read(ctx, keys, false); return err })
				}
				return group.Wait()
			},
		} {
			ctx, budget := readunits.WithBudget(t.Context(), most)
			if n, err := read(ctx, small, false); n != len(small) || err != nil {
				t.Fatalf("%d small rows, %v", n, err)
			}
			var exceeded *readunits.ExceededError
			if err := reads(ctx); !errors.As(err, &exceeded) || budget.Spent() > most {
				t.Errorf("%s: spent %v of %v, %v", name, budget.Spent(), most, err)
			}
		}
	}
	ctx, budget := readunits.WithBudget(t.Context(), 1520) // 30 rows of 48 units, and 50 for the last one
	if n, err := read(ctx, keys, false); n != large || err != nil || budget.Spent() < 1400 {
		t.Errorf("%d of %d rows in %v units, %v", n, large, budget.Spent(), err)
	}
}

func TestReadsSideBySideTakeFromOneBudget(t *testing.T) {
	t.Parallel()
	w := open(t)
	ctx, budget := readunits.WithBudget(t.Context(), 190) // covers four: behind 12 units another one may cost 178
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
		t.Errorf("spent %v, %d of 8 were refused", spent, len(refused))
	}
}
