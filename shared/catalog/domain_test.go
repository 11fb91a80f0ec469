package catalog

import (
	"strings"
	"testing"
)

func TestSettingsOfDomainsAreWhole(t *testing.T) {
	t.Parallel()
	if len(Domains) == 0 {
		t.Fatal("there are no domains")
	}
	seen := map[string]bool{}
	for _, d := range Domains {
		if seen[d.Name] {
			t.Errorf("the domain %s is declared twice", d.Name)
		}
		seen[d.Name] = true
		for _, s := range d.Settings {
			if !strings.HasPrefix(s.Name, "QUOTARY_") || s.Purpose == "" {
				t.Errorf("%s %q: a setting has a name of ours and a purpose", d.Name, s.Name)
			}
			for _, name := range []string{s.Name, s.Deploy} {
				if name != "" && seen[name] {
					t.Errorf("%s: %s is declared twice", d.Name, name)
				}
				seen[name] = true
			}
			if s.Deploy == "" && (s.Deployed != "" || s.Live) {
				t.Errorf("%s is no setting of a deployment, and has a value there", s.Name)
			}
			for _, value := range []string{s.Default, s.Deployed} {
				if value == "" || value == "off" || s.Check == nil {
					continue
				}
				if err := s.Check(value); err != nil {
					t.Errorf("%s is %q of itself, which it refuses: %v", s.Name, value, err)
				}
			}
		}
	}
}

func TestWhatSettingsAccept(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		setting *Setting
		value   string
		refused string
	}{
		{EnvExchangeMinutes, "1", ""},
		{EnvExchangeMinutes, "0", "must be a whole number of at least 1, not \"0\""},
		{EnvExchangeMinutes, "1.5", "must be a whole number"},
		{EnvRelayWeight, "0", ""},
		{EnvRelayWeight, "420", ""},
		{EnvRelayWeight, "419", "must be 0, or a whole number of at least 420"},
		{EnvExchangeRefresh, "250ms", ""},
		{EnvExchangeRefresh, "-1s", "must be a positive duration"},
		{EnvExchanges, "binance, okx", ""},
		{EnvExchanges, "binance;okx", "must be names of lower-case letters"},
		{EnvExchanges, "binance\nokx", "must be names of lower-case letters"},
		{EnvOrders, "all", ""},
		{EnvOrders, "all of them", "must be filled or all"},
		{EnvNewsFeeds, "[]", ""},
		{EnvNewsFeeds, `[{"url": "https://news.example/rss"}]`, ""},
		{EnvNewsFeeds, `{"url": "https://news.example/rss"}`, "must be a JSON list of {url"},
		{EnvBlockBeatsURL, "https://flashes.example/v1", ""},
		{EnvBlockBeatsURL, "flashes.example?token=hush", "must be an address of http or https"},
	} {
		err := tt.setting.Check(tt.value)
		if tt.refused == "" && err != nil || tt.refused != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.refused)) {
			t.Errorf("%s=%q: %v, want %q", tt.setting.Name, tt.value, err, tt.refused)
		}
	}
	if err := EnvNewsFeeds.Check("https://news.example/rss?token=hush"); err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("an address that may hold a token is repeated: %v", err)
	}
}
