package connections

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"quotary/shared/backoff"
)

// Tables is the part of the DynamoDB client that finds the table's stream.
type Tables interface {
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
}

// Follower emits every change of the table.
type Follower struct {
	store   *Store
	tables  Tables
	streams Streams
}

// NewFollower returns a follower of the store's table.
func NewFollower(s *Store, tables Tables, streams Streams) *Follower {
	return &Follower{store: s, tables: tables, streams: streams}
}

const (
	// pollEvery is the time from one poll of the stream to the next: a shard takes five
	// reads a second from all its readers, of which another ingester may be one for a
	// moment.
	pollEvery = 250 * time.Millisecond
	// pollMost is that time when nothing has come for a while.
	pollMost = time.Second
	// quietAfter is how many polls find nothing before they become rarer.
	quietAfter = 40
)

// Follow yields what is in the table and then every change of it, until ctx
// ends or the loop is left. It starts no goroutine that outlives a step of the
// loop, and reads on only when the loop asks for more, so a slow loop costs
// nothing but its own delay.
//
// The stream is placed before the scan, and what both show makes one event; only
// a connection that ended while they met may come as connected and, right after, as
// disconnected. When a part of the stream is lost, the table is scanned again and
// the difference is emitted between a [Reset] and a [Live]: whoever applies every event has the
// table, without treating a reset specially.
//
// An error instead of an event is a failed step that Follow repeats by itself,
// after a pause: it is for the log.
func (f *Follower) Follow(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		run := &following{Follower: f, yield: yield}
		var cause error
		for try := 0; ctx.Err() == nil && !run.left; {
			if !run.begin(ctx, cause) {
				_ = retries.Pauses.Wait(ctx, try+4) // its error is that of ctx
				try++
				continue
			}
			cause = run.read(ctx)
			try = 0
		}
	}
}

// following is one run of Follow.
type following struct {
	*Follower
	yield  func(Event, error) bool
	left   bool // the loop was left
	state  state
	reader *reader
}

func (f *following) emit(events ...Event) {
	for _, e := range events {
		if f.left {
			return
		}
		f.left = !f.yield(e, nil)
	}
}

// fail emits an error, unless it is only that ctx has ended.
func (f *following) fail(ctx context.Context, err error) {
	if ctx.Err() == nil && !f.left {
		f.left = !f.yield(nil, err)
	}
}

// begin places the reader at the end of the stream and emits what a scan shows.
func (f *following) begin(ctx context.Context, cause error) bool {
	images, err := f.scanned(ctx)
	if err != nil {
		f.fail(ctx, err)
		return false
	}
	f.emit(Reset{cause})
	f.emit(f.state.load(images, f.store.clock())...)
	f.emit(Live{})
	return true
}

func (f *following) scanned(ctx context.Context) (images []image, err error) {
	arn, err := f.stream(ctx)
	if err != nil {
		return nil, err
	}
	if f.reader, err = open(ctx, f.streams, arn, f.store.clock()); err != nil {
		return nil, err
	}
	err = f.store.scan(ctx, func(im image) {
		if _, asks := im.ask(); asks || im.id() != "" {
			images = append(images, im)
		}
	})
	return images, err
}

// stream returns the name of the table's stream.
func (f *following) stream(ctx context.Context) (string, error) {
	ctx, done := context.WithTimeout(ctx, requestTimeout)
	defer done()
	out, err := f.tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &f.store.table})
	if err != nil {
		return "", fmt.Errorf("find the stream of connections: %w", err)
	}
	if aws.ToString(out.Table.LatestStreamArn) == "" {
		return "", errors.New("find the stream of connections: the table has none")
	}
	return *out.Table.LatestStreamArn, nil
}

// read emits the changes of the stream, and returns at a gap, when ctx ends or
// when the loop was left.
func (f *following) read(ctx context.Context) (cause error) {
	every, quiet := pollEvery, 0
	for try := 0; ctx.Err() == nil && !f.left; {
		next := time.Now().Add(every)
		records, err := f.reader.poll(ctx, f.store.clock())
		for _, r := range records {
			f.apply(r)
		}
		var g *gap
		switch {
		case errors.As(err, &g):
			return g
		case err != nil:
			f.fail(ctx, err)
			_ = retries.Pauses.Wait(ctx, try+3) // its error is that of ctx
			try++
		default:
			try = 0
			f.emit(f.state.strays(nil, f.store.clock())...)
		}
		if quiet++; len(records) > 0 {
			every, quiet = pollEvery, 0
		} else if quiet > quietAfter {
			every = min(every+every/8, pollMost)
		}
		_ = backoff.Sleep(ctx, time.Until(next)) // its error is that of ctx
	}
	return nil
}

func (f *following) apply(r types.Record) {
	if r.Dynamodb == nil {
		return
	}
	if r.EventName == types.OperationTypeRemove {
		f.emit(f.state.delete(imageOf(r.Dynamodb.OldImage))...)
		return
	}
	f.emit(f.state.put(nil, imageOf(r.Dynamodb.NewImage), f.store.clock(), false)...)
}
