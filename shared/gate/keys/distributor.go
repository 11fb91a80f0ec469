package keys

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
	"quotary/shared/catalog"
)

// Distributor is a reseller without its secret.
type Distributor struct {
	Preset
	AccessKey      string
	SubKeyCount    int64 // existing sub-keys
	ActiveSubKeys  int64 // those of them that are active
	AllocatedQuota int64 // sum of the monthly quotas of the existing sub-keys
	Disabled       bool
	CreatedAt      time.Time
}

// account is a distributor with what only this package needs to know of it.
type account struct {
	Distributor
	version  int64       // of the list of its sub-keys: goes up with each change of a row
	unlisted []batchMark // batches whose changes the list may not show yet
}

// AvailableQuota is what is left to allocate, in requests per month. It is
// negative when more is allocated than max_total_quota.
func (d *Distributor) AvailableQuota() int64 { return d.MaxTotalQuota - d.AllocatedQuota }

// Distributor reads a distributor by its primary access key. Its figures hold all
// changes that were answered.
func (s *Store) Distributor(ctx context.Context, accessKey string) (Distributor, error) {
	a, err := s.account(ctx, accessKey)
	return a.Distributor, err
}

// account reads a distributor whose list shows all changes that were answered.
func (s *Store) account(ctx context.Context, accessKey string) (account, error) {
	a, err := s.readAccount(ctx, accessKey)
	if err != nil || len(a.unlisted) == 0 {
		return a, err
	}
	for _, m := range a.unlisted {
		if err := s.list(ctx, accessKey, m, s.now().Sub(m.At) > abandoned); err != nil {
			return account{}, fmt.Errorf("read distributor: %w", err)
		}
	}
	return s.readAccount(ctx, accessKey)
}

func (s *Store) readAccount(ctx context.Context, accessKey string) (account, error) {
	if !isAccessKey(accessKey) {
		return account{}, ErrUnknown
	}
	it, err := s.read(ctx, distributorKey(accessKey))
	if err != nil {
		return account{}, fmt.Errorf("read distributor: %w", err)
	}
	if it == nil {
		return account{}, ErrUnknown
	}
	d, err := decodeDistributor(it)
	f := fieldsOf(it)
	a := account{d, f.Int("list_version"), f.batchMarks()}
	return a, errors.Join(err, f.Err)
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
	return changed(s.changeDistributor(ctx, accessKey, item{"disabled": attr.Bool(disabled)}, nil))
}

// SetGrants replaces the grants of a distributor; nil grants all there are.
func (s *Store) SetGrants(ctx context.Context, accessKey string, grants []string) error {
	grants, err := checkGrants(grants)
	if err != nil {
		return err
	}
	settings := item{"grants": nil}
	if grants != nil {
		settings["grants"] = jsonText(grants)
	}
	return changed(s.changeDistributor(ctx, accessKey, settings, nil))
}

func changed(done bool, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("change distributor: %w", err)
	case !done:
		return ErrUnknown
	}
	return nil
}

// Limits are the operator's bounds of a distributor; nil leaves one as it is.
type Limits struct {
	MaxSubKeys    *int64
	MaxTotalQuota *int64
	RateLimit     *int64
	WSConnLimit   *int64
	WSSubLimit    *int64
}

// SetLimits changes the bounds of a distributor. Sub-keys that exist beyond a
// lower bound stay; what they use together is bounded at once.
func (s *Store) SetLimits(ctx context.Context, accessKey string, limits Limits) error {
	numbers := []number{
		{"max_sub_keys", limits.MaxSubKeys, 0, maxSubKeys},
		{"max_total_quota", limits.MaxTotalQuota, 0, maxQuota},
		{"rate_limit", limits.RateLimit, 0, maxCount},
		{"ws_conn_limit", limits.WSConnLimit, 0, maxCount},
		{"ws_sub_limit", limits.WSSubLimit, 0, maxCount},
	}
	if err := errors.Join(checkTotalRate(limits.RateLimit), checkNumbers(numbers...)); err != nil {
		return err
	}
	settings := item{}
	var names []string
	for _, n := range numbers {
		names = append(names, n.parameter)
		if n.value != nil {
			settings[n.parameter] = attr.N(*n.value)
		}
	}
	if len(settings) == 0 {
		return invalid("at least one of %s must be given", strings.Join(names, ", "))
	}
	return s.retry(ctx, func() error {
		d, err := s.readAccount(ctx, accessKey)
		if err != nil {
			return err
		}
		set, seen := maps.Clone(settings), item{}
		for name, before := range map[string]int64{"ws_conn_limit": d.WSConnLimit, "ws_sub_limit": d.WSSubLimit} {
			limit := set[name]
			if limit == nil {
				continue
			}
			seen[name] = attr.N(before)
			if before == 0 && attr.Int(set, name) > 0 {
				set[sinceOf[name]] = attr.N(s.now().UnixMilli())
			}
		}
		done, err := s.changeDistributor(ctx, accessKey, set, seen)
		if err == nil && !done {
			return errStale // it is gone, or has other limits
		}
		return changed(done, err)
	})
}

func decodeDistributor(it item) (Distributor, error) {
	f := fieldsOf(it)
	d := Distributor{
		Preset: f.preset(), AccessKey: strings.TrimPrefix(f.Text("pk"), distributorPrefix),
		SubKeyCount: f.Int("sub_key_count"), ActiveSubKeys: f.Int("active_count"), AllocatedQuota: f.Int("allocated"),
		Disabled: f.Bool("disabled"), CreatedAt: f.millis("created_at"),
	}
	return d, f.Err
}

// checkGrants returns the names without repetitions: with all there are, a head is one
// unit to read.
func checkGrants(grants []string) ([]string, error) {
	known := catalog.Grants()
	var once, unknown []string
	for _, g := range grants {
		switch {
		case !slices.Contains(known, g):
			unknown = append(unknown, g)
		case !slices.Contains(once, g):
			once = append(once, g)
		}
	}
	if len(unknown) > 0 {
		return nil, invalid("grants holds unknown names: %s", quoteList(unknown, maxQuoted))
	}
	if grants != nil && once == nil {
		return []string{}, nil
	}
	return once, nil
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
