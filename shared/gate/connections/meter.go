package connections

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
	"quotary/shared/lru"
)

// Budget is what one connection may send in a minute of the clock, and what its messages may
// read; 0 means no bound.
type Budget struct {
	Messages int64
	Bytes    int64
	Reads    int64 // read units, of which a write unit is as many as it costs
}

// ErrFlood is the error of a message of a client that sends, or reads, more than its budget.
var ErrFlood = errors.New("the client sends too much")

const (
	// SeenEvery is how long a message may be younger than the last one that is recorded.
	SeenEvery = 15 * time.Second
	// meterMessages, meterBytes and meterReads are what an instance counts before it looks
	// what all instances have counted.
	meterMessages = 50
	meterBytes    = 256 << 10
	meterReads    = 1000
)

// Meter counts the messages of clients and records when they sent the last one. Each
// instance counts for itself, and records what it has counted when no instance has
// recorded a message for 15 s, or when it has 50 messages, 256 KB or 1,000 read units: so a client that
// keeps to its budget costs one write in 15 s, or one a ping, and a read, eventually consistent, of each
// instance, and one that does not is found within 50 messages of each instance. What is
// recorded counts for the minute in which it is.
type Meter struct {
	store  *Store
	budget Budget

	mu   sync.Mutex
	byID lru.Cache[string, *tally] // one that is dropped costs a read, and what it counted
}

// tally is what an instance knows of a connection.
type tally struct {
	messages, bytes int64     // that are not recorded
	reads           float64   // units, as well
	seen            time.Time // the last message that is recorded
	minute          int64     // of what is recorded
}

// NewMeter returns a meter of a store's connections.
func NewMeter(s *Store, budget Budget) *Meter {
	return &Meter{store: s, budget: budget}
}

// Read counts what messages of a client have read. The next message is refused where that
// was too much.
func (m *Meter) Read(id string, units float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t, ok := m.byID.Get(id); ok {
		t.reads += units
	}
}

// Message counts a message of a client. The error is [ErrFlood] where the client has sent, or
// read, more than its budget this minute, or [ErrGone].
func (m *Meter) Message(ctx context.Context, id string, bytes int) error {
	return m.count(ctx, id, bytes, false)
}

// Ping is [Meter.Message] of one that asks for a pong. It is always recorded: the ingester
// answers it ([Pinged]).
func (m *Meter) Ping(ctx context.Context, id string, bytes int) error {
	return m.count(ctx, id, bytes, true)
}

func (m *Meter) count(ctx context.Context, id string, bytes int, ping bool) error {
	now := m.store.clock()
	m.mu.Lock()
	defer m.mu.Unlock() // an instance handles one message at a time
	t, ok := m.byID.Get(id)
	if !ok {
		t = new(tally)
		m.byID.Set(id, t)
	}
	t.messages++
	t.bytes += int64(bytes)
	if !ping && t.messages < meterMessages && t.bytes < meterBytes && t.reads < meterReads {
		if now.Sub(t.seen) < SeenEvery {
			return nil
		}
		if err := m.refresh(ctx, id, t); err != nil { // another instance may have recorded a message
			return err
		}
		if now.Sub(t.seen) < SeenEvery {
			return nil
		}
	}
	sent, err := m.store.record(ctx, id, t, now, ping)
	if err != nil {
		if errors.Is(err, ErrGone) {
			m.byID.Delete(id)
		}
		return err
	}
	t.messages, t.bytes, t.reads, t.seen = 0, 0, 0, now
	if sent.exceeds(m.budget) {
		m.byID.Delete(id)
		return ErrFlood
	}
	return nil
}

// exceeds reports whether what was sent is more than a budget.
func (b Budget) exceeds(most Budget) bool {
	over := func(n, most int64) bool { return most > 0 && n > most }
	return over(b.Messages, most.Messages) || over(b.Bytes, most.Bytes) || over(b.Reads, most.Reads)
}

// refresh reads what is recorded of a connection. An old answer costs a write at most.
func (m *Meter) refresh(ctx context.Context, id string, t *tally) error {
	c, err := m.store.get(ctx, connectionKey(id), false)
	if err != nil {
		return fmt.Errorf("read a connection: %w", err)
	}
	if c.closing() {
		return ErrGone
	}
	if c.exists() {
		t.seen, t.minute = c.time(attrSeen), c.number(attrMinute)
	}
	return nil
}

// Attributes of a connection.
const (
	attrMinute   = "min" // that those below are of, since 1970
	attrMessages = "msgs"
	attrBytes    = "bytes"
	attrReads    = "reads"
)

// record adds to what a connection has sent this minute, and returns that.
func (s *Store) record(ctx context.Context, id string, t *tally, now time.Time, ping bool) (Budget, error) {
	minute := now.Unix() / 60
	for range attempts {
		in := &dynamodb.UpdateItemInput{
			TableName: &s.table, Key: connectionKey(id),
			UpdateExpression:         aws.String("SET #seen = :seen ADD #msgs :msgs, #bytes :bytes, #reads :reads"),
			ConditionExpression:      aws.String("#min = :min AND attribute_not_exists(#closing)"),
			ExpressionAttributeNames: map[string]string{"#seen": attrSeen, "#msgs": attrMessages, "#bytes": attrBytes, "#reads": attrReads, "#min": attrMinute, "#closing": attrClosing},
			ExpressionAttributeValues: item{
				":seen": attr.N(now.UnixMilli()), ":msgs": attr.N(t.messages), ":bytes": attr.N(t.bytes), ":min": attr.N(minute),
				":reads": attr.N(int64(math.Ceil(t.reads))),
			},
			ReturnValues:                        types.ReturnValueUpdatedNew,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}
		if t.minute < minute {
			in.UpdateExpression = aws.String("SET #seen = :seen, #min = :min, #msgs = :msgs, #bytes = :bytes, #reads = :reads")
			in.ConditionExpression = aws.String("attribute_exists(pk) AND attribute_not_exists(#closing) AND (attribute_not_exists(#min) OR #min < :min)")
		}
		if ping {
			*in.UpdateExpression = strings.Replace(*in.UpdateExpression, "#seen = :seen", "#seen = :seen, #ping = :seen", 1)
			in.ExpressionAttributeNames["#ping"] = attrPinged
		}
		out, err := s.update(ctx, in)
		var failed *types.ConditionalCheckFailedException
		switch {
		case err == nil:
			im := imageOf(out.Attributes)
			t.minute = minute
			return Budget{im.number(attrMessages), im.number(attrBytes), im.number(attrReads)}, nil
		case errors.As(err, &failed):
			im := imageOf(failed.Item)
			if !im.exists() || im.closing() {
				return Budget{}, ErrGone
			}
			t.minute = im.number(attrMinute)
			minute = max(minute, t.minute) // the clock of this instance is behind
		default:
			return Budget{}, fmt.Errorf("record a message: %w", err)
		}
	}
	return Budget{}, fmt.Errorf("record a message: %w", errContended)
}
