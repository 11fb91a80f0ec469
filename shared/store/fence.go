package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
)

// ErrFenced means that another writer, of a higher epoch, has taken over.
// The one that gets it must not write any more.
var ErrFenced = errors.New("a newer writer has taken over")

// Under returns the series for a writer of the given epoch: the fencing number
// that it got when it became the writer, higher than those of all before it.
// Each row and checkpoint carries the epoch of its last writer, and none is
// replaced by a writer of a lower one, however late its request arrives. That
// costs no more write units than a batch would, but a request for each row:
// batches take no conditions, and transactions cost twice.
//
// Epoch 0, that of a series fresh from [NewSeries], is below all others.
func (s *Series) Under(epoch int64) *Series {
	under := *s
	under.epoch = epoch
	return &under
}

// ClaimCheckpoint is [Series.Checkpoint] for the writer that goes on from it: in
// the same step it takes the checkpoint from every writer of a lower epoch. What
// such a writer still saves would otherwise stand for rows that this one is about to
// replace.
func (s *Series) ClaimCheckpoint(ctx context.Context, source string) ([]byte, error) {
	if s.epoch == 0 {
		return s.Checkpoint(ctx, source)
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	condition, names, values := s.fence()
	out, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: checkpointKey(source).item(),
		UpdateExpression:         aws.String("SET #ep = :ep"),
		ConditionExpression:      condition,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValues: types.ReturnValueAllNew,
	})
	if err != nil {
		return nil, fmt.Errorf("claim checkpoint of %s: %w", source, fenced(err))
	}
	return attr.Bytes(out.Attributes, attrBody), nil
}

// fence is the condition under which the writer may replace an item.
func (s *Series) fence() (condition *string, names map[string]string, values item) {
	return aws.String("attribute_not_exists(#ep) OR #ep <= :ep"), map[string]string{"#ep": attrEpoch},
		item{":ep": attr.N(s.epoch)}
}

// fenced is the error of a request with that condition.
func fenced(err error) error {
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return ErrFenced
	}
	return err
}

// putFenced writes items, each with a request of its own.
func (s *Series) putFenced(ctx context.Context, p *puts) error {
	return p.putEach(ctx, s.Parallel, s.putItem)
}

// putItem replaces one item, unless a writer of a higher epoch has written it.
func (s *Series) putItem(ctx context.Context, it item) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	in := &dynamodb.PutItemInput{TableName: &s.table, Item: it}
	in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = s.fence()
	_, err := s.db.PutItem(ctx, in)
	return fenced(err)
}
