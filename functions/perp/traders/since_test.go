package main

import (
	"net/http"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/testing/check"
)

// TestARowSaysSinceWhenItsAccountIsKnown: where a window begins before it, and in no other.
func TestARowSaysSinceWhenItsAccountIsKnown(t *testing.T) {
	t.Parallel()
	b := flowed(t)
	sinceBob := time.UnixMilli(now - 2*dayMs).UTC().Format(time.RFC3339)
	for _, path := range []string{"batch-addr-stat", "batch-behavior-metrics"} {
		for period, want := range map[int]string{1: "", 7: sinceBob, 0: sinceBob} {
			rows := apitest.Data[[]struct{ Since *string }](t, b.Call(t, b.SubKey, http.MethodPost, traders+path, body{"addresses": []string{bob, carol}, "period": period}))
			got := ""
			if rows[0].Since != nil {
				got = *rows[0].Since
			}
			check.Equalf(t, want, got, "%s of %d days", path, period)
			if period == 1 && rows[1].Since != nil {
				t.Errorf("%s: known since %s", path, *rows[1].Since)
			}
		}
	}
}
