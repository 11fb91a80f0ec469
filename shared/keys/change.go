package keys

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/attr"
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
	c := in.change(s.now())
	var writes []types.TransactWriteItem
	if in.MonthlyQuota != nil {
		c.Set("monthly_quota", attr.N(*in.MonthlyQuota))
		c.If("monthly_quota", attr.N(k.MonthlyQuota))
		if moved := *in.MonthlyQuota - k.MonthlyQuota; moved != 0 {
			var allocated change
			allocated.Add("allocated", moved)
			writes = append(writes, types.TransactWriteItem{Update: allocated.update(s.table, distributorKey(distributor))})
		}
	}
	writes = append(writes, types.TransactWriteItem{Update: c.update(s.table, subKeyKey(distributor, in.AccessKey))})
	if in.Metadata != nil {
		writes = append(writes, s.writeMetadata(distributor, in.AccessKey, *in.Metadata))
	}
	return stale(s.transact(ctx, writes...))
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
		{parameter: "ws_conn_limit", value: c.WSConnLimit},
		{parameter: "ws_sub_limit", value: c.WSSubLimit},
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

// writeMetadata keeps metadata beside the sub-key instead of in it, so that
// neither a request nor a list reads it.
func (s *Store) writeMetadata(distributor, accessKey, metadata string) types.TransactWriteItem {
	key := metaKey(distributor, accessKey)
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
		var count change
		count.Add("sub_key_count", -1)
		count.Add("allocated", -k.MonthlyQuota)
		return stale(s.transact(ctx,
			types.TransactWriteItem{Update: count.update(s.table, distributorKey(distributor))},
			types.TransactWriteItem{Delete: &types.Delete{
				TableName: &s.table, Key: subKeyKey(distributor, accessKey),
				ConditionExpression:       aws.String("monthly_quota = :seen"),
				ExpressionAttributeValues: item{":seen": attr.N(k.MonthlyQuota)},
			}},
			types.TransactWriteItem{Delete: &types.Delete{TableName: &s.table, Key: pointerKey(accessKey)}},
			types.TransactWriteItem{Delete: &types.Delete{TableName: &s.table, Key: metaKey(distributor, accessKey)}},
		))
	})
	switch {
	case isInput(err):
		return err
	case err != nil:
		return fmt.Errorf("delete sub-key: %w", err)
	}
	s.routes.drop(accessKey)
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
	c.Set("updated_at", attr.N(s.now().UnixMilli()))
	done, err := s.update(ctx, c.update(s.table, subKeyKey(distributor, accessKey)))
	switch {
	case err != nil:
		return "", fmt.Errorf("reset secret: %w", err)
	case !done:
		return "", ErrUnknown
	}
	return secret, nil
}

func or0(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
