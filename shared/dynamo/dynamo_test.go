package dynamo_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
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

// TestAFaultOfTheNetworkIsTheSDKs has a server that ends connections in every
// way: before it reads, after it read, in the middle of an answer, and while
// they lie idle.
func TestAFaultOfTheNetworkIsTheSDKs(t *testing.T) {
	t.Parallel()
	sdk := storetest.DynamoDB(t)
	table := storetest.Tables(t, sdk) + store.UsageTable
	engine := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		target, err := url.Parse(*sdk.Options().BaseEndpoint)
		if err != nil {
			t.Error(err)
			return
		}
		r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host
		r.Out.Host = r.In.Host
	}}
	for name, fault := range map[string]func(w http.ResponseWriter, r *http.Request){
		"before it reads": func(w http.ResponseWriter, _ *http.Request) { hijack(t, w).Close() },
		"after it read": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			hijack(t, w).Close()
		},
		"within the header": func(w http.ResponseWriter, _ *http.Request) {
			c := hijack(t, w)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Le")
			c.Close()
		},
		"within the body": func(w http.ResponseWriter, _ *http.Request) {
			c := hijack(t, w)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}")
			c.Close()
		},
		"after an answer": func(w http.ResponseWriter, r *http.Request) {
			c := hijack(t, w)
			_, _ = io.WriteString(c, "HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\n{}")
			c.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if requests.Add(1)%3 == 1 {
					fault(w, r)
					return
				}
				engine.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			quick, err := dynamo.New(t.Context(), storetest.Client(t, server.URL))
			if err != nil {
				t.Fatal(err)
			}
			id := strings.ReplaceAll(name, " ", "-")
			for i := range 4 {
				if _, err := quick.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: key(id)}); err != nil {
					t.Fatalf("put %d: %v", i, err)
				}
				out, err := quick.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
					table: {Keys: []map[string]types.AttributeValue{key(id)}, ConsistentRead: aws.Bool(true)},
				}})
				if err != nil || len(out.Responses[table]) != 1 {
					t.Fatalf("get %d: %v, %v", i, out, err)
				}
			}
		})
	}
}

func hijack(t testing.TB, w http.ResponseWriter) net.Conn {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
	}
	return c
}

// TestAWriteIsNotRepeatedForAnAnswerThatReadsOddly counts the writes.
func TestAWriteIsNotRepeatedForAnAnswerThatReadsOddly(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		_, _ = io.WriteString(w, `{"Attributes":{"n":{"X":"1"}}}`)
	}))
	t.Cleanup(server.Close)
	quick, err := dynamo.New(t.Context(), storetest.Client(t, server.URL))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := quick.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: aws.String("t"), Key: key("k")}); err == nil {
		t.Error("an unreadable answer is taken for a good one")
	}
	if n := requests.Load(); n != 1 {
		t.Errorf("%d writes, want 1", n)
	}
}

// TestTheEndpointOfARegionIsAWSs also shows that the connection is made secure
// as the SDK's own would be.
func TestTheEndpointOfARegionIsAWSs(t *testing.T) {
	t.Parallel()
	var asked atomic.Value
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.CompareAndSwap(nil, r.Proto+" "+r.TLS.ServerName+" "+r.Host+r.URL.String()+" "+r.Header.Get("X-Amz-Security-Token")+" "+r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(server.Close)
	trusted := server.Client().Transport.(*http.Transport).TLSClientConfig
	open := func(roots *x509.CertPool) (*dynamo.Client, *atomic.Value) {
		dialled := new(atomic.Value)
		quick, err := dynamo.New(t.Context(), dynamodb.New(dynamodb.Options{
			Region: "eu-central-1", RetryMaxAttempts: 1,
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b", SessionToken: "t"}, nil
			}),
			HTTPClient: awshttp.NewBuildableClient().WithTransportOptions(func(transport *http.Transport) {
				transport.TLSClientConfig = &tls.Config{RootCAs: roots, ServerName: "example.com"}
				transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
					dialled.Store(addr)
					return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
				}
			}),
		}))
		if err != nil {
			t.Fatal(err)
		}
		return quick, dialled
	}
	quick, dialled := open(trusted.RootCAs)
	if _, err := quick.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("t")}); err != nil {
		t.Fatal(err)
	}
	got, _ := asked.Load().(string)
	for _, want := range []string{"HTTP/1.1 example.com dynamodb.eu-central-1.amazonaws.com/ t ", "/eu-central-1/dynamodb/aws4_request", "x-amz-security-token"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if dialled.Load() != "dynamodb.eu-central-1.amazonaws.com:443" {
		t.Errorf("connected to %v", dialled.Load())
	}
	strange, _ := open(x509.NewCertPool())
	if _, err := strange.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("t")}); err == nil {
		t.Error("a certificate that nobody vouches for is accepted")
	}
}

// TestAClientWithItsOwnTransportIsLeftToTheSDK has one that is no network.
func TestAClientWithItsOwnTransportIsLeftToTheSDK(t *testing.T) {
	t.Parallel()
	_, sdk, table := open(t)
	var requests atomic.Int64
	options := sdk.Options()
	options.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		requests.Add(1)
		return http.DefaultTransport.RoundTrip(r)
	})}
	quick, err := dynamo.New(t.Context(), dynamodb.New(options))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := quick.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: key("k")}); err != nil || requests.Load() != 1 {
		t.Fatalf("%d requests, %v", requests.Load(), err)
	}
}

// TestARequestEndsWithItsContext has a server that never answers.
func TestARequestEndsWithItsContext(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	arrived := make(chan struct{}, 8)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-held
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(held) })
	quick, err := dynamo.New(t.Context(), storetest.Client(t, server.URL))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	if _, err := quick.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("t"), Item: key("k")}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
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
