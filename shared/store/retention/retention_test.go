package retention_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/store/retention"
)

func TestASettingIsDaysByDataset(t *testing.T) {
	t.Parallel()
	got, err := retention.Parse("fills=90d, orders=1d")
	if diff := cmp.Diff(retention.Setting{"fills": 90, "orders": 1}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if err := got.Only([]string{"fills", "orders", "ledgers"}); err != nil {
		t.Error(err)
	}
	if err := got.Only([]string{"fills", "ledgers"}); err == nil || !strings.Contains(err.Error(), "orders is no dataset with a retention: it takes fills, ledgers") {
		t.Errorf("error is %v", err)
	}
	if got, err := retention.Parse(""); len(got) > 0 || err != nil {
		t.Errorf("nothing is %v, error %v", got, err)
	}
	for text, want := range map[string]string{
		"fills": "is no retention", "fills=90": "is no retention", "fills=1.5d": "is no retention", "=9d": "is no retention", ",": "is no retention",
		"fills=0d": "1 to 36500 days", "fills=36501d": "1 to 36500 days", "fills=99999d": "1 to 36500 days", "fills=1d,fills=2d": "set twice",
	} {
		if _, err := retention.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error is %v, want one that says %q", text, err, want)
		}
	}
}

// A row can be read until it expires, and never again.
func TestSinceAndExpiryAreOneBorder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := retention.Setting{"fills": rapid.IntRange(1, 400).Draw(rt, "days")}
		row := time.UnixMilli(rapid.Int64Range(0, 4_000_000_000_000).Draw(rt, "row"))
		now := row.Add(time.Duration(rapid.Int64Range(0, 500*24*3_600_000).Draw(rt, "later, ms")) * time.Millisecond)
		if retained := !row.Before(s.Since("fills", now)); retained != now.Before(s.Expires("fills", row)) {
			rt.Errorf("retained %t, expires %s", retained, s.Expires("fills", row))
		}
		if age := s.Expires("fills", row).Sub(row); age <= time.Duration(s["fills"])*24*time.Hour {
			rt.Errorf("a row expires after %s", age)
		}
	})
	if s := (retention.Setting{"fills": 1}); !s.Since("orders", time.Now()).IsZero() || !s.Expires("orders", time.Now()).IsZero() {
		t.Error("a dataset without a retention expires")
	}
}

func TestAReportHasTheLatestEdge(t *testing.T) {
	t.Parallel()
	ctx, report := retention.WithReport(t.Context())
	if !report.Since().IsZero() {
		t.Error("nothing was reported")
	}
	for _, s := range []int64{5, 9, 7} {
		retention.Reached(ctx, time.Unix(s, 0))
	}
	if got := report.Since(); !got.Equal(time.Unix(9, 0)) {
		t.Errorf("since %s", got)
	}
	retention.Reached(t.Context(), time.Unix(10, 0)) // nobody asks
}
