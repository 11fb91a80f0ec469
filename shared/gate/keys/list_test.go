package keys

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

func TestSubKeysAreListedNewestFirstAndFiltered(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor(func(p *Preset) { p.MaxSubKeys = 20 }).AccessKey
	other := b.distributor().AccessKey
	b.subKey(other, NewSubKey{Name: "theirs"})
	byName := map[string]SubKey{}
	for _, name := range []string{"Alpha", "alpine", "Beta", "ÉTÉ"} {
		byName[name], _ = b.subKey(d, NewSubKey{Name: name, MonthlyQuota: ptr(int64(1)), Metadata: `"alp"`})
		b.move(time.Millisecond)
	}
	must.Do(t, b.SetActive(t.Context(), d, []string{byName["alpine"].AccessKey}, false))
	start := byName["Beta"].AccessKey[:8]
	for _, c := range []struct {
		filter Filter
		want   []string
	}{
		{Filter{}, []string{"ÉTÉ", "Beta", "alpine", "Alpha"}},
		{Filter{Status: ptr(int64(1))}, []string{"ÉTÉ", "Beta", "Alpha"}},
		{Filter{Status: ptr(int64(0))}, []string{"alpine"}},
		{Filter{Keyword: "ALP"}, []string{"alpine", "Alpha"}},
		{Filter{Keyword: "pine"}, []string{"alpine"}},
		{Filter{Keyword: "été"}, []string{"ÉTÉ"}},
		{Filter{Keyword: start}, []string{"Beta"}},
		{Filter{Keyword: strings.ToUpper(start)}, []string{"Beta"}},
		{Filter{Keyword: byName["Beta"].AccessKey}, []string{"Beta"}},
		{Filter{Keyword: "alp", Status: ptr(int64(1))}, []string{"Alpha"}},
		{Filter{Keyword: "nothing like it"}, []string{}},
		{Filter{Keyword: "theirs"}, []string{}},
	} {
		list := b.listAll(d, c.filter)
		names := []string{}
		for _, k := range list {
			names = append(names, k.Name)
		}
		check.Equalf(t, c.want, names, "%+v", c.filter)
	}
	check.Equalf(t, []SubKey{byName["Beta"]}, b.listAll(d, Filter{Keyword: "Beta"}), "item")
}

func TestABatchChangesAllOrNothing(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor(func(p *Preset) { p.MaxSubKeys = 200 }).AccessKey
	var keys []string
	for range 100 {
		k, _ := b.subKey(d, NewSubKey{MonthlyQuota: ptr(int64(1))})
		keys = append(keys, k.AccessKey)
	}
	active := func() (n int) {
		list := b.listAll(d, Filter{Status: ptr(int64(1))})
		return len(list)
	}
	unknown, second := newAccessKey(), newAccessKey()
	for name, batch := range map[string][]string{
		"unknown":               {keys[0], unknown, keys[1], second},
		"unknown and malformed": {keys[0], unknown, keys[1], "x", second},
	} {
		err := b.SetActive(t.Context(), d, batch, false)
		wantInvalid(t, err, "access_keys", unknown, second)
		if strings.Contains(err.Error(), keys[0]) {
			t.Errorf("%s: the message names a known key", name)
		}
		if n := active(); n != 100 {
			t.Errorf("%s: %d sub-keys are active, want all 100", name, n)
		}
	}
	must.Do(t, b.SetActive(t.Context(), d, keys, false))
	if n := active(); n != 0 {
		t.Errorf("%d sub-keys are active after all were disabled", n)
	}
	must.Do(t, b.SetActive(t.Context(), d, []string{keys[3], keys[3], keys[5]}, true))
	if n := active(); n != 2 {
		t.Errorf("%d sub-keys are active, want the 2 that were enabled", n)
	}
	wantInvalid(t, b.SetActive(t.Context(), d, nil, true), "access_keys", "1 to 100")
	wantInvalid(t, b.SetActive(t.Context(), d, append(keys, unknown), true), "access_keys", "1 to 100")
}

func TestAMessageAboutUnknownKeysNamesAllAndCutsLongOnes(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	keys := make([]string, 100)
	for i := range keys {
		keys[i] = fmt.Sprint(i, strings.Repeat("\x00", 10_000))
	}
	err := b.SetActive(t.Context(), d, keys, true)
	if err == nil || len(err.Error()) > 32<<10 || strings.Contains(err.Error(), "\x00") {
		t.Fatalf("the message has %d bytes", len(fmt.Sprint(err)))
	}
	for i := range keys {
		if !strings.Contains(err.Error(), fmt.Sprintf(`"%d\x00`, i)) {
			t.Errorf("key %d is not named", i)
		}
	}
}
