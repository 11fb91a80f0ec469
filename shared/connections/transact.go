package connections

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"quotary/shared/attr"
	"quotary/shared/backoff"
	"quotary/shared/channel"
)

const (
	// requestTimeout bounds one request, its retries inside the SDK included.
	requestTimeout = 10 * time.Second

	// attempts is how often a change is tried that others keep crossing.
	attempts = 20
)

// record is a connection as it was read, the basis of a change.
type record struct {
	Connection
	rev    int64
	active map[channel.Name]int64
}

// errCrossed is the error of a change that others crossed every time.
var errCrossed = errors.New("the connection kept changing")

// read returns the connection, strongly consistent.
func (s *Store) read(ctx context.Context, id string) (*record, error) {
	ctx, done := context.WithTimeout(ctx, requestTimeout)
	defer done()
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: key(prefixConnection+id, sortConnection), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("read a connection: %w", err)
	}
	if len(out.Item) == 0 {
		return nil, ErrGone
	}
	im := imageOf(out.Item)
	return recordOf(&im), nil
}

// readAll returns the connection and everything below it, in the order of the
// sort keys.
func (s *Store) readAll(ctx context.Context, id string) (*record, []image, error) {
	pages := dynamodb.NewQueryPaginator(s.db, &dynamodb.QueryInput{
		TableName:                 &s.table,
		ConsistentRead:            aws.Bool(true),
		KeyConditionExpression:    aws.String("pk = :pk"),
		ExpressionAttributeValues: item{":pk": attr.S(prefixConnection + id)},
	})
	var c *record
	var below []image
	for pages.HasMorePages() {
		page, err := timed(ctx, pages.NextPage)
		if err != nil {
			return nil, nil, fmt.Errorf("read a connection with its subscriptions: %w", err)
		}
		for _, it := range page.Items {
			im := imageOf(it)
			if im.sort() == sortConnection {
				c = recordOf(&im)
			} else {
				below = append(below, im)
			}
		}
	}
	if c == nil {
		return nil, nil, ErrGone
	}
	return c, below, nil
}

func recordOf(im *image) *record {
	c := &record{Connection: im.connection(), rev: im.rev(), active: make(map[channel.Name]int64)}
	for attribute := range im.text {
		if name, ok := cutActive(attribute); ok {
			c.active[name] = im.number(attribute)
		}
	}
	return c
}

func cutActive(name string) (channel.Name, bool) {
	if len(name) > len(attrActive) && name[:len(attrActive)] == attrActive {
		return channel.Name(name[len(attrActive):]), true
	}
	return "", false
}

// next is the part of a transaction that moves the connection to its next
// revision, on condition that it is still at the one that was read. A client
// message caused it unless seen is zero. active are the channels whose number
// of subscriptions changes.
func (s *Store) next(c *record, seen time.Time, active map[channel.Name]int64) types.TransactWriteItem {
	update := "SET #rev = :next"
	names := map[string]string{"#rev": attrRev}
	values := item{":rev": attr.N(c.rev), ":next": attr.N(c.rev + 1)}
	if !seen.IsZero() {
		update += ", #seen = :seen"
		names["#seen"], values[":seen"] = attrSeen, attr.N(seen.UnixMilli())
	}
	for name, n := range active {
		update += ", #" + string(name) + " = :" + string(name)
		names["#"+string(name)], values[":"+string(name)] = attrActive+string(name), attr.N(n)
	}
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: key(prefixConnection+c.ID, sortConnection),
		UpdateExpression: &update, ConditionExpression: aws.String("#rev = :rev"),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	}}
}

// counters returns the changes of the sub-key's and the distributor's counter.
// A positive change is made only below the cap.
func (s *Store) counters(c *Connection, conns, subs int64, limits Limits) []types.TransactWriteItem {
	return []types.TransactWriteItem{
		s.counter(prefixKey+c.Key, sortKey, conns, subs, limits.Key),
		s.counter(prefixDistributor+c.Distributor, sortDistributor, conns, subs, limits.Distributor),
	}
}

func (s *Store) counter(pk, sk string, conns, subs, limit int64) types.TransactWriteItem {
	u := &types.Update{
		TableName: &s.table, Key: key(pk, sk),
		UpdateExpression:                    aws.String("ADD #conns :conns, #subs :subs"),
		ExpressionAttributeNames:            map[string]string{"#conns": attrConns, "#subs": attrSubs},
		ExpressionAttributeValues:           item{":conns": attr.N(conns), ":subs": attr.N(subs)},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	name := "#conns"
	if subs > 0 {
		name = "#subs"
	}
	if limit > 0 && (conns > 0 || subs > 0) {
		u.ConditionExpression = aws.String("attribute_not_exists(" + name + ") OR " + name + " < :limit")
		u.ExpressionAttributeValues[":limit"] = attr.N(limit)
	}
	return types.TransactWriteItem{Update: u}
}

// refusal holds, for each item of a transaction, whether its condition failed.
type refusal []types.CancellationReason

const conditionFailed = "ConditionalCheckFailed"

func (r refusal) failed(i int) bool {
	return i < len(r) && aws.ToString(r[i].Code) == conditionFailed
}

// limit returns the error of the cap that the counters at i and i+1 refused.
func (r refusal) limit(i int, attribute string, limits Limits) error {
	limit := limits.Key
	if !r.failed(i) {
		i, limit = i+1, limits.Distributor
	}
	im := imageOf(r[i].Item)
	return &LimitError{Limit: limit, Current: max(im.number(attribute), limit)}
}

// transact runs a transaction. It returns a refusal when a condition failed,
// and tries again what others only crossed.
func (s *Store) transact(ctx context.Context, items ...types.TransactWriteItem) (refusal, error) {
	for try := range attempts {
		err := s.write(ctx, items)
		if err == nil {
			return nil, nil
		}
		var cancelled *types.TransactionCanceledException
		switch {
		case errors.As(err, &cancelled):
			has := func(codes ...string) bool {
				return slices.ContainsFunc(cancelled.CancellationReasons, func(r types.CancellationReason) bool {
					return slices.Contains(codes, aws.ToString(r.Code))
				})
			}
			// A refusal counts only when it is all there is: the item that
			// another transaction holds may turn out differently.
			if !has("TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded") {
				if has(conditionFailed) {
					return cancelled.CancellationReasons, nil
				}
				return nil, err
			}
		case !crossed(err):
			return nil, err
		}
		if err := pauses.Wait(ctx, try); err != nil {
			return nil, err
		}
	}
	return nil, errCrossed
}

func (s *Store) write(ctx context.Context, items []types.TransactWriteItem) error {
	ctx, done := context.WithTimeout(ctx, requestTimeout)
	defer done()
	_, err := s.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
	return err
}

// crossed reports whether a write failed because another transaction was under way
// on the same item.
func crossed(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && slices.Contains([]string{
		"TransactionConflictException", "TransactionInProgressException",
	}, api.ErrorCode())
}

// pauses are those between the tries of a change that others cross.
var pauses = backoff.Backoff{Min: 10 * time.Millisecond, Max: 640 * time.Millisecond}
