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

	"quotary/shared/aws/attr"
	"quotary/shared/backoff"
)

// A cap that is set where there was none finds connections and subscriptions that hold no
// slots. The first request under it asks for them to be counted, by an attribute of the
// owner's first shard, and waits: the ingester, which knows the connections, finds that in
// the stream, has everything counted, and splits the cap. Shards that were split before
// that give no slot under such a cap. No other request waits, as each that does holds an
// instance of the function, of which all distributors share the number.

const (
	attrAsked    = "asked"    // since of the cap for which a count was asked for
	attrAskedCap = "askedcap" // that cap
	attrAskedOf  = "askedof"  // the distributor, as in CountAsked

	// countWithin is how long the first request waits until what is there is counted.
	countWithin = 8 * time.Second
	// uncountedFor is how long after a cap was set something may still come in without: a
	// request may know the limits of a second ago, and the stream may be as late.
	uncountedFor = 3 * time.Second
)

// countLooks are the pauses between looks whether the count is done.
var countLooks = backoff.Backoff{Min: 100 * time.Millisecond, Max: time.Second}

// awaitCount asks for what the owner has to be counted, and waits until it is. The error
// is [ErrCounting] where that takes too long, or another request has asked.
func (s *Store) awaitCount(ctx context.Context, o *owner) error {
	_, err := s.update(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: o.key(0),
		UpdateExpression:                    aws.String("SET asked = :since, askedcap = :cap, askedof = :of"),
		ConditionExpression:                 aws.String("attribute_not_exists(asked) OR asked < :since"),
		ExpressionAttributeValues:           item{":since": attr.N(o.since), ":cap": attr.N(o.cap), ":of": attr.S(o.distributor)},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var asked *types.ConditionalCheckFailedException
	switch {
	case errors.As(err, &asked):
		if first := imageOf(asked.Item); first.number("since") >= o.since {
			return nil // it has just been counted
		}
		return ErrCounting
	case err != nil:
		return fmt.Errorf("ask for a count: %w", err)
	}
	waiting, done := context.WithTimeout(ctx, countWithin)
	defer done()
	for try := 0; countLooks.Wait(waiting, try) == nil; try++ {
		first, err := s.read(ctx, o.key(0))
		if err != nil {
			return fmt.Errorf("look for a count: %w", err)
		}
		if first.number("since") >= o.since {
			return nil
		}
	}
	return ErrCounting
}

// ask reads from the first shard of an owner that a count is asked for, and not done.
func (im *image) ask() (CountAsked, bool) {
	pk, first := strings.CutSuffix(im.text[attrPK], "#0")
	a := CountAsked{im.text[attrAskedOf], pk + "#", kind(im.sort()), im.number(attrAskedCap), im.number(attrAsked)}
	return a, first && im.id() == "" && a.since > im.number("since")
}

// Concerns reports whether what a connection has is to be counted.
func (a CountAsked) Concerns(c *Connection) bool {
	for _, o := range ownersOf(c.Key, c.Distributor, a.kind, Limits{Key: 1, Distributor: 1}) {
		if o.pk == a.owner {
			return true
		}
	}
	return false
}

// Overdue reports whether nothing comes in any longer that does not know of the cap.
func (a CountAsked) Overdue(now time.Time) bool {
	return now.Sub(time.UnixMilli(a.since)) >= uncountedFor
}

// CountAll has what some connections have hold slots of the owner that a count is about,
// and then lets requests take slots. What was there is counted though the cap be met by
// that: then nobody gets anything until enough has ended. It may be called again with the
// same.
func (s *Store) CountAll(ctx context.Context, a CountAsked, ids []string) error {
	o := owner{pk: a.owner, kind: a.kind, cap: a.cap, slot: attrDistributorSlot}
	if first, err := s.read(ctx, o.key(0)); err != nil || first.number("since") >= a.since {
		return err // it was done before
	}
	if strings.HasPrefix(a.owner, "k#") {
		o.slot = attrKeySlot
	}
	err := atOnce(ctx, 0, len(ids), func(ctx context.Context, i int) error { return s.count(ctx, ids[i], o) })
	if err != nil {
		return fmt.Errorf("count what was made without a cap: %w", err)
	}
	o.since = a.since
	for try := range attempts {
		seen, err := s.readSplit(ctx, &o)
		if err != nil || seen.since() >= o.since {
			return err
		}
		if !seen.underWay() || try >= patience {
			if err := s.split(ctx, &o, seen); err != nil {
				return err
			}
		}
		if err := retries.Pauses.Wait(ctx, min(try, 3)); err != nil {
			return err
		}
	}
	return errContended
}

// count has what a connection has hold slots of an owner.
func (s *Store) count(ctx context.Context, id string, o owner) error {
	all, err := s.query(ctx, id, sortConnection, "~")
	if err != nil {
		return err
	}
	for i := range all {
		im := &all[i]
		held := im.slotKind() == o.kind && (o.kind == conns || im.is(prefixSubscription) && !im.ended() || im.is(prefixGroup))
		if !held || im.closing() || im.text[o.slot] != "" {
			continue
		}
		if err := s.countOne(ctx, im, o); err != nil {
			return err
		}
	}
	return nil
}

// countOne has an item hold a slot of an owner.
func (s *Store) countOne(ctx context.Context, im *image, o owner) error {
	mark := func(held item) types.TransactWriteItem {
		return types.TransactWriteItem{Update: &types.Update{
			TableName: &s.table, Key: item{attrPK: attr.S(im.text[attrPK]), attrSK: attr.S(im.sort())},
			UpdateExpression:    aws.String("SET #slot = :shard ADD #n :one"),
			ConditionExpression: aws.String("attribute_exists(pk) AND attribute_not_exists(#slot) AND attribute_not_exists(#off) AND attribute_not_exists(#closing)"),
			ExpressionAttributeNames: map[string]string{
				"#slot": o.slot, "#n": attrWrites, "#off": attrEnded, "#closing": attrClosing},
			ExpressionAttributeValues: item{":shard": held[o.slot], ":one": attr.N(1)},
		}}
	}
	_, err := s.acquire(ctx, im.id(), []owner{o}, false, mark)
	var over *LimitError
	if !errors.As(err, &over) {
		return err
	}
	if _, err := s.acquire(ctx, im.id(), []owner{o}, true, mark); err != nil {
		return err
	}
	seen, err := s.readSplit(ctx, &o)
	if err != nil || seen.limits() == 0 {
		return err
	}
	return s.split(ctx, &o, seen) // of which nothing is left
}
