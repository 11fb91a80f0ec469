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

// Status says whether a sub-key may be used at all.
type Status struct {
	Disabled            bool
	ExpiresAt           time.Time // zero = never
	DistributorDisabled bool
}

// statusAttributes are those that a status is read from.
var statusAttributes = only("pk", "sk", "status", "disabled", "expires_at")

const (
	statusParallel = 4   // requests under way
	statusBatch    = 100 // items of a request, the most that there may be
)

// Statuses reads the status of sub-keys, each given with its distributor. One that
// does not exist is absent from the answer. A change of the last second may not show
// yet: a strongly consistent read costs twice as much. No secret is read, so a
// [Store] without a ring will do.
func (s *Store) Statuses(ctx context.Context, distributorOf map[string]string) (map[string]Status, error) {
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
	group.SetLimit(statusParallel)
	for chunk := range slices.Chunk(keys, statusBatch) {
		group.Go(func() error {
			request := s.batch(chunk)
			of := request.RequestItems[s.table]
			of.ConsistentRead = aws.Bool(false)
			of.ProjectionExpression, of.ExpressionAttributeNames = aws.String(statusAttributes.expression), statusAttributes.names
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
		return nil, fmt.Errorf("read the status of keys: %w", err)
	}
	out := make(map[string]Status, len(distributorOf))
	for accessKey, distributor := range distributorOf {
		pk := partition(distributor)
		d, f := found[[2]string{pk, distributorSort}], found[[2]string{pk, subPrefix + accessKey}]
		if d == nil || f == nil {
			continue
		}
		out[accessKey] = Status{f.number("status") != 1, f.millis("expires_at"), d.flag("disabled")}
		for _, read := range []*fields{d, f} {
			if read.err != nil {
				return nil, fmt.Errorf("read the status of keys: %w", read.err)
			}
		}
	}
	return out, nil
}
