package connections

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Answer leaves the reply to a message to the ingester, which sends it after those
// that came into the table before it. The error may be [ErrGone].
func (s *Store) Answer(ctx context.Context, m Message, reply Reply) error {
	now := s.clock()
	it := m.below(prefixAnswer, now)
	reply.into(it)
	it[attrExpiry] = expiry(now, pendingKept)
	if err := s.leave(ctx, &m, it); err != nil {
		return fmt.Errorf("leave a reply: %w", err)
	}
	return nil
}

// AskStat leaves a request for the connection's figures to the ingester. The
// error may be [ErrGone].
func (s *Store) AskStat(ctx context.Context, m Message) error {
	if err := s.leave(ctx, &m, s.pending(&m, prefixStat)); err != nil {
		return fmt.Errorf("ask for figures: %w", err)
	}
	return nil
}

// AskClose leaves to the ingester to close the connection, after the replies that
// stand in the table already. The error may be [ErrGone].
func (s *Store) AskClose(ctx context.Context, m Message) error {
	if err := s.leave(ctx, &m, s.pending(&m, prefixClose)); err != nil {
		return fmt.Errorf("ask for the end: %w", err)
	}
	return nil
}

// pending asks the ingester for what the prefix says.
func (s *Store) pending(m *Message, prefix string) item {
	now := s.clock()
	it := m.below(prefix, now)
	it[attrExpiry] = expiry(now, pendingKept)
	return it
}

// leave puts an item without slots below a connection.
func (s *Store) leave(ctx context.Context, m *Message, it item) error {
	if _, err := s.write(ctx, s.put(it)); err != nil {
		return err
	}
	if err := s.requireConnection(ctx, m.Connection); err != nil {
		return s.undo(ctx, item{attrPK: it[attrPK], attrSK: it[attrSK]}, err)
	}
	return nil
}

// put puts an item, whatever is there.
func (s *Store) put(it item) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: &s.table, Item: it}}
}

// Answered forgets what was left to the ingester. An ingester that ends between
// its answer and this call leaves it to its successor.
func (s *Store) Answered(ctx context.Context, left Pending) error {
	im := image{text: map[string]string{attrPK: prefixConnection + left.Connection, attrSK: left.item}}
	if _, err := s.discard(ctx, im); err != nil {
		return fmt.Errorf("forget what was answered: %w", err)
	}
	return nil
}
