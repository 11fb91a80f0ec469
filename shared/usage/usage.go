// Package usage counts requests, exactly and at any concurrency.
//
// Every admitted request takes one unit from two counters, in parallel and with
// one conditional write each: the sub-key's item of the month, which holds the
// month's total, the total of each day and the current minute's window; and one
// of the distributor's shards of the month, whose limits sum to the
// distributor's cap, so that many sub-keys do not queue behind one item. If
// only one of the two could be taken, it is refunded. A cap is therefore never
// passed: a crash between the two writes, or a lost answer to one, can only count
// one too many.
//
// Items are keyed by month, in UTC, so the past stays for billing. The same
// table remembers the nonces that were used (see [Nonces]).
package usage

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/attr"
)

// Shards is the number of items that share a distributor's monthly cap. It is
// part of the stored data: a change would need the caps to be split anew.
const Shards = 8

// DynamoDB is the part of the client that counting uses.
type DynamoDB interface {
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
}

// Limits are the caps in force for one request; 0 means no cap.
type Limits struct {
	PerMonth  int64 // requests of the sub-key per calendar month in UTC
	PerMinute int64 // requests of the sub-key per clock minute
	Total     int64 // requests of all the distributor's sub-keys per month
}

// Receipt is what one admitted request took, with the figures after it.
type Receipt struct {
	Key, Distributor string
	At               time.Time // the moment whose month, day and minute were charged
	Minute           int64     // minutes since 1970: the window that was charged
	InMinute         int64     // requests in that window, this one included
	InMonth          int64     // requests of the sub-key this month, this one included
	shard            int
}

// Denied is the error of a request that a cap refuses.
type Denied struct {
	Cap        Cap
	Limit      int64
	RetryAfter time.Duration // until the window ends, at least a second
}

// Cap names what refused a request.
type Cap string

// The three caps.
const (
	PerMinute Cap = "rate limit exceeded"
	PerMonth  Cap = "monthly quota exceeded"
	Total     Cap = "distributor monthly quota exceeded"
)

// Error says which cap was met and what it is.
func (d *Denied) Error() string {
	unit := "requests per month"
	if d.Cap == PerMinute {
		unit = "requests per minute"
	}
	return fmt.Sprintf("%s: at most %d %s are accepted", d.Cap, d.Limit, unit)
}

// Counters counts in one table.
type Counters struct {
	db      DynamoDB
	table   string
	clock   func() time.Time
	windows windows
	denials denials
}

// NewCounters returns counters over the named table.
func NewCounters(db DynamoDB, table string, clock func() time.Time) *Counters {
	return &Counters{db: db, table: table, clock: clock}
}

// Take charges one request of key, a sub-key of distributor. The error is a
// [*Denied] when a cap is met; nothing is charged then.
func (c *Counters) Take(ctx context.Context, key, distributor string, limits Limits) (Receipt, error) {
	now := c.clock().UTC()
	if d, ok := c.denials.find(key, limits, now); ok {
		return Receipt{}, d
	}
	receipt := Receipt{Key: key, Distributor: distributor, At: now, Minute: now.Unix() / 60}

	shard := make(chan error, 1)
	go func() { shard <- c.takeShard(ctx, &receipt.shard, distributor, limits.Total, now) }()
	minute, inMinute, inMonth, keyErr := c.takeKey(ctx, key, limits, now)
	shardErr := <-shard

	switch {
	case keyErr == nil && shardErr == nil:
		receipt.Minute, receipt.InMinute, receipt.InMonth = minute, inMinute, inMonth
		return receipt, nil
	case keyErr == nil:
		receipt.Minute = minute
		ctx, done := RefundContext(ctx)
		defer done()
		if err := c.refundKey(ctx, receipt); err != nil {
			shardErr = errors.Join(shardErr, err)
		}
	case shardErr == nil:
		ctx, done := RefundContext(ctx)
		defer done()
		if err := c.refundShard(ctx, receipt); err != nil {
			keyErr = errors.Join(keyErr, err)
		}
	}
	err := keyErr
	if err == nil {
		err = shardErr
	}
	var denied *Denied
	if errors.As(err, &denied) {
		c.denials.remember(key, limits, denied, now)
	}
	return Receipt{}, err
}

// Refund takes back what the receipt's request was charged: it failed and costs
// nothing. The rate window is refunded while it lasts. A request that may be over or
// canceled refunds within its [RefundContext].
func (c *Counters) Refund(ctx context.Context, r Receipt) error {
	shard := make(chan error, 1)
	go func() { shard <- c.refundShard(ctx, r) }()
	err := c.refundKey(ctx, r)
	return errors.Join(err, <-shard)
}

// RefundTimeout bounds a refund.
const RefundTimeout = 300 * time.Millisecond

// RefundContext returns a context for a refund, which must be tried even when the
// request that was charged is over or canceled. It ends after [RefundTimeout].
func RefundContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), RefundTimeout)
}

// takeKey charges the sub-key's item: its month, its day and its minute.
func (c *Counters) takeKey(ctx context.Context, key string, limits Limits, now time.Time) (minute, inMinute, inMonth int64, err error) {
	minute = now.Unix() / 60
	sameWindow := c.windows.current(key) == minute
	// Each failed attempt shows the item as it is, so the second knows which
	// form fits; more are needed only when other instances move the item on
	// in between.
	for range 8 {
		out, err := c.db.UpdateItem(ctx, c.keyUpdate(key, limits, now, minute, sameWindow))
		if err == nil {
			c.windows.set(key, minute)
			return minute, attr.Int(out.Attributes, "n"), attr.Int(out.Attributes, "used"), nil
		}
		var failed *types.ConditionalCheckFailedException
		if !errors.As(err, &failed) {
			return 0, 0, 0, fmt.Errorf("count a request of a sub-key: %w", err)
		}
		window := attr.Int(failed.Item, "w")
		switch {
		case limits.PerMonth > 0 && attr.Int(failed.Item, "used") >= limits.PerMonth:
			return 0, 0, 0, &Denied{Cap: PerMonth, Limit: limits.PerMonth, RetryAfter: untilNextMonth(now)}
		case window < minute:
			sameWindow = false
		case window > minute: // this instance's clock is behind: the later window counts
			minute, sameWindow = window, true
		case limits.PerMinute > 0 && attr.Int(failed.Item, "n") >= limits.PerMinute:
			return 0, 0, 0, &Denied{Cap: PerMinute, Limit: limits.PerMinute, RetryAfter: untilMinuteEnds(now, minute)}
		default:
			sameWindow = true
		}
	}
	return 0, 0, 0, errors.New("count a request of a sub-key: its item kept changing")
}

func (c *Counters) keyUpdate(key string, limits Limits, now time.Time, minute int64, sameWindow bool) *dynamodb.UpdateItemInput {
	update := "SET w = :w, n = :1 ADD used :1, #d :1"
	condition := "(attribute_not_exists(w) OR w < :w)"
	values := attr.Item{":1": attr.N(1), ":w": attr.N(minute)}
	if sameWindow {
		update = "SET n = n + :1 ADD used :1, #d :1"
		condition = "w = :w"
		if limits.PerMinute > 0 {
			condition += " AND n < :rate"
			values[":rate"] = attr.N(limits.PerMinute)
		}
	}
	if limits.PerMonth > 0 {
		condition += " AND (attribute_not_exists(used) OR used < :quota)"
		values[":quota"] = attr.N(limits.PerMonth)
	}
	return &dynamodb.UpdateItemInput{
		TableName:                           &c.table,
		Key:                                 keyItem(key, now),
		UpdateExpression:                    &update,
		ConditionExpression:                 &condition,
		ExpressionAttributeNames:            map[string]string{"#d": dayName(now)},
		ExpressionAttributeValues:           values,
		ReturnValues:                        types.ReturnValueUpdatedNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

// refundKey takes one request off the sub-key's item. The minute is refunded
// only while it is still the current window.
func (c *Counters) refundKey(ctx context.Context, r Receipt) error {
	in := &dynamodb.UpdateItemInput{
		TableName:                 &c.table,
		Key:                       keyItem(r.Key, r.At),
		UpdateExpression:          aws.String("ADD used :back, #d :back, n :back"),
		ConditionExpression:       aws.String("w = :w"),
		ExpressionAttributeNames:  map[string]string{"#d": dayName(r.At)},
		ExpressionAttributeValues: attr.Item{":back": attr.N(-1), ":w": attr.N(r.Minute)},
	}
	_, err := c.db.UpdateItem(ctx, in, once)
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		in.UpdateExpression = aws.String("ADD used :back, #d :back")
		in.ConditionExpression = nil
		delete(in.ExpressionAttributeValues, ":w")
		_, err = c.db.UpdateItem(ctx, in, once)
	}
	if err != nil {
		return fmt.Errorf("refund a request of a sub-key: %w", err)
	}
	return nil
}

// takeShard charges one of the distributor's shards and stores which.
func (c *Counters) takeShard(ctx context.Context, taken *int, distributor string, total int64, now time.Time) error {
	first := rand.IntN(Shards)
	for i := range Shards {
		shard := (first + i) % Shards
		in := &dynamodb.UpdateItemInput{
			TableName:                 &c.table,
			Key:                       shardItem(distributor, shard, now),
			UpdateExpression:          aws.String("ADD used :1"),
			ExpressionAttributeValues: attr.Item{":1": attr.N(1)},
		}
		if total > 0 {
			limit := shardLimit(total, shard)
			if limit == 0 {
				continue
			}
			in.ConditionExpression = aws.String("attribute_not_exists(used) OR used < :limit")
			in.ExpressionAttributeValues[":limit"] = attr.N(limit)
		}
		_, err := c.db.UpdateItem(ctx, in)
		var failed *types.ConditionalCheckFailedException
		if errors.As(err, &failed) {
			continue
		}
		if err != nil {
			return fmt.Errorf("count a request of a distributor: %w", err)
		}
		*taken = shard
		return nil
	}
	return &Denied{Cap: Total, Limit: total, RetryAfter: untilNextMonth(now)}
}

func (c *Counters) refundShard(ctx context.Context, r Receipt) error {
	_, err := c.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &c.table,
		Key:                       shardItem(r.Distributor, r.shard, r.At),
		UpdateExpression:          aws.String("ADD used :back"),
		ExpressionAttributeValues: attr.Item{":back": attr.N(-1)},
	}, once)
	if err != nil {
		return fmt.Errorf("refund a request of a distributor: %w", err)
	}
	return nil
}

// once keeps the client from repeating a refund whose answer was lost: it may have
// been made, and a second one would let a request too many pass. A charge may be
// repeated: it can only count one too many.
func once(o *dynamodb.Options) { o.RetryMaxAttempts = 1 }

// shardLimit splits total over the shards so that the parts sum to it.
func shardLimit(total int64, shard int) int64 {
	limit := total / Shards
	if int64(shard) < total%Shards {
		limit++
	}
	return limit
}

// Prefixes of the partition keys.
const (
	keyPrefix   = "u#" // before an access key
	shardPrefix = "s#" // before a distributor's
	noncePrefix = "n#" // before an access key
)

func keyItem(key string, at time.Time) attr.Item {
	return item(keyPrefix+key, monthName(at))
}

func shardItem(distributor string, shard int, at time.Time) attr.Item {
	return item(shardPrefix+distributor+"#"+strconv.Itoa(shard), monthName(at))
}

func item(pk, sk string) attr.Item { return attr.Item{"pk": attr.S(pk), "sk": attr.S(sk)} }

func monthName(at time.Time) string { return at.UTC().Format("2006-01") }
func dayName(at time.Time) string   { return at.UTC().Format("d02") }

func untilMinuteEnds(now time.Time, minute int64) time.Duration {
	return atLeastASecond(time.Unix((minute+1)*60, 0).Sub(now))
}

func untilNextMonth(now time.Time) time.Duration {
	return atLeastASecond(MonthEnd(now).Sub(now))
}

// MonthEnd returns the first moment of the month after t's, in UTC.
func MonthEnd(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, time.UTC)
}

func atLeastASecond(d time.Duration) time.Duration {
	seconds := math.Ceil(d.Seconds())
	return time.Duration(max(seconds, 1)) * time.Second
}
