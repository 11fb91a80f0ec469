package connections

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Answer records a message of the client and leaves the reply to it to the
// ingester, which sends it after the replies that stand in the table already.
// The error may be [ErrGone].
func (s *Store) Answer(ctx context.Context, id string, reply []byte) error {
	err := s.leave(ctx, id, func(now time.Time, rev int64) item { return answerItem(id, reply, now, rev) })
	if err != nil {
		return fmt.Errorf("leave a reply: %w", err)
	}
	return nil
}

// AskStat leaves a request for the connection's figures to the ingester. The
// error may be [ErrGone].
func (s *Store) AskStat(ctx context.Context, id string) error {
	err := s.leave(ctx, id, func(now time.Time, rev int64) item {
		return pendingItem(id, numbered(prefixStat, rev), now, rev)
	})
	if err != nil {
		return fmt.Errorf("ask for figures: %w", err)
	}
	return nil
}

// AskClose leaves to the ingester to close the connection, after the replies that
// stand in the table already. The error may be [ErrGone].
func (s *Store) AskClose(ctx context.Context, id string) error {
	err := s.leave(ctx, id, func(now time.Time, rev int64) item {
		return pendingItem(id, numbered(prefixClose, rev), now, rev)
	})
	if err != nil {
		return fmt.Errorf("ask for the end: %w", err)
	}
	return nil
}

// leave puts an item below a connection, at its next revision.
func (s *Store) leave(ctx context.Context, id string, made func(now time.Time, rev int64) item) error {
	for try := range attempts {
		c, err := s.read(ctx, id)
		if err != nil {
			return err
		}
		now := s.clock()
		refused, err := s.transact(ctx, s.next(c, now, nil), s.put(made(now, c.rev+1)))
		if err != nil || refused == nil {
			return err
		}
		if err := pauses.Wait(ctx, try); err != nil {
			return err
		}
	}
	return errCrossed
}

// put puts an item, whatever is there.
func (s *Store) put(it item) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: &s.table, Item: it}}
}

// Answered forgets what was left to the ingester. An ingester that ends between
// its answer and this call leaves it to its successor.
func (s *Store) Answered(ctx context.Context, left Pending) error {
	ctx, done := context.WithTimeout(ctx, requestTimeout)
	defer done()
	_, err := s.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &s.table, Key: key(prefixConnection+left.Connection, left.item),
	})
	if err != nil {
		return fmt.Errorf("forget what was answered: %w", err)
	}
	return nil
}
