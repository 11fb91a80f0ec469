package keys

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// Statuses reads the status of sub-keys, each given with its distributor. One that
// does not exist is absent from the answer. A change of the last second may not show
// yet, but that a key was made does: a strongly consistent read costs twice as much, and
// is made of those that seem to be absent. No secret is read, so a [Store] without a ring
// will do.
func (s *Store) Statuses(ctx context.Context, distributorOf map[string]string) (map[string]Status, error) {
	heads, subs := map[string]fields{}, map[string]fields{}
	err := s.readStatuses(ctx, distributorOf, false, heads, subs)
	absent := maps.Clone(distributorOf)
	maps.DeleteFunc(absent, func(accessKey, distributor string) bool {
		f := subs[accessKey]
		return f.Text("distributor") == distributor && heads[distributor].Item != nil
	})
	if err == nil && len(absent) > 0 {
		err = s.readStatuses(ctx, absent, true, heads, subs)
	}
	if err != nil {
		return nil, fmt.Errorf("read the status of keys: %w", err)
	}
	policies := map[levelID]int64{}
	for accessKey, distributor := range distributorOf {
		f, head := subs[accessKey], heads[distributor]
		if f.Text("distributor") != distributor || head.Item == nil {
			delete(subs, accessKey)
			continue
		}
		policies[levelID{distributor, f.Text("level")}] = head.Int("policy")
	}
	levels, err := s.levelsUnder(ctx, policies)
	if err != nil {
		return nil, fmt.Errorf("read the status of keys: %w", err)
	}
	out := make(map[string]Status, len(subs))
	for accessKey, f := range subs {
		distributor := distributorOf[accessKey]
		head := heads[distributor]
		out[accessKey] = Status{
			Disabled: f.Int("status") != 1, ExpiresAt: f.millis("expires_at"), DistributorDisabled: head.Bool("disabled"),
			Level:      levels[levelID{distributor, f.Text("level")}],
			Generation: f.Int("generation"), WSSubLimit: f.Int("ws_sub_limit"), WSSubSince: f.Int("ws_sub_since"),
			DistributorWSSubLimit: head.Int("ws_sub_limit"), DistributorWSSubSince: head.Int("ws_sub_since"),
		}
		if err := errors.Join(head.Err, f.Err); err != nil {
			return nil, fmt.Errorf("read the status of keys: %w", err)
		}
	}
	return out, nil
}

// readStatuses reads sub-keys and the heads of their distributors.
func (s *Store) readStatuses(ctx context.Context, distributorOf map[string]string, consistent bool, heads, subs map[string]fields) error {
	var wanted []item
	distributors := map[string]bool{}
	for accessKey, distributor := range distributorOf {
		wanted = append(wanted, keyKey(accessKey))
		if !distributors[distributor] {
			distributors[distributor] = true
			wanted = append(wanted, anyHead(distributor))
		}
	}
	want := statusAttributes.keys()
	want.ConsistentRead = &consistent
	items, err := batch.GetAll(ctx, s.db, s.table, wanted, want, parallelReads, unread)
	if err != nil {
		return err
	}
	for _, it := range items {
		f := fieldsOf(it)
		if accessKey, isKey := strings.CutPrefix(f.Text("pk"), keyPrefix); isKey {
			subs[accessKey] = f
		} else {
			heads[ofHead(it)] = f
		}
	}
	return nil
}
