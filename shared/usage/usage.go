// Package usage counts requests, exactly and at any concurrency.
//
// Every admitted request takes one unit from two counters, in parallel and with
// one conditional write each: the sub-key's item of the month, which holds the
// month's total, the total of each day and the window of its rate; and one
// of the distributor's shards of the month, whose limits sum to the
// distributor's cap, so that many sub-keys do not queue behind one item. If
// only one of the two could be taken, it is refunded. A month's cap is therefore never
// passed, and a rate by a tenth at most (see window): a crash between the two writes, or a lost answer to one, can only count
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
	"strings"
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
	PerMinute int64 // requests of the sub-key in any 60 s: a tenth more may pass
	Total     int64 // requests of all the distributor's sub-keys per month
}

// Figures are what a sub-key has left when a request has been admitted or denied.
type Figures struct {
	InMonth   int64     // requests of the sub-key this month, an admitted one included
	RateLeft  int64     // requests that the rate admits at once; 0 without a rate
	RateFrees time.Time // when the rate admits more than now; zero without a rate
}

// Receipt is what one admitted request took.
type Receipt struct {
	Figures
	Key, Distributor string
	At               time.Time // the moment whose month and day were charged

	bucket int64 // that was charged; 0 without a rate
	shard  int
}

// Denied is the error of a request that a cap refuses.
type Denied struct {
	Figures
	Cap        Cap
	Limit      int64
	RetryAfter time.Duration // until a request is admitted again, whole seconds, at least one
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
}

// NewCounters returns counters over the named table.
func NewCounters(db DynamoDB, table string, clock func() time.Time) *Counters {
	return &Counters{db: db, table: table, clock: clock}
}

// Take charges one request of key, a sub-key of distributor. The error is a
// [*Denied] when a cap is met; nothing is charged then.
func (c *Counters) Take(ctx context.Context, key, distributor string, limits Limits) (Receipt, error) {
	now := c.clock().UTC()
	if seen, ok := c.windows.get(key); ok && limits.PerMinute > 0 && seen.bucket == bucketAt(now) && seen.left(limits.PerMinute) == 0 {
		return Receipt{}, overRate(seen, limits, Figures{}, now)
	}
	receipt := Receipt{Key: key, Distributor: distributor, At: now}

	shard := make(chan error, 1)
	go func() { shard <- c.takeShard(ctx, &receipt.shard, distributor, limits.Total, now) }()
	keyErr := c.takeKey(ctx, &receipt, limits)
	shardErr := <-shard

	switch {
	case keyErr == nil && shardErr == nil:
		return receipt, nil
	case keyErr == nil:
		var denied *Denied
		if errors.As(shardErr, &denied) {
			denied.Figures = receipt.Figures
			denied.InMonth--
			if receipt.bucket > 0 {
				denied.RateLeft++
			}
		}
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
	if keyErr != nil {
		return Receipt{}, keyErr
	}
	return Receipt{}, shardErr
}

// Refund takes back what the receipt's request was charged of the month: it failed
// and costs nothing. It stays counted in the rate, for it was work. A request that
// may be over or canceled refunds within its [RefundContext].
func (c *Counters) Refund(ctx context.Context, r Receipt) error {
	shard := make(chan error, 1)
	go func() { shard <- c.refundShard(ctx, r) }()
	err := c.refundMonth(ctx, r)
	return errors.Join(err, <-shard)
}

// RefundTimeout bounds a refund.
const RefundTimeout = 300 * time.Millisecond

// RefundContext returns a context for a refund, which must be tried even when the
// request that was charged is over or canceled. It ends after [RefundTimeout].
func RefundContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), RefundTimeout)
}

// takeKey charges the sub-key's item: its month, its day and, under a rate, its
// newest bucket.
func (c *Counters) takeKey(ctx context.Context, r *Receipt, limits Limits) error {
	bucket := bucketAt(r.At)
	seen, known := c.windows.get(r.Key)
	// Each failed attempt shows the item as it is, so the second knows which
	// form fits; more are needed only when other instances move the item on
	// in between.
	for range 8 {
		charged := window{}
		if limits.PerMinute > 0 {
			if !known {
				var err error
				if seen, err = c.lastMonth(ctx, r.Key, r.At); err != nil {
					return err
				}
			}
			bucket = max(bucket, seen.bucket) // an instance whose clock is behind counts in the later bucket
			if charged = seen; seen.bucket != bucket {
				charged = seen.at(bucket)
			}
			if charged.left(limits.PerMinute) == 0 {
				return overRate(charged, limits, r.Figures, r.At)
			}
		}
		out, err := c.db.UpdateItem(ctx, c.keyUpdate(r, limits, seen, known, charged))
		if err == nil {
			r.InMonth = attr.Int(out.Attributes, "used")
			if limits.PerMinute > 0 {
				charged.n = attr.Int(out.Attributes, attrCount)
				c.windows.set(r.Key, charged)
				r.bucket, r.RateLeft, r.RateFrees = bucket, min(charged.left(limits.PerMinute), limits.PerMinute), charged.frees()
			}
			return nil
		}
		var failed *types.ConditionalCheckFailedException
		if !errors.As(err, &failed) {
			return fmt.Errorf("count a request of a sub-key: %w", err)
		}
		if seen, known, err = windowOf(failed.Item); err != nil {
			return fmt.Errorf("count a request of a sub-key: %w", err)
		}
		if known {
			c.windows.set(r.Key, seen)
		}
		r.InMonth = attr.Int(failed.Item, "used")
		if limits.PerMonth > 0 && r.InMonth >= limits.PerMonth {
			return overMonth(seen, limits, r.Figures, r.At)
		}
	}
	return errors.New("count a request of a sub-key: its item kept changing")
}

// overRate denies a request for which the newest bucket of a window has no room.
func overRate(w window, limits Limits, figures Figures, now time.Time) *Denied {
	opens := w.opens(limits.PerMinute)
	figures.RateLeft, figures.RateFrees = 0, opens
	return &Denied{Figures: figures, Cap: PerMinute, Limit: limits.PerMinute, RetryAfter: atLeastASecond(opens.Sub(now))}
}

// overMonth denies a request until the month ends.
func overMonth(w window, limits Limits, figures Figures, now time.Time) *Denied {
	if limits.PerMinute > 0 {
		if bucket := bucketAt(now); bucket > w.bucket {
			w = w.at(bucket)
		}
		figures.RateLeft, figures.RateFrees = min(w.left(limits.PerMinute), limits.PerMinute), w.frees()
	}
	return &Denied{Figures: figures, Cap: PerMonth, Limit: limits.PerMonth, RetryAfter: untilNextMonth(now)}
}

// lastMonth is the window that the item of the month before ends with, in the first
// seconds of a month: a rate does not begin anew with it.
func (c *Counters) lastMonth(ctx context.Context, key string, now time.Time) (window, error) {
	before := now.Add(-bucketSeconds * (pastBuckets + 1) * time.Second)
	if monthName(before) == monthName(now) {
		return window{}, nil
	}
	items, err := c.read(ctx, []attr.Item{keyItem(key, before)}, "")
	if err != nil || len(items) == 0 {
		return window{}, err
	}
	w, _, err := windowOf(items[0])
	return w, err
}

// keyUpdate charges a request. Seen is the window that the item is believed to hold,
// known to hold one at all, charged the one to charge.
func (c *Counters) keyUpdate(r *Receipt, limits Limits, seen window, known bool, charged window) *dynamodb.UpdateItemInput {
	update := "ADD used :1, #d :1"
	var conditions []string
	values := attr.Item{":1": attr.N(1)}
	switch {
	case limits.PerMinute == 0:
	case known && seen.bucket == charged.bucket:
		update = "SET n = n + :1 " + update
		conditions = append(conditions, "w = :w AND n < :room")
		values[":w"], values[":room"] = attr.N(charged.bucket), attr.N(allowed(limits.PerMinute)-charged.before())
	default:
		update = "SET w = :w, n = :1, h = :h " + update
		values[":w"], values[":h"] = attr.N(charged.bucket), attr.S(charged.pastText())
		if known {
			conditions = append(conditions, "w = :seen AND n = :count")
			values[":seen"], values[":count"] = attr.N(seen.bucket), attr.N(seen.n)
		} else {
			conditions = append(conditions, "attribute_not_exists(w)")
		}
	}
	if limits.PerMonth > 0 {
		conditions = append(conditions, "(attribute_not_exists(used) OR used < :quota)")
		values[":quota"] = attr.N(limits.PerMonth)
	}
	in := &dynamodb.UpdateItemInput{
		TableName:                           &c.table,
		Key:                                 keyItem(r.Key, r.At),
		UpdateExpression:                    &update,
		ExpressionAttributeNames:            map[string]string{"#d": dayName(r.At)},
		ExpressionAttributeValues:           values,
		ReturnValues:                        types.ReturnValueUpdatedNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if len(conditions) > 0 {
		in.ConditionExpression = aws.String(strings.Join(conditions, " AND "))
	}
	return in
}

// refundKey takes one request off the sub-key's item. The bucket is refunded only
// while it is the newest: those before it are final.
func (c *Counters) refundKey(ctx context.Context, r Receipt) error {
	if r.bucket == 0 {
		return c.refundMonth(ctx, r)
	}
	c.windows.forget(r.Key)
	_, err := c.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &c.table,
		Key:                       keyItem(r.Key, r.At),
		UpdateExpression:          aws.String("ADD used :back, #d :back, n :back"),
		ConditionExpression:       aws.String("w = :w"),
		ExpressionAttributeNames:  map[string]string{"#d": dayName(r.At)},
		ExpressionAttributeValues: attr.Item{":back": attr.N(-1), ":w": attr.N(r.bucket)},
	}, once)
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return c.refundMonth(ctx, r)
	}
	if err != nil {
		return fmt.Errorf("refund a request of a sub-key: %w", err)
	}
	return nil
}

// refundMonth takes one request off the month and the day of the sub-key's item.
func (c *Counters) refundMonth(ctx context.Context, r Receipt) error {
	_, err := c.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &c.table,
		Key:                       keyItem(r.Key, r.At),
		UpdateExpression:          aws.String("ADD used :back, #d :back"),
		ExpressionAttributeNames:  map[string]string{"#d": dayName(r.At)},
		ExpressionAttributeValues: attr.Item{":back": attr.N(-1)},
	}, once)
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

func untilNextMonth(now time.Time) time.Duration {
	return atLeastASecond(MonthEnd(now).Sub(now))
}

// MonthEnd returns the first moment of the month after t's, in UTC.
func MonthEnd(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, time.UTC)
}

func atLeastASecond(d time.Duration) time.Duration { return time.Duration(Seconds(d)) * time.Second }

// Seconds is a time to wait as clients get it: whole seconds, rounded up, at least
// one.
func Seconds(d time.Duration) int64 { return max(int64(math.Ceil(d.Seconds())), 1) }
