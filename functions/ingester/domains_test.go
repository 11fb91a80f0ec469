package main

import (
	"slices"
	"strings"
	"testing"

	"quotary/shared/catalog"
)

func TestEveryDomainIsDeclared(t *testing.T) {
	t.Parallel()
	var declared []string
	for _, d := range catalog.Domains {
		declared = append(declared, d.Name)
	}
	if !slices.Equal(declared, domainNames()) {
		t.Errorf("the catalog declares %v, the domains are %v", declared, domainNames())
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
