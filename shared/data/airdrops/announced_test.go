package airdrops

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quotary/shared/data/drop"
	"quotary/shared/market"
)

func TestTitlesTellTheProgramme(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"binance: Introducing Acme (ACME) on Binance HODLer Airdrops! Earn ACME With Retroactive BNB Simple Earn Subscriptions": "hodler Acme ACME",
		"binance: Introducing Acme Network (ACN): Farm ACN by Staking BNB and FDUSD on Binance Launchpool":                      "venue_launchpool Acme Network ACN",
		"binance: Binance Will List Acme (ACME) With Seed Tag Applied":                                                          "",
		"binance: Binance Alpha Is the First Platform to Feature the Acme.io (A1) Airdrop":                                      "alpha Acme.io A1",
		"binance: Binance Will Be Available on Binance Alpha":                                                                   "",
		"binance: Notice of Removal of Launchpool Projects":                                                                     "",
		"binance: Binance Completes the Acme (ACME) HODLer Airdrops Distribution":                                               "",
		"okx: OKX X Launch: stake BTC to earn Acme Coin (ACME)":                                                                 "xlaunch Acme Coin ACME",
		"okx: Flash Earn is back":                                     "earncoin Flash Earn is back ",
		"okx: OKX Jumpstart to list Acme (AC)":                        "venue_launchpool Acme AC",
		"okx: OKX to list perpetuals of Acme":                         "",
		"bybit: Bybit Launchpool: Stake MNT to Share 1,000,000 ACME!": "venue_launchpool Bybit Launchpool: Stake MNT to Share 1,000,000 ACME! ",
		"bybit: Launchpool: Acme (ACME) – Grab a Share":               "venue_launchpool Acme ACME",
		"bybit: New Listing: Acme (ACME) - Deposit, Trade and Share":  "",
		"bybit: HODLer airdrop of somebody else":                      "",
		"binance: HODLer Airdrops: (ACME) is there":                   "hodler ACME ACME",
	} {
		venue, text, _ := strings.Cut(title, ": ")
		got := ""
		if a, ok := Announced(&market.Announcement{Venue: venue, ID: "1", AnnouncementText: market.AnnouncementText{Title: text}, Published: 1_790_000_000_000}, drop.Place{File: "a", Line: 1}); ok {
			got = a.Source + " " + a.ProjectName + " " + a.TokenSymbol
		}
		if got != want {
			t.Errorf("%s\nis %q, want %q", title, got, want)
		}
	}
}

func TestAnAnnouncedAirdropIsAsGoodAsADroppedOne(t *testing.T) {
	t.Parallel()
	const published = 1_790_000_000_000
	announcement := market.Announcement{Venue: "bybit", ID: "ab", AnnouncementText: market.AnnouncementText{Title: "Launchpool <b> [x](javascript:y)", Text: strings.Repeat("t", 2000), URL: "https://a.example/x"}, Published: published, Start: published + 1, End: published + 2}
	place := drop.Place{Time: published, File: "announcements/bybit", Line: 6}
	a, ok := Announced(&announcement, place)
	if !ok || !a.valid() || a.Place != place || a.AirdropID != "bybit-ab" || a.StartTime != published+1 || a.EndTime != published+2 || a.PublishTime != published || len(a.DescriptionEN) > 502 ||
		strings.Contains(a.ContentEN, "<b>") || strings.Contains(a.ContentEN, "](java") || !strings.Contains(a.ContentEN, "\n<https://a.example/x>\n") {
		t.Errorf("%t %+v", ok, a)
	}
}

func FuzzTitle(f *testing.F) {
	f.Add("Introducing Acme (ACME) on Binance HODLer Airdrops!")
	f.Add("X Launch ((((A1)")
	f.Fuzz(func(t *testing.T, title string) {
		for _, venue := range []string{"binance", "okx", "bybit"} {
			a, ok := Announced(&market.Announcement{Venue: venue, ID: "1", AnnouncementText: market.AnnouncementText{Title: title}, Published: 1}, drop.Place{File: "a", Line: 1})
			if ok && (!a.valid() || len([]rune(a.ProjectName)) > 100 || slices.Contains([]string{"", "all"}, a.Source)) {
				t.Errorf("%q: %s", title, fmt.Sprintf("%+v", a))
			}
		}
	})
}
