package connections

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"quotary/shared/aws/attr"
)

const (
	// removalKept is how long whoever began to remove a connection is left to it.
	removalKept = 10 * time.Second
	// removeAtOnce is how many requests one removal makes at a time.
	removeAtOnce = 8
	// pageRemoved is how many items a page of a removal has, the connection included: one
	// transaction takes them with two shards. They are a megabyte at most, the most that a
	// query reads.
	pageRemoved = 91
)

// Remove removes the connection with all that is below it and gives all slots back. It
// reports whether this call began that: of all that notice the end of a connection, one
// gets true. The connection itself goes last, so that a crash in between leaves it to be
// found and removed again. Items that are there without their connection are removed,
// too.
func (s *Store) Remove(ctx context.Context, id string) (removed bool, err error) {
	began, others, err := s.BeginRemoval(ctx, id, time.Time{})
	if err != nil || others {
		return false, err
	}
	for done := false; !done && err == nil; {
		done, err = s.RemovePage(ctx, id)
	}
	return began, err
}

// RemovePage goes on with a removal that has begun ([Store.BeginRemoval], or a [Store.Remove]
// that returned true and an error), by at most pageRemoved items. It reports whether all is
// gone; until then it is to be called again.
func (s *Store) RemovePage(ctx context.Context, id string) (done bool, err error) {
	for try := range attempts {
		page, more, err := s.removalPage(ctx, id)
		if err != nil || len(page) == 0 {
			return err == nil, err
		}
		switch cleared, err := s.clear(ctx, page, !more); {
		case err != nil:
			return false, fmt.Errorf("remove a connection: %w", err)
		case cleared:
			return !more, nil
		}
		if err := retries.Pauses.Wait(ctx, try); err != nil {
			return false, err
		}
	}
	return false, fmt.Errorf("remove a connection: %w", errContended)
}

// removalPage reads the first of what a connection has, without its addresses, and whether
// there is more. The connection itself comes first.
func (s *Store) removalPage(ctx context.Context, id string) (page []image, more bool, err error) {
	var out *dynamodb.QueryOutput
	err = retries.Do(ctx, func(ctx context.Context) (err error) {
		out, err = s.db.Query(ctx, &dynamodb.QueryInput{
			TableName: &s.table, ConsistentRead: aws.Bool(true), Limit: aws.Int32(pageRemoved),
			KeyConditionExpression:    aws.String("pk = :pk"),
			ProjectionExpression:      aws.String("pk, sk, #ks, #ds"),
			ExpressionAttributeNames:  map[string]string{"#ks": attrKeySlot, "#ds": attrDistributorSlot},
			ExpressionAttributeValues: item{":pk": attr.S(prefixConnection + id)},
		})
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("read what a connection has: %w", err)
	}
	for _, it := range out.Items {
		page = append(page, imageOf(it))
	}
	return page, out.LastEvaluatedKey != nil, nil
}

// BeginRemoval marks the connection as being removed: unless before is zero, only one whose
// last recorded message is older. It reports whether this call did, and whether it is for
// others to remove it, or for nobody. If not, [Store.RemovePage] removes it.
func (s *Store) BeginRemoval(ctx context.Context, id string, before time.Time) (began, others bool, err error) {
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
	if err != nil {
		return false, false, fmt.Errorf("remove a connection: %w", err)
	}
	if o == nil {
		return true, false, nil
	}
	c := refusedItem(o, 0)
	spoke := !c.closing() && c.exists()
	recent := c.closing() && now.Sub(c.time(attrClosing)) < removalKept
	return false, spoke || recent, nil
}

// clear deletes a page of the items of a connection, those with slots in transactions with
// the shards that they are given back to, and where the page is the last one the connection
// itself, when all others are gone. It reports whether everything is: what others changed
// meanwhile is left. Nothing comes in behind, for whoever writes below a connection looks
// after that whether it is being removed.
func (s *Store) clear(ctx context.Context, page []image, last bool) (done bool, err error) {
	var connection *image
	bySlots := map[slots][]image{}
	for i, im := range page {
		if im.sort() == sortConnection {
			connection = &page[i]
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
		n := len(items)
		if held == (slots{}) {
			n = 1
		}
		for part := range slices.Chunk(items, n) {
			discard(func() (bool, error) { return s.discardAll(within, held, part) })
		}
	}
	if err := group.Wait(); err != nil || left.Load() {
		return false, err
	}
	if connection == nil || !last {
		return true, nil
	}
	return s.discard(ctx, *connection)
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
