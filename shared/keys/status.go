package keys

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"quotary/shared/attr"
	"quotary/shared/batch"
)

// Status is what a connection depends on that stays open while its sub-key changes:
// whether the key may be used, what for, and for how many subscriptions.
type Status struct {
	Disabled            bool
	ExpiresAt           time.Time // zero = never
	DistributorDisabled bool
	Level               *Level // nil when the distributor has no such level

	WSSubLimit            int64 // subscriptions of the sub-key, 0 = no cap
	DistributorWSSubLimit int64 // subscriptions of all the distributor's sub-keys, 0 = no cap
}

// statusAttributes are those that a status is read from.
var statusAttributes = only("pk", "sk", "status", "disabled", "expires_at", "level", "ws_sub_limit",
	"permissions", "max_time_range", "rate_limit")

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
	found := make(map[[2]string]item, len(keys)) // by the two parts of the key
	read := func(keys []item) error {
		items, err := batch.GetAll(ctx, s.db, s.table, keys, statusAttributes.keys(), parallelReads, unread)
		for _, it := range items {
			found[[2]string{attr.Text(it, "pk"), attr.Text(it, "sk")}] = it
		}
		return err
	}
	if err := read(keys); err != nil {
		return nil, fmt.Errorf("read the status of keys: %w", err)
	}
	levels := map[[2]string]item{} // keys by distributor and name
	for accessKey, distributor := range distributorOf {
		if name := attr.Text(found[[2]string{partition(distributor), subPrefix + accessKey}], "level"); name != "" {
			levels[[2]string{distributor, name}] = levelKey(distributor, name)
		}
	}
	if err := read(slices.Collect(maps.Values(levels))); err != nil {
		return nil, fmt.Errorf("read the levels of keys: %w", err)
	}
	out := make(map[string]Status, len(distributorOf))
	for accessKey, distributor := range distributorOf {
		pk := partition(distributor)
		d, sub := found[[2]string{pk, distributorSort}], found[[2]string{pk, subPrefix + accessKey}]
		if d == nil || sub == nil {
			continue
		}
		status, err := s.status(d, sub, found[[2]string{pk, levelPrefix + attr.Text(sub, "level")}])
		if err != nil {
			return nil, fmt.Errorf("read the status of keys: %w", err)
		}
		out[accessKey] = status
	}
	return out, nil
}

// status reads the items of a sub-key's distributor, of the sub-key, and of its level,
// nil where there is none.
func (s *Store) status(distributor, sub, level item) (Status, error) {
	d, f := fieldsOf(distributor), fieldsOf(sub)
	out := Status{
		Disabled: f.Int("status") != 1, ExpiresAt: f.millis("expires_at"), DistributorDisabled: d.Bool("disabled"),
		WSSubLimit: f.Int("ws_sub_limit"), DistributorWSSubLimit: d.Int("ws_sub_limit"),
	}
	err := errors.Join(d.Err, f.Err)
	if level != nil && err == nil {
		out.Level, err = s.decodeLevel(level)
	}
	return out, err
}
