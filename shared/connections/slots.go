package connections

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/attr"
)

// kind is what a counter counts, and the sort key of its shards.
type kind string

const (
	conns kind = "conns"
	subs  kind = "subs"
)

// owner is whose slots are taken, of one kind, under a cap.
type owner struct {
	pk   string // without the number of the shard
	kind kind
	cap  int64
	slot string // attribute of an item that holds one
}

// ownersOf are the owners of a sub-key that have a cap.
func ownersOf(accessKey, distributor string, k kind, limits Limits) (list []owner) {
	if limits.Key > 0 {
		list = append(list, owner{"k#" + accessKey + "#", k, limits.Key, attrKeySlot})
	}
	if limits.Distributor > 0 {
		list = append(list, owner{"d#" + distributor + "#", k, limits.Distributor, attrDistributorSlot})
	}
	return list
}

func (o *owner) shard(i int) string { return o.pk + strconv.Itoa(i) }
func (o *owner) key(i int) item     { return key(o.shard(i), string(o.kind)) }

// maxShards bounds the shards of an owner. A transaction holds its items for about
// 10 ms, so that one shard takes some tens of changes a second without waiting.
const maxShards = 32

// shardsFor is over how many shards a cap is split.
func shardsFor(limit int64) int { return int(min(max(limit/8, 1), maxShards)) }

// claim is one slot that a change wants.
type claim struct {
	owner
	at    int // the shard that is asked
	room  *split
	looks int // at a split that others were making
	over  bool
}

// take is the part of the change that takes the slot: of a shard that was split under
// the cap in force and has room, or, for what is counted beyond its cap, of any.
func (c *claim) take(table string) types.TransactWriteItem {
	u := &types.Update{
		TableName: &table, Key: c.key(c.at), UpdateExpression: aws.String("ADD taken :one"),
		ConditionExpression:       aws.String("#cap = :cap AND taken < lim"),
		ExpressionAttributeNames:  map[string]string{"#cap": "cap"},
		ExpressionAttributeValues: item{":one": attr.N(1), ":cap": attr.N(c.cap)},
	}
	if c.over {
		u.ConditionExpression, u.ExpressionAttributeNames = nil, nil
		delete(u.ExpressionAttributeValues, ":cap")
	}
	return types.TransactWriteItem{Update: u}
}

// give gives slots back to a shard.
func (s *Store) give(shard string, k kind, n int64) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: key(shard, string(k)), UpdateExpression: aws.String("ADD taken :back"),
		ExpressionAttributeValues: item{":back": attr.N(-n)},
	}}
}

// take makes a change that takes a slot of each of the owners. main is the part of the
// item that holds them, from the attributes that say so. Where the condition of that
// part failed, nothing was changed and the item is returned as it was. The error is a
// [*LimitError] where an owner has no slot left.
//
// The first try goes to the shard of the connection's own, so that a connection mostly
// holds its slots at one place, and they are given back together; after a conflict any
// other is tried.
func (s *Store) take(ctx context.Context, id string, owners []owner, over bool, main func(held item) types.TransactWriteItem) (refused *image, err error) {
	claims := make([]claim, len(owners))
	for i, o := range owners {
		claims[i] = claim{owner: o, over: over}
	}
	at, crossings := homeOf(id), 0
	for range attempts {
		held := item{}
		items := []types.TransactWriteItem{{}}
		for i := range claims {
			c := &claims[i]
			if c.room == nil {
				c.at = at % shardsFor(c.cap)
			}
			held[c.slot] = attr.S(c.shard(c.at))
			items = append(items, c.take(s.table))
		}
		items[0] = main(held)
		o, err := s.commit(ctx, items...)
		if err != nil || o == nil {
			return nil, err
		}
		if o.refused(0) {
			im := o.image(0)
			return &im, nil
		}
		waits := false
		for i := range claims {
			if o.refused(i + 1) {
				wait, err := s.find(ctx, &claims[i])
				if err != nil {
					return nil, err
				}
				waits = waits || wait
			} else if o.crossed(i+1) && claims[i].room != nil {
				claims[i].at = claims[i].room.pick()
			}
		}
		if o.any() || waits {
			at = rand.IntN(maxShards)
			if crossings > 0 || waits || o.crossed(0) {
				if err := pauses.Wait(ctx, min(max(crossings-1, 0), 3)); err != nil {
					return nil, err
				}
			}
			crossings++
		}
	}
	return nil, errCrossed
}

// homeOf is the shard that a connection tries first, of maxShards.
func homeOf(id string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // never fails
	return int(h.Sum32() % maxShards)
}

// find looks for a shard with room, after one had none, and splits the cap anew where
// that is needed. It reports whether to wait for another's split; the error is a
// [*LimitError] where all slots are taken.
func (s *Store) find(ctx context.Context, c *claim) (wait bool, err error) {
	seen, err := s.look(ctx, &c.owner)
	if err != nil {
		return false, err
	}
	c.room = nil
	switch {
	case seen.settled(c.cap) && seen.rooms() > 0:
		c.room = seen
		c.at = seen.pick()
		return false, nil
	case seen.settled(c.cap) && seen.total() >= c.cap:
		return false, &LimitError{Limit: c.cap, Current: seen.total()}
	case seen.settled(c.cap) && seen.limits() >= c.cap:
		return true, nil // the shards were read while others changed them
	case seen.underWay() && c.looks < patience:
		c.looks++
		return true, nil
	}
	c.looks = 0
	return true, s.split(ctx, &c.owner, seen)
}

// patience is how often one looks whether another's split is done before one takes it
// for dead: about a second.
const patience = 16

// slotCondition is that an item named with #ks and #ds holds exactly the slots that it
// was seen with.
func slotCondition(held *image, values item) string {
	condition := ""
	for i, name := range [...]string{attrKeySlot, attrDistributorSlot} {
		if i > 0 {
			condition += " AND "
		}
		if shard := held.text[name]; shard != "" {
			condition += "#" + name + " = :" + name
			values[":"+name] = attr.S(shard)
		} else {
			condition += "attribute_not_exists(#" + name + ")"
		}
	}
	return condition
}
