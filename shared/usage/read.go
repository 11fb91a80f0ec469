package usage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Month is what one sub-key used in one month.
type Month struct {
	Used int64
	Days [31]int64 // requests of day i+1
}

// Distributor returns the requests of all the distributor's sub-keys, deleted
// ones included, in the month of at.
func (c *Counters) Distributor(ctx context.Context, distributor string, at time.Time) (int64, error) {
	keys := make([]map[string]types.AttributeValue, Shards)
	for shard := range keys {
		keys[shard] = shardItem(distributor, shard, at)
	}
	items, err := c.batchGet(ctx, keys, "")
	if err != nil {
		return 0, fmt.Errorf("read a distributor's requests: %w", err)
	}
	var sum int64
	for _, item := range items {
		sum += number(item, "used")
	}
	return sum, nil
}

// Keys returns the requests of each of the sub-keys in the month of at. Keys
// without a request are absent.
func (c *Counters) Keys(ctx context.Context, accessKeys []string, at time.Time) (map[string]int64, error) {
	keys := make([]map[string]types.AttributeValue, len(accessKeys))
	for i, accessKey := range accessKeys {
		keys[i] = keyItem(accessKey, at)
	}
	items, err := c.batchGet(ctx, keys, "pk, used")
	if err != nil {
		return nil, fmt.Errorf("read the requests of sub-keys: %w", err)
	}
	used := make(map[string]int64, len(items))
	for _, item := range items {
		if pk, ok := item["pk"].(*types.AttributeValueMemberS); ok {
			used[pk.Value[len("u#"):]] = number(item, "used")
		}
	}
	return used, nil
}

// History returns what a sub-key used in the month of at, day by day.
func (c *Counters) History(ctx context.Context, accessKey string, at time.Time) (Month, error) {
	items, err := c.batchGet(ctx, []map[string]types.AttributeValue{keyItem(accessKey, at)}, "")
	if err != nil {
		return Month{}, fmt.Errorf("read the history of a sub-key: %w", err)
	}
	var month Month
	for _, item := range items {
		month.Used = number(item, "used")
		for day := range month.Days {
			month.Days[day] = number(item, "d"+twoDigits(day+1))
		}
	}
	return month, nil
}

func twoDigits(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// batchGet reads items consistently, as many as there are keys at most, in
// requests of 100.
func (c *Counters) batchGet(ctx context.Context, keys []map[string]types.AttributeValue, projection string) ([]map[string]types.AttributeValue, error) {
	const perRequest, attempts = 100, 6
	var items []map[string]types.AttributeValue
	for len(keys) > 0 {
		n := min(perRequest, len(keys))
		ask := types.KeysAndAttributes{Keys: keys[:n], ConsistentRead: aws.Bool(true)}
		if projection != "" {
			ask.ProjectionExpression = &projection
		}
		keys = keys[n:]
		for attempt := 0; len(ask.Keys) > 0; attempt++ {
			if attempt == attempts {
				return nil, errors.New("the table keeps leaving keys unread")
			}
			if attempt > 0 {
				pause := time.Duration(rand.Int64N(int64(20*time.Millisecond) << attempt))
				select {
				case <-ctx.Done():
					return nil, ctx.Err()
				case <-time.After(pause):
				}
			}
			out, err := c.db.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{c.table: ask}})
			if err != nil {
				return nil, err
			}
			items = append(items, out.Responses[c.table]...)
			ask.Keys = out.UnprocessedKeys[c.table].Keys
		}
	}
	return items, nil
}
