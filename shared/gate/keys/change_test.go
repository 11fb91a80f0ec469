package keys

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"quotary/shared/testing/must"
)

func TestAnUpdateChangesWhatIsPresentAndNothingElse(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	k, _ := b.subKey(d, NewSubKey{
		MonthlyQuota: ptr(int64(7)), RateLimit: 6, MaxTimeRange: 3600, WSConnLimit: 5, WSSubLimit: 50, ExpiresIn: 60, Metadata: `[1]`,
	})
	metadata := `[1]`
	b.move(time.Second)
	for _, c := range []struct {
		change SubKeyChange
		want   func(*SubKey)
	}{
		{SubKeyChange{}, func(*SubKey) {}},
		{SubKeyChange{Name: ptr("new")}, func(k *SubKey) { k.Name = "new" }},
		{SubKeyChange{Status: ptr(int64(0))}, func(k *SubKey) { k.Active = false }},
		{SubKeyChange{Status: ptr(int64(1))}, func(k *SubKey) { k.Active = true }},
		{SubKeyChange{MonthlyQuota: ptr(int64(70))}, func(k *SubKey) { k.MonthlyQuota = 70 }},
		{SubKeyChange{MonthlyQuota: ptr(int64(70))}, func(*SubKey) {}},
		{SubKeyChange{MonthlyQuota: ptr(int64(8))}, func(k *SubKey) { k.MonthlyQuota = 8 }},
		{SubKeyChange{RateLimit: ptr(int64(0))}, func(k *SubKey) { k.RateLimit = 0 }},
		{SubKeyChange{MaxTimeRange: ptr(int64(1))}, func(k *SubKey) { k.MaxTimeRange = 1 }},
		{SubKeyChange{WSConnLimit: ptr(int64(0)), WSSubLimit: ptr(int64(1))}, func(k *SubKey) { k.WSConnLimit, k.WSSubLimit = 0, 1 }},
		{SubKeyChange{ExpiresIn: ptr(int64(90))}, func(k *SubKey) { k.ExpiresAt = b.now().UTC().Add(90 * time.Second) }},
		{SubKeyChange{ExpiresIn: ptr(int64(0))}, func(k *SubKey) { k.ExpiresAt = time.Time{} }},
		{SubKeyChange{Metadata: ptr(`{"a":1}`)}, func(*SubKey) { metadata = `{"a":1}` }},
		{SubKeyChange{Metadata: ptr("")}, func(*SubKey) { metadata = "" }},
		{SubKeyChange{Metadata: ptr("null"), Name: ptr("n"), MonthlyQuota: ptr(int64(3))}, func(k *SubKey) { metadata, k.Name, k.MonthlyQuota = "null", "n", 3 }},
	} {
		b.move(time.Second)
		c.change.AccessKey = k.AccessKey
		if err := b.UpdateSubKey(t.Context(), d, c.change); err != nil {
			t.Fatalf("%+v: %v", c.change, err)
		}
		c.want(&k)
		k.UpdatedAt = b.now().UTC()
		got, text, err := b.SubKey(t.Context(), d, k.AccessKey)
		if diff := cmp.Diff(k, got); err != nil || diff != "" || text != metadata {
			t.Errorf("%+v: error %v, metadata %q instead of %q, sub-key (-want +got):\n%s", c.change, err, text, metadata, diff)
		}
		b.wantSums(d, 1, k.MonthlyQuota)
	}
}

func TestAnUpdateThatCannotBeIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	k, _ := b.subKey(d, NewSubKey{})
	for parameter, change := range map[string]SubKeyChange{
		"name":                            {Name: ptr("")},
		"status":                          {Status: ptr(int64(2))},
		"monthly_quota":                   {MonthlyQuota: ptr(int64(0))},
		"rate_limit":                      {RateLimit: ptr(int64(-1))},
		"max_time_range":                  {MaxTimeRange: ptr(int64(-1))},
		"ws_conn_limit must be at most 5": {WSConnLimit: ptr(int64(6))},
		"ws_sub_limit must be at most 50": {WSSubLimit: ptr(int64(51))},
		"expires_in":                      {ExpiresIn: ptr(int64(-1))},
		"metadata":                        {Metadata: ptr("{")},
	} {
		change.AccessKey = k.AccessKey
		wantInvalid(t, b.UpdateSubKey(t.Context(), d, change), parameter)
	}
	got, _, err := b.SubKey(t.Context(), d, k.AccessKey)
	if diff := cmp.Diff(k, got); err != nil || diff != "" {
		t.Errorf("error %v, sub-key (-want +got):\n%s", err, diff)
	}
}

func TestADeletedSubKeyGivesItsPlaceAndQuotaBack(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor(func(p *Preset) { p.MaxSubKeys = 1 }).AccessKey
	k, _ := b.subKey(d, NewSubKey{Metadata: `{}`})
	must.Do(t, b.DeleteSubKey(t.Context(), d, k.AccessKey))
	b.wantSums(d, 0, 0)
	if _, _, err := b.SubKey(t.Context(), d, k.AccessKey); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
	out := must.Get(b.db.Scan(t.Context(), &dynamodb.ScanInput{TableName: &b.table}))(t)
	for _, it := range out.Items {
		if text := fmt.Sprint(it["pk"], it["sk"]); strings.Contains(text, k.AccessKey) {
			t.Errorf("an item of the deleted sub-key is left: %s", text)
		}
	}
	b.subKey(d, NewSubKey{})
	b.wantSums(d, 1, 10_000)
}

func TestConcurrentDeletionsCountOnce(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	k, _ := b.subKey(d, NewSubKey{MonthlyQuota: ptr(int64(5))})
	b.subKey(d, NewSubKey{MonthlyQuota: ptr(int64(6))})
	errs := make([]error, 10)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = b.DeleteSubKey(t.Context(), d, k.AccessKey) })
	}
	wg.Wait()
	deleted := 0
	for _, err := range errs {
		if err == nil {
			deleted++
		} else if !errors.Is(err, ErrUnknown) {
			t.Error(err)
		}
	}
	if deleted != 1 {
		t.Errorf("%d deletions succeeded, want 1", deleted)
	}
	b.wantSums(d, 1, 6)
}

func TestSomeoneElsesSubKeyIsLikeAnUnknownOne(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d, other := b.distributor().AccessKey, b.distributor().AccessKey
	theirs, _ := b.subKey(other, NewSubKey{Metadata: `{}`})
	for name, accessKey := range map[string]string{
		"another distributor's": theirs.AccessKey, "unknown": newAccessKey(), "malformed": "x", "empty": "",
		"hostile": "a#b/../", "own primary key": d,
	} {
		t.Run(name, func(t *testing.T) {
			calls := map[string]error{}
			_, _, calls["detail"] = b.SubKey(t.Context(), d, accessKey)
			calls["update"] = b.UpdateSubKey(t.Context(), d, SubKeyChange{AccessKey: accessKey, Name: ptr("n")})
			calls["update quota"] = b.UpdateSubKey(t.Context(), d, SubKeyChange{AccessKey: accessKey, MonthlyQuota: ptr(int64(4))})
			calls["delete"] = b.DeleteSubKey(t.Context(), d, accessKey)
			_, calls["reset"] = b.ResetSecret(t.Context(), d, accessKey)
			for call, err := range calls {
				if !errors.Is(err, ErrUnknown) {
					t.Errorf("%s: got %v, want ErrUnknown", call, err)
				}
			}
			wantInvalid(t, b.SetActive(t.Context(), d, []string{accessKey}, false), "access_keys", fmt.Sprintf("%q", accessKey))
		})
	}
	b.wantSums(d, 0, 0)
	b.wantSums(other, 1, 10_000)
	got, _, err := b.SubKey(t.Context(), other, theirs.AccessKey)
	if diff := cmp.Diff(theirs, got); err != nil || diff != "" {
		t.Errorf("error %v, the other's sub-key (-want +got):\n%s", err, diff)
	}
}
