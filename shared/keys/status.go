package keys

import (
	"context"
	"fmt"
	"time"

	"quotary/shared/batch"
)

// Status says whether a sub-key may be used at all.
type Status struct {
	Disabled            bool
	ExpiresAt           time.Time // zero = never
	DistributorDisabled bool
}

// statusAttributes are those that a status is read from.
var statusAttributes = only("pk", "sk", "status", "disabled", "expires_at")

// Statuses reads the status of sub-keys, each given with its distributor. One that
// does not exist is absent from the answer. A change of the last second may not show
// yet: a strongly consistent read costs twice as much. No secret is read, so a
// [Store] without a ring will do.
func (s *Store) Statuses(ctx context.Context, distributorOf map[string]string) (map[string]Status, error) {
	var keys []item
	distributors := map[string]bool{}
	for accessKey, distributor := range distributorOf {
		keys = append(keys, subKeyKey(distributor, accessKey))
		if !distributors[distributor] {
			distributors[distributor] = true
			keys = append(keys, distributorKey(distributor))
		}
	}
	items, err := batch.GetAll(ctx, s.db, s.table, keys, statusAttributes.keys(), parallelReads, unread)
	if err != nil {
		return nil, fmt.Errorf("read the status of keys: %w", err)
	}
	found := make(map[[2]string]*fields, len(items)) // by the two parts of the key
	for _, it := range items {
		f := fieldsOf(it)
		found[[2]string{f.Text("pk"), f.Text("sk")}] = &f
	}
	out := make(map[string]Status, len(distributorOf))
	for accessKey, distributor := range distributorOf {
		pk := partition(distributor)
		d, f := found[[2]string{pk, distributorSort}], found[[2]string{pk, subPrefix + accessKey}]
		if d == nil || f == nil {
			continue
		}
		out[accessKey] = Status{f.Int("status") != 1, f.millis("expires_at"), d.Bool("disabled")}
		for _, read := range []*fields{d, f} {
			if read.Err != nil {
				return nil, fmt.Errorf("read the status of keys: %w", read.Err)
			}
		}
	}
	return out, nil
}
