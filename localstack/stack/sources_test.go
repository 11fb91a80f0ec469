package stack

import (
	"slices"
	"testing"
)

// Those of the environment stay as they are, and what is simulated has its own.
func TestFreeSourcesAreFollowedBesideTheRealVenue(t *testing.T) {
	t.Setenv("QUOTARY_ANNOUNCEMENTS", "okx")
	for name, tt := range map[string]struct {
		cfg  Config
		want bool
	}{
		"chosen":          {Config{Upstream: "hyperliquid"}, false},
		"all":             {Config{Upstream: "hyperliquid", Sources: "free"}, true},
		"of the sim":      {Config{Sources: "free"}, false},
		"without a venue": {Config{Upstream: "none", Sources: "free"}, false},
	} {
		s := &Stack{cfg: tt.cfg}
		env := s.freeSources()
		if slices.Contains(env, "QUOTARY_FEAR_GREED_URL=https://api.alternative.me/fng") != tt.want || slices.Contains(env, "QUOTARY_EXCHANGES=binance,bybit,okx") != tt.want {
			t.Errorf("%s: %v", name, env)
		}
		if slices.Contains(env, "QUOTARY_ANNOUNCEMENTS=binance,bybit,okx") {
			t.Errorf("%s: what is set is set again: %v", name, env)
		}
	}
}
