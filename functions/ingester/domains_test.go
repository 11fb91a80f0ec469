package main

import (
	"slices"
	"strings"
	"testing"

	"quotary/shared/metrics"
)

func TestEveryDomainIsWatched(t *testing.T) {
	t.Parallel()
	if watched := slices.Sorted(slices.Values(metrics.Domains)); !slices.Equal(watched, domainNames()) {
		t.Errorf("watched are %v, the domains are %v", watched, domainNames())
	}
}

func TestAnUnknownDomainIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cmd := w.command("run")
	cmd.Env = append(cmd.Env, "QUOTARY_DOMAINS=perp, weather")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), `QUOTARY_DOMAINS names "weather", which is no domain: it takes a list of `+strings.Join(domainNames(), ", ")) {
		t.Errorf("%v: %s", err, out)
	}
}
