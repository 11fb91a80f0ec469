package usage

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
)

// charge is one request at one item: what may be counted there, and what was.
type charge struct {
	pk    string
	at    time.Time
	days  bool  // whether the item counts each day, too
	quota int64 // requests a month, 0 = no cap
	most  int64 // requests of eleven buckets, 0 = no rate

	used   int64  // requests of the month, as last seen
	window window // as last seen
	bucket int64  // in which the request is counted; 0 without a rate
}

// outcome is how a charge ended.
type outcome int

const (
	counted outcome = iota
	overRate
	overMonth
)

// count charges a request, or finds that a cap is met.
func (c *Counters) count(ctx context.Context, ch *charge) (outcome, error) {
	seen, known := c.windows.get(ch.pk)
	if c.spent.has(ch.pk, ch.quota, ch.at) {
		ch.window, ch.used = seen, ch.quota
		return overMonth, nil
	}
	// Each failed attempt shows the item as it is, so the second knows which
	// form fits; more are needed only when other instances move the item on
	// in between.
	for range 8 {
		if ch.most > 0 {
			if !known {
				var err error
				if seen, err = c.lastMonth(ctx, ch.pk, ch.at); err != nil {
					return 0, err
				}
			}
			ch.bucket = max(ch.bucket, bucketAt(ch.at), seen.bucket) // an instance whose clock is behind counts in the later bucket
			if ch.window = seen; seen.bucket != ch.bucket {
				ch.window = seen.at(ch.bucket)
			}
			if ch.window.left(ch.most) == 0 {
				return overRate, nil
			}
		}
		out, err := c.db.UpdateItem(ctx, ch.update(c.table, seen, known))
		if err == nil {
			ch.used = attr.Int(out.Attributes, "used")
			if ch.most > 0 {
				ch.window.n = attr.Int(out.Attributes, attrCount)
				c.windows.set(ch.pk, ch.window)
			}
			return counted, nil
		}
		var failed *types.ConditionalCheckFailedException
		if !errors.As(err, &failed) {
			return 0, err
		}
		if seen, known, err = windowOf(failed.Item); err != nil {
			return 0, err
		}
		if known {
			c.windows.set(ch.pk, seen)
		}
		ch.used = attr.Int(failed.Item, "used")
		if ch.quota > 0 && ch.used >= ch.quota {
			ch.window = seen
			c.spent.set(ch)
			return overMonth, nil
		}
	}
	return 0, errors.New("the item kept changing")
}

// update is the write of a charge. Seen is the window that the item is believed to
// hold, known to hold one at all.
func (ch *charge) update(table string, seen window, known bool) *dynamodb.UpdateItemInput {
	update := "ADD used :1"
	names := map[string]string(nil)
	if ch.days {
		update += ", #d :1"
		names = map[string]string{"#d": dayName(ch.at)}
	}
	var conditions []string
	values := attr.Item{":1": attr.N(1)}
	switch {
	case ch.most == 0:
	case known && seen.bucket == ch.bucket:
		update = "SET n = n + :1 " + update
		conditions = append(conditions, "w = :w AND n < :room")
		values[":w"], values[":room"] = attr.N(ch.bucket), attr.N(ch.most-ch.window.before())
	default:
		update = "SET w = :w, n = :1, h = :h " + update
		values[":w"], values[":h"] = attr.N(ch.bucket), attr.S(ch.window.pastText())
		if known {
			conditions = append(conditions, "w = :seen AND n = :count")
			values[":seen"], values[":count"] = attr.N(seen.bucket), attr.N(seen.n)
		} else {
			conditions = append(conditions, "attribute_not_exists(w)")
		}
	}
	if ch.quota > 0 {
		conditions = append(conditions, "(attribute_not_exists(used) OR used < :quota)")
		values[":quota"] = attr.N(ch.quota)
	}
	in := &dynamodb.UpdateItemInput{
		TableName:                           &table,
		Key:                                 item(ch.pk, monthName(ch.at)),
		UpdateExpression:                    &update,
		ExpressionAttributeNames:            names,
		ExpressionAttributeValues:           values,
		ReturnValues:                        types.ReturnValueUpdatedNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if len(conditions) > 0 {
		in.ConditionExpression = aws.String(strings.Join(conditions, " AND "))
	}
	return in
}

// takeBack takes one request off an item: off the month and the day, and off the bucket
// that it was counted in, 0 for none. A bucket is refunded only while it is the newest:
// those before it are final.
func (c *Counters) takeBack(ctx context.Context, ch charge) error {
	update := "ADD used :back"
	in := &dynamodb.UpdateItemInput{
		TableName: &c.table, Key: item(ch.pk, monthName(ch.at)),
		ExpressionAttributeValues: attr.Item{":back": attr.N(-1)},
	}
	if ch.days {
		update += ", #d :back"
		in.ExpressionAttributeNames = map[string]string{"#d": dayName(ch.at)}
	}
	defer c.spent.forget(ch.pk)
	if ch.bucket > 0 {
		c.windows.forget(ch.pk)
		update += ", n :back"
		in.ConditionExpression = aws.String("w = :w")
		in.ExpressionAttributeValues[":w"] = attr.N(ch.bucket)
	}
	in.UpdateExpression = &update
	_, err := c.db.UpdateItem(ctx, in, once)
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		ch.bucket = 0
		return c.takeBack(ctx, ch)
	}
	return err
}

// once keeps the client from repeating a refund whose answer was lost: it may have
// been made, and a second one would let a request too many pass. A charge may be
// repeated: it can only count one too many.
func once(o *dynamodb.Options) { o.RetryMaxAttempts = 1 }

// lastMonth is the window that the item of the month before ends with, in the first
// seconds of a month: a rate does not begin again with it.
func (c *Counters) lastMonth(ctx context.Context, pk string, now time.Time) (window, error) {
	before := now.Add(-bucketSeconds * (pastBuckets + 1) * time.Second)
	if monthName(before) == monthName(now) {
		return window{}, nil
	}
	items, err := c.read(ctx, []attr.Item{item(pk, monthName(before))}, "", true)
	if err != nil || len(items) == 0 {
		return window{}, err
	}
	w, _, err := windowOf(items[0])
	return w, err
}
