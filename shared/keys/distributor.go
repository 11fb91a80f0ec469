package keys

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/attr"
	"quotary/shared/catalog"
)

// Distributor is a reseller without its secret.
type Distributor struct {
	Preset
	AccessKey      string
	SubKeyCount    int64 // existing sub-keys
	AllocatedQuota int64 // sum of the monthly quotas of the existing sub-keys
	Disabled       bool
	CreatedAt      time.Time
}

// AvailableQuota is what is left to allocate, in requests per month. It is
// negative when more is allocated than max_total_quota.
func (d *Distributor) AvailableQuota() int64 { return d.MaxTotalQuota - d.AllocatedQuota }

// Distributor reads a distributor by its primary access key.
func (s *Store) Distributor(ctx context.Context, accessKey string) (Distributor, error) {
	if !isAccessKey(accessKey) {
		return Distributor{}, ErrUnknown
	}
	it, err := s.read(ctx, distributorKey(accessKey))
	if err != nil {
		return Distributor{}, fmt.Errorf("read distributor: %w", err)
	}
	if it == nil {
		return Distributor{}, ErrUnknown
	}
	return decodeDistributor(it)
}

// Distributors returns all distributors, the newest first.
func (s *Store) Distributors(ctx context.Context) ([]Distributor, error) {
	all, err := listIndexed(ctx, s, distributorsPartition, distributorKey, decodeDistributor)
	if err != nil {
		return nil, fmt.Errorf("list distributors: %w", err)
	}
	slices.SortFunc(all, func(a, b Distributor) int {
		return compareNewest(a.CreatedAt, b.CreatedAt, a.AccessKey, b.AccessKey)
	})
	return all, nil
}

// SetDisabled switches a distributor, and with it all its keys, off or on.
func (s *Store) SetDisabled(ctx context.Context, accessKey string, disabled bool) error {
	var c change
	c.Set("disabled", attr.Bool(disabled))
	return s.changeDistributor(ctx, accessKey, &c)
}

// SetGrants replaces the grants of a distributor; nil grants all there are.
func (s *Store) SetGrants(ctx context.Context, accessKey string, grants []string) error {
	if err := checkGrants(grants); err != nil {
		return err
	}
	var c change
	if grants == nil {
		c.Set("grants", nil)
	} else {
		c.Set("grants", jsonText(grants))
	}
	return s.changeDistributor(ctx, accessKey, &c)
}

// Limits are the operator's bounds of a distributor; nil leaves one as it is.
type Limits struct {
	MaxSubKeys    *int64
	MaxTotalQuota *int64
	WSConnLimit   *int64
	WSSubLimit    *int64
}

// SetLimits changes the bounds of a distributor. Sub-keys that exist beyond a
// lower bound stay; what they use together is bounded at once.
func (s *Store) SetLimits(ctx context.Context, accessKey string, limits Limits) error {
	numbers := []number{
		{"max_sub_keys", limits.MaxSubKeys, 0, maxSubKeys},
		{"max_total_quota", limits.MaxTotalQuota, 0, maxQuota},
		{"ws_conn_limit", limits.WSConnLimit, 0, maxCount},
		{"ws_sub_limit", limits.WSSubLimit, 0, maxCount},
	}
	if err := checkNumbers(numbers...); err != nil {
		return err
	}
	var c change
	for _, n := range numbers {
		if n.value != nil {
			c.Set(n.parameter, attr.N(*n.value))
		}
	}
	if len(c.set) == 0 {
		return invalid("at least one of max_sub_keys, max_total_quota, ws_conn_limit and ws_sub_limit must be given")
	}
	return s.changeDistributor(ctx, accessKey, &c)
}

func (s *Store) changeDistributor(ctx context.Context, accessKey string, c *change) error {
	if !isAccessKey(accessKey) {
		return ErrUnknown
	}
	done, err := s.update(ctx, c.update(s.table, distributorKey(accessKey)))
	switch {
	case err != nil:
		return fmt.Errorf("change distributor: %w", err)
	case !done:
		return ErrUnknown
	}
	return nil
}

func decodeDistributor(it item) (Distributor, error) {
	f := fieldsOf(it)
	d := Distributor{
		Preset: f.preset(), AccessKey: strings.TrimPrefix(f.Text("pk"), partition("")),
		SubKeyCount: f.Int("sub_key_count"), AllocatedQuota: f.Int("allocated"),
		Disabled: f.Bool("disabled"), CreatedAt: f.millis("created_at"),
	}
	return d, f.Err
}

func checkGrants(grants []string) error {
	known := catalog.Grants()
	var unknown []string
	for _, g := range grants {
		if !slices.Contains(known, g) {
			unknown = append(unknown, g)
		}
	}
	if len(unknown) > 0 {
		return invalid("grants holds unknown names: %s", quoteList(unknown))
	}
	return nil
}

// jsonText stores a value as JSON in one string: it is read back whole or not
// at all, and its text is the key under which its decoded form is remembered.
func jsonText(v any) types.AttributeValue {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only lists of strings and structs of them come here
	}
	return attr.S(string(b))
}
