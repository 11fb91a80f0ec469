package awsclient_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/awsclient"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

func key(id string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: id}, "sk": &types.AttributeValueMemberS{Value: "s"}}
}

// open returns a client with the settings of a program, for a server of the test.
func open(t *testing.T, handler http.HandlerFunc, attempt time.Duration) *dynamodb.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	config := must.Get(awsclient.Load(t.Context(), attempt))(t)
	config.Region, config.BaseEndpoint = "eu-west-1", &server.URL
	config.Credentials = credentials.NewStaticCredentialsProvider("test", "test", "")
	return awsclient.DynamoDB(config)
}

// A connection may end at any moment: before the request is read, after it, or
// within the answer. The request is then made again.
func TestARequestOutlivesItsConnection(t *testing.T) {
	t.Parallel()
	engine := must.Get(url.Parse(storetest.Endpoint(t)))(t)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(engine)
		r.Out.Host = r.In.Host // it is signed
	}}
	table := storetest.Tables(t, storetest.DynamoDB(t)) + schema.UsageTable
	for name, answer := range map[string]string{
		"before an answer":  "",
		"within the header": "HTTP/1.1 200 OK\r\nContent-Le",
		"within the body":   "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}",
		"after a failure":   "HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\n{}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int64
			db := open(t, func(w http.ResponseWriter, r *http.Request) {
				if requests.Add(1)%3 != 1 {
					proxy.ServeHTTP(w, r)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				c := hijack(t, w)
				_, _ = io.WriteString(c, answer)
				c.Close()
			}, time.Minute)
			for i := range 4 {
				if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: key(name)}); err != nil {
					t.Fatalf("put %d: %v", i, err)
				}
				out, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: key(name), ConsistentRead: aws.Bool(true)})
				if err != nil || len(out.Item) != 2 {
					t.Fatalf("get %d: %v, %v", i, out, err)
				}
			}
		})
	}
}

func hijack(t *testing.T, w http.ResponseWriter) net.Conn {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
	}
	return c
}

// Neither one try nor the whole request waits for a server that never answers.
func TestARequestEndsInTime(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	held := make(chan struct{})
	arrived := make(chan struct{}, 8)
	defer close(held) // before the servers are closed, which wait for it
	silent := func(http.ResponseWriter, *http.Request) {
		requests.Add(1)
		arrived <- struct{}{}
		<-held
	}
	put := &dynamodb.PutItemInput{TableName: aws.String("t"), Item: key("k")}

	if _, err := open(t, silent, 3*time.Second).PutItem(t.Context(), put); err == nil {
		t.Error("a request without an answer succeeded")
	}
	if n := requests.Load(); n != 3 {
		t.Errorf("%d tries, want 3", n)
	}
	for len(arrived) > 0 {
		<-arrived
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	if _, err := open(t, silent, time.Minute).PutItem(ctx, put); !errors.Is(err, context.Canceled) {
		t.Errorf("after its context ended: %v", err)
	}
}

// TestThrottledRequestsTakeNoRetriesOfOthers throttles all requests for one partition, more
// than the SDK's budget of retries has room for, and the first try for another.
func TestThrottledRequestsTakeNoRetriesOfOthers(t *testing.T) {
	t.Parallel()
	const loud = 120
	var ofLoud, ofQuiet atomic.Int64
	db := open(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		switch {
		case bytes.Contains(body, []byte("loud")):
			ofLoud.Add(1)
		case ofQuiet.Add(1) > 1:
			_, _ = io.WriteString(w, "{}")
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"}`)
	}, time.Minute)
	get := func(id string) error {
		_, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("t"), Key: key(id)})
		return err
	}
	var all sync.WaitGroup
	for range loud {
		all.Go(func() {
			if get("loud") == nil {
				t.Error("a throttled request succeeds")
			}
		})
	}
	all.Wait()
	if err := get("quiet"); err != nil || ofQuiet.Load() != 2 {
		t.Errorf("after %d tries: %v", ofQuiet.Load(), err)
	}
	if n := ofLoud.Load(); n != 3*loud {
		t.Errorf("%d tries of %d requests, want three each", n, loud)
	}
}
