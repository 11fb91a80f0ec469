package connections

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
	"quotary/shared/lru"
)

// Spending bounds what all connections of a key, and of a distributor, cost the table in a
// minute of the clock, handshakes included, in read units, of which a write unit is as many as it
// costs. A [Budget] bounds one connection: without this one, who connects, follows and
// disconnects all the time would have a new one each time, and use up the table that all share.
//
// Each instance counts for itself and records what it has counted when that is 25,000 units: so
// most clients cost nothing more, and what is spent is known within 25,000 units of each instance.
type Spending struct {
	Key         int64 // units of a key
	Distributor int64 // units of all keys of a distributor
	Store       *Store

	mu     sync.Mutex
	byName lru.Cache[string, *spent]
}

// spent is what an instance has counted of a key or of a distributor.
type spent struct {
	units  float64 // that are not recorded
	minute int64   // of what is recorded
}

// spendingRecorded is what an instance counts before it records it, units.
const spendingRecorded = 25_000

// Prefixes of the names of keys and distributors.
const (
	spendingKey         = "k#"
	spendingDistributor = "d#"
)

// Add counts units.
func (s *Spending) Add(accessKey, distributor string, units float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range [...]string{spendingKey + accessKey, spendingDistributor + distributor} {
		of, ok := s.byName.Get(name)
		if !ok {
			of = new(spent)
			s.byName.Set(name, of)
		}
		of.units += units
	}
}

// Check records what there is to record. The error is [ErrFlood] where a key, or all of a
// distributor, have spent more than they may.
func (s *Spending) Check(ctx context.Context, accessKey, distributor string) error {
	s.mu.Lock()
	defer s.mu.Unlock() // an instance handles one event at a time
	for _, of := range [...]struct {
		name string
		most int64
	}{{spendingKey + accessKey, s.Key}, {spendingDistributor + distributor, s.Distributor}} {
		known, ok := s.byName.Get(of.name)
		if !ok || known.units < spendingRecorded {
			continue
		}
		sum, err := s.Store.spend(ctx, of.name, known)
		if err != nil {
			return err
		}
		known.units = 0
		if of.most > 0 && sum > of.most {
			return ErrFlood
		}
	}
	return nil
}

// spentKept is for how long what was spent in a minute is kept.
const spentKept = 5 * time.Minute

// spend adds to what a key or a distributor has spent this minute, and returns that.
func (s *Store) spend(ctx context.Context, name string, of *spent) (int64, error) {
	now := s.clock()
	minute := now.Unix() / 60
	for range attempts {
		in := &dynamodb.UpdateItemInput{
			TableName: &s.table, Key: key("b#"+name, "b"),
			UpdateExpression:          aws.String("ADD #reads :reads"),
			ConditionExpression:       aws.String("#min = :min"),
			ExpressionAttributeNames:  map[string]string{"#reads": attrReads, "#min": attrMinute},
			ExpressionAttributeValues: item{":reads": attr.N(int64(math.Ceil(of.units))), ":min": attr.N(minute)},
			ReturnValues:              types.ReturnValueUpdatedNew,

			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}
		if of.minute < minute {
			in.UpdateExpression = aws.String("SET #reads = :reads, #min = :min, #exp = :exp")
			in.ConditionExpression = aws.String("attribute_not_exists(#min) OR #min < :min")
			in.ExpressionAttributeNames["#exp"] = attrExpiry
			in.ExpressionAttributeValues[":exp"] = expiry(now, spentKept)
		}
		out, err := s.update(ctx, in)
		var failed *types.ConditionalCheckFailedException
		switch {
		case err == nil:
			of.minute = minute
			im := imageOf(out.Attributes)
			return im.number(attrReads), nil
		case errors.As(err, &failed):
			im := imageOf(failed.Item)
			of.minute = im.number(attrMinute) // 0 where it has expired
			minute = max(minute, of.minute)   // the clock of this instance is behind
		default:
			return 0, fmt.Errorf("record what was spent: %w", err)
		}
	}
	return 0, fmt.Errorf("record what was spent: %w", errContended)
}
