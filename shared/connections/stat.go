package connections

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// AskStat leaves a request for the connection's figures to the ingester. The
// error may be [ErrGone].
func (s *Store) AskStat(ctx context.Context, id string) error {
	for try := range attempts {
		c, err := s.read(ctx, id)
		if err != nil {
			return err
		}
		now := s.clock()
		refused, err := s.transact(ctx, s.next(c, now, nil), types.TransactWriteItem{Put: &types.Put{
			TableName: &s.table, Item: statItem(id, now, c.rev+1),
		}})
		if err != nil {
			return fmt.Errorf("ask for figures: %w", err)
		}
		if refused == nil {
			return nil
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
	return fmt.Errorf("ask for figures: %w", errCrossed)
}

// AnsweredStat forgets a request for figures. An ingester that ends between its
// answer and this call leaves the request to its successor.
func (s *Store) AnsweredStat(ctx context.Context, asked StatAsked) error {
	ctx, done := context.WithTimeout(ctx, requestTimeout)
	defer done()
	_, err := s.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &s.table, Key: key(prefixConnection+asked.Connection, asked.Request),
	})
	if err != nil {
		return fmt.Errorf("forget a request for figures: %w", err)
	}
	return nil
}
