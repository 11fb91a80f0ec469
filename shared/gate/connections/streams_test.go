package connections_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// troubled is a stream of one reader that is cut into shards of a few records,
// one after the other, as DynamoDB does over hours, and whose requests fail in
// the ways that they may.
type troubled struct {
	*dynamodbstreams.Client
	length int // records of a shard
	every  int // one request in so many fails without loss, and some more lose records; 0 = none

	mu       sync.Mutex
	rnd      *rand.Rand
	parts    []part
	requests int
	trims    int // failures that lost records
	ended    int // shards that were read to their end
}

// part is one shard: it begins at an iterator of the engine's only shard.
type part struct {
	start *string // nil: at the present end
	read  int
}

func newTroubled(c *dynamodbstreams.Client, length int, seed uint64) *troubled {
	return &troubled{Client: c, length: length, every: 5, rnd: rand.New(rand.NewPCG(seed, 3)), parts: make([]part, 1)}
}

// losses returns how many failures lost records, and how many shards ended.
func (s *troubled) losses() (trims, ended int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trims, s.ended
}

// fault returns what befalls a request. The caller holds s.mu.
func (s *troubled) fault() error {
	s.requests++
	lost := s.requests%20 == 5
	if s.every == 0 || !lost && s.rnd.IntN(s.every) > 0 {
		return nil
	}
	switch {
	case lost:
		s.trims++
		return &types.TrimmedDataAccessException{Message: aws.String("trimmed")}
	case s.rnd.IntN(2) == 0:
		return &types.ExpiredIteratorException{Message: aws.String("expired")}
	}
	return errCrash
}

func (s *troubled) DescribeStream(ctx context.Context, in *dynamodbstreams.DescribeStreamInput, o ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error) {
	onward := *in
	onward.ExclusiveStartShardId = nil // the engine does not know the parts
	out, err := s.Client.DescribeStream(ctx, &onward, o...)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := out.StreamDescription
	// One shard a page, and like DynamoDB only the last few.
	next := max(0, len(s.parts)-4)
	if in.ExclusiveStartShardId != nil {
		next = number(*in.ExclusiveStartShardId) + 1
	}
	one := types.Shard{ShardId: shardName(next)}
	if next > 0 {
		one.ParentShardId = shardName(next - 1)
	}
	d.Shards, d.LastEvaluatedShardId = []types.Shard{one}, nil
	if next+1 < len(s.parts) {
		d.LastEvaluatedShardId = one.ShardId
	}
	return out, nil
}

func shardName(n int) *string { return aws.String(fmt.Sprint("shard-", n)) }

func number(name string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "shard-"))
	if err != nil {
		panic(err)
	}
	return n
}

func (s *troubled) GetShardIterator(ctx context.Context, in *dynamodbstreams.GetShardIteratorInput, o ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error) {
	n := number(*in.ShardId)
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.ShardIteratorType == types.ShardIteratorTypeTrimHorizon && s.parts[n].start != nil {
		s.parts[n].read = 0
		return &dynamodbstreams.GetShardIteratorOutput{ShardIterator: aws.String(fmt.Sprint(n, " ", *s.parts[n].start))}, nil
	}
	d, err := s.Client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: in.StreamArn})
	if err != nil {
		return nil, err
	}
	onward := *in
	onward.ShardId = d.StreamDescription.Shards[0].ShardId
	out, err := s.Client.GetShardIterator(ctx, &onward, o...)
	if err == nil {
		out.ShardIterator = aws.String(fmt.Sprint(n, " ", *out.ShardIterator))
	}
	return out, err
}

func (s *troubled) GetRecords(ctx context.Context, in *dynamodbstreams.GetRecordsInput, o ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fault(); err != nil {
		return nil, err
	}
	name, iterator, _ := strings.Cut(*in.ShardIterator, " ")
	n := number(name)
	p := &s.parts[n]
	onward := *in
	onward.ShardIterator = &iterator
	onward.Limit = aws.Int32(min(*in.Limit, int32(s.length-p.read)))
	out, err := s.Client.GetRecords(ctx, &onward, o...)
	if err != nil {
		return nil, err
	}
	p.read += len(out.Records)
	if p.read < s.length {
		out.NextShardIterator = aws.String(name + " " + *out.NextShardIterator)
		return out, nil
	}
	if n+1 == len(s.parts) {
		s.parts = append(s.parts, part{start: out.NextShardIterator})
	}
	s.ended++
	out.NextShardIterator = nil
	return out, nil
}
