package main

import (
	"fmt"
	"testing"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/data/fills"
	"quotary/shared/store/retention"
)

func TestAnAnswerSaysSinceWhenFillsAreRetained(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, one(0), one(1))
	w.log.Retention = retention.Setting{fills.Name: 7}
	newest := time.UnixMilli(first).UTC()
	for name, c := range map[string]struct {
		now    time.Time
		target string
		fills  int
		since  string
	}{
		"as many as are asked for":    {newest, "/" + alice + "?limit=1", 1, ""},
		"all that there are":          {newest, "/" + alice + "?limit=2", 2, newest.AddDate(0, 0, -7).Format(time.DateOnly) + "T00:00:00Z"},
		"fewer than are asked for":    {newest, "/" + alice, 2, newest.AddDate(0, 0, -7).Format(time.DateOnly) + "T00:00:00Z"},
		"none, as all have gone":      {newest.AddDate(0, 0, 8), "/" + alice, 0, newest.AddDate(0, 0, 1).Format(time.DateOnly) + "T00:00:00Z"},
		"an order that has gone, too": {newest.AddDate(0, 0, 8), "/oid/9000", 0, newest.AddDate(0, 0, 1).Format(time.DateOnly) + "T00:00:00Z"},
	} {
		w.log.Now = func() time.Time { return c.now }
		answer := w.Get(t, w.SubKey, root+c.target)
		if got := answer.Header[catalog.HeaderDataSince]; answer.Status != 200 || got != c.since {
			t.Errorf("%s: status %d, %s %q; want %q", name, answer.Status, catalog.HeaderDataSince, got, c.since)
		}
		if n := len(w.tids(t, c.target)); n != c.fills {
			t.Errorf("%s: %s", name, fmt.Sprintf("%d fills, want %d", n, c.fills))
		}
	}
}
