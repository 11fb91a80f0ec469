package connections

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
)

// kind is what a counter counts, and the sort key of its shards.
type kind string

const (
	conns kind = "conns"
	subs  kind = "subs"
)

// owner is whose slots are taken, of one kind, under a cap.
type owner struct {
	distributor string // which it is, or of which it is a sub-key

	pk    string // without the number of the shard
	kind  kind
	cap   int64
	since int64  // when the cap was set where there was none, ms; 0 for never
	slot  string // attribute of an item that holds one
}

// ownersOf are the owners of a sub-key that have a cap.
func ownersOf(accessKey, distributor string, k kind, limits Limits) (list []owner) {
	if limits.Key > 0 {
		list = append(list, owner{distributor, "k#" + accessKey + "#", k, limits.Key, limits.KeySince, attrKeySlot})
	}
	if limits.Distributor > 0 {
		list = append(list, owner{distributor, "d#" + distributor + "#", k, limits.Distributor, limits.DistributorSince, attrDistributorSlot})
	}
	return list
}

// counter names what is counted of an owner.
type counter struct {
	pk   string
	kind kind
}

func (o *owner) counter() counter { return counter{o.pk, o.kind} }

func (o *owner) partition(shard int) string { return o.pk + strconv.Itoa(shard) }
func (o *owner) key(shard int) item         { return key(o.partition(shard), string(o.kind)) }

// maxShards bounds the shards of an owner. A transaction holds its items for about
// 10 ms, so that one shard takes some tens of changes a second without waiting.
const maxShards = 32

// shardsFor is over how many shards a cap is split.
func shardsFor(limit int64) int { return int(min(max(limit/8, 1), maxShards)) }

// slots are the shards, by their partition keys, of which an item holds one slot each:
// of its sub-key's and of its distributor's; "" where it holds none.
type slots [2]string

// slotAttributes are the attributes of an item that name them.
var slotAttributes = [...]string{attrKeySlot, attrDistributorSlot}

func (im *image) slots() (held slots) {
	for i, name := range slotAttributes {
		held[i] = im.text[name]
	}
	return held
}

// slotKind is which slots the item holds.
func (im *image) slotKind() kind {
	if im.sort() == sortConnection {
		return conns
	}
	return subs
}

// condition is that an item, whose attributes are named #ks and #ds, holds exactly these.
func (held slots) condition(values item) string {
	condition := ""
	for i, name := range slotAttributes {
		if i > 0 {
			condition += " AND "
		}
		if held[i] == "" {
			condition += "attribute_not_exists(#" + name + ")"
			continue
		}
		condition += "#" + name + " = :" + name
		values[":"+name] = attr.S(held[i])
	}
	return condition
}

// release gives slots that n items hold back to their shards.
func (s *Store) release(held slots, k kind, n int) (writes []types.TransactWriteItem) {
	for _, shard := range held {
		if shard != "" {
			writes = append(writes, types.TransactWriteItem{Update: &types.Update{
				TableName: &s.table, Key: key(shard, string(k)), UpdateExpression: aws.String("ADD taken :back"),
				ExpressionAttributeValues: item{":back": attr.N(int64(-n))},
			}})
		}
	}
	return writes
}
