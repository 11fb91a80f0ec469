package connections

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"golang.org/x/sync/errgroup"
)

// Streams is the part of the client of DynamoDB's streams that a [Follower]
// uses.
type Streams interface {
	DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error)
	GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(context.Context, *dynamodbstreams.GetRecordsInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error)
}

const (
	pageSize      = 1000 // records of one read, the most there are
	shardReads    = 8    // shards that are read at a time
	describeEvery = 10 * time.Second
	describeSoon  = 100 * time.Millisecond // while the successors of a shard are looked for
)

// reader reads a table's stream: every shard from where it stands, a shard
// after the one that it came from.
//
// A shard ends when its last page names no next one; the end that DescribeStream
// shows is not relied on, because an engine may show it of an open shard.
type reader struct {
	streams   Streams
	arn       string
	shards    map[string]*shard
	described time.Time
}

// shard is a shard that was listed at least once.
type shard struct {
	id, parent string
	start      types.ShardIteratorType // where it was begun
	iterator   *string                 // nil while it waits, and at its end
	after      string                  // sequence number of the last record, "" before the first
	ended      bool
}

// gap is the error of a stream that cannot be read on without loss.
type gap struct{ err error }

func (g *gap) Error() string { return "a gap in the stream of connections: " + g.err.Error() }
func (g *gap) Unwrap() error { return g.err }

// open places a reader at the present end of a stream.
func open(ctx context.Context, streams Streams, arn string, now time.Time) (*reader, error) {
	r := &reader{streams: streams, arn: arn, shards: make(map[string]*shard), described: now}
	listed, err := r.describe(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range listed {
		r.shards[s.id] = s
	}
	for _, s := range listed {
		if s.ended = r.succeeded(s); s.ended {
			continue
		}
		s.start = types.ShardIteratorTypeLatest
		if err := r.place(ctx, s); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// succeeded reports whether another shard came from this one.
func (r *reader) succeeded(s *shard) bool {
	for _, other := range r.shards {
		if other.parent == s.id {
			return true
		}
	}
	return false
}

// poll returns the records that have come, in order within a shard, a page of each at
// most. With an error, the records that it returns count
// all the same; the next poll goes on behind them unless the error is a [*gap].
func (r *reader) poll(ctx context.Context, now time.Time) (records []types.Record, err error) {
	if err := r.advance(ctx, now); err != nil {
		return nil, err
	}
	var open []*shard
	for _, s := range r.shards {
		if s.iterator != nil {
			open = append(open, s)
		}
	}
	pages := make([][]types.Record, len(open))
	failures := make([]error, len(open))
	var g errgroup.Group
	g.SetLimit(shardReads)
	for i, s := range open {
		g.Go(func() error {
			pages[i], failures[i] = r.read(ctx, s)
			return nil
		})
	}
	_ = g.Wait()
	return slices.Concat(pages...), errors.Join(failures...)
}

// read reads one page of a shard and moves it on.
func (r *reader) read(ctx context.Context, s *shard) ([]types.Record, error) {
	ctx, done := context.WithTimeout(ctx, requestTimeout)
	defer done()
	out, err := r.streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: s.iterator, Limit: aws.Int32(pageSize)})
	var expired *types.ExpiredIteratorException
	if errors.As(err, &expired) {
		if s.after == "" && s.start == types.ShardIteratorTypeLatest {
			return nil, &gap{err} // where the shard began is not known any more
		}
		return nil, r.place(ctx, s)
	}
	if err != nil {
		return nil, lost(fmt.Errorf("read the stream of connections: %w", err))
	}
	if n := len(out.Records); n > 0 {
		s.after = aws.ToString(out.Records[n-1].Dynamodb.SequenceNumber)
	}
	s.iterator = out.NextShardIterator
	s.ended = s.iterator == nil
	return out.Records, nil
}

// place sets the shard's iterator behind what was read of it.
func (r *reader) place(ctx context.Context, s *shard) error {
	ctx, done := context.WithTimeout(ctx, requestTimeout)
	defer done()
	in := &dynamodbstreams.GetShardIteratorInput{StreamArn: &r.arn, ShardId: &s.id, ShardIteratorType: s.start}
	if s.after != "" {
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, &s.after
	}
	out, err := r.streams.GetShardIterator(ctx, in)
	if err != nil {
		return lost(fmt.Errorf("find the place in the stream of connections: %w", err))
	}
	s.iterator = out.ShardIterator
	return nil
}

// lost marks the errors after which records are missing.
func lost(err error) error {
	var trimmed *types.TrimmedDataAccessException
	var unknown *types.ResourceNotFoundException
	if errors.As(err, &trimmed) || errors.As(err, &unknown) {
		return &gap{err}
	}
	return err
}

// advance finds new shards when it is time to, and begins those whose
// predecessor has ended.
func (r *reader) advance(ctx context.Context, now time.Time) error {
	age := now.Sub(r.described)
	if age >= describeEvery || age >= describeSoon && r.incomplete() {
		listed, err := r.describe(ctx)
		if err != nil {
			return err
		}
		r.described = now
		r.merge(listed)
	}
	for _, s := range r.shards {
		if s.iterator != nil || s.ended {
			continue
		}
		if parent := r.shards[s.parent]; parent != nil && !parent.ended {
			continue
		}
		if err := r.place(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// incomplete reports whether the successors of a shard are still unknown.
func (r *reader) incomplete() bool {
	for _, s := range r.shards {
		if s.ended && !r.succeeded(s) {
			return true
		}
	}
	return false
}

// merge takes a new listing: a shard that is not known yet began after the
// reader did, so it is read from its first record.
func (r *reader) merge(listed []*shard) {
	for _, s := range listed {
		if r.shards[s.id] == nil {
			s.start = types.ShardIteratorTypeTrimHorizon
			r.shards[s.id] = s
		}
	}
	for id, s := range r.shards {
		if s.ended && !slices.ContainsFunc(listed, func(l *shard) bool { return l.id == id }) {
			delete(r.shards, id)
		}
	}
}

// describe lists the shards of the stream.
func (r *reader) describe(ctx context.Context) (listed []*shard, err error) {
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: &r.arn}
	for {
		out, err := r.describePage(ctx, in)
		if err != nil {
			return nil, lost(fmt.Errorf("list the shards of the stream of connections: %w", err))
		}
		d := out.StreamDescription
		if d.StreamStatus == types.StreamStatusDisabled {
			return nil, &gap{errors.New("the stream was switched off")}
		}
		for _, s := range d.Shards {
			listed = append(listed, &shard{id: aws.ToString(s.ShardId), parent: aws.ToString(s.ParentShardId)})
		}
		if in.ExclusiveStartShardId = d.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
			return listed, nil
		}
	}
}

func (r *reader) describePage(ctx context.Context, in *dynamodbstreams.DescribeStreamInput) (*dynamodbstreams.DescribeStreamOutput, error) {
	ctx, done := context.WithTimeout(ctx, requestTimeout)
	defer done()
	return r.streams.DescribeStream(ctx, in)
}
