package awsrules

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

// Rules are those of one account. Their fields may be changed before the first request.
type Rules struct {
	Hold       time.Duration // how long a transaction holds its items
	Latency    time.Duration // of every other request
	WriteUnits float64       // a second, of one partition key
	ReadUnits  float64       // a second, of one partition key
	ShardReads int           // GetRecords a second, of one shard

	workers chan *worker

	mu         sync.Mutex
	held       map[string]bool // by table, partition key and sort key
	partitions map[string]*partition
	shards     map[string]string      // by iterator: the shard
	reads      map[string][]time.Time // by shard: the last GetRecords
	counts     Counts
}

// Counts are what requests have cost.
type Counts struct {
	Reads, Writes float64        // units
	Calls         map[string]int // requests by the name of their operation, refused ones included
	Conflicts     int            // requests that met an item that a transaction holds
	Throttled     int            // requests that were refused, in whole or in part, for want of throughput
}

// asked is how many requests the engine is asked at a time.
const asked = 16

// New returns rules as AWS has them. Their goroutines end with the test.
func New(t testing.TB) *Rules {
	r := &Rules{
		Hold: 10 * time.Millisecond, Latency: 3 * time.Millisecond,
		WriteUnits: 1000, ReadUnits: 3000, ShardReads: 5,
		workers: make(chan *worker, asked),
		held:    map[string]bool{}, partitions: map[string]*partition{},
		shards: map[string]string{}, reads: map[string][]time.Time{},
		counts: Counts{Calls: map[string]int{}},
	}
	var running sync.WaitGroup
	all := make([]*worker, asked)
	for i := range all {
		w := &worker{jobs: make(chan job), answers: make(chan answer)}
		all[i] = w
		running.Go(w.run)
		r.workers <- w
	}
	t.Cleanup(func() {
		for _, w := range all {
			close(w.jobs)
		}
		running.Wait()
	})
	return r
}

// Take returns what was counted since the last call, or the beginning.
func (r *Rules) Take() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.counts
	r.counts = Counts{Calls: map[string]int{}}
	return taken
}

// DynamoDB returns a client like db that obeys the rules.
func (r *Rules) DynamoDB(db *dynamodb.Client) *dynamodb.Client { return r.DynamoDBOf(db, nil) }

// DynamoDBOf returns such a client of somebody whose conflicts and throttled requests are
// counted in own too, which may be read once no request is under way.
func (r *Rules) DynamoDBOf(db *dynamodb.Client, own *Counts) *dynamodb.Client {
	engine := db.Options().HTTPClient
	return dynamodb.New(db.Options(), func(o *dynamodb.Options) {
		o.HTTPClient = &network{r, engine, own}
		o.DisableValidateResponseChecksum = true
	})
}

// Streams returns a client like c that obeys the rules.
func (r *Rules) Streams(c *dynamodbstreams.Client) *dynamodbstreams.Client {
	engine := c.Options().HTTPClient
	return dynamodbstreams.New(c.Options(), func(o *dynamodbstreams.Options) { o.HTTPClient = &network{r, engine, nil} })
}

// RoundTripper returns the way to an engine by the rules, for a proxy before programs
// that make their own clients.
func (r *Rules) RoundTripper(engine http.RoundTripper) http.RoundTripper {
	return roundTripper{network{r, transport{engine}, nil}}
}

type roundTripper struct{ network }

func (t roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.Do(req)
	if err == nil {
		res.Header.Del("X-Amz-Crc32") // of what the engine answered, which may not be what is passed on
	}
	return res, err
}

type transport struct{ http.RoundTripper }

func (t transport) Do(req *http.Request) (*http.Response, error) { return t.RoundTrip(req) }

// doer makes requests.
type doer interface {
	Do(*http.Request) (*http.Response, error)
}

// network is the rules between a client and its engine.
type network struct {
	*Rules
	engine doer
	own    *Counts // of the client; nil counts nothing
}

// Do answers a request by the rules.
func (n *network) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
	n.mu.Lock()
	n.counts.Calls[operation]++
	n.mu.Unlock()
	c := &call{network: n, http: req, operation: operation, body: body}
	if err := c.serve(); err != nil {
		return nil, fmt.Errorf("awsrules: %s: %w", operation, err)
	}
	return &http.Response{
		StatusCode: c.answer.status, Header: c.answer.header, Request: req, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(bytes.NewReader(c.answer.body)), ContentLength: int64(len(c.answer.body)),
	}, nil
}

// worker asks the engine, outside every bubble, where the channels were made: whoever
// waits at one is not durably blocked.
type worker struct {
	jobs    chan job
	answers chan answer
}

type job struct {
	engine doer
	http   *http.Request
}

type answer struct {
	status int
	header http.Header
	body   []byte
	err    error
}

func (w *worker) run() {
	for j := range w.jobs {
		w.answers <- ask(j)
	}
}

func ask(j job) (a answer) {
	res, err := j.engine.Do(j.http)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	a.status, a.header = res.StatusCode, res.Header
	a.body, a.err = io.ReadAll(res.Body)
	return a
}

// ask has the engine carry out the call with the given body, however the caller's
// context ends: its channel belongs to the bubble.
func (c *call) ask(body []byte) answer {
	out := c.http.Clone(context.WithoutCancel(c.http.Context()))
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	out.GetBody = nil
	out.Header.Del("Content-Length")
	w := <-c.workers
	w.jobs <- job{c.engine, out}
	a := <-w.answers
	c.workers <- w
	return a
}
