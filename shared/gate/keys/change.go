package keys

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
)

// SubKeyChange changes what is not nil. It mirrors the request of the endpoint
// field by field.
type SubKeyChange struct {
	AccessKey    string
	Name         *string
	Status       *int64 // 1 active, 0 disabled
	MonthlyQuota *int64
	RateLimit    *int64
	MaxTimeRange *int64
	WSConnLimit  *int64
	WSSubLimit   *int64
	ExpiresIn    *int64 // seconds from now, 0 clears the expiry
	Metadata     *string
}

func (c *SubKeyChange) check() error {
	if c.Name != nil {
		if err := checkName("name", *c.Name); err != nil {
			return err
		}
	}
	if c.Metadata != nil {
		if err := checkMetadata(*c.Metadata); err != nil {
			return err
		}
	}
	return checkNumbers(
		number{"status", c.Status, 0, 1},
		number{"monthly_quota", c.MonthlyQuota, 1, maxQuota},
		number{"rate_limit", c.RateLimit, 0, maxCount},
		number{"max_time_range", c.MaxTimeRange, 0, maxSeconds},
		number{"ws_conn_limit", c.WSConnLimit, 0, maxCount},
		number{"ws_sub_limit", c.WSSubLimit, 0, maxCount},
		number{"expires_in", c.ExpiresIn, 0, maxSeconds},
	)
}

// UpdateSubKey changes a sub-key, in force on its next request.
func (s *Store) UpdateSubKey(ctx context.Context, distributor string, in SubKeyChange) error {
	if !isAccessKey(in.AccessKey) {
		return ErrUnknown
	}
	if err := in.check(); err != nil {
		return err
	}
	err := s.retry(ctx, func() error { return s.tryUpdate(ctx, distributor, &in) })
	switch {
	case isInput(err):
		return err
	case err != nil:
		return fmt.Errorf("update sub-key: %w", err)
	}
	return nil
}

func (s *Store) tryUpdate(ctx context.Context, distributor string, in *SubKeyChange) error {
	k, _, err := s.SubKey(ctx, distributor, in.AccessKey)
	if err != nil {
		return err
	}
	if in.WSConnLimit != nil || in.WSSubLimit != nil {
		d, err := s.Distributor(ctx, distributor)
		if err != nil {
			return err
		}
		if err := checkCaps(&d, or0(in.WSConnLimit), or0(in.WSSubLimit)); err != nil {
			return err
		}
	}
	now := s.now()
	c := in.change(now)
	c.If("distributor", attr.S(distributor))
	c.limit("ws_conn_limit", k.WSConnLimit, in.WSConnLimit, now)
	c.limit("ws_sub_limit", k.WSSubLimit, in.WSSubLimit, now)
	if in.MonthlyQuota != nil {
		c.Set("monthly_quota", attr.N(*in.MonthlyQuota))
		c.If("monthly_quota", attr.N(k.MonthlyQuota))
	}
	writes := []types.TransactWriteItem{{Update: c.update(s.table, keyKey(in.AccessKey))}}
	if in.Metadata != nil {
		writes = append(writes, s.writeMetadata(in.AccessKey, *in.Metadata))
	}
	listed, err := s.updateRow(ctx, distributor, &k, in)
	if err != nil {
		return err
	}
	return stale(s.transact(ctx, append(writes, listed...)...))
}

// updateRow is what an update does to the row of a sub-key and to the figures of its
// distributor; nothing where no list shows it.
func (s *Store) updateRow(ctx context.Context, distributor string, k *SubKey, in *SubKeyChange) ([]types.TransactWriteItem, error) {
	if in.Name == nil && in.Status == nil && in.MonthlyQuota == nil {
		return nil, nil
	}
	key := rowKey(distributor, k.AccessKey, k.CreatedAt)
	var row change
	var moved, activated int64
	if in.Name != nil {
		row.SetAll(nameInRow(*in.Name))
	}
	if in.MonthlyQuota != nil {
		row.Set("monthly_quota", attr.N(*in.MonthlyQuota))
		moved = *in.MonthlyQuota - k.MonthlyQuota
	}
	if in.Status != nil {
		listed, err := s.read(ctx, key)
		if err != nil {
			return nil, err
		}
		seen := attr.Int(listed, "status")
		row.Set("status", attr.N(*in.Status))
		row.If("status", attr.N(seen))
		activated = *in.Status - seen
	}
	return []types.TransactWriteItem{
		{Update: row.update(s.table, key)},
		{Update: countKeys(0, activated, moved).update(s.table, distributorKey(distributor))},
	}, nil
}

// change is what an update does to the item of the sub-key, its quota aside.
func (c *SubKeyChange) change(now time.Time) *change {
	out := &change{}
	out.Set("updated_at", attr.N(now.UnixMilli()))
	if c.Name != nil {
		out.Set("name", attr.S(*c.Name))
	}
	for _, n := range []number{
		{parameter: "status", value: c.Status},
		{parameter: "rate_limit", value: c.RateLimit},
		{parameter: "max_time_range", value: c.MaxTimeRange},
	} {
		if n.value != nil {
			out.Set(n.parameter, attr.N(*n.value))
		}
	}
	switch {
	case c.ExpiresIn == nil:
	case *c.ExpiresIn == 0:
		out.Set("expires_at", nil)
	default:
		out.Set("expires_at", attr.N(expiry(now, *c.ExpiresIn).UnixMilli()))
	}
	return out
}

// sinceOf names, for a limit of WebSocket connections or subscriptions, the attribute that
// says when it was set where there was none: what was open then is not counted yet.
var sinceOf = map[string]string{"ws_conn_limit": "ws_conn_since", "ws_sub_limit": "ws_sub_since"}

// limit changes such a limit, unless it is nil, on condition that it is as it was seen.
func (c *change) limit(name string, seen int64, limit *int64, now time.Time) {
	if limit == nil {
		return
	}
	c.Set(name, attr.N(*limit))
	c.If(name, attr.N(seen))
	if seen == 0 && *limit > 0 {
		c.Set(sinceOf[name], attr.N(now.UnixMilli()))
	}
}

// writeMetadata keeps metadata beside the sub-key instead of in it, so that
// neither a request nor a list reads it.
func (s *Store) writeMetadata(accessKey, metadata string) types.TransactWriteItem {
	key := metaKey(accessKey)
	if metadata == "" {
		return types.TransactWriteItem{Delete: &types.Delete{TableName: &s.table, Key: key}}
	}
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &s.table, Item: with(key, item{"metadata": attr.S(metadata)}),
	}}
}

// DeleteSubKey removes a sub-key and gives its quota back.
func (s *Store) DeleteSubKey(ctx context.Context, distributor, accessKey string) error {
	err := s.retry(ctx, func() error {
		k, _, err := s.SubKey(ctx, distributor, accessKey)
		if err != nil {
			return err
		}
		listed := rowKey(distributor, accessKey, k.CreatedAt)
		row, err := s.read(ctx, listed)
		if err != nil {
			return err
		}
		status := attr.Int(row, "status")
		return stale(s.transact(ctx,
			types.TransactWriteItem{Update: countKeys(-1, -status, -k.MonthlyQuota).update(s.table, distributorKey(distributor))},
			s.remove(keyKey(accessKey), item{"distributor": attr.S(distributor), "monthly_quota": attr.N(k.MonthlyQuota)}),
			s.remove(listed, item{"status": attr.N(status)}),
			types.TransactWriteItem{Delete: &types.Delete{TableName: &s.table, Key: metaKey(accessKey)}},
		))
	})
	switch {
	case isInput(err):
		return err
	case err != nil:
		return fmt.Errorf("delete sub-key: %w", err)
	}
	s.owners.Delete(accessKey)
	return nil
}

// ResetSecret replaces the secret of a sub-key; the old one is dead at once.
func (s *Store) ResetSecret(ctx context.Context, distributor, accessKey string) (Secret, error) {
	if !isAccessKey(accessKey) {
		return "", ErrUnknown
	}
	secret := newSecret()
	c := &change{}
	for name, value := range s.ring.seal(accessKey, secret).attributes() {
		c.Set(name, value)
	}
	c.Count("generation")
	c.Set("updated_at", attr.N(s.now().UnixMilli()))
	c.If("distributor", attr.S(distributor))
	done, err := s.update(ctx, c.update(s.table, keyKey(accessKey)))
	switch {
	case err != nil:
		return "", fmt.Errorf("reset secret: %w", err)
	case !done:
		return "", ErrUnknown
	}
	return secret, nil
}

// remove is a write that deletes an item and fails when it has other values.
func (s *Store) remove(key, seen item) types.TransactWriteItem {
	var c change
	for name, value := range seen {
		c.If(name, value)
	}
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.table, Key: key, ConditionExpression: aws.String(strings.Join(c.condition, " AND ")),
		ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values,
	}}
}

func or0(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
