package connections

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"quotary/shared/aws/attr"
)

const (
	// removalKept is how long whoever began to remove a connection is left to it.
	removalKept = 10 * time.Second
	// removeAtOnce is how many requests one removal makes at a time.
	removeAtOnce = 8
	// maxRemoved is how many items are deleted in one transaction, beside two shards.
	maxRemoved = 90
)

// Remove removes the connection with all that is below it and gives all slots back. It
// reports whether this call began that: of all that notice the end of a connection, one
// gets true. The connection itself goes last, so that a crash in between leaves it to be
// found and removed again. Items that are there without their connection are removed,
// too.
func (s *Store) Remove(ctx context.Context, id string) (removed bool, err error) {
	return s.remove(ctx, id, time.Time{})
}

// RemoveIdle is Remove for a connection whose last recorded message is older than the
// given time, and nothing for any other.
func (s *Store) RemoveIdle(ctx context.Context, id string, before time.Time) (removed bool, err error) {
	return s.remove(ctx, id, before)
}

func (s *Store) remove(ctx context.Context, id string, before time.Time) (bool, error) {
	began, others, err := s.close(ctx, id, before)
	if err != nil {
		return false, fmt.Errorf("remove a connection: %w", err)
	}
	if others {
		return false, nil
	}
	return began, s.FinishRemoval(ctx, id)
}

// FinishRemoval goes on with a removal that this process has begun: [Store.Remove] or
// [Store.RemoveIdle] has returned true, and an error.
func (s *Store) FinishRemoval(ctx context.Context, id string) error {
	for try := range attempts {
		all, err := s.query(ctx, id, sortConnection, "~")
		if err != nil || len(all) == 0 {
			return err
		}
		switch done, err := s.clear(ctx, all); {
		case err != nil:
			return fmt.Errorf("remove a connection: %w", err)
		case done:
			return nil
		}
		if err := retries.Pauses.Wait(ctx, try); err != nil {
			return err
		}
	}
	return fmt.Errorf("remove a connection: %w", errContended)
}

// close marks the connection as being removed. It reports whether this call did, and
// whether it is for others to remove it, or for nobody.
func (s *Store) close(ctx context.Context, id string, before time.Time) (began, others bool, err error) {
	now := s.clock()
	// By its own name a repetition of a write whose answer was lost is known.
	u := &types.Update{
		TableName: &s.table, Key: connectionKey(id),
		UpdateExpression:                    aws.String("SET #closing = :now, #by = :by"),
		ConditionExpression:                 aws.String("attribute_exists(pk) AND (attribute_not_exists(#closing) OR #by = :by)"),
		ExpressionAttributeNames:            map[string]string{"#closing": attrClosing, "#by": attrRequest},
		ExpressionAttributeValues:           item{":now": attr.N(now.UnixMilli()), ":by": attr.S(rand.Text())},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if !before.IsZero() {
		*u.ConditionExpression += " AND #seen < :before"
		u.ExpressionAttributeNames["#seen"] = attrSeen
		u.ExpressionAttributeValues[":before"] = attr.N(before.UnixMilli())
	}
	o, err := s.write(ctx, types.TransactWriteItem{Update: u})
	if err != nil || o == nil {
		return err == nil, false, err
	}
	c := refusedItem(o, 0)
	spoke := !c.closing() && c.exists()
	recent := c.closing() && now.Sub(c.time(attrClosing)) < removalKept
	return false, spoke || recent, nil
}

// clear deletes the items of a connection, those with slots in transactions with the
// shards that they are given back to, and the connection itself when all others are
// gone. It reports whether everything is: what others changed meanwhile is left. Nothing
// comes in behind, for whoever writes below a connection looks after that whether it is
// being removed.
func (s *Store) clear(ctx context.Context, all []image) (done bool, err error) {
	var connection *image
	bySlots := map[slots][]image{}
	for i, im := range all {
		if im.sort() == sortConnection {
			connection = &all[i]
			continue
		}
		held := im.slots()
		bySlots[held] = append(bySlots[held], im)
	}
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(removeAtOnce)
	var left atomic.Bool
	discard := func(what func() (bool, error)) {
		group.Go(func() error {
			gone, err := what()
			if !gone {
				left.Store(true)
			}
			return err
		})
	}
	for held, items := range bySlots {
		for len(items) > 0 {
			part := items[:1]
			if held != (slots{}) {
				part = cut(items)
			}
			items = items[len(part):]
			discard(func() (bool, error) { return s.discardAll(within, held, part) })
		}
	}
	if err := group.Wait(); err != nil || left.Load() {
		return false, err
	}
	if connection == nil {
		return true, nil
	}
	return s.discard(ctx, *connection)
}

// maxAddresses is how many addresses go into one transaction, which takes 4 MB.
const maxAddresses = 60_000

// cut returns as many of the items, from the first, as fit into a transaction.
func cut(items []image) []image {
	size := 0
	for i, im := range items {
		if size += len(im.addresses); i == maxRemoved || i > 0 && size > maxAddresses {
			return items[:i]
		}
	}
	return items
}

// discardAll deletes items that hold slots of the same shards, and gives those back. It
// reports whether all items were as they were seen.
func (s *Store) discardAll(ctx context.Context, held slots, items []image) (bool, error) {
	var changes []types.TransactWriteItem
	for i := range items {
		changes = append(changes, s.deletion(&items[i]))
	}
	changes = append(changes, s.release(held, items[0].slotKind(), len(items))...)
	o, err := s.write(ctx, changes...)
	return err == nil && o == nil, err
}

// discard is discardAll for one item.
func (s *Store) discard(ctx context.Context, im image) (bool, error) {
	return s.discardAll(ctx, im.slots(), []image{im})
}

// deletion deletes an item on condition that it holds the slots that it was seen with.
func (s *Store) deletion(im *image) types.TransactWriteItem {
	d := &types.Delete{
		TableName: &s.table, Key: key(im.text[attrPK], im.sort()),
		ExpressionAttributeNames: map[string]string{"#ks": attrKeySlot, "#ds": attrDistributorSlot},
	}
	values := item{}
	d.ConditionExpression = aws.String(im.slots().condition(values))
	if len(values) > 0 {
		d.ExpressionAttributeValues = values
	}
	return types.TransactWriteItem{Delete: d}
}
