package keys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/attr"
)

// Filter selects sub-keys.
type Filter struct {
	Status  *int64 // 1 active, 0 disabled, nil either
	Keyword string // part of the name or start of the access key, in any case
}

// SubKeys returns the selected sub-keys of a distributor, the newest first.
func (s *Store) SubKeys(ctx context.Context, distributor string, filter Filter) ([]SubKey, error) {
	items, err := s.query(ctx, partition(distributor), subPrefix, listed)
	if err != nil {
		return nil, fmt.Errorf("list sub-keys: %w", err)
	}
	keyword := strings.ToLower(filter.Keyword)
	out := make([]SubKey, 0, len(items))
	for _, it := range items {
		f := fieldsOf(it)
		k := f.subKey()
		if f.Err != nil {
			return nil, fmt.Errorf("list sub-keys: %w", f.Err)
		}
		if filter.Status != nil && k.Active != (*filter.Status == 1) {
			continue
		}
		if strings.Contains(strings.ToLower(k.Name), keyword) || strings.HasPrefix(k.AccessKey, keyword) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b SubKey) int {
		return compareNewest(a.CreatedAt, b.CreatedAt, a.AccessKey, b.AccessKey)
	})
	return out, nil
}

// listed leaves out the sealed secret.
var listed = only("sk", "name", "level", "status", "monthly_quota", "rate_limit", "max_time_range",
	"ws_conn_limit", "ws_sub_limit", "created_at", "updated_at", "expires_at")

// maxBatch is the most sub-keys that one transaction can change.
const maxBatch = 100

// SetActive enables or disables sub-keys: all of them, or none when one is not
// the distributor's. Naming one twice is as good as once.
func (s *Store) SetActive(ctx context.Context, distributor string, accessKeys []string, active bool) error {
	if n := len(accessKeys); n < 1 || n > maxBatch {
		return invalid("access_keys must name 1 to %d sub-keys, not %d", maxBatch, n)
	}
	status := int64(0)
	if active {
		status = 1
	}
	var writes []types.TransactWriteItem
	var named, unknown []string
	for _, accessKey := range accessKeys {
		switch {
		case slices.Contains(named, accessKey) || slices.Contains(unknown, accessKey):
		case !isAccessKey(accessKey):
			unknown = append(unknown, accessKey)
		default:
			var c change
			c.Set("status", attr.N(status))
			c.Set("updated_at", attr.N(s.now().UnixMilli()))
			named = append(named, accessKey)
			writes = append(writes, types.TransactWriteItem{Update: c.update(s.table, subKeyKey(distributor, accessKey))})
		}
	}
	if len(unknown) > 0 {
		// Nothing will be written: the rest is looked up to name all that is unknown.
		missing, err := s.missing(ctx, distributor, named)
		if err != nil {
			return fmt.Errorf("change sub-keys: %w", err)
		}
		return unknownKeys(append(unknown, missing...))
	}

	err := s.retry(ctx, func() error { return s.transact(ctx, writes...) })
	var failed *unmetError
	switch {
	case errors.As(err, &failed):
		// Not every engine reports each condition that failed.
		missing, err := s.missing(ctx, distributor, named)
		if err != nil {
			return fmt.Errorf("change sub-keys: %w", err)
		}
		if len(missing) == 0 { // one that was deleted has been made again
			return ErrBusy
		}
		return unknownKeys(missing)
	case err != nil && !isInput(err):
		return fmt.Errorf("change sub-keys: %w", err)
	}
	return err
}

func unknownKeys(accessKeys []string) error {
	return invalid("access_keys names unknown sub-keys, so nothing was changed: %s", quoteList(accessKeys))
}

// missing returns those access keys that are no sub-keys of the distributor.
func (s *Store) missing(ctx context.Context, distributor string, accessKeys []string) ([]string, error) {
	if len(accessKeys) == 0 {
		return nil, nil
	}
	keys := make([]item, len(accessKeys))
	for i, accessKey := range accessKeys {
		keys[i] = subKeyKey(distributor, accessKey)
	}
	items, err := s.readAll(ctx, keys, only("sk"))
	if err != nil {
		return nil, err
	}
	found := make(map[string]bool, len(items))
	for _, it := range items {
		f := fieldsOf(it)
		found[strings.TrimPrefix(f.Text("sk"), subPrefix)] = true
	}
	return slices.DeleteFunc(slices.Clone(accessKeys), func(k string) bool { return found[k] }), nil
}
