package dataset

import (
	"testing"
	"time"

	"quotary/shared/testing/check"
)

func TestLongWindowsAreSampledMoreCoarsely(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, window := range []time.Duration{15 * time.Minute, time.Hour, 16 * time.Hour, 24 * time.Hour, 72 * time.Hour, 240 * time.Hour, 960 * time.Hour, 4320 * time.Hour} {
		tier := SampleTier(window)
		got[window.String()] = tier.String()
		if n := int64(window/time.Millisecond) / (tier.NextMs(0) - tier.StartMs(0)); n > 1080 {
			t.Errorf("%s has %d samples", window, n)
		}
	}
	want := map[string]string{"15m0s": "1m", "1h0m0s": "1m", "16h0m0s": "1m", "24h0m0s": "5m", "72h0m0s": "5m", "240h0m0s": "15m", "960h0m0s": "1h", "4320h0m0s": "4h"}
	check.Equal(t, want, got)
}
