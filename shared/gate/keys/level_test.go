package keys

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/catalog"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

func TestALevelIsReadAsItWasPut(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	first := LevelSettings{
		MaxTimeRange: 86400, MaxRequest: 1000, RateLimit: 60,
		Permissions: []Permission{
			{ResourceType: "perpdex", Actions: []string{"HL_TICKERS", "HL_FILLS"}},
			{ResourceType: "perpdex", Actions: []string{"HL_WS_NODE"}},
		},
	}
	second := LevelSettings{Permissions: []Permission{}}
	for _, level := range []LevelSettings{first, second} {
		must.Do(t, b.PutLevel(t.Context(), d, "gold", level))
		got := must.Get(b.Level(t.Context(), d, "gold"))(t)
		check.Equalf(t, level, got, "level")
	}
}

func TestAbsentListsOfALevelAreStoredEmptyAndRepetitionsOnce(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	must.Do(t, b.PutLevel(t.Context(), d, "gold", LevelSettings{Permissions: []Permission{
		{ResourceType: "perpdex"}, {ResourceType: "perpdex", Actions: []string{"HL_FILLS", "HL_FILLS"}},
	}}))
	got, err := b.Level(t.Context(), d, "gold")
	want := []Permission{{ResourceType: "perpdex", Actions: []string{}}, {ResourceType: "perpdex", Actions: []string{"HL_FILLS"}}}
	if diff := cmp.Diff(want, got.Permissions); err != nil || diff != "" {
		t.Errorf("error %v, permissions (-want +got):\n%s", err, diff)
	}
	must.Do(t, b.PutLevel(t.Context(), d, "none", LevelSettings{}))
	if got, err := b.Level(t.Context(), d, "none"); err != nil || got.Permissions == nil {
		t.Errorf("got permissions %v and error %v, want an empty list", got.Permissions, err)
	}
}

func TestLevelsAreListedByNameAndDeleted(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d, other := b.distributor().AccessKey, b.distributor().AccessKey
	if names, err := b.Levels(t.Context(), d); err != nil || names == nil || len(names) != 0 {
		t.Errorf("got %v and error %v, want an empty list", names, err)
	}
	for _, name := range []string{"silver", "Gold", "a-1_"} {
		b.level(d, name, "HL_FILLS")
	}
	b.level(other, "theirs", "HL_FILLS")
	must.Do(t, b.DeleteLevel(t.Context(), d, "silver"))
	names, err := b.Levels(t.Context(), d)
	if diff := cmp.Diff([]string{"Gold", "a-1_"}, names); err != nil || diff != "" {
		t.Errorf("error %v, levels (-want +got):\n%s", err, diff)
	}
	for _, name := range []string{"silver", "theirs", "gold"} {
		if err := b.DeleteLevel(t.Context(), d, name); !errors.Is(err, ErrUnknownLevel) {
			t.Errorf("delete %s: got %v, want ErrUnknownLevel", name, err)
		}
		if _, err := b.Level(t.Context(), d, name); !errors.Is(err, ErrUnknownLevel) {
			t.Errorf("read %s: got %v, want ErrUnknownLevel", name, err)
		}
	}
}

func TestEveryActionAndReservedNameCanBeListed(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	b.level(d, "all", append(catalog.Actions(), reserved...)...)
	for _, name := range reserved {
		if slices.Contains(catalog.Actions(), name) {
			t.Errorf("%s is reserved and an action at once", name)
		}
	}
	if len(reserved) != 18 {
		t.Errorf("%d names are reserved, want the 18 that are specified", len(reserved))
	}
}

func TestALevelThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	limits := func(span, month, rate int64) LevelSettings {
		return LevelSettings{MaxTimeRange: span, MaxRequest: month, RateLimit: rate}
	}
	permission := func(resource string, actions ...string) LevelSettings {
		return LevelSettings{Permissions: []Permission{{ResourceType: resource, Actions: actions}}}
	}
	for name, c := range map[string]struct {
		level string
		put   LevelSettings
		parts []string
	}{
		"dot in name":       {"a.b", LevelSettings{}, []string{"level"}},
		"empty name":        {"", LevelSettings{}, []string{"level"}},
		"long name":         {strings.Repeat("a", 65), LevelSettings{}, []string{"level"}},
		"slash in name":     {"a/b", LevelSettings{}, []string{"level"}},
		"negative span":     {"a", limits(-1, 0, 0), []string{"request_limits.max_time_range"}},
		"negative requests": {"a", limits(0, -1, 0), []string{"request_limits.max_request"}},
		"negative rate":     {"a", limits(0, 0, -1), []string{"request_limits.request_rate_limit"}},
		"resource type":     {"a", permission("spot", "HL_FILLS"), []string{"resource_type", `"perpdex"`, `"spot"`}},
		"no resource type":  {"a", permission("", "HL_FILLS"), []string{"resource_type"}},
		"unknown actions":   {"a", permission("perpdex", "HL_FILLS", "HL_NONE", "hl_fills"), []string{`"HL_NONE", "hl_fills"`}},
		"hostile action":    {"a", permission("perpdex", "x\"\n\x00"+strings.Repeat("y", 5000)), []string{`\n`, "..."}},
		"too many actions":  {"a", permission("perpdex", slices.Repeat([]string{"HL_FILLS"}, maxActions+1)...), []string{"1000"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := b.PutLevel(t.Context(), d, c.level, c.put)
			wantInvalid(t, err, c.parts...)
			if len(err.Error()) > 500 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
	if names, err := b.Levels(t.Context(), d); err != nil || len(names) != 0 {
		t.Errorf("got levels %v and error %v, want none", names, err)
	}
}
