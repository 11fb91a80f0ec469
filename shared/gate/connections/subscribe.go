package connections

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
	"quotary/shared/aws/contention"
	"quotary/shared/aws/readunits"
	"quotary/shared/gate/channel"
)

// Outcome is what a subscribe or unsubscribe came to.
type Outcome struct {
	// Changed is false when the key was in the state that was asked for.
	Changed bool

	// Overtaken means that a later message about the key was carried out before, so that
	// this one changed nothing.
	Overtaken bool

	// Held is the subscription that has the key when nothing changed; the zero
	// value when none has. On a wallet channel it may be of another account.
	Held channel.Subscription
}

// MostSubscriptionsTogether is how many subscriptions of /ws the connections of one
// distributor have together at most, whatever the caps: each takes 600 bytes of the ingester's
// memory, and all distributors share that. The ingester, which knows them, counts them and
// refuses what goes beyond ([Store.RefuseSubscription]).
const MostSubscriptionsTogether = 150_000

func subscriptionKey(m *Message, sub *channel.Subscription) item {
	return key(prefixConnection+m.Connection, prefixSubscription+sub.Key())
}

// Subscribe adds a subscription and takes its slots. The ingester sends the reply
// before the snapshot. The error is [ErrGone], or a [*LimitError] when a cap is met. A
// message that changes nothing leaves no reply: that is for [Store.Answer].
func (s *Store) Subscribe(ctx context.Context, m Message, sub channel.Subscription, limits Limits, reply Reply) (Outcome, error) {
	owners := ownersOf(m.Key, m.Distributor, subs, limits)
	refused, err := s.acquire(ctx, m.Connection, owners, false, func(held item) types.TransactWriteItem {
		return types.TransactWriteItem{Update: s.subscribing(&m, &sub, reply, held)}
	})
	var over *LimitError
	if errors.As(err, &over) { // which is no matter for what is subscribed already
		im, reading := s.read(ctx, subscriptionKey(&m, &sub))
		if reading != nil {
			return Outcome{}, fmt.Errorf("subscribe: %w", reading)
		}
		if im.exists() && (!im.ended() || im.number(attrTime) > m.At.UnixMilli()) {
			refused, err = &im, nil
		}
	}
	switch {
	case err != nil:
		return Outcome{}, fmt.Errorf("subscribe: %w", err)
	case refused == nil:
		if err := s.requireConnection(ctx, m.Connection); err != nil {
			return Outcome{}, s.undo(ctx, subscriptionKey(&m, &sub), err)
		}
		return Outcome{Changed: true}, nil
	case refused.text[attrRequest] == m.ID:
		return Outcome{Changed: true}, nil // a repetition of a write whose answer was lost
	case refused.ended():
		return Outcome{Overtaken: true}, nil
	}
	out := Outcome{Held: refused.subscription()}
	if out.Held == sub && refused.number(attrTime) < m.At.UnixMilli() {
		return out, s.renew(ctx, &m, &sub)
	}
	return out, nil
}

// subscribing makes a subscription where there is none, unless a later message ended it.
func (s *Store) subscribing(m *Message, sub *channel.Subscription, reply Reply, held item) *types.Update {
	u := &types.Update{
		TableName: &s.table, Key: subscriptionKey(m, sub),
		UpdateExpression:    aws.String("SET #t = :t, #sub = :sub, #at = :at, #by = :by"),
		ConditionExpression: aws.String("attribute_not_exists(pk) OR (attribute_exists(#off) AND #t <= :t)"),
		ExpressionAttributeNames: map[string]string{
			"#t": attrTime, "#n": attrWrites, "#sub": attrSubscription, "#at": attrAt, "#by": attrRequest, "#off": attrEnded, "#exp": attrExpiry,
		},
		ExpressionAttributeValues: item{
			":t": attr.N(m.At.UnixMilli()), ":one": attr.N(1), ":sub": subscriptionAttribute(sub),
			":at": attr.N(s.clock().UnixMilli()), ":by": attr.S(m.ID),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	set := func(name string, value types.AttributeValue) {
		*u.UpdateExpression += ", #" + name + " = :" + name
		u.ExpressionAttributeNames["#"+name], u.ExpressionAttributeValues[":"+name] = name, value
	}
	given := item{}
	reply.into(given)
	for name, value := range given {
		set(name, value)
	}
	for name, shard := range held {
		set(name, shard)
	}
	*u.UpdateExpression += " REMOVE #off, #exp ADD #n :one"
	return u
}

// waitAgain is how long after a message has begun to wait for the end of a subscription another
// may, unless the wait was not in vain.
const waitAgain = 10 * time.Second

func waitKey(m *Message, sub *channel.Subscription) item {
	return key(prefixMemory+m.Connection, prefixWait+sub.Key())
}

// MayWait reports whether a message may wait for the end of the subscription that has the key
// of its own. Whoever waits holds an instance of the function: one message of a connection at a
// time, and none for a while where that was in vain.
func (s *Store) MayWait(ctx context.Context, m Message, sub channel.Subscription) (bool, error) {
	now := s.clock()
	it := waitKey(&m, &sub)
	it[attrTime], it[attrExpiry] = attr.N(now.UnixMilli()), expiry(now, waitAgain)
	o, err := s.write(ctx, types.TransactWriteItem{Put: &types.Put{
		TableName: &s.table, Item: it,
		ConditionExpression:       aws.String("attribute_not_exists(pk) OR #t <= :before"),
		ExpressionAttributeNames:  map[string]string{"#t": attrTime},
		ExpressionAttributeValues: item{":before": attr.N(now.Add(-waitAgain).UnixMilli())},
	}})
	if err != nil {
		return false, fmt.Errorf("wait for the end of a subscription: %w", err)
	}
	return o == nil, nil
}

// Ended reports whether a subscription of a message's connection has ended. Then the next
// message may wait.
func (s *Store) Ended(ctx context.Context, m Message, held channel.Subscription) (bool, error) {
	im, err := s.read(ctx, subscriptionKey(&m, &held))
	if err == nil && im.exists() && !im.ended() && im.subscription() == held {
		return false, nil
	}
	if err == nil {
		_, err = s.write(ctx, types.TransactWriteItem{Delete: &types.Delete{TableName: &s.table, Key: waitKey(&m, &held)}})
	}
	if err != nil {
		return false, fmt.Errorf("wait for the end of a subscription: %w", err)
	}
	return true, nil
}

// renew notes that a later message asked for a subscription that is there, so that an
// unsubscribe from before it, that comes late, does not end it.
func (s *Store) renew(ctx context.Context, m *Message, sub *channel.Subscription) error {
	_, err := s.write(ctx, types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: subscriptionKey(m, sub),
		UpdateExpression:          aws.String("SET #t = :t ADD #n :one"),
		ConditionExpression:       aws.String("#sub = :sub AND attribute_not_exists(#off) AND #t < :t"),
		ExpressionAttributeNames:  map[string]string{"#t": attrTime, "#n": attrWrites, "#sub": attrSubscription, "#off": attrEnded},
		ExpressionAttributeValues: item{":t": attr.N(m.At.UnixMilli()), ":one": attr.N(1), ":sub": subscriptionAttribute(sub)},
	}})
	if err != nil {
		return fmt.Errorf("renew a subscription: %w", err)
	}
	return nil
}

// RefuseSubscription takes a subscription back, and frees its slots, unless it has ended or been
// made again since.
func (s *Store) RefuseSubscription(ctx context.Context, refused Subscribed) error {
	k := subscriptionKey(&Message{Connection: refused.Connection}, &refused.Subscription)
	for range attempts {
		im, err := s.read(ctx, k)
		done := err == nil && (!im.exists() || im.ended() || im.number(attrAt) != refused.At.UnixMilli())
		if err == nil && !done {
			done, err = s.discard(ctx, im)
		}
		if err != nil {
			return fmt.Errorf("refuse a subscription: %w", err)
		}
		if done {
			return nil
		}
	}
	return fmt.Errorf("refuse a subscription: %w", errContended)
}

// undo takes back an item that was made below a connection that is gone, or of which that
// cannot be found out.
func (s *Store) undo(ctx context.Context, k item, cause error) error {
	ctx = readunits.Unbounded(ctx)
	for range attempts {
		im, err := s.read(ctx, k)
		done := err == nil && !im.exists()
		if err == nil && !done {
			done, err = s.discard(ctx, im)
		}
		if err != nil {
			return errors.Join(cause, fmt.Errorf("take back what was made: %w", err))
		}
		if done {
			return cause
		}
	}
	return errors.Join(cause, errContended)
}

// Unsubscribe ends a subscription and gives its slots back. A wallet
// channel's subscription is ended only when user and dex are its own. The
// reply is left to [Store.Answer], which also finds that the connection is gone.
func (s *Store) Unsubscribe(ctx context.Context, m Message, sub channel.Subscription) (Outcome, error) {
	var held image // as it was last seen; it holds no slots as far as is known
	for try := range attempts {
		u := s.ending(&m, &sub, &held)
		changed := held.slots() != (slots{})
		var o contention.Outcome
		var err error
		if changed {
			o, err = s.commit(ctx, append([]types.TransactWriteItem{{Update: u}}, s.release(held.slots(), subs, 1)...)...)
		} else {
			o, changed, err = s.endUncounted(ctx, u)
		}
		switch {
		case err != nil:
			return Outcome{}, fmt.Errorf("unsubscribe: %w", err)
		case o == nil:
			return Outcome{Changed: changed}, nil
		case o.Refused(0):
			held = refusedItem(o, 0)
			if out, final := endRefused(&m, &sub, &held); final {
				return out, nil
			}
			continue // it holds other slots than was thought
		}
		if err := retries.Pauses.Wait(ctx, try); err != nil {
			return Outcome{}, err
		}
	}
	return Outcome{}, fmt.Errorf("unsubscribe: %w", errContended)
}

// endRefused says what it means that a subscription as it stands was not ended; false:
// nothing but that its slots were not known.
func endRefused(m *Message, sub *channel.Subscription, held *image) (Outcome, bool) {
	switch {
	case held.ended():
		return Outcome{Changed: held.text[attrRequest] == m.ID}, true // a later one has ended it
	case !held.exists():
		return Outcome{}, false
	case held.subscription() != *sub:
		return Outcome{Held: held.subscription()}, true
	case held.number(attrTime) > m.At.UnixMilli():
		return Outcome{Overtaken: true}, true
	}
	return Outcome{}, false
}

// ending turns a subscription that holds the given slots, or the absence of one, into
// the memory of its end, unless a later message has made it.
func (s *Store) ending(m *Message, sub *channel.Subscription, held *image) *types.Update {
	now := s.clock()
	u := &types.Update{
		TableName: &s.table, Key: subscriptionKey(m, sub),
		UpdateExpression: aws.String("SET #t = :t, #off = :one, #exp = :exp, #by = :by REMOVE #reply, #count, #from, #ks, #ds ADD #n :one"),
		ExpressionAttributeNames: map[string]string{
			"#t": attrTime, "#n": attrWrites, "#off": attrEnded, "#exp": attrExpiry, "#by": attrRequest,
			"#reply": attrReply, "#count": attrCount, "#from": attrFrom, "#ks": attrKeySlot, "#ds": attrDistributorSlot, "#sub": attrSubscription,
		},
		ExpressionAttributeValues: item{
			":t": attr.N(m.At.UnixMilli()), ":one": attr.N(1), ":exp": expiry(now, endedKept), ":by": attr.S(m.ID), ":sub": subscriptionAttribute(sub),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	holds := held.slots().condition(u.ExpressionAttributeValues)
	u.ConditionExpression = aws.String("#t <= :t AND attribute_not_exists(#off) AND #sub = :sub AND " + holds)
	if held.slots() == (slots{}) {
		u.ConditionExpression = aws.String("attribute_not_exists(pk) OR (#t <= :t AND (attribute_exists(#off) OR #sub = :sub) AND " + holds + ")")
	}
	return u
}

// endUncounted ends a subscription without slots with one write, and reports whether
// there was one.
func (s *Store) endUncounted(ctx context.Context, u *types.Update) (o contention.Outcome, was bool, err error) {
	alone := attr.Alone(u)
	alone.ReturnValues = types.ReturnValueAllOld
	out, err := s.update(ctx, alone)
	if o, err = contention.Classify(err, 1); o != nil || err != nil {
		return o, false, err
	}
	old := imageOf(out.Attributes)
	return nil, old.text[attrSubscription] != "" && !old.ended(), nil
}
