package connections

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/attr"
	"quotary/shared/channel"
)

// Remove removes the connection with its subscriptions and gives all their
// slots back. It reports whether this call removed it: of all that notice the end
// of a connection, one gets true. With very many subscriptions it takes several
// transactions, the connection itself last, so that a crash in between leaves
// it to be found and removed again.
func (s *Store) Remove(ctx context.Context, id string) (removed bool, err error) {
	return s.remove(ctx, id, time.Time{})
}

// RemoveIdle is Remove for a connection whose last message is older than the
// given time, and nothing for any other.
func (s *Store) RemoveIdle(ctx context.Context, id string, before time.Time) (removed bool, err error) {
	return s.remove(ctx, id, before)
}

func (s *Store) remove(ctx context.Context, id string, before time.Time) (bool, error) {
	for try := 0; try < attempts; try++ {
		c, below, err := s.readAll(ctx, id)
		if errors.Is(err, ErrGone) || err == nil && !before.IsZero() && c.Seen.UnixMilli() >= before.UnixMilli() {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		deletions, freed, left := s.release(c, below)
		var changes []types.TransactWriteItem
		if len(left) == 0 {
			changes = append(s.counters(&c.Connection, -1, -freed, Limits{}), s.end(c, before))
		} else {
			changes = append(s.counters(&c.Connection, 0, -freed, Limits{}), s.next(c, time.Time{}, activeOf(c, left)))
		}
		refused, err := s.transact(ctx, append(changes, deletions...)...)
		switch {
		case err != nil:
			return false, fmt.Errorf("remove a connection: %w", err)
		case refused == nil && len(left) == 0:
			return true, nil
		case refused == nil:
			try = 0
			continue
		}
		if err := pauses.Wait(ctx, try); err != nil {
			return false, err
		}
	}
	return false, fmt.Errorf("remove a connection: %w", errCrossed)
}

// end deletes the connection itself, at the revision that was read.
func (s *Store) end(c *record, before time.Time) types.TransactWriteItem {
	d := &types.Delete{
		TableName: &s.table, Key: key(prefixConnection+c.ID, sortConnection),
		ConditionExpression:       aws.String("#rev = :rev"),
		ExpressionAttributeNames:  map[string]string{"#rev": attrRev},
		ExpressionAttributeValues: item{":rev": attr.N(c.rev)},
	}
	if !before.IsZero() {
		d.ConditionExpression = aws.String("#rev = :rev AND #seen < :before")
		d.ExpressionAttributeNames["#seen"] = attrSeen
		d.ExpressionAttributeValues[":before"] = attr.N(before.UnixMilli())
	}
	return types.TransactWriteItem{Delete: d}
}

// release returns the deletions of what is below a connection, as many as fit
// into a transaction, the slots that they free, and what is left over.
func (s *Store) release(c *record, below []image) (deletions []types.TransactWriteItem, freed int64, left []image) {
	size := 0
	for i, im := range below {
		if size += len(im.addresses); i == maxBelow || size > maxAddresses && i > 0 {
			return deletions, freed, below[i:]
		}
		d := s.deletion(c.ID, im.sort())
		if slot(im.sort()) {
			freed++
		} else {
			d.Delete.ConditionExpression = nil // the ingester deletes it too
		}
		deletions = append(deletions, d)
	}
	return deletions, freed, nil
}

// activeOf counts the subscriptions left over by channel.
func activeOf(c *record, left []image) map[channel.Name]int64 {
	active := make(map[channel.Name]int64, len(c.active))
	for name := range c.active {
		active[name] = 0
	}
	for _, im := range left {
		if strings.HasPrefix(im.sort(), prefixSubscription) {
			active[im.subscription().Type]++
		}
	}
	return active
}

// List returns every connection, strongly consistent, in no order.
func (s *Store) List(ctx context.Context) ([]Connection, error) {
	var list []Connection
	err := s.scan(ctx, func(im image) {
		if im.id() != "" && im.sort() == sortConnection {
			list = append(list, im.connection())
		}
	})
	return list, err
}

// Usage is what a sub-key, or all sub-keys of a distributor, have taken.
type Usage struct{ Connections, Subscriptions int64 }

// KeyUsage returns what a sub-key has taken.
func (s *Store) KeyUsage(ctx context.Context, accessKey string) (Usage, error) {
	return s.usage(ctx, prefixKey+accessKey, sortKey)
}

// DistributorUsage returns what all sub-keys of a distributor have taken.
func (s *Store) DistributorUsage(ctx context.Context, distributor string) (Usage, error) {
	return s.usage(ctx, prefixDistributor+distributor, sortDistributor)
}

func (s *Store) usage(ctx context.Context, pk, sk string) (Usage, error) {
	ctx, done := context.WithTimeout(ctx, requestTimeout)
	defer done()
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.table, Key: key(pk, sk), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return Usage{}, fmt.Errorf("read the slots that are taken: %w", err)
	}
	im := imageOf(out.Item)
	return Usage{im.number(attrConns), im.number(attrSubs)}, nil
}

// scan visits every item, strongly consistent.
func (s *Store) scan(ctx context.Context, visit func(image)) error {
	pages := dynamodb.NewScanPaginator(s.db, &dynamodb.ScanInput{TableName: &s.table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := timed(ctx, pages.NextPage)
		if err != nil {
			return fmt.Errorf("list the connections: %w", err)
		}
		for _, it := range page.Items {
			visit(imageOf(it))
		}
	}
	return nil
}

// timed reads the next page, with a deadline of its own.
func timed[Page any](ctx context.Context, next func(context.Context, ...func(*dynamodb.Options)) (Page, error)) (Page, error) {
	ctx, done := context.WithTimeout(ctx, requestTimeout)
	defer done()
	return next(ctx)
}
