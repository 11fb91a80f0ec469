package awsrules_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"quotary/shared/aws/attr"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/awsrules"
	"quotary/shared/testing/must"
)

// world is a table under the rules, of a client that tries everything once.
type world struct {
	*awsrules.Rules
	db    *dynamodb.Client
	table string
}

func open(t *testing.T) *world {
	t.Helper()
	engine := storetest.DynamoDB(t)
	w := &world{Rules: awsrules.New(t), table: storetest.Tables(t, engine) + schema.ConnectionsTable}
	options := engine.Options()
	options.Retryer = aws.NopRetryer{}
	w.db = w.DynamoDB(dynamodb.New(options))
	return w
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	w := open(t)
	synctest.Test(t, func(t *testing.T) { test(t, w) })
}

func key(pk, sk string) attr.Item { return attr.Item{"pk": attr.S(pk), "sk": attr.S(sk)} }

func sized(pk, sk string, size int) attr.Item {
	it := key(pk, sk)
	it["x"] = attr.S(strings.Repeat("x", size))
	return it
}

func (w *world) put(ctx context.Context, it attr.Item) error {
	_, err := w.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &w.table, Item: it})
	return err
}

func (w *world) get(ctx context.Context, pk, sk string, consistent bool) error {
	_, err := w.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &w.table, Key: key(pk, sk), ConsistentRead: &consistent})
	return err
}

// transact puts the first item and checks that the others are absent.
func (w *world) transact(ctx context.Context, put attr.Item, absent ...attr.Item) error {
	in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: &w.table, Item: put}}}}
	for _, k := range absent {
		in.TransactItems = append(in.TransactItems, types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: &w.table, Key: k, ConditionExpression: aws.String("attribute_not_exists(pk)")}})
	}
	_, err := w.db.TransactWriteItems(ctx, in)
	return err
}

// reasons are the codes of a cancelled transaction.
func reasons(err error) (codes []string) {
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) {
		return nil
	}
	for _, r := range cancelled.CancellationReasons {
		codes = append(codes, aws.ToString(r.Code))
	}
	return codes
}

func TestATransactionHoldsItsItems(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		began := time.Now()
		first := make(chan error, 1)
		go func() { first <- w.transact(ctx, key("a", "1"), key("a", "2")) }()
		synctest.Wait()
		if got := fmt.Sprint(reasons(w.transact(ctx, key("b", "1"), key("a", "2")))); got != "[None TransactionConflict]" {
			t.Errorf("another transaction is cancelled with %s", got)
		}
		var conflict *types.TransactionConflictException
		if err := w.put(ctx, key("a", "2")); !errors.As(err, &conflict) {
			t.Errorf("a single write: %v, want a conflict", err)
		}
		if err := errors.Join(w.put(ctx, key("a", "3")), w.get(ctx, "a", "1", true)); err != nil {
			t.Errorf("another item, or a read: %v", err)
		}
		if err := <-first; err != nil || time.Since(began) < w.Hold {
			t.Errorf("the first: %v after %s", err, time.Since(began))
		}
		if err := w.put(ctx, key("a", "2")); err != nil {
			t.Errorf("after its end: %v", err)
		}
		if c := w.Take(); c.Conflicts != 2 {
			t.Errorf("%d conflicts are counted, want 2", c.Conflicts)
		}
	})
}

func TestABatchLeavesWhatIsHeldUnprocessed(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *world) {
		first := make(chan error, 1)
		go func() { first <- w.transact(t.Context(), key("a", "1")) }()
		synctest.Wait()
		request := func(sk string) types.WriteRequest {
			return types.WriteRequest{PutRequest: &types.PutRequest{Item: key("a", sk)}}
		}
		out, err := w.db.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{w.table: {request("1"), request("2")}}})
		if err != nil || len(out.UnprocessedItems[w.table]) != 1 {
			t.Fatalf("%+v, %v, want one unprocessed", out, err)
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
		got, err := w.db.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			w.table: {Keys: []map[string]types.AttributeValue{key("a", "1"), key("a", "2")}, ConsistentRead: aws.Bool(true)}}})
		if err != nil || len(got.Responses[w.table]) != 2 || len(got.UnprocessedKeys) > 0 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestAPartitionTakesItsUnitsASecond(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		limit func(w *world)
		call  func(ctx context.Context, w *world, pk string, i int) error
		want  int // in a second beyond the first
	}{
		"writes of 2 KB": {func(w *world) { w.WriteUnits = 40 }, func(ctx context.Context, w *world, pk string, i int) error {
			return w.put(ctx, sized(pk, fmt.Sprint(i), 1500))
		}, 20},
		"consistent reads": {func(w *world) { w.ReadUnits = 20 }, func(ctx context.Context, w *world, pk string, _ int) error {
			return w.get(ctx, pk, "1", true)
		}, 20},
		"eventually consistent reads": {func(w *world) { w.ReadUnits = 10 }, func(ctx context.Context, w *world, pk string, _ int) error {
			return w.get(ctx, pk, "1", false)
		}, 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *world) {
				tt.limit(w)
				w.Latency = 10 * time.Millisecond
				made := 0
				var refused *types.ProvisionedThroughputExceededException
				began := time.Now()
				for i := 0; time.Since(began) < 3*time.Second; i++ {
					err := tt.call(t.Context(), w, "hot", i)
					if err == nil {
						made++
					} else if !errors.As(err, &refused) {
						t.Fatal(err)
					}
				}
				if made < 4*tt.want-1 || made > 4*tt.want+1 { // what one second holds, and three of flow
					t.Errorf("%d in three seconds, want %d", made, 4*tt.want)
				}
				if err := tt.call(t.Context(), w, "other", 0); err != nil {
					t.Errorf("another partition: %v", err)
				}
			})
		})
	}
}

func TestAnExhaustedPartitionCancelsTransactionsAndIsToldToBatches(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *world) {
		w.WriteUnits = 1
		ctx := t.Context()
		must.Do(t, w.put(ctx, sized("hot", "1", 5000)))
		if got := fmt.Sprint(reasons(w.transact(ctx, key("cold", "1"), key("hot", "2")))); got != "[None ProvisionedThroughputExceeded]" {
			t.Errorf("a transaction is cancelled with %s", got)
		}
		request := func(pk string) types.WriteRequest {
			return types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key(pk, "1")}}
		}
		batch := func(all ...types.WriteRequest) (*dynamodb.BatchWriteItemOutput, error) {
			return w.db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{w.table: all}})
		}
		if out, err := batch(request("hot"), request("cold")); err != nil || len(out.UnprocessedItems[w.table]) != 1 {
			t.Errorf("%+v, %v, want one unprocessed", out, err)
		}
		var refused *types.ProvisionedThroughputExceededException
		if _, err := batch(request("hot")); !errors.As(err, &refused) {
			t.Errorf("a batch of nothing else: %v", err)
		}
	})
}

func TestUnitsAreCounted(t *testing.T) {
	t.Parallel()
	w := open(t) // in real time
	ctx := t.Context()
	query := func() error {
		_, err := w.db.Query(ctx, &dynamodb.QueryInput{TableName: &w.table, KeyConditionExpression: aws.String("pk = :pk"),
			ExpressionAttributeValues: attr.Item{":pk": attr.S("a")}, ConsistentRead: aws.Bool(true)})
		return err
	}
	for _, step := range []struct {
		name          string
		call          func() error
		reads, writes float64
	}{
		{"a put of 3 KB", func() error { return w.put(ctx, sized("a", "1", 3000)) }, 0, 3},
		{"a consistent read of nothing", func() error { return w.get(ctx, "b", "1", true) }, 1, 0},
		{"an eventually consistent read", func() error { return w.get(ctx, "a", "1", false) }, 0.5, 0},
		{"a query of 3 KB", query, 1, 0},
		{"a transaction", func() error { return w.transact(ctx, sized("a", "2", 1500), key("a", "3")) }, 0, 6},
		{"a cancelled transaction", func() error {
			if len(reasons(w.transact(ctx, sized("a", "4", 1500), key("a", "1")))) == 0 {
				return errors.New("it was made")
			}
			return nil
		}, 0, 6},
		{"a failed condition", func() error {
			_, err := w.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &w.table, Key: key("a", "1"), ConditionExpression: aws.String("attribute_not_exists(pk)")})
			var failed *types.ConditionalCheckFailedException
			if !errors.As(err, &failed) {
				return fmt.Errorf("it was made: %w", err)
			}
			return nil
		}, 0, 1},
		{"a batch of an item that stands in two indexes", func() error {
			it := sized("a", "1", 1500)
			it["a"], it["b"] = attr.S("x"), attr.S("y")
			table := strings.TrimSuffix(w.table, schema.ConnectionsTable) + schema.LogTable
			_, err := w.db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
				table: {{PutRequest: &types.PutRequest{Item: it}}},
			}})
			return err
		}, 0, 6},
		{"a scan", func() error {
			_, err := w.db.Scan(ctx, &dynamodb.ScanInput{TableName: &w.table, ConsistentRead: aws.Bool(true)})
			return err
		}, 2, 0},
	} {
		w.Take()
		if err := step.call(); err != nil {
			t.Errorf("%s: %v", step.name, err)
		}
		if c := w.Take(); c.Reads != step.reads || c.Writes != step.writes {
			t.Errorf("%s: %+v, want %v reads and %v writes", step.name, c, step.reads, step.writes)
		}
	}
}

func TestAShardTakesFiveReadsASecond(t *testing.T) {
	t.Parallel()
	w := open(t)
	endpoint := storetest.Endpoint(t)
	arn := ""
	if out, err := w.db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &w.table}); err == nil {
		arn = aws.ToString(out.Table.LatestStreamArn)
	}
	streams := w.Streams(dynamodbstreams.New(dynamodbstreams.Options{BaseEndpoint: &endpoint, Region: "eu-west-1", Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""), HTTPClient: storetest.DynamoDB(t).Options().HTTPClient}))
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		d := must.Get(streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: &arn}))(t)
		placed := must.Get(streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
			StreamArn: &arn, ShardId: d.StreamDescription.Shards[0].ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon}))(t)
		iterator := placed.ShardIterator
		read := func() error {
			out, err := streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator})
			if err == nil {
				iterator = out.NextShardIterator
			}
			return err
		}
		for range 5 {
			must.Do(t, read())
		}
		var limited *streamtypes.LimitExceededException
		if err := read(); !errors.As(err, &limited) {
			t.Errorf("the sixth: %v", err)
		}
		time.Sleep(time.Second)
		if err := read(); err != nil {
			t.Errorf("a second later: %v", err)
		}
	})
}

// TestVirtualTimePassesWhileManyAsk has a thousand callers whose requests take a second of
// the bubble's time, and each ends when its context does.
func TestVirtualTimePassesWhileManyAsk(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *world) {
		w.Latency = time.Second
		began := time.Now()
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				ctx, done := context.WithTimeout(t.Context(), time.Minute)
				defer done()
				if err := w.put(ctx, key(fmt.Sprint(i), "1")); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took != time.Second {
			t.Errorf("they took %s, want 1s", took)
		}
		ctx, done := context.WithTimeout(t.Context(), time.Millisecond)
		defer done()
		if err := w.put(ctx, key("late", "1")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the end of its context", err)
		}
	})
}
