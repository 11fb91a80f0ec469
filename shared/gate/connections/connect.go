package connections

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Connect records a new connection and takes its slots; its times are set to
// now. The error is a [*LimitError] when a cap is met. Connecting the same
// connection again changes nothing.
func (s *Store) Connect(ctx context.Context, c Connection, limits Limits) error {
	c.At = s.clock()
	c.Seen = c.At
	refused, err := s.acquire(ctx, c.ID, ownersOf(c.Key, c.Distributor, conns, limits), false, func(held item) types.TransactWriteItem {
		it := c.item()
		for name, shard := range held {
			it[name] = shard
		}
		return types.TransactWriteItem{Put: &types.Put{
			TableName: &s.table, Item: it,
			ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}}
	})
	if err != nil {
		return fmt.Errorf("record a connection: %w", err)
	}
	// The gateway gives every id once: what is there is of a repetition of a write whose
	// answer was lost.
	if refused != nil && refused.text[attrKey] != c.Key {
		return errors.New("record a connection: its id is taken by another key")
	}
	return nil
}
