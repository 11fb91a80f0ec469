package readunits

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
	"quotary/shared/backoff"
	"quotary/shared/lru"
)

// Share is what all requests of one distributor may read of one partition in a second, in read
// units: a third of what DynamoDB serves of it.
const Share = 1000

const (
	// free is what an instance reads of a partition for a distributor in a second without asking.
	free = 32
	// chunk is the least that is reserved at once, so that small reads write seldom.
	chunk = 16
	// unseen is taken for a read of which this instance has never made a like: so few are under
	// way at once that they fit beside a share, whatever they cost.
	unseen = 100
	// heavy is for how many seconds an instance reads nothing without asking, once it has read more
	// than is free or found a share used up.
	heavy = 10
	// first is up to where dear requests begin: what is left of the share is for those under way, so
	// that few come to their end rather than many to none; and up to further these go on, so that
	// they do not keep small ones out.
	first, further = Share / 2, 3 * Share / 4
	// patience is how long a request waits, in all, for its next pages: less than a read may take.
	patience = 8 * time.Second
)

// settling is how others' reads are waited for whose cost is not known either: they give back what
// they have reserved in vain.
var settling = backoff.Backoff{Min: 50 * time.Millisecond, Max: 200 * time.Millisecond}

const settlingTries = 5

// ShareError is why a read was refused that its own budget covers.
type ShareError struct {
	Of string // the partition key: a dataset, and what of it
}

// Error implements error.
func (e *ShareError) Error() string {
	return fmt.Sprintf("too much of %s is read at once: all sub-keys of the distributor may read %d units of it in a second", e.Of, Share)
}

// Shares holds each distributor to its [Share] of every partition that others read too, so that
// whoever asks for one thing a thousand times a second is in the way of nobody who asks for it once.
//
// A distributor that reads little of a partition in an instance is not counted. Else the instance
// reserves, before a page is read, what pages like it have cost of late, in an item for the
// distributor, the partition and the second; what the page has cost in truth is settled behind
// it. A request of which the first page finds the share used up is refused. One that has read of the
// partition before waits for the next second, page by page: it is not refused for being dear alone.
type Shares struct {
	db     Counter
	table  string   // of the counts
	tables []string // that are shared

	mu    sync.Mutex
	seen  lru.Cache[string, *balance] // by distributor and partition
	costs lru.Cache[string, price]    // of reads, by kind and partition or dataset
}

// Counter is the part of DynamoDB's client that counts.
type Counter interface {
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// NewShares returns the shares of the partitions of some tables, counted in another.
func NewShares(db Counter, table string, shared ...string) *Shares {
	return &Shares{db: db, table: table, tables: shared}
}

// Within has the reads of a budget keep to the shares of a distributor. Without shares, or a
// distributor, they keep to the budget alone.
func (b *Budget) Within(s *Shares, distributor string) {
	if distributor != "" {
		b.shares, b.distributor = s, distributor
	}
}

// balance is what an instance may still read of a partition for a distributor in a second.
type balance struct {
	second int64
	left   float64 // what was reserved or is free; below 0 is a debt
	free   float64
	read   float64
	count  float64 // of all instances, which was found to be at least that
	heavy  int64   // the last second in which it was found so, or more was read than is free
}

// hold is what was reserved for a part.
type hold struct {
	part
	second int64
	units  float64
}

// reserve takes what a read is expected to cost from the shares of its partitions.
func (s *Shares) reserve(ctx context.Context, b *Budget, request any) (holds []hold, err error) {
	if s == nil {
		return nil, nil
	}
	parts := s.parts(request)
	rows := 0.0
	for i := range parts {
		rows += parts[i].rows
	}
	for i := range parts {
		h, err := s.take(ctx, b, parts[i], parts[i].rows/rows)
		if err != nil {
			s.settle(ctx, b, holds, 0)
			return nil, err
		}
		holds = append(holds, h)
	}
	return holds, nil
}

// take reserves one part, which is the given fraction of its read.
func (s *Shares) take(ctx context.Context, b *Budget, p part, fraction float64) (hold, error) {
	h := hold{part: p}
	var known bool
	if h.units, known = s.expected(&p); h.units == 0 {
		h.units = min(unseen*fraction, p.most)
		s.suppose(&p, h.units)
	}
	most := float64(Share)
	switch {
	case b.reads(p.partition):
		most = further
	case h.units >= unseen:
		most = first
	}
	for try := 0; ; try++ {
		h.second = time.Now().Unix()
		short, full := s.draw(b.distributor, &h, known, most)
		if short > 0 {
			counted, err := s.count(ctx, b.distributor, &h, short, most)
			if err != nil {
				return hold{}, fmt.Errorf("count what is read of %s: %w", p.key, err)
			}
			full = !counted
			s.counted(b.distributor, &h, short, counted, most)
		}
		switch {
		case !full:
			b.begin(p.partition)
			return h, nil
		case !known && try < settlingTries:
			if err := settling.Wait(ctx, try); err != nil {
				return hold{}, err
			}
			continue
		case !known:
			s.awaited(&p, h.units)
		}
		if !b.waits(p.partition) {
			return hold{}, &ShareError{strings.ReplaceAll(p.key, "#", " ")}
		}
		known = true
		if err := b.wait(ctx); err != nil {
			return hold{}, err
		}
	}
}

// of is the balance of a moment. The caller holds s.mu.
func (s *Shares) of(distributor, partition string, second int64) *balance {
	name := distributor + "/" + partition
	have, ok := s.seen.Get(name)
	if !ok {
		have = new(balance)
		s.seen.Set(name, have)
	}
	if have.second < second {
		next := balance{second: second, heavy: have.heavy}
		if have.count > 0 || have.read > free {
			next.heavy = have.second
		}
		if second-next.heavy > heavy {
			next.free = free
		}
		next.left = next.free + min(have.left, 0)
		*have = next
	}
	return have
}

// draw takes a hold from what the instance has, and returns how much is to be reserved first, 0
// for nothing. Full is whether there is nothing to reserve.
func (s *Shares) draw(distributor string, h *hold, known bool, most float64) (short float64, full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.of(distributor, h.partition, h.second)
	switch {
	case have.left >= h.units:
		have.left -= h.units
		return 0, false
	case known && have.count >= most:
		return 0, true
	}
	return max(h.units-min(have.left, 0), chunk), false
}

// counted notes what came of a reservation up to a bound, and draws the hold from it.
func (s *Shares) counted(distributor string, h *hold, units float64, ok bool, most float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.of(distributor, h.partition, h.second)
	if ok {
		have.left += units - h.units
	} else {
		have.count = max(have.count, most)
	}
}

// settle puts what a read has cost in the place of what was expected.
func (s *Shares) settle(ctx context.Context, b *Budget, holds []hold, units float64) {
	rows := 0.0
	for i := range holds {
		rows += holds[i].rows
	}
	for i := range holds {
		h := &holds[i]
		of := units * h.rows / rows
		if units > 0 {
			s.learn(&h.part, of)
		}
		if correct := s.correct(b.distributor, h, of); correct != 0 {
			if counted, err := s.count(ctx, b.distributor, h, correct, 0); err != nil || !counted {
				s.owe(b.distributor, h, correct)
			}
		}
	}
}

// correct takes the difference into the balance, and returns what the count of the second that it
// is by now is to be changed by, if that is much.
func (s *Shares) correct(distributor string, h *hold, units float64) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.of(distributor, h.partition, h.second)
	spare := h.units - units
	if have.second != h.second {
		spare = min(spare, 0) // what was reserved in a second is of no use in another
	}
	h.second = have.second
	have.left += spare
	have.read += units
	if over := have.left - have.free; have.left < -chunk || over > 2*chunk {
		if have.left < 0 {
			over = have.left
		}
		have.left -= over
		return -over
	}
	return 0
}

// owe puts a correction that could not be counted back into the balance.
func (s *Shares) owe(distributor string, h *hold, units float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of(distributor, h.partition, h.second).left -= units
}

// count adds to what a distributor has read of a partition in a second, unless that is as much
// as it may already; most is 0 for any number.
func (s *Shares) count(ctx context.Context, distributor string, h *hold, units, most float64) (bool, error) {
	sum := sha256.Sum256([]byte(h.partition))
	in := &dynamodb.UpdateItemInput{
		TableName: &s.table,
		Key: attr.Item{
			"pk": attr.S("r#" + distributor + "#" + hex.EncodeToString(sum[:12])),
			"sk": attr.S(strconv.FormatInt(h.second, 10)),
		},
		UpdateExpression:          aws.String("ADD n :units SET exp = :exp"),
		ExpressionAttributeValues: attr.Item{":units": number(units), ":exp": attr.N(h.second + 60)},
	}
	if most > 0 {
		in.ConditionExpression = aws.String("attribute_not_exists(n) OR n < :most")
		in.ExpressionAttributeValues[":most"] = number(most)
	}
	_, err := s.db.UpdateItem(ctx, in)
	var refused *types.ConditionalCheckFailedException
	var throttled *types.ProvisionedThroughputExceededException
	if errors.As(err, &refused) || errors.As(err, &throttled) { // who asks that often has its share
		return false, nil
	}
	return err == nil, err
}

func number(units float64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatFloat(units, 'f', 1, 64)}
}

// begin notes that a request reads of a partition.
func (b *Budget) begin(partition string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.begun == nil {
		b.begun = map[string]bool{}
	}
	b.begun[partition] = true
}

// reads reports whether a request has read of a partition.
func (b *Budget) reads(partition string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.begun[partition]
}

// waits reports whether a request waits for more of a partition: it has read of it, and has not
// waited for long.
func (b *Budget) waits(partition string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.begun[partition] && b.waited < patience
}

// wait holds a request up until the next second.
func (b *Budget) wait(ctx context.Context) error {
	now := time.Now()
	pause := now.Truncate(time.Second).Add(time.Second).Sub(now)
	b.mu.Lock()
	b.waited += pause
	b.mu.Unlock()
	return backoff.Sleep(ctx, pause)
}
