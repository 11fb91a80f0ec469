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
	"pgregory.net/rapid"
)

func TestASubKeyIsReadAsItWasCreated(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	created, secret := b.subKey(d, NewSubKey{
		Name: "Zoë's bot", Level: "silver", MonthlyQuota: ptr(int64(7)), RateLimit: 6, MaxTimeRange: 3600,
		WSConnLimit: 5, WSSubLimit: 50, ExpiresIn: 60, Metadata: `{"plan":"pro"}`,
	})
	if !isAccessKey(created.AccessKey) || !isAccessKey(string(secret)) {
		t.Errorf("got access key %q and a secret of %d characters", created.AccessKey, len(secret))
	}
	now := b.now().UTC()
	want := SubKey{
		AccessKey: created.AccessKey, Name: "Zoë's bot", Level: "silver", Active: true, MonthlyQuota: 7, RateLimit: 6,
		MaxTimeRange: 3600, WSConnLimit: 5, WSSubLimit: 50, CreatedAt: now, UpdatedAt: now, ExpiresAt: now.Add(time.Minute),
	}
	got, metadata, err := b.SubKey(t.Context(), d, created.AccessKey)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, sub-key (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff(want, created); diff != "" {
		t.Errorf("answer to creation (-want +got):\n%s", diff)
	}
	if metadata != `{"plan":"pro"}` {
		t.Errorf("got metadata %s", metadata)
	}
}

func TestWhatACreationLeavesOutIsDefaulted(t *testing.T) {
	t.Parallel()
	capped := func(p *Preset) { p.MaxTotalQuota = 10_000 }
	uncapped := func(p *Preset) { p.MaxTotalQuota = 0 }
	for name, c := range map[string]struct {
		preset func(*Preset)
		before []int64 // quotas of sub-keys that exist already
		in     NewSubKey
		level  string
		quota  int64
	}{
		"level is the distributor's":           {capped, nil, NewSubKey{MonthlyQuota: ptr(int64(1))}, "gold", 1},
		"level given":                          {capped, nil, NewSubKey{Level: "mine", MonthlyQuota: ptr(int64(1))}, "mine", 1},
		"quota is what is available, all":      {capped, nil, NewSubKey{}, "gold", 10_000},
		"quota is what is available, the rest": {capped, []int64{2_500, 4_000}, NewSubKey{}, "gold", 3_500},
		"quota is 1000 without a total cap":    {uncapped, []int64{5_000_000}, NewSubKey{}, "gold", 1000},
		"quota given beyond what is available": {capped, []int64{9_999}, NewSubKey{MonthlyQuota: ptr(int64(500))}, "gold", 500},
		"quota given beyond the cap":           {capped, nil, NewSubKey{MonthlyQuota: ptr(int64(20_000))}, "gold", 20_000},
		"quota given without a total cap":      {uncapped, nil, NewSubKey{MonthlyQuota: ptr(int64(3))}, "gold", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			d := b.distributor(c.preset).AccessKey
			for _, quota := range c.before {
				b.subKey(d, NewSubKey{MonthlyQuota: &quota})
			}
			k, _ := b.subKey(d, c.in)
			if k.Level != c.level || k.MonthlyQuota != c.quota || !k.ExpiresAt.IsZero() || k.WSConnLimit != 0 {
				t.Errorf("got %+v, want level %s and quota %d", k, c.level, c.quota)
			}
		})
	}
}

func TestAQuotaCannotDefaultToNothing(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	b.subKey(d, NewSubKey{})
	_, _, err := b.CreateSubKey(t.Context(), d, NewSubKey{Name: "n"})
	wantInvalid(t, err, "monthly_quota", "10000")
	b.subKey(d, NewSubKey{MonthlyQuota: ptr(int64(1))})
	_, _, err = b.CreateSubKey(t.Context(), d, NewSubKey{Name: "n"})
	wantInvalid(t, err, "monthly_quota")
}

func TestACreationThatCannotBeIsRefusedAndCountsNothing(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	for name, c := range map[string]struct {
		change    func(*NewSubKey)
		parameter string
	}{
		"no name":             {func(n *NewSubKey) { n.Name = "" }, "name"},
		"long name":           {func(n *NewSubKey) { n.Name = strings.Repeat("x", 65) }, "name"},
		"control character":   {func(n *NewSubKey) { n.Name = "a\x7f" }, "name"},
		"broken UTF-8":        {func(n *NewSubKey) { n.Name = "\xc3" }, "name"},
		"level":               {func(n *NewSubKey) { n.Level = "a b" }, "level"},
		"quota 0":             {func(n *NewSubKey) { n.MonthlyQuota = ptr(int64(0)) }, "monthly_quota"},
		"quota negative":      {func(n *NewSubKey) { n.MonthlyQuota = ptr(int64(-5)) }, "monthly_quota"},
		"quota huge":          {func(n *NewSubKey) { n.MonthlyQuota = ptr(int64(maxQuota + 1)) }, "monthly_quota"},
		"rate":                {func(n *NewSubKey) { n.RateLimit = -1 }, "rate_limit"},
		"span":                {func(n *NewSubKey) { n.MaxTimeRange = -1 }, "max_time_range"},
		"conns":               {func(n *NewSubKey) { n.WSConnLimit = -1 }, "ws_conn_limit"},
		"conns beyond cap":    {func(n *NewSubKey) { n.WSConnLimit = 6 }, "ws_conn_limit must be at most 5"},
		"subs":                {func(n *NewSubKey) { n.WSSubLimit = -1 }, "ws_sub_limit"},
		"subs beyond cap":     {func(n *NewSubKey) { n.WSSubLimit = 51 }, "ws_sub_limit must be at most 50"},
		"expiry":              {func(n *NewSubKey) { n.ExpiresIn = -1 }, "expires_in"},
		"expiry huge":         {func(n *NewSubKey) { n.ExpiresIn = maxSeconds + 1 }, "expires_in"},
		"metadata not JSON":   {func(n *NewSubKey) { n.Metadata = `{"a"` }, "metadata"},
		"metadata two values": {func(n *NewSubKey) { n.Metadata = `1 2` }, "metadata"},
		"metadata UTF-8":      {func(n *NewSubKey) { n.Metadata = "\"\xff\"" }, "metadata"},
		"metadata long":       {func(n *NewSubKey) { n.Metadata = `"` + strings.Repeat("x", 4095) + `"` }, "metadata"},
	} {
		t.Run(name, func(t *testing.T) {
			in := NewSubKey{Name: "n", MonthlyQuota: ptr(int64(1)), Metadata: `"` + strings.Repeat("x", 4094) + `"`}
			c.change(&in)
			_, _, err := b.CreateSubKey(t.Context(), d, in)
			wantInvalid(t, err, c.parameter)
		})
	}
	if got, err := b.Distributor(t.Context(), d); err != nil || got.SubKeyCount != 0 || got.AllocatedQuota != 0 {
		t.Errorf("got %+v and error %v, want nothing counted", got, err)
	}
}

func TestCapsOfZeroBoundNothing(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor(func(p *Preset) { p.WSConnLimit, p.WSSubLimit = 0, 0 }).AccessKey
	k, _ := b.subKey(d, NewSubKey{WSConnLimit: 1000, WSSubLimit: 100_000})
	if err := b.UpdateSubKey(t.Context(), d, SubKeyChange{AccessKey: k.AccessKey, WSConnLimit: ptr(int64(2000))}); err != nil {
		t.Error(err)
	}
}

func TestConcurrentCreationsNeverExceedMaxSubKeys(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor(func(p *Preset) { p.MaxSubKeys = 7 }).AccessKey
	errs := make([]error, 30)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			_, _, errs[i] = b.CreateSubKey(t.Context(), d, NewSubKey{Name: "n", MonthlyQuota: ptr(int64(10))})
		})
	}
	wg.Wait()
	created := 0
	for _, err := range errs {
		if err == nil {
			created++
			continue
		}
		wantInvalid(t, err, "max_sub_keys")
	}
	b.wantSums(d, 7, 70)
	if created != 7 {
		t.Errorf("%d creations succeeded, want 7", created)
	}
}

func TestConcurrentDefaultsShareWhatIsAvailableOnce(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	errs := make([]error, 10)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { _, _, errs[i] = b.CreateSubKey(t.Context(), d, NewSubKey{Name: "n"}) })
	}
	wg.Wait()
	created := 0
	for _, err := range errs {
		if err == nil {
			created++
			continue
		}
		wantInvalid(t, err, "monthly_quota")
	}
	if created != 1 {
		t.Errorf("%d creations took what was available once", created)
	}
	b.wantSums(d, 1, 10_000)
}

// wantSums checks the figures of the distributor, and that they are the sums
// over its sub-keys.
func (b *bed) wantSums(distributor string, count, allocated int64) {
	b.t.Helper()
	d, err := b.Distributor(b.t.Context(), distributor)
	if err != nil {
		b.t.Fatal(err)
	}
	list, err := b.SubKeys(b.t.Context(), distributor, Filter{})
	if err != nil {
		b.t.Fatal(err)
	}
	sum := int64(0)
	for _, k := range list {
		sum += k.MonthlyQuota
	}
	if d.SubKeyCount != count || int64(len(list)) != count {
		b.t.Errorf("the distributor counts %d sub-keys and lists %d, want %d", d.SubKeyCount, len(list), count)
	}
	if d.AllocatedQuota != allocated || sum != allocated {
		b.t.Errorf("the distributor has %d allocated, its sub-keys sum up to %d, want %d", d.AllocatedQuota, sum, allocated)
	}
}

func TestADeletedSubKeyGivesItsPlaceAndQuotaBack(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor(func(p *Preset) { p.MaxSubKeys = 1 }).AccessKey
	k, _ := b.subKey(d, NewSubKey{Metadata: `{}`})
	if err := b.DeleteSubKey(t.Context(), d, k.AccessKey); err != nil {
		t.Fatal(err)
	}
	b.wantSums(d, 0, 0)
	if _, _, err := b.SubKey(t.Context(), d, k.AccessKey); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
	out, err := b.db.Scan(t.Context(), &dynamodb.ScanInput{TableName: &b.table})
	if err != nil {
		t.Fatal(err)
	}
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
				if err != ErrUnknown {
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

func TestSumsHoldAfterAnySequenceOfChanges(t *testing.T) {
	b := newBed(t)
	rapid.Check(t, func(r *rapid.T) {
		limit := rapid.Int64Range(0, 3000).Draw(r, "max_total_quota")
		d := b.distributor(func(p *Preset) { p.MaxSubKeys, p.MaxTotalQuota = 5, limit }).AccessKey
		model := map[string]int64{} // access key -> quota
		total := func() (sum int64) {
			for _, quota := range model {
				sum += quota
			}
			return sum
		}
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			var known []string
			for _, k := range mustList(r, b, d) {
				known = append(known, k.AccessKey)
			}
			accessKey := newAccessKey()
			if len(known) > 0 {
				accessKey = rapid.SampledFrom(known).Draw(r, "sub-key")
			}
			quota := rapid.Int64Range(1, 2000).Draw(r, "quota")
			switch step := rapid.SampledFrom([]string{"create", "create", "default", "update", "delete", "status"}).Draw(r, "step"); step {
			case "create", "default":
				in := NewSubKey{Name: "n", MonthlyQuota: &quota}
				if step == "default" {
					in.MonthlyQuota = nil
					quota = limit - total()
					if limit == 0 {
						quota = 1000
					}
				}
				k, _, err := b.CreateSubKey(t.Context(), d, in)
				if wanted := len(model) < 5 && quota > 0; wanted != (err == nil) {
					r.Fatalf("%s of %d beside %d: got error %v", step, quota, len(model), err)
				}
				if err == nil {
					model[k.AccessKey] = quota
				}
			case "update":
				err := b.UpdateSubKey(t.Context(), d, SubKeyChange{AccessKey: accessKey, MonthlyQuota: &quota})
				if _, exists := model[accessKey]; exists != (err == nil) {
					r.Fatalf("update: got error %v", err)
				} else if exists {
					model[accessKey] = quota
				}
			case "delete":
				err := b.DeleteSubKey(t.Context(), d, accessKey)
				if _, exists := model[accessKey]; exists != (err == nil) {
					r.Fatalf("delete: got error %v", err)
				}
				delete(model, accessKey)
			case "status":
				err := b.SetActive(t.Context(), d, []string{accessKey}, false)
				if _, exists := model[accessKey]; exists != (err == nil) {
					r.Fatalf("disable: got error %v", err)
				}
			}
			got, err := b.Distributor(t.Context(), d)
			if err != nil {
				r.Fatal(err)
			}
			if got.SubKeyCount != int64(len(model)) || got.AllocatedQuota != total() || got.AvailableQuota() != limit-total() {
				r.Fatalf("the distributor counts %d sub-keys and %d allocated, want %d and %d", got.SubKeyCount, got.AllocatedQuota, len(model), total())
			}
		}
		for _, k := range mustList(r, b, d) {
			if model[k.AccessKey] != k.MonthlyQuota {
				r.Fatalf("a sub-key has the quota %d, want %d", k.MonthlyQuota, model[k.AccessKey])
			}
			delete(model, k.AccessKey)
		}
		if len(model) > 0 {
			r.Fatalf("%d sub-keys are not listed", len(model))
		}
	})
}

func mustList(r *rapid.T, b *bed, distributor string) []SubKey {
	list, err := b.SubKeys(b.t.Context(), distributor, Filter{})
	if err != nil {
		r.Fatal(err)
	}
	return list
}

func TestSumsHoldAfterConcurrentChanges(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	var keys []string
	for range 4 {
		k, _ := b.subKey(d, NewSubKey{MonthlyQuota: ptr(int64(100))})
		keys = append(keys, k.AccessKey)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 6 {
				accessKey := keys[(i+n)%4]
				switch {
				case i == 7 && n == 3:
					if err := b.DeleteSubKey(t.Context(), d, accessKey); err != nil {
						t.Error(err)
					}
				default:
					err := b.UpdateSubKey(t.Context(), d, SubKeyChange{AccessKey: accessKey, MonthlyQuota: ptr(int64(1 + i*10 + n))})
					if err != nil && !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrBusy) {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	list, err := b.SubKeys(t.Context(), d, Filter{})
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, k := range list {
		sum += k.MonthlyQuota
	}
	b.wantSums(d, 3, sum)
}
