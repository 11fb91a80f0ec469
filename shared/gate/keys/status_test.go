package keys

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/shared/testing/must"
)

func TestTheStatusOfAKeyIsThatOfItsPrincipalAndNeedsNoRing(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	r := b.distributor(many)
	b.level(r.AccessKey, "gold", "HL_TICKERS")
	k, _ := b.subKey(r.AccessKey, NewSubKey{MonthlyQuota: ptr(int64(1)), ExpiresIn: 60})
	bare := b.with(nil)
	is := func(when string) Status {
		t.Helper()
		got := must.Get(bare.Statuses(t.Context(), r.AccessKey, []string{k.AccessKey}))(t)
		p, err := b.Resolve(t.Context(), k.AccessKey)
		if err != nil || len(got) != 1 || !reflect.DeepEqual(got[k.AccessKey], Status{
			Disabled: p.Disabled, ExpiresAt: p.ExpiresAt, DistributorDisabled: p.DistributorDisabled, Level: p.Level, Generation: p.Generation,
			WSSubLimit: p.WSSubLimit, WSSubSince: got[k.AccessKey].WSSubSince,
			DistributorWSSubLimit: p.DistributorWSSubLimit, DistributorWSSubSince: got[k.AccessKey].DistributorWSSubSince,
		}) {
			t.Errorf("%s: %+v, but the principal is %+v, %v", when, got, p, err)
		}
		return got[k.AccessKey]
	}
	if got := is("new"); got.Disabled || got.ExpiresAt.Sub(b.now()) != time.Minute || !got.Level.Permits("HL_TICKERS") {
		t.Errorf("%+v", got)
	}
	b.level(r.AccessKey, "gold", "HL_INFO")
	must.Do(t, b.UpdateSubKey(t.Context(), r.AccessKey, SubKeyChange{AccessKey: k.AccessKey, WSSubLimit: ptr(int64(7))}))
	if got := is("changed"); got.Level.Permits("HL_TICKERS") || got.WSSubLimit != 7 {
		t.Errorf("%+v", got)
	}
	for generation := range int64(3) {
		if got := is("with a secret"); got.Generation != generation {
			t.Errorf("after %d resets: %+v", generation, got)
		}
		must.Get(b.ResetSecret(t.Context(), r.AccessKey, k.AccessKey))(t)
	}
	must.Do(t, b.DeleteLevel(t.Context(), r.AccessKey, "gold"))
	if got := is("without its level"); got.Level != nil {
		t.Errorf("%+v", got)
	}
	must.Do(t, b.SetActive(t.Context(), r.AccessKey, []string{k.AccessKey}, false))
	if got := is("disabled"); !got.Disabled {
		t.Errorf("%+v", got)
	}
	must.Do(t, b.SetDisabled(t.Context(), r.AccessKey, true))
	if got := is("its distributor disabled"); !got.DistributorDisabled {
		t.Errorf("%+v", got)
	}
}

// What was open before a limit was set is not counted, which whoever holds to the limit
// must know.
func TestALimitOfSocketsSaysSinceWhenThereIsOne(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	r := b.distributor(func(p *Preset) { p.WSConnLimit, p.WSSubLimit = 9, 0 })
	k, _ := b.subKey(r.AccessKey, NewSubKey{WSConnLimit: 0, WSSubLimit: 5})
	set := b.now().UnixMilli()
	for _, step := range []struct {
		when       string
		key, all   [2]*int64 // connections and subscriptions
		conns, dis int64     // since when there are limits of connections
		subs, diss int64     // and of subscriptions
	}{
		{when: "as they were made"},
		{"set where there was none", [2]*int64{ptr(int64(3)), nil}, [2]*int64{nil, ptr(int64(4))}, set + 1000, 0, 0, set + 1000},
		{"changed", [2]*int64{ptr(int64(2)), ptr(int64(4))}, [2]*int64{ptr(int64(8)), ptr(int64(9))}, set + 1000, 0, 0, set + 1000},
		{"taken away", [2]*int64{ptr(int64(0)), ptr(int64(0))}, [2]*int64{ptr(int64(0)), ptr(int64(0))}, set + 1000, 0, 0, set + 1000},
		{"set again", [2]*int64{ptr(int64(2)), ptr(int64(4))}, [2]*int64{ptr(int64(8)), ptr(int64(9))}, set + 4000, set + 4000, set + 4000, set + 4000},
	} {
		if step.when != "as they were made" {
			b.clock.Move(time.Second)
			must.Do(t, b.SetLimits(t.Context(), r.AccessKey, Limits{WSConnLimit: step.all[0], WSSubLimit: step.all[1], MaxSubKeys: ptr(int64(7))}))
			must.Do(t, b.UpdateSubKey(t.Context(), r.AccessKey, SubKeyChange{AccessKey: k.AccessKey, WSConnLimit: step.key[0], WSSubLimit: step.key[1]}))
		}
		p := b.resolve(k.AccessKey)
		all, err := b.Statuses(t.Context(), r.AccessKey, []string{k.AccessKey})
		s := all[k.AccessKey]
		if err != nil || p.WSConnSince != step.conns || p.DistributorWSConnSince != step.dis || s.WSSubSince != step.subs || s.DistributorWSSubSince != step.diss {
			t.Errorf("%s: %d, %d, %d, %d, %v after %d, want %+v", step.when, p.WSConnSince, p.DistributorWSConnSince, s.WSSubSince, s.DistributorWSSubSince, err, set, step)
		}
	}
}

func TestStatusesOfManyKeysAreFewRequests(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	r := b.distributor(func(p *Preset) { p.MaxSubKeys = 200 })
	var accessKeys []string
	for i := range 150 {
		k, _ := b.subKey(r.AccessKey, NewSubKey{Name: fmt.Sprint(i), MonthlyQuota: ptr(int64(1))})
		accessKeys = append(accessKeys, k.AccessKey)
	}
	deleted := accessKeys[0]
	must.Do(t, b.DeleteSubKey(t.Context(), r.AccessKey, deleted))
	neighbour := b.distributor(many).AccessKey
	others, _ := b.subKey(neighbour, NewSubKey{MonthlyQuota: ptr(int64(1))})
	unknown := strings.Repeat("0", 32)
	accessKeys = append(accessKeys, others.AccessKey, unknown)
	b.reads()
	got := must.Get(b.with(nil).Statuses(t.Context(), r.AccessKey, accessKeys))(t)
	if gets, batches := b.reads(); gets != 0 || batches != 4 { // the third once more for those that are absent, the last for the level
		t.Errorf("%d and %d requests for %d keys", gets, batches, len(accessKeys))
	}
	for _, accessKey := range accessKeys {
		s, ok := got[accessKey]
		if gone := slices.Contains([]string{deleted, others.AccessKey, unknown}, accessKey); ok == gone || s.Disabled || s.DistributorDisabled || !s.ExpiresAt.IsZero() {
			t.Errorf("%s: %+v, %t", accessKey, s, ok)
		}
	}
	if got, err := b.with(nil).Statuses(t.Context(), unknown, []string{unknown}); err != nil || len(got) != 0 {
		t.Errorf("of a distributor that does not exist: %v, %v", got, err)
	}
}
