package connections

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/channel"
)

// Outcome is what a subscribe or unsubscribe came to.
type Outcome struct {
	// Changed is false when the key was in the state that was asked for.
	Changed bool

	// Active is the number of subscriptions of the channel on the connection,
	// afterwards.
	Active int

	// Held is the subscription that has the key when nothing changed; the zero
	// value when none has. On a wallet channel it may be of another account.
	Held channel.Subscription
}

// Subscribe adds a subscription and takes its slot. reply makes the frame that
// the ingester sends to the client before the snapshot, from the number of
// subscriptions of the channel on the connection, this one included; it may be
// called more than once. The error is [ErrGone], or a [*LimitError] when a cap
// is met. A message that changes nothing is not recorded: [Store.Answer] is.
func (s *Store) Subscribe(ctx context.Context, id string, sub channel.Subscription, limits Limits, reply func(active int) []byte) (Outcome, error) {
	for try := range attempts {
		c, err := s.read(ctx, id)
		if err != nil {
			return Outcome{}, err
		}
		now := s.clock()
		active := c.active[sub.Type] + 1
		made := Subscribed{Connection: id, Subscription: sub, Reply: reply(int(active)), At: now}
		changes := append([]types.TransactWriteItem{s.next(c, now, map[channel.Name]int64{sub.Type: active})},
			s.counters(&c.Connection, 0, 1, limits)...)
		changes = append(changes, types.TransactWriteItem{Put: &types.Put{
			TableName: &s.table, Item: made.item(c.rev + 1),
			ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}})
		refused, err := s.transact(ctx, changes...)
		switch {
		case err != nil:
			return Outcome{}, fmt.Errorf("subscribe: %w", err)
		case refused == nil:
			return Outcome{Changed: true, Active: int(active)}, nil
		case refused.failed(3):
			if refused.failed(0) {
				break // the number of subscriptions is that of an older revision
			}
			im := imageOf(refused[3].Item)
			return Outcome{Active: int(active) - 1, Held: im.subscription()}, nil
		case refused.failed(0):
		default:
			return Outcome{}, refused.limit(1, attrSubs, limits)
		}
		if err := pauses.Wait(ctx, try); err != nil {
			return Outcome{}, err
		}
	}
	return Outcome{}, fmt.Errorf("subscribe: %w", errCrossed)
}

// Unsubscribe removes a subscription and gives its slot back. A wallet
// channel's subscription is removed only when user and dex are its own. The
// reply is left to [Store.Answer], which records a message that changes nothing.
// The error may be [ErrGone].
func (s *Store) Unsubscribe(ctx context.Context, id string, sub channel.Subscription) (Outcome, error) {
	for try := range attempts {
		c, err := s.read(ctx, id)
		if err != nil {
			return Outcome{}, err
		}
		active := c.active[sub.Type] - 1
		changes := append([]types.TransactWriteItem{s.next(c, s.clock(), map[channel.Name]int64{sub.Type: active})},
			s.counters(&c.Connection, 0, -1, Limits{})...)
		changes = append(changes, types.TransactWriteItem{Delete: &types.Delete{
			TableName: &s.table, Key: key(prefixConnection+id, prefixSubscription+sub.Key()),
			ConditionExpression:                 aws.String("#sub = :sub"),
			ExpressionAttributeNames:            map[string]string{"#sub": attrSubscription},
			ExpressionAttributeValues:           item{":sub": subscriptionAttribute(&sub)},
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}})
		refused, err := s.transact(ctx, changes...)
		switch {
		case err != nil:
			return Outcome{}, fmt.Errorf("unsubscribe: %w", err)
		case refused == nil:
			return Outcome{Changed: true, Active: int(active)}, nil
		case !refused.failed(0):
			im := imageOf(refused[3].Item)
			return Outcome{Active: int(active) + 1, Held: im.subscription()}, nil
		}
		if err := pauses.Wait(ctx, try); err != nil {
			return Outcome{}, err
		}
	}
	return Outcome{}, fmt.Errorf("unsubscribe: %w", errCrossed)
}
