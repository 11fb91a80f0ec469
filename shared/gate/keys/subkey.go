package keys

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
)

// defaultQuota is the monthly quota of a sub-key that is given none by a
// distributor without a total cap.
const defaultQuota = 1000

// SubKey is a sub-key without its secret. Limits of 0 are unset.
type SubKey struct {
	AccessKey    string
	Name         string
	Level        string
	Active       bool
	MonthlyQuota int64 // requests per calendar month
	RateLimit    int64 // requests per minute
	MaxTimeRange int64 // seconds
	WSConnLimit  int64 // connections
	WSSubLimit   int64 // subscriptions
	CreatedAt    time.Time
	UpdatedAt    time.Time
	ExpiresAt    time.Time // zero = never
}

// NewSubKey is what a distributor says about a sub-key that it creates. It
// mirrors the request of the endpoint field by field.
type NewSubKey struct {
	Name         string
	Level        string // empty = the distributor's own
	MonthlyQuota *int64 // nil = what is available, or 1000 without a total cap
	RateLimit    int64
	MaxTimeRange int64
	WSConnLimit  int64
	WSSubLimit   int64
	ExpiresIn    int64  // seconds, 0 = never
	Metadata     string // JSON text
}

func (n *NewSubKey) check() error {
	if err := checkName("name", n.Name); err != nil {
		return err
	}
	if n.Level != "" {
		if err := checkLevelName(n.Level); err != nil {
			return err
		}
	}
	if err := checkMetadata(n.Metadata); err != nil {
		return err
	}
	return checkNumbers(
		number{"monthly_quota", n.MonthlyQuota, 1, maxQuota},
		number{"rate_limit", &n.RateLimit, 0, maxCount},
		number{"max_time_range", &n.MaxTimeRange, 0, maxSeconds},
		number{"ws_conn_limit", &n.WSConnLimit, 0, maxCount},
		number{"ws_sub_limit", &n.WSSubLimit, 0, maxCount},
		number{"expires_in", &n.ExpiresIn, 0, maxSeconds},
	)
}

// CreateSubKey issues a sub-key and returns its secret, which only a reset can
// show again.
func (s *Store) CreateSubKey(ctx context.Context, distributor string, in NewSubKey) (SubKey, Secret, error) {
	if err := in.check(); err != nil {
		return SubKey{}, "", err
	}
	accessKey, secret := newAccessKey(), newSecret()
	box := s.ring.seal(accessKey, secret)
	var created SubKey
	err := s.retry(ctx, func() error {
		d, err := s.Distributor(ctx, distributor)
		if err != nil {
			return err
		}
		now := s.now().UTC().Truncate(time.Millisecond)
		created = SubKey{
			AccessKey: accessKey, Name: in.Name, Level: in.Level, Active: true,
			RateLimit: in.RateLimit, MaxTimeRange: in.MaxTimeRange,
			WSConnLimit: in.WSConnLimit, WSSubLimit: in.WSSubLimit,
			CreatedAt: now, UpdatedAt: now, ExpiresAt: expiry(now, in.ExpiresIn),
		}
		if created.Level == "" {
			created.Level = d.Level
		}
		if err := checkCaps(&d, in.WSConnLimit, in.WSSubLimit); err != nil {
			return err
		}
		if d.SubKeyCount >= d.MaxSubKeys {
			return invalid("max_sub_keys is reached: this distributor may have %d sub-keys and has %d", d.MaxSubKeys, d.SubKeyCount)
		}
		if created.MonthlyQuota, err = in.quota(&d); err != nil {
			return err
		}
		return s.insertSubKey(ctx, &d, &created, box, in)
	})
	switch {
	case isInput(err):
		return SubKey{}, "", err
	case err != nil:
		return SubKey{}, "", fmt.Errorf("create sub-key: %w", err)
	}
	return created, secret, nil
}

// quota applies the defaulting rules.
func (n *NewSubKey) quota(d *Distributor) (int64, error) {
	switch {
	case n.MonthlyQuota != nil:
		return *n.MonthlyQuota, nil
	case d.MaxTotalQuota == 0:
		return defaultQuota, nil
	case d.AvailableQuota() <= 0:
		return 0, invalid("monthly_quota must be given, because no quota is available to default to: %d of %d are allocated", d.AllocatedQuota, d.MaxTotalQuota)
	}
	return d.AvailableQuota(), nil
}

// insertSubKey writes a sub-key and counts it, provided that what was decided
// from the distributor still holds.
func (s *Store) insertSubKey(ctx context.Context, d *Distributor, k *SubKey, box sealed, in NewSubKey) error {
	count := countKeys(1, 1, k.MonthlyQuota)
	count.IfText("#sub_key_count < #max_sub_keys", "sub_key_count", "max_sub_keys")
	if in.MonthlyQuota == nil {
		count.If("max_total_quota", attr.N(d.MaxTotalQuota))
		if d.MaxTotalQuota > 0 {
			count.If("allocated", attr.N(d.AllocatedQuota))
		}
	}
	writes := []types.TransactWriteItem{
		{Update: count.update(s.table, distributorKey(d.AccessKey))},
		s.put(with(keyKey(k.AccessKey), item{"distributor": attr.S(d.AccessKey)}, k.attributes(), box.attributes())),
		s.put(with(rowKey(d.AccessKey, k.AccessKey, k.CreatedAt), k.row())),
	}
	if in.Metadata != "" {
		writes = append(writes, s.put(with(metaKey(k.AccessKey), item{"metadata": attr.S(in.Metadata)})))
	}
	return stale(s.transact(ctx, writes...))
}

// countKeys is a change of a distributor's figures along with the rows of its list.
func countKeys(all, active, allocated int64) *change {
	c := &change{}
	c.Add("list_version", 1)
	for name, n := range map[string]int64{"sub_key_count": all, "active_count": active, "allocated": allocated} {
		if n != 0 {
			c.Add(name, n)
		}
	}
	return c
}

// SubKey reads a sub-key and its metadata.
func (s *Store) SubKey(ctx context.Context, distributor, accessKey string) (_ SubKey, metadata string, _ error) {
	if !isAccessKey(accessKey) {
		return SubKey{}, "", ErrUnknown
	}
	items, err := s.readAll(ctx, []item{keyKey(accessKey), metaKey(accessKey)}, projection{})
	if err != nil {
		return SubKey{}, "", fmt.Errorf("read sub-key: %w", err)
	}
	var k SubKey
	for _, it := range items {
		f := fieldsOf(it)
		switch {
		case f.Text("sk") == metaSort:
			metadata = f.Text("metadata")
		case f.Text("distributor") == distributor:
			k = f.subKey()
		}
		if f.Err != nil {
			return SubKey{}, "", fmt.Errorf("read sub-key: %w", f.Err)
		}
	}
	if k.AccessKey == "" {
		return SubKey{}, "", ErrUnknown
	}
	return k, metadata, nil
}

func (k *SubKey) attributes() item {
	it := item{
		"name": attr.S(k.Name), "level": attr.S(k.Level), "status": attr.N(k.status()),
		"monthly_quota": attr.N(k.MonthlyQuota), "rate_limit": attr.N(k.RateLimit), "max_time_range": attr.N(k.MaxTimeRange),
		"ws_conn_limit": attr.N(k.WSConnLimit), "ws_sub_limit": attr.N(k.WSSubLimit),
		"created_at": attr.N(k.CreatedAt.UnixMilli()), "updated_at": attr.N(k.UpdatedAt.UnixMilli()),
	}
	if !k.ExpiresAt.IsZero() {
		it["expires_at"] = attr.N(k.ExpiresAt.UnixMilli())
	}
	return it
}

func (k *SubKey) status() int64 { return statusOf(k.Active) }

func statusOf(active bool) int64 {
	if active {
		return 1
	}
	return 0
}

func (f *fields) subKey() SubKey {
	return SubKey{
		AccessKey: strings.TrimPrefix(f.Text("pk"), keyPrefix),
		Name:      f.Text("name"), Level: f.Text("level"), Active: f.Int("status") == 1,
		MonthlyQuota: f.Int("monthly_quota"), RateLimit: f.Int("rate_limit"), MaxTimeRange: f.Int("max_time_range"),
		WSConnLimit: f.Int("ws_conn_limit"), WSSubLimit: f.Int("ws_sub_limit"),
		CreatedAt: f.millis("created_at"), UpdatedAt: f.millis("updated_at"), ExpiresAt: f.millis("expires_at"),
	}
}

// stale turns a condition that does not hold into a reason to look again.
func stale(err error) error {
	var failed *unmetError
	if errors.As(err, &failed) {
		return errStale
	}
	return err
}

// isInput reports whether an error is the caller's and stands by itself.
func isInput(err error) bool {
	var bad *InvalidError
	return errors.As(err, &bad) || errors.Is(err, ErrUnknown) || errors.Is(err, ErrUnknownLevel) || errors.Is(err, ErrBusy)
}
