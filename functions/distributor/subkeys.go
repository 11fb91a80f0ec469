package main

import (
	"cmp"
	"context"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/gate/keys"
)

func (m *management) createSubKey(ctx context.Context, distributor string, in catalog.CreateSubKeyIn) (catalog.CreatedSubKey, error) {
	k, secret, err := m.keys.CreateSubKey(ctx, distributor, keys.NewSubKey(in))
	api.SetMessage(ctx, "the sub-key is created: keep the secret_key, only a reset gives a new one")
	return catalog.CreatedSubKey{
		AccessKey: k.AccessKey, SecretKey: string(secret), Name: k.Name, Level: k.Level,
		CreatedAt: catalog.Timestamp(k.CreatedAt), ExpiresAt: catalog.TimestampOrNull(k.ExpiresAt),
	}, err
}

func (m *management) listSubKeys(ctx context.Context, distributor string, in catalog.ListSubKeysIn) (catalog.SubKeyPage, error) {
	page, total, err := m.keys.SubKeys(ctx, distributor, keys.Filter{Status: in.Status, Keyword: in.Keyword}, (in.Page-1)*in.PageSize, in.PageSize)
	if err != nil {
		return catalog.SubKeyPage{}, err
	}
	accessKeys := make([]string, len(page))
	for i := range page {
		accessKeys[i] = page[i].AccessKey
	}
	used, err := m.usage.Keys(ctx, accessKeys, api.Now(ctx))
	if err != nil {
		return catalog.SubKeyPage{}, err
	}
	list := make([]catalog.SubKey, len(page))
	for i := range page {
		list[i] = wire(&page[i], used)
	}
	return catalog.SubKeyPage{List: list, Total: total, Page: in.Page, PageSize: in.PageSize}, nil
}

func (m *management) getSubKey(ctx context.Context, distributor string, in catalog.SubKeyIn) (catalog.SubKeyDetail, error) {
	k, metadata, err := m.keys.SubKey(ctx, distributor, in.AccessKey)
	if err != nil {
		return catalog.SubKeyDetail{}, err
	}
	used, err := m.usage.Keys(ctx, []string{in.AccessKey}, api.Now(ctx))
	return catalog.SubKeyDetail{SubKey: wire(&k, used), Metadata: metadata, UpdatedAt: catalog.Timestamp(k.UpdatedAt)}, err
}

func (m *management) updateSubKey(ctx context.Context, distributor string, in catalog.UpdateSubKeyIn) (catalog.None, error) {
	api.SetMessage(ctx, "the sub-key is updated, in force on its next request")
	return catalog.None{}, m.keys.UpdateSubKey(ctx, distributor, keys.SubKeyChange(in))
}

func (m *management) deleteSubKey(ctx context.Context, distributor string, in catalog.SubKeyIn) (catalog.None, error) {
	api.SetMessage(ctx, "the sub-key is deleted and its monthly_quota is available again")
	return catalog.None{}, m.keys.DeleteSubKey(ctx, distributor, in.AccessKey)
}

func (m *management) enable(ctx context.Context, distributor string, in catalog.SubKeyIn) (catalog.None, error) {
	api.SetMessage(ctx, "the sub-key is enabled")
	return m.setStatus(ctx, distributor, in.AccessKey, 1)
}

func (m *management) disable(ctx context.Context, distributor string, in catalog.SubKeyIn) (catalog.None, error) {
	api.SetMessage(ctx, "the sub-key is disabled: its next request is refused")
	return m.setStatus(ctx, distributor, in.AccessKey, 0)
}

func (m *management) setStatus(ctx context.Context, distributor, accessKey string, status int64) (catalog.None, error) {
	return catalog.None{}, m.keys.UpdateSubKey(ctx, distributor, keys.SubKeyChange{AccessKey: accessKey, Status: &status})
}

func (m *management) resetSecret(ctx context.Context, distributor string, in catalog.SubKeyIn) (catalog.NewSecret, error) {
	secret, err := m.keys.ResetSecret(ctx, distributor, in.AccessKey)
	api.SetMessage(ctx, "the sub-key has a new secret_key: the old one is invalid from now on")
	return catalog.NewSecret{AccessKey: in.AccessKey, SecretKey: string(secret)}, err
}

func (m *management) batchEnable(ctx context.Context, distributor string, in catalog.BatchKeysIn) (catalog.None, error) {
	api.SetMessage(ctx, "the sub-keys are enabled")
	return catalog.None{}, m.keys.SetActive(ctx, distributor, in.AccessKeys, true)
}

func (m *management) batchDisable(ctx context.Context, distributor string, in catalog.BatchKeysIn) (catalog.None, error) {
	api.SetMessage(ctx, "the sub-keys are disabled: their next requests are refused")
	return catalog.None{}, m.keys.SetActive(ctx, distributor, in.AccessKeys, false)
}

func (m *management) subKeyStats(ctx context.Context, distributor string, _ catalog.None) (catalog.SubKeyStatistics, error) {
	d, err := m.keys.Distributor(ctx, distributor)
	if err != nil {
		return catalog.SubKeyStatistics{}, err
	}
	used, err := m.usage.Distributor(ctx, distributor, api.Now(ctx))
	return catalog.SubKeyStatistics{
		TotalSubKeys: d.SubKeyCount, ActiveSubKeys: d.ActiveSubKeys, DisabledSubKeys: d.SubKeyCount - d.ActiveSubKeys,
		TotalQuota: d.AllocatedQuota, UsedQuota: used, RemainingQuota: max(d.AllocatedQuota-used, 0),
	}, err
}

// exportPage is how many sub-keys one answer exports at most: what they used is half a unit
// each to read, and a request may read [catalog.MostReadUnits].
const exportPage = 8_000

func (m *management) export(ctx context.Context, distributor string, in catalog.ExportIn) (catalog.Export, error) {
	rows := catalog.Export{}
	ms, given := in.Cursor.Place() // given is how many of that time an earlier answer had
	from := time.Time{}
	if in.Cursor != "" {
		from = time.UnixMilli(ms)
	}
	of := int64(0) // rows of the last row's time
	most := cmp.Or(m.exportPage, exportPage)
	err := m.keys.EachRow(ctx, distributor, keys.Filter{Keyword: in.Keyword}, from, func(part []keys.Row) error {
		var page []keys.Row
		more := false
		for _, r := range part {
			at := r.CreatedAt.UnixMilli()
			if in.Cursor != "" && at == ms && given > 0 {
				given, of = given-1, of+1
				continue
			}
			if more = len(rows)+len(page) == most; more {
				api.SetNext(ctx, catalog.CursorAt(ms, of))
				break
			}
			if at != ms {
				ms, of = at, 0
			}
			of++
			page = append(page, r)
		}
		accessKeys := make([]string, len(page))
		for i := range page {
			accessKeys[i] = page[i].AccessKey
		}
		used, err := m.usage.Keys(ctx, accessKeys, api.Now(ctx))
		if err != nil {
			return err
		}
		for _, r := range page {
			rows = append(rows, catalog.ExportRow{
				AccessKey: r.AccessKey, Name: r.Name, Status: status(r.Active), MonthlyQuota: r.MonthlyQuota,
				UsedMonthlyQuota: used[r.AccessKey], CreatedAt: catalog.Timestamp(r.CreatedAt),
			})
		}
		if more {
			return keys.ErrEnough
		}
		return nil
	})
	if err == nil && in.Format == "csv" {
		var body []byte
		if body, err = csvOf(rows); err == nil {
			api.SetBody(ctx, "text/csv; charset=utf-8", body)
		}
	}
	return rows, err
}

func status(active bool) int64 {
	if active {
		return 1
	}
	return 0
}

func wire(k *keys.SubKey, used map[string]int64) catalog.SubKey {
	return catalog.SubKey{
		AccessKey: k.AccessKey, Name: k.Name, Level: k.Level, Status: status(k.Active),
		MonthlyQuota: k.MonthlyQuota, UsedMonthlyQuota: used[k.AccessKey],
		RateLimit: k.RateLimit, MaxTimeRange: k.MaxTimeRange, WSConnLimit: k.WSConnLimit, WSSubLimit: k.WSSubLimit,
		CreatedAt: catalog.Timestamp(k.CreatedAt), ExpiresAt: catalog.TimestampOrNull(k.ExpiresAt),
	}
}
