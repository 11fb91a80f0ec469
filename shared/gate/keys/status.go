package keys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"quotary/shared/aws/batch"
)

// Status is what a connection depends on that stays open while its sub-key changes:
// whether the key may be used, what for, and for how many subscriptions.
type Status struct {
	Disabled            bool
	ExpiresAt           time.Time // zero = never
	DistributorDisabled bool
	Level               *Level // nil when the distributor has no such level

	Generation int64 // of the secret: how often it was reset

	WSSubLimit            int64 // subscriptions of the sub-key, 0 = no cap
	WSSubSince            int64 // when that was set where there was none, ms; 0 = with the key
	DistributorWSSubLimit int64 // subscriptions of all the distributor's sub-keys, 0 = no cap
	DistributorWSSubSince int64 // as of the sub-key
}

// statusAttributes are those that a status is read from.
var statusAttributes = only("pk", "sk", "distributor", "status", "expires_at", "level", "generation",
	"disabled", "ws_sub_limit", "ws_sub_since", "policy")

// Statuses reads the status of sub-keys of a distributor. One that does not exist, or is
// another's, is absent from the answer. A change of the last second may not show yet, but
// that a key was made does: a strongly consistent read costs twice as much, and is made of
// those that seem to be absent. No secret is read, so a [Store] without a ring will do.
//
// All that is read is of this distributor alone: what throttles its partitions fails no
// other's look.
func (s *Store) Statuses(ctx context.Context, distributor string, accessKeys []string) (map[string]Status, error) {
	statuses, err := s.statuses(ctx, distributor, accessKeys)
	if err != nil {
		return nil, fmt.Errorf("read the status of keys: %w", err)
	}
	return statuses, nil
}

func (s *Store) statuses(ctx context.Context, distributor string, accessKeys []string) (map[string]Status, error) {
	subs := make(map[string]fields, len(accessKeys))
	head, err := s.readStatuses(ctx, distributor, accessKeys, false, subs)
	if err != nil {
		return nil, err
	}
	absent := slices.DeleteFunc(slices.Clone(accessKeys), func(accessKey string) bool {
		return head.Item != nil && subs[accessKey].Item != nil
	})
	if len(absent) > 0 {
		if head, err = s.readStatuses(ctx, distributor, absent, true, subs); err != nil {
			return nil, err
		}
	}
	if head.Item == nil {
		return nil, nil
	}
	policies := map[levelID]int64{}
	for _, f := range subs {
		policies[levelID{distributor, f.Text("level")}] = head.Int("policy")
	}
	levels, err := s.levelsUnder(ctx, policies)
	if err != nil {
		return nil, err
	}
	out := make(map[string]Status, len(subs))
	for accessKey, f := range subs {
		out[accessKey] = Status{
			Disabled: f.Int("status") != 1, ExpiresAt: f.millis("expires_at"), DistributorDisabled: head.Bool("disabled"),
			Level:      levels[levelID{distributor, f.Text("level")}],
			Generation: f.Int("generation"), WSSubLimit: f.Int("ws_sub_limit"), WSSubSince: f.Int("ws_sub_since"),
			DistributorWSSubLimit: head.Int("ws_sub_limit"), DistributorWSSubSince: head.Int("ws_sub_since"),
		}
		if err := errors.Join(head.Err, f.Err); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readStatuses adds those of the sub-keys that are the distributor's to subs, and returns its
// head, which is empty where there is none.
func (s *Store) readStatuses(ctx context.Context, distributor string, accessKeys []string, consistent bool, subs map[string]fields) (head fields, _ error) {
	wanted := []item{anyHead(distributor)}
	for _, accessKey := range accessKeys {
		wanted = append(wanted, keyKey(accessKey))
	}
	want := statusAttributes.keys()
	want.ConsistentRead = &consistent
	items, err := batch.GetAll(ctx, s.db, s.table, wanted, want, parallelReads, unread)
	if err != nil {
		return fields{}, err
	}
	for _, it := range items {
		f := fieldsOf(it)
		accessKey, isKey := strings.CutPrefix(f.Text("pk"), keyPrefix)
		switch {
		case !isKey:
			head = f
		case f.Text("distributor") == distributor:
			subs[accessKey] = f
		}
	}
	return head, nil
}
