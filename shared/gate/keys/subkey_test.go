package keys

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/testing/check"
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
	check.Equalf(t, want, created, "answer to creation")
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
