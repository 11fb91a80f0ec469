package keys

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/catalog"
	"quotary/shared/testing/awsrules"
	"quotary/shared/testing/must"
)

// resolve reads a principal that must exist.
func (b *bed) resolve(accessKey string) Principal {
	b.t.Helper()
	return must.Get(b.Resolve(b.t.Context(), accessKey))(b.t)
}

func TestASubKeyResolvesToAllThatDecidesAboutARequest(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	must.Do(t, b.PutLevel(t.Context(), d, "silver", LevelSettings{
		MaxTimeRange: 86400, MaxRequest: 9, RateLimit: 60,
		Permissions: []Permission{{ResourceType: "perpdex", Actions: []string{"HL_TICKERS", "HL_INFO_META"}}},
	}))
	k, secret := b.subKey(d, NewSubKey{
		Level: "silver", MonthlyQuota: ptr(int64(7)), RateLimit: 6, MaxTimeRange: 3600, WSConnLimit: 3, WSSubLimit: 30, ExpiresIn: 60,
	})
	p := b.resolve(k.AccessKey)
	if p.Secret != secret {
		t.Error("another secret than at creation")
	}
	level := p.Level
	p.Secret, p.Level = "", nil
	want := Principal{
		AccessKey: k.AccessKey, Distributor: d, ExpiresAt: k.ExpiresAt, MonthlyQuota: 7, RateLimit: 6, MaxTimeRange: 3600,
		WSConnLimit: 3, WSSubLimit: 30, LevelName: "silver", MaxTotalQuota: 10_000, DistributorWSConnLimit: 5, DistributorWSSubLimit: 50,
	}
	if p.Grants.names != nil {
		t.Errorf("got grants %v, want all", p.Grants)
	}
	if p.Grants = (Grants{}); !equalPrincipals(p, want) {
		t.Errorf("got  %+v\nwant %+v", p, want)
	}
	if level == nil || level.MaxTimeRange != 86400 || level.RateLimit != 60 || level.Empty() {
		t.Fatalf("got level %+v", level)
	}
	for action, permitted := range map[string]bool{"HL_TICKERS": true, "HL_FILLS": false, "HL_INFO_META": false, "HL_INFO": false, "": false} {
		if level.Permits(action) != permitted {
			t.Errorf("Permits(%q) is %t", action, !permitted)
		}
	}
}

func equalPrincipals(a, b Principal) bool {
	a.Grants, b.Grants = Grants{}, Grants{}
	return a.AccessKey == b.AccessKey && a.Distributor == b.Distributor && a.Primary == b.Primary && a.Disabled == b.Disabled &&
		a.ExpiresAt.Equal(b.ExpiresAt) && a.MonthlyQuota == b.MonthlyQuota && a.RateLimit == b.RateLimit && a.MaxTimeRange == b.MaxTimeRange &&
		a.WSConnLimit == b.WSConnLimit && a.WSSubLimit == b.WSSubLimit && a.LevelName == b.LevelName &&
		a.DistributorDisabled == b.DistributorDisabled && a.DistributorRateLimit == b.DistributorRateLimit && a.MaxTotalQuota == b.MaxTotalQuota &&
		a.DistributorWSConnLimit == b.DistributorWSConnLimit && a.DistributorWSSubLimit == b.DistributorWSSubLimit
}

func TestAPrimaryKeyResolves(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	r := b.distributor()
	p := b.resolve(r.AccessKey)
	if !p.Primary || p.Distributor != r.AccessKey || p.Secret != r.Secret || p.Level != nil || p.Disabled || p.DistributorDisabled {
		t.Errorf("got %+v", p)
	}
}

func TestUnknownKeysDoNotResolve(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.distributor()
	for name, accessKey := range map[string]string{
		"unknown": newAccessKey(), "empty": "", "short": "abc", "upper case": strings.ToUpper("ab" + newAccessKey()[2:]),
		"not hexadecimal": strings.Repeat("g", 32), "hostile": strings.Repeat("#", 32),
	} {
		b.reads()
		if _, err := b.Resolve(t.Context(), accessKey); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: got %v, want ErrUnknown", name, err)
		}
		wantGets := int64(0)
		if name == "unknown" {
			wantGets = 1
		}
		if gets, batches := b.reads(); gets != wantGets || batches != 0 {
			t.Errorf("%s: %d gets and %d batches, want %d and 0", name, gets, batches, wantGets)
		}
	}
}

// TestAResolveReadsTwoUnits counts by DynamoDB's rules what a request costs of keys.
func TestAResolveReadsTwoUnits(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	r := b.distributor()
	b.level(r.AccessKey, "gold", catalog.Actions()...)
	k, _ := b.subKey(r.AccessKey, NewSubKey{Name: strings.Repeat("n", 64)})
	rules := awsrules.New(t)
	s := New(rules.DynamoDB(b.db), b.table, b.ring, b.now)
	resolve := func(what, accessKey string, units float64, calls map[string]int) {
		t.Helper()
		rules.Take()
		must.Get(s.Resolve(t.Context(), accessKey))(t)
		if c := rules.Take(); c.Reads != units || c.Writes != 0 || !maps.Equal(c.Calls, calls) {
			t.Errorf("%s: %v units by %v, want %v by %v", what, c.Reads, c.Calls, units, calls)
		}
	}
	level := (len(strings.Join(catalog.Actions(), `","`)) + 4096) / 4096
	resolve("a sub-key that is new to the function", k.AccessKey, float64(2+level), map[string]int{"GetItem": 2, "BatchGetItem": 1})
	resolve("a sub-key", k.AccessKey, 2, map[string]int{"BatchGetItem": 1})
	resolve("a primary key that is new to the function", r.AccessKey, 2, map[string]int{"GetItem": 2})
	resolve("a primary key", r.AccessKey, 2, map[string]int{"BatchGetItem": 1})
	b.level(r.AccessKey, "gold", "HL_TICKERS")
	resolve("after a change of a level", k.AccessKey, 3, map[string]int{"BatchGetItem": 2})
	resolve("and again", k.AccessKey, 2, map[string]int{"BatchGetItem": 1})
}

// TestAHeadIsOneUnit holds what a request reads of its distributor to 4 KB.
func TestAHeadIsOneUnit(t *testing.T) {
	t.Parallel()
	all := catalog.Grants()
	grants := must.Get(checkGrants(append(all, all...)))(t)
	head := headOf(&Preset{MaxTotalQuota: maxQuota, RateLimit: maxCount, WSConnLimit: maxCount, WSSubLimit: maxCount, Grants: grants})
	size := 200 // of the keys, and what a head has beside
	for name, value := range head {
		size += len(name) + 20
		if text, ok := value.(*types.AttributeValueMemberS); ok {
			size += len(text.Value)
		}
	}
	if size > 4096 {
		t.Errorf("a head has up to %d bytes", size)
	}
}

func TestEveryChangeIsInForceOnTheNextRequest(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	b.level(d, "gold", "HL_FILLS")
	k, _ := b.subKey(d, NewSubKey{MonthlyQuota: ptr(int64(7))})
	warm := b.resolve(k.AccessKey)
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check := func(what string, ok func(Principal) bool) {
		t.Helper()
		if !ok(b.resolve(k.AccessKey)) {
			t.Errorf("%s is not in force on the next request", what)
		}
	}
	change := func(c SubKeyChange) {
		t.Helper()
		c.AccessKey = k.AccessKey
		do(b.UpdateSubKey(t.Context(), d, c))
	}

	do(b.SetActive(t.Context(), d, []string{k.AccessKey}, false))
	check("disabling", func(p Principal) bool { return p.Disabled })
	do(b.SetActive(t.Context(), d, []string{k.AccessKey}, true))
	check("enabling", func(p Principal) bool { return !p.Disabled })
	secret, err := b.ResetSecret(t.Context(), d, k.AccessKey)
	do(err)
	check("a new secret", func(p Principal) bool { return p.Secret == secret && p.Secret != warm.Secret })
	change(SubKeyChange{MonthlyQuota: ptr(int64(8)), RateLimit: ptr(int64(9)), MaxTimeRange: ptr(int64(10)), WSConnLimit: ptr(int64(1)), WSSubLimit: ptr(int64(2))})
	check("a limit", func(p Principal) bool {
		return p.MonthlyQuota == 8 && p.RateLimit == 9 && p.MaxTimeRange == 10 && p.WSConnLimit == 1 && p.WSSubLimit == 2
	})
	change(SubKeyChange{ExpiresIn: ptr(int64(5))})
	check("an expiry", func(p Principal) bool { return p.ExpiresAt.Equal(b.now().Add(5 * time.Second)) })
	change(SubKeyChange{ExpiresIn: ptr(int64(0))})
	check("no expiry", func(p Principal) bool { return p.ExpiresAt.IsZero() })
	b.level(d, "gold", "HL_TICKERS")
	check("a changed level", func(p Principal) bool { return p.Level.Permits("HL_TICKERS") && !p.Level.Permits("HL_FILLS") })
	do(b.PutLevel(t.Context(), d, "gold", LevelSettings{RateLimit: 77}))
	check("a level's limit", func(p Principal) bool { return p.Level.RateLimit == 77 && p.Level.Empty() })
	do(b.DeleteLevel(t.Context(), d, "gold"))
	check("a deleted level", func(p Principal) bool { return p.Level == nil && !p.Level.Permits("HL_TICKERS") && p.Level.Empty() })
	b.level(d, "gold", "HL_FILLS")
	check("a level that is back", func(p Principal) bool { return p.Level.Permits("HL_FILLS") })
	do(b.SetDisabled(t.Context(), d, true))
	check("disabling the distributor", func(p Principal) bool { return p.DistributorDisabled && !p.Disabled })
	do(b.SetDisabled(t.Context(), d, false))
	check("enabling the distributor", func(p Principal) bool { return !p.DistributorDisabled })
	do(b.SetGrants(t.Context(), d, []string{"futures:FUNDING_RATE_HISTORY"}))
	check("fewer grants", func(p Principal) bool {
		return p.Grants.Has("futures:FUNDING_RATE_HISTORY") && !p.Grants.Has("coin_treasury_COIN_TREASURY_ENTITIES")
	})
	do(b.SetGrants(t.Context(), d, []string{}))
	check("no grant", func(p Principal) bool { return !p.Grants.Has("futures:FUNDING_RATE_HISTORY") })
	do(b.SetGrants(t.Context(), d, nil))
	check("all grants", func(p Principal) bool { return p.Grants.Has("coin_treasury_COIN_TREASURY_ENTITIES") })
	do(b.SetLimits(t.Context(), d, Limits{MaxTotalQuota: ptr(int64(1)), RateLimit: ptr(int64(90)), WSConnLimit: ptr(int64(2)), WSSubLimit: ptr(int64(3))}))
	check("the distributor's limits", func(p Principal) bool {
		return p.MaxTotalQuota == 1 && p.DistributorRateLimit == 90 && p.DistributorWSConnLimit == 2 && p.DistributorWSSubLimit == 3
	})
	// Another instance deletes: this one still remembers where the key was.
	do(b.fresh().DeleteSubKey(t.Context(), d, k.AccessKey))
	for range 2 {
		if _, err := b.Resolve(t.Context(), k.AccessKey); !errors.Is(err, ErrUnknown) {
			t.Errorf("a deleted key: got %v, want ErrUnknown", err)
		}
	}
}

func TestLookingUpPermissionsAllocatesNothing(t *testing.T) {
	b := newBed(t)
	d := b.distributor().AccessKey
	b.level(d, "gold", catalog.Actions()...)
	k, _ := b.subKey(d, NewSubKey{})
	p := b.resolve(k.AccessKey)
	if n := testing.AllocsPerRun(100, func() {
		if !p.Level.Permits("HL_FILLS") || p.Level.Permits("none") || !p.Grants.Has("x") {
			t.Error("wrong")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestOperatorChangesOfUnknownDistributorsFail(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	k, _ := b.subKey(d, NewSubKey{})
	for name, accessKey := range map[string]string{"unknown": newAccessKey(), "sub-key": k.AccessKey, "empty": "", "malformed": "d"} {
		_, read := b.Distributor(t.Context(), accessKey)
		for call, err := range map[string]error{
			"read":       read,
			"disable":    b.SetDisabled(t.Context(), accessKey, true),
			"set_grants": b.SetGrants(t.Context(), accessKey, nil),
			"set_limits": b.SetLimits(t.Context(), accessKey, Limits{MaxSubKeys: ptr(int64(1))}),
		} {
			if !errors.Is(err, ErrUnknown) {
				t.Errorf("%s of %s: got %v, want ErrUnknown", call, name, err)
			}
		}
	}
	wantInvalid(t, b.SetGrants(t.Context(), d, []string{"nope"}), "grants", "nope")
	wantInvalid(t, b.SetLimits(t.Context(), d, Limits{}), "at least one")
	wantInvalid(t, b.SetLimits(t.Context(), d, Limits{MaxSubKeys: ptr(int64(-1))}), "max_sub_keys")
}

func TestLowerBoundsLeaveWhatExists(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	for range 3 {
		b.subKey(d, NewSubKey{MonthlyQuota: ptr(int64(5))})
	}
	must.Do(t, b.SetLimits(t.Context(), d, Limits{MaxSubKeys: ptr(int64(2)), MaxTotalQuota: ptr(int64(10))}))
	b.wantSums(d, 3, 15)
	got, err := b.Distributor(t.Context(), d)
	if err != nil || got.AvailableQuota() != -5 {
		t.Errorf("got %d available and error %v, want -5", got.AvailableQuota(), err)
	}
	_, _, err = b.CreateSubKey(t.Context(), d, NewSubKey{Name: "n", MonthlyQuota: ptr(int64(1))})
	wantInvalid(t, err, "max_sub_keys")
}
