// Package usage counts requests, exactly and at any concurrency.
//
// Every admitted request takes one unit from two counters, in parallel and with
// one conditional write each: the sub-key's item of the month, which holds the
// month's total, the total of each day and the window of its rate; and one
// of the distributor's shards of the month, whose limits sum to the
// distributor's caps, of the month and of the minute, so that many sub-keys do not
// queue behind one item. A shard that is exhausted tries the next. If
// only one of the two could be taken, it is refunded. A month's cap is therefore never
// passed, and a rate by a tenth at most (see window): a crash between the two writes, or a lost answer to one, can only count
// one too many.
//
// A request that a cap refuses costs no write where this instance has seen the cap met:
// a bucket stays full until it ends, a month that is used up is asked again after
// [SpentFor], as another instance may have refunded a request meanwhile.
//
// A shard has an eighth of each cap. Where the shares differ, as a rate is no multiple
// of eight, shards of a larger one are through with their month a little earlier, and
// the last of a month's requests are served at less than the distributor's rate.
//
// Requests of management have a rate of their own and no quota: one item of the
// primary key, in the form of a sub-key's (see [Counters.TakeManagement]).
//
// Items are keyed by month, in UTC, so the past stays for billing. The same
// table remembers the nonces that were used (see [Nonces]), and counts what distributors
// read of busy partitions (items r#, see the package readunits).
package usage

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/aws/attr"
)

// Shards is the number of items that share a distributor's monthly cap and its rate. It
// is part of the stored data: a change would need the caps to be split again.
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
	TotalRate int64 // requests of all the distributor's sub-keys in any 60 s: a tenth more may pass
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

	key, shard charge
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

// The caps.
const (
	PerMinute Cap = "rate limit exceeded"
	PerMonth  Cap = "monthly quota exceeded"
	Total     Cap = "distributor monthly quota exceeded"
	TotalRate Cap = "distributor rate limit exceeded"
)

// Error says which cap was met and what it is.
func (d *Denied) Error() string {
	unit := "requests per month"
	if d.Cap == PerMinute || d.Cap == TotalRate {
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
	spent   spentMonths
}

// NewCounters returns counters over the named table.
func NewCounters(db DynamoDB, table string, clock func() time.Time) *Counters {
	return &Counters{db: db, table: table, clock: clock}
}

// Take charges one request of key, a sub-key of distributor. The error is a
// [*Denied] when a cap is met; nothing is charged then.
func (c *Counters) Take(ctx context.Context, key, distributor string, limits Limits) (Receipt, error) {
	now := c.clock().UTC()
	if seen, full := c.full(keyPrefix+key, allowed(limits.PerMinute), now); full {
		return Receipt{}, rateDenied(seen, limits.PerMinute, Figures{}, now)
	}
	if c.spent.has(keyPrefix+key, limits.PerMonth, now) {
		seen, _ := c.windows.get(keyPrefix + key)
		return Receipt{}, monthDenied(seen, limits, limits.PerMonth, now)
	}
	if denied := c.noShard(distributor, limits, now); denied != nil {
		if seen, ok := c.windows.get(keyPrefix + key); ok {
			denied.Figures = seen.figures(limits.PerMinute, now)
		}
		return Receipt{}, denied
	}
	receipt := Receipt{Key: key, Distributor: distributor, At: now}

	shard := make(chan error, 1)
	go func() { shard <- c.takeShard(ctx, &receipt.shard, distributor, limits, now) }()
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
			if receipt.key.bucket > 0 {
				denied.RateLeft++
			}
		}
		ctx, done := RefundContext(ctx)
		defer done()
		if err := c.takeBack(ctx, receipt.key); err != nil {
			shardErr = errors.Join(shardErr, fmt.Errorf("refund a request of a sub-key: %w", err))
		}
	case shardErr == nil:
		ctx, done := RefundContext(ctx)
		defer done()
		if err := c.takeBack(ctx, receipt.shard); err != nil {
			keyErr = errors.Join(keyErr, fmt.Errorf("refund a request of a distributor: %w", err))
		}
	}
	var denied *Denied
	if keyErr != nil && errors.As(shardErr, &denied) {
		shardErr = nil // one cap is enough to be told of
	}
	return Receipt{}, errors.Join(keyErr, shardErr)
}

// TakeManagement charges one request of management of a primary key, under a rate a
// minute. The error is a [*Denied] when that is met.
func (c *Counters) TakeManagement(ctx context.Context, primary string, rate int64) (Receipt, error) {
	now := c.clock().UTC()
	limits := Limits{PerMinute: rate}
	if seen, full := c.full(keyPrefix+primary, allowed(rate), now); full {
		return Receipt{}, rateDenied(seen, rate, Figures{}, now)
	}
	receipt := Receipt{Key: primary, Distributor: primary, At: now}
	err := c.takeKey(ctx, &receipt, limits)
	return receipt, err
}

// full reports whether an item is known to have no room under a rate before the next
// bucket: a request to it would be a write for nothing.
func (c *Counters) full(pk string, most int64, now time.Time) (window, bool) {
	seen, ok := c.windows.get(pk)
	return seen, ok && most > 0 && seen.bucket == bucketAt(now) && seen.left(most) == 0
}

// noShard returns the denial of a distributor all of whose shards are known to have no
// room, be it of the rate or of the month; nil where one may have some.
func (c *Counters) noShard(distributor string, limits Limits, now time.Time) *Denied {
	var opens time.Time // the first of those that only their rate refuses
	for shard := range Shards {
		quota, most, none := limits.ofShard(shard)
		if pk := shardKey(distributor, shard); !none && !c.spent.has(pk, quota, now) {
			seen, full := c.full(pk, most, now)
			if !full {
				return nil
			}
			opens = earlier(opens, seen.opens(most))
		}
	}
	return limits.noShard(opens, now)
}

// ofShard are the parts of a distributor's caps that a shard has; none where one of them
// is nothing at all.
func (l Limits) ofShard(shard int) (quota, most int64, none bool) {
	quota, most = share(l.Total, shard), share(allowed(l.TotalRate), shard)
	return quota, most, quota == 0 && l.Total > 0 || most == 0 && l.TotalRate > 0
}

// noShard denies a request for which no shard has room: until the first of those opens
// that only their rate refuses, if there is one, else until the month ends.
func (l Limits) noShard(opens, now time.Time) *Denied {
	if !opens.IsZero() {
		return &Denied{Cap: TotalRate, Limit: l.TotalRate, RetryAfter: atLeastASecond(opens.Sub(now))}
	}
	return &Denied{Cap: Total, Limit: l.Total, RetryAfter: untilNextMonth(now)}
}

// earlier is the earlier of two moments, of which the first may be none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// Refund takes back what the receipt's request was charged of the month: it failed
// and costs nothing. It stays counted in the rate, for it was work. A request that
// may be over or canceled refunds within its [RefundContext].
func (c *Counters) Refund(ctx context.Context, r Receipt) error {
	r.key.bucket, r.shard.bucket = 0, 0
	shard := make(chan error, 1)
	go func() { shard <- c.takeBack(ctx, r.shard) }()
	if err := errors.Join(c.takeBack(ctx, r.key), <-shard); err != nil {
		return fmt.Errorf("refund a request: %w", err)
	}
	return nil
}

// RefundTimeout bounds a refund.
const RefundTimeout = 300 * time.Millisecond

// RefundContext returns a context for a refund, which must be tried even when the
// request that was charged is over or canceled. It ends after [RefundTimeout].
func RefundContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), RefundTimeout)
}

// takeKey charges the item of a key: its month, its day and, under a rate, its
// newest bucket.
func (c *Counters) takeKey(ctx context.Context, r *Receipt, limits Limits) error {
	r.key = charge{pk: keyPrefix + r.Key, at: r.At, days: true, quota: limits.PerMonth, most: allowed(limits.PerMinute)}
	end, err := c.count(ctx, &r.key)
	if err != nil {
		return fmt.Errorf("count a request of a key: %w", err)
	}
	w := r.key.window
	r.InMonth = r.key.used
	switch end {
	case overRate:
		return rateDenied(w, limits.PerMinute, r.Figures, r.At)
	case overMonth:
		return monthDenied(w, limits, r.InMonth, r.At)
	case counted:
		if limits.PerMinute > 0 {
			r.RateLeft, r.RateFrees = min(w.left(r.key.most), limits.PerMinute), w.frees()
		}
	}
	return nil
}

// takeShard charges one of the distributor's shards.
func (c *Counters) takeShard(ctx context.Context, taken *charge, distributor string, limits Limits, now time.Time) error {
	var opens time.Time // the first of those that only their rate refuses
	first := rand.IntN(Shards)
	for i := range Shards {
		shard := (first + i) % Shards
		quota, most, none := limits.ofShard(shard)
		if none {
			continue
		}
		ch := charge{pk: shardKey(distributor, shard), at: now, quota: quota, most: most}
		switch end, err := c.count(ctx, &ch); {
		case err != nil:
			return fmt.Errorf("count a request of a distributor: %w", err)
		case end == counted:
			*taken = ch
			return nil
		case end == overRate:
			opens = earlier(opens, ch.window.opens(ch.most))
		}
	}
	return limits.noShard(opens, now)
}

// rateDenied denies a request for which the newest bucket of a window has no room.
func rateDenied(w window, rate int64, figures Figures, now time.Time) *Denied {
	opens := w.opens(allowed(rate))
	figures.RateLeft, figures.RateFrees = 0, opens
	return &Denied{Figures: figures, Cap: PerMinute, Limit: rate, RetryAfter: atLeastASecond(opens.Sub(now))}
}

// monthDenied denies a request until the month ends, in which so many were made.
func monthDenied(w window, limits Limits, used int64, now time.Time) *Denied {
	figures := w.figures(limits.PerMinute, now)
	figures.InMonth = used
	return &Denied{Figures: figures, Cap: PerMonth, Limit: limits.PerMonth, RetryAfter: untilNextMonth(now)}
}

// share splits a cap over the shards so that the parts sum to it.
func share(total int64, shard int) int64 {
	part := total / Shards
	if int64(shard) < total%Shards {
		part++
	}
	return part
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

func shardKey(distributor string, shard int) string {
	return shardPrefix + distributor + "#" + strconv.Itoa(shard)
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
