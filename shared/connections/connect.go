package connections

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/attr"
)

// Connect records a new connection and takes its slot; its times are set to
// now. The error is a [*LimitError] when a cap is met. Connecting the same
// connection again changes nothing.
func (s *Store) Connect(ctx context.Context, c Connection, limits Limits) error {
	c.At = s.clock()
	c.Seen = c.At
	refused, err := s.transact(ctx, append([]types.TransactWriteItem{{Put: &types.Put{
		TableName: &s.table, Item: c.item(),
		ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}}, s.counters(&c, 1, 0, limits)...)...)
	if err != nil {
		return fmt.Errorf("record a connection: %w", err)
	}
	if refused == nil {
		return nil
	}
	if refused.failed(0) {
		// The gateway gives every id once: this is a repetition of a write
		// whose answer was lost.
		if im := imageOf(refused[0].Item); im.text[attrKey] == c.Key {
			return nil
		}
		return errors.New("record a connection: its id is taken by another key")
	}
	return refused.limit(1, attrConns, limits)
}

// Touch records that the client sent a message now.
func (s *Store) Touch(ctx context.Context, id string) error {
	in := &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: key(prefixConnection+id, sortConnection),
		UpdateExpression:          aws.String("SET #seen = :seen"),
		ConditionExpression:       aws.String("attribute_exists(pk)"),
		ExpressionAttributeNames:  map[string]string{"#seen": attrSeen},
		ExpressionAttributeValues: item{":seen": attr.N(s.clock().UnixMilli())},
	}
	for try := range attempts {
		err := s.update(ctx, in)
		var gone *types.ConditionalCheckFailedException
		switch {
		case err == nil:
			return nil
		case errors.As(err, &gone):
			return ErrGone
		case !crossed(err):
			return fmt.Errorf("record a message: %w", err)
		}
		if err := pauses.Wait(ctx, try); err != nil {
			return err
		}
	}
	return fmt.Errorf("record a message: %w", errCrossed)
}

func (s *Store) update(ctx context.Context, in *dynamodb.UpdateItemInput) error {
	ctx, done := context.WithTimeout(ctx, requestTimeout)
	defer done()
	_, err := s.db.UpdateItem(ctx, in)
	return err
}
