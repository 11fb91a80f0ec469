package dynamo_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"quotary/shared/dynamo"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
)

var ignoreMetadata = cmp.Options{
	cmpopts.IgnoreUnexported(
		types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberB{}, types.AttributeValueMemberBOOL{},
		types.AttributeValueMemberNULL{}, types.AttributeValueMemberM{}, types.AttributeValueMemberL{}, types.AttributeValueMemberSS{}),
	cmpopts.EquateEmpty(),
}

func open(t testing.TB) (*dynamo.Client, *dynamodb.Client, string) {
	t.Helper()
	sdk := storetest.DynamoDB(t)
	quick, err := dynamo.New(t.Context(), sdk)
	if err != nil {
		t.Fatal(err)
	}
	return quick, sdk, storetest.Tables(t, sdk) + store.UsageTable
}

func key(id string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: id}, "sk": &types.AttributeValueMemberS{Value: "s"}}
}

// What one client writes, the other reads the same, whatever the values are.
func TestBothClientsWriteAndReadTheSame(t *testing.T) {
	t.Parallel()
	quick, sdk, table := open(t)
	var run atomic.Int64
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`"`, `\`, "\u2028", "\x00", "<&>", "é", "😀"}))
	value := rapid.Custom(func(t *rapid.T) types.AttributeValue {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			return &types.AttributeValueMemberN{Value: rapid.SampledFrom([]string{"0", "-1", "1793260800", "0.5"}).Draw(t, "number")}
		case 1:
			return &types.AttributeValueMemberB{Value: rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "bytes")}
		case 2:
			return &types.AttributeValueMemberBOOL{Value: rapid.Bool().Draw(t, "bool")}
		case 3:
			return &types.AttributeValueMemberNULL{Value: true}
		case 4:
			return &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"in": &types.AttributeValueMemberS{Value: text.Draw(t, "inner")}}}
		default:
			return &types.AttributeValueMemberS{Value: text.Draw(t, "text")}
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		id := "k" + string(rune('a'+run.Add(1)%26))
		item := key(id)
		for name, v := range rapid.MapOfN(rapid.StringMatching(`[a-z]{3,8}`), value, 0, 6).Draw(t, "item") {
			item[name] = v
		}
		ctx := context.Background()
		if _, err := quick.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
			t.Fatal(err)
		}
		want, err := sdk.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: key(id), ConsistentRead: aws.Bool(true)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := quick.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			table: {Keys: []map[string]types.AttributeValue{key(id)}, ConsistentRead: aws.Bool(true)},
		}})
		if err != nil || len(got.Responses[table]) != 1 {
			t.Fatalf("%v, %v", got, err)
		}
		if diff := cmp.Diff(want.Item, got.Responses[table][0], ignoreMetadata); diff != "" {
			t.Fatalf("read back differs from the SDK's: %s", diff)
		}
		if diff := cmp.Diff(item, got.Responses[table][0], ignoreMetadata); diff != "" {
			t.Fatalf("read back differs from what was written: %s", diff)
		}
	})
}

func TestAFailedConditionShowsTheItem(t *testing.T) {
	t.Parallel()
	quick, _, table := open(t)
	update := &dynamodb.UpdateItemInput{
		TableName: &table, Key: key("count"),
		UpdateExpression:          aws.String("ADD used :1, #d :1"),
		ConditionExpression:       aws.String("attribute_not_exists(used) OR used < :most"),
		ExpressionAttributeNames:  map[string]string{"#d": "d21"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":1": &types.AttributeValueMemberN{Value: "1"}, ":most": &types.AttributeValueMemberN{Value: "2"}},
		ReturnValues:              types.ReturnValueUpdatedNew, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	for _, want := range []string{"1", "2"} {
		out, err := quick.UpdateItem(t.Context(), update)
		if err != nil || out.Attributes["used"].(*types.AttributeValueMemberN).Value != want {
			t.Fatalf("%+v, %v, want %s", out, err, want)
		}
	}
	_, err := quick.UpdateItem(t.Context(), update)
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) || failed.Item["used"].(*types.AttributeValueMemberN).Value != "2" {
		t.Fatalf("%v, %+v", err, failed)
	}
	_, err = quick.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: key("count"), ConditionExpression: aws.String("attribute_not_exists(pk)")})
	if !errors.As(err, &failed) {
		t.Fatalf("put: %v", err)
	}
}

func TestOtherFaultsAreTheSDKs(t *testing.T) {
	t.Parallel()
	quick, _, table := open(t)
	none := table + "-none"
	var missing *types.ResourceNotFoundException
	if _, err := quick.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &none, Item: key("k")}); !errors.As(err, &missing) {
		t.Errorf("put: %v", err)
	}
	if _, err := quick.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{none: {Keys: []map[string]types.AttributeValue{key("k")}}}}); !errors.As(err, &missing) {
		t.Errorf("batch: %v", err)
	}
	// What the quick way does not write is written all the same.
	list := key("list")
	list["l"] = &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberS{Value: "x"}}}
	if _, err := quick.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: list, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := quick.PutItem(ended, &dynamodb.PutItemInput{TableName: &table, Item: key("k")}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
}

// flaky fails the first requests before they reach the engine.
type flaky struct {
	left  atomic.Int64
	inner http.RoundTripper
}

func (f *flaky) RoundTrip(r *http.Request) (*http.Response, error) {
	if f.left.Add(-1) >= 0 {
		return nil, errors.New("connection reset")
	}
	return f.inner.RoundTrip(r)
}

func TestANetworkFaultIsRetriedByTheSDK(t *testing.T) {
	t.Parallel()
	_, sdk, table := open(t)
	f := &flaky{inner: http.DefaultTransport}
	f.left.Store(2)
	options := sdk.Options()
	options.HTTPClient = &http.Client{Transport: f}
	quick, err := dynamo.New(t.Context(), dynamodb.New(options))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := quick.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: key("k")}); err != nil {
		t.Fatal(err)
	}
}

func TestTheEndpointOfARegionIsAWSs(t *testing.T) {
	t.Parallel()
	var asked atomic.Value
	sdk := dynamodb.New(dynamodb.Options{
		Region: "eu-central-1", RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b", SessionToken: "t"}, nil
		}),
		HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			asked.CompareAndSwap(nil, r.URL.String()+" "+r.Header.Get("X-Amz-Security-Token")+" "+r.Header.Get("Authorization"))
			return nil, errors.New("no network")
		})},
	})
	quick, err := dynamo.New(t.Context(), sdk)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = quick.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("t"), Item: key("k")})
	got, _ := asked.Load().(string)
	for _, want := range []string{"https://dynamodb.eu-central-1.amazonaws.com/ t ", "/eu-central-1/dynamodb/aws4_request", "x-amz-security-token"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// BenchmarkUpdateItem compares a counting write with the SDK's in one run.
func BenchmarkUpdateItem(b *testing.B) {
	quick, sdk, table := open(b)
	in := &dynamodb.UpdateItemInput{
		TableName: &table, Key: key("bench"), UpdateExpression: aws.String("ADD used :1"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":1": &types.AttributeValueMemberN{Value: "1"}},
		ReturnValues:              types.ReturnValueUpdatedNew,
	}
	b.Run("quick", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := quick.UpdateItem(b.Context(), in); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("sdk", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := sdk.UpdateItem(b.Context(), in); err != nil {
				b.Fatal(err)
			}
		}
	})
}
