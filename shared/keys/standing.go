package keys

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"
)

// Standing is whether a sub-key may be used at all.
type Standing struct {
	Disabled            bool
	ExpiresAt           time.Time // zero = never
	DistributorDisabled bool
}

// standing are the attributes that tell it.
var standing = only("pk", "sk", "status", "disabled", "expires_at")

const (
	standingsAtOnce = 4   // requests under way
	standingsEach   = 100 // items of a request, the most that there may be
)

// Standings reads whether sub-keys may be used, each given with its distributor. One
// that does not exist is not in the answer. What changed in the last second may not
// show yet: a read that is surely up to date costs twice as much. No secret is read,
// so a [Store] without a ring can tell.
func (s *Store) Standings(ctx context.Context, distributorOf map[string]string) (map[string]Standing, error) {
	var keys []map[string]types.AttributeValue
	distributors := map[string]bool{}
	for accessKey, distributor := range distributorOf {
		keys = append(keys, subKeyKey(distributor, accessKey))
		if !distributors[distributor] {
			distributors[distributor] = true
			keys = append(keys, distributorKey(distributor))
		}
	}
	var mu sync.Mutex
	found := make(map[[2]string]*fields, len(keys)) // by the two parts of the key
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(standingsAtOnce)
	for chunk := range slices.Chunk(keys, standingsEach) {
		group.Go(func() error {
			request := s.batch(chunk)
			of := request.RequestItems[s.table]
			of.ConsistentRead = aws.Bool(false)
			of.ProjectionExpression, of.ExpressionAttributeNames = aws.String(standing.expression), standing.names
			request.RequestItems[s.table] = of
			items, err := s.readAll(ctx, request)
			mu.Lock()
			defer mu.Unlock()
			for _, it := range items {
				f := &fields{item: it}
				found[[2]string{f.text("pk"), f.text("sk")}] = f
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("read the standing of keys: %w", err)
	}
	out := make(map[string]Standing, len(distributorOf))
	for accessKey, distributor := range distributorOf {
		pk := partition(distributor)
		d, f := found[[2]string{pk, distributorSort}], found[[2]string{pk, subPrefix + accessKey}]
		if d == nil || f == nil {
			continue
		}
		out[accessKey] = Standing{f.number("status") != 1, f.millis("expires_at"), d.flag("disabled")}
		for _, read := range []*fields{d, f} {
			if read.err != nil {
				return nil, fmt.Errorf("read the standing of keys: %w", read.err)
			}
		}
	}
	return out, nil
}
