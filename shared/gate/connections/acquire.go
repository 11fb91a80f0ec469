package connections

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
)

// acquireWithin is how long a change tries to take its slots. Where only single slots of
// a cap are free, many look for the same ones, and time, not tries, says when to give up:
// a try that found its slot taken by another costs a few milliseconds.
const acquireWithin = 10 * time.Second

// claim is one slot that a change wants.
type claim struct {
	owner
	at        int    // the shard that is asked
	seen      *split // with a shard that had a slot left, after one had none
	waits     int    // for a split that others were making
	beyondCap bool
}

// increment is the write of the change that takes the slot: of a shard that was split under
// the cap in force, since what is older than that was counted, and has room, or, for what
// is counted beyond its cap, of any.
func (c *claim) increment(table string) types.TransactWriteItem {
	u := &types.Update{
		TableName: &table, Key: c.key(c.at), UpdateExpression: aws.String("ADD taken :one"),
		ConditionExpression:       aws.String("#cap = :cap AND taken < lim"),
		ExpressionAttributeNames:  map[string]string{"#cap": "cap"},
		ExpressionAttributeValues: item{":one": attr.N(1), ":cap": attr.N(c.cap)},
	}
	if c.since > 0 {
		*u.ConditionExpression += " AND since >= :since"
		u.ExpressionAttributeValues[":since"] = attr.N(c.since)
	}
	if c.beyondCap {
		u.ConditionExpression, u.ExpressionAttributeNames = nil, nil
		u.ExpressionAttributeValues = item{":one": attr.N(1)}
	}
	return types.TransactWriteItem{Update: u}
}

// acquire makes a change that takes a slot of each of the owners. main is the part of the
// item that holds them, from the attributes that say so. Where the condition of that
// part failed, nothing was changed and the item is returned as it was. The error is a
// [*LimitError] where an owner has no slot left.
//
// The first try goes to the shard of the connection's own, so that a connection mostly
// holds its slots at one place, and they are given back together; after a conflict any
// other is tried. Where a cap has refused this instance lately it looks first: a change that
// is refused costs as much as one that is made, and is in the way of others.
func (s *Store) acquire(ctx context.Context, id string, owners []owner, beyondCap bool, main func(held item) types.TransactWriteItem) (refused *image, err error) {
	claims := make([]claim, len(owners))
	for i, o := range owners {
		claims[i] = claim{owner: o, beyondCap: beyondCap}
		if beyondCap || !s.wasFull(&o) {
			continue
		}
		if _, err := s.findShard(ctx, &claims[i]); err != nil {
			return nil, err
		}
	}
	at, crossings := homeOf(id), 0
	for began := time.Now(); time.Since(began) < acquireWithin; {
		held := item{}
		items := []types.TransactWriteItem{{}}
		for i := range claims {
			c := &claims[i]
			if c.seen == nil {
				c.at = at % shardsFor(c.cap)
			}
			held[c.slot] = attr.S(c.partition(c.at))
			items = append(items, c.increment(s.table))
		}
		items[0] = main(held)
		o, err := s.commit(ctx, items...)
		if err != nil || o == nil {
			return nil, err
		}
		if o.Refused(0) {
			im := refusedItem(o, 0)
			return &im, nil
		}
		waits := false
		for i := range claims {
			if o.Refused(i + 1) {
				wait, err := s.findShard(ctx, &claims[i])
				if err != nil {
					return nil, err
				}
				waits = waits || wait
			} else if o.Contended(i+1) && claims[i].seen != nil {
				claims[i].at = claims[i].seen.pick()
			}
		}
		if o.AnyContended() || waits {
			at = rand.IntN(maxShards)
			if crossings > 0 || waits || o.Contended(0) {
				if err := retries.Pauses.Wait(ctx, min(max(crossings-1, 0), 3)); err != nil {
					return nil, err
				}
			}
			crossings++
		}
	}
	return nil, errContended
}

// fullFor is how long an instance looks whether a cap has a slot left before it tries to take
// one, after there was none.
const fullFor = 10 * time.Second

// wasFull reports whether all slots of an owner were taken lately.
func (s *Store) wasFull(o *owner) bool {
	until, ok := s.full.Get(o.counter())
	return ok && s.clock().Before(until)
}

// homeOf is the shard that a connection tries first, of maxShards.
func homeOf(id string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // never fails
	return int(h.Sum32() % maxShards)
}

// findShard looks for a shard with a slot left, after one had none, and splits the cap again where
// that is needed. It reports whether to wait for another's split; the error is a
// [*LimitError] where all slots are taken.
func (s *Store) findShard(ctx context.Context, c *claim) (wait bool, err error) {
	seen, err := s.readSplit(ctx, &c.owner)
	if err != nil {
		return false, err
	}
	c.seen = nil
	switch {
	case seen.since() < c.since:
		return true, s.awaitCount(ctx, &c.owner)
	case seen.settled(c.cap) && seen.free() > 0:
		c.seen = seen
		c.at = seen.pick()
		return false, nil
	case seen.settled(c.cap) && seen.total() >= c.cap:
		s.full.Set(c.counter(), s.clock().Add(fullFor))
		return false, &LimitError{Limit: c.cap, Current: seen.total()}
	case seen.settled(c.cap) && seen.limits() >= c.cap:
		return true, nil // the shards were read while others changed them
	case seen.underWay() && c.waits < patience:
		c.waits++
		return true, nil
	}
	c.waits = 0
	return true, s.split(ctx, &c.owner, seen)
}

// patience is how often one looks whether another's split is done before one takes it
// for dead: about a second.
const patience = 16
