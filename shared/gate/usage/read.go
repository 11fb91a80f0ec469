package usage

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
	"quotary/shared/aws/batch"
	"quotary/shared/backoff"
)

// Month is what one sub-key used in one month.
type Month struct {
	Used int64
	Days [31]int64 // requests of day i+1
}

// Distributor returns the requests of all the distributor's sub-keys, deleted
// ones included, in the month of at.
func (c *Counters) Distributor(ctx context.Context, distributor string, at time.Time) (int64, error) {
	keys := make([]attr.Item, Shards)
	for shard := range keys {
		keys[shard] = item(shardKey(distributor, shard), monthName(at))
	}
	items, err := c.read(ctx, keys, "", true)
	if err != nil {
		return 0, fmt.Errorf("read a distributor's requests: %w", err)
	}
	var sum int64
	for _, item := range items {
		sum += attr.Int(item, "used")
	}
	return sum, nil
}

// Keys returns the requests of each of the sub-keys in the month of at, which may lack those
// of the last second: that costs half. Keys without a request are absent.
func (c *Counters) Keys(ctx context.Context, accessKeys []string, at time.Time) (map[string]int64, error) {
	keys := make([]attr.Item, len(accessKeys))
	for i, accessKey := range accessKeys {
		keys[i] = keyItem(accessKey, at)
	}
	items, err := c.read(ctx, keys, "pk, used", false)
	if err != nil {
		return nil, fmt.Errorf("read the requests of sub-keys: %w", err)
	}
	used := make(map[string]int64, len(items))
	for _, item := range items {
		used[strings.TrimPrefix(attr.Text(item, "pk"), keyPrefix)] = attr.Int(item, "used")
	}
	return used, nil
}

// History returns what a sub-key used in the month of at, day by day.
func (c *Counters) History(ctx context.Context, accessKey string, at time.Time) (Month, error) {
	items, err := c.read(ctx, []attr.Item{keyItem(accessKey, at)}, "", true)
	if err != nil {
		return Month{}, fmt.Errorf("read the history of a sub-key: %w", err)
	}
	var month Month
	for _, item := range items {
		month.Used = attr.Int(item, "used")
		for day := range month.Days {
			month.Days[day] = attr.Int(item, "d"+twoDigits(day+1))
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

func (c *Counters) read(ctx context.Context, keys []attr.Item, projection string, consistent bool) ([]attr.Item, error) {
	want := types.KeysAndAttributes{ConsistentRead: &consistent}
	if projection != "" {
		want.ProjectionExpression = &projection
	}
	const parallel = 4
	return batch.GetAll(ctx, c.db, c.table, keys, want, parallel, batch.Retry{
		Tries: 6, Pauses: backoff.Backoff{Min: 20 * time.Millisecond, Max: time.Second},
	})
}
