package connections

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/attr"
)

// Count has a connection and all that is below it hold slots under the caps in force,
// where they were made while there was no cap. They are counted though a cap be met by
// that: then nobody gets anything until enough has ended. The error may be [ErrGone].
func (s *Store) Count(ctx context.Context, id string, connLimits, subLimits Limits) error {
	all, err := s.query(ctx, id, sortConnection, "~")
	if err != nil {
		return err
	}
	if len(all) == 0 || all[0].sort() != sortConnection || all[0].closing() {
		return ErrGone
	}
	c := all[0].connection()
	for i := range all {
		im := &all[i]
		var owners []owner
		switch {
		case i == 0:
			owners = ownersOf(c.Key, c.Distributor, conns, connLimits)
		case im.is(prefixSubscription) && !im.ended(), im.is(prefixGroup):
			owners = ownersOf(c.Key, c.Distributor, subs, subLimits)
		}
		for _, o := range owners {
			if im.text[o.slot] != "" {
				continue
			}
			if err := s.countOne(ctx, im, o); err != nil {
				return fmt.Errorf("count what was made without a cap: %w", err)
			}
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
