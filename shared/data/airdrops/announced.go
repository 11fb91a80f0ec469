package airdrops

import (
	"cmp"
	"regexp"
	"strings"

	"quotary/shared/data/drop"
	"quotary/shared/market"
	"quotary/shared/text/markdown"
)

// programmes tell by words of a title, all of which it must have, to which programme an
// announcement of an exchange belongs. The first that fits counts.
var programmes = []struct {
	venue  string
	words  []string
	source string
}{
	{"binance", []string{"hodler airdrop"}, "hodler"},
	{"binance", []string{"launchpool"}, "venue_launchpool"},
	{"binance", []string{"binance alpha", "airdrop"}, "alpha"},
	{"okx", []string{"x launch"}, "xlaunch"},
	{"okx", []string{"jumpstart"}, "venue_launchpool"},
	{"okx", []string{"flash earn"}, "earncoin"},
	{"bybit", []string{"launchpool"}, "venue_launchpool"},
}

// over are words of titles that tell how something ended, or that it does not take place.
var over = []string{"remov", "conclu", "complet", "cancel", "postpone", "winner", "has ended", "results of"}

// Announced returns the airdrop that an announcement is about, which has a place among the
// lines of drops; ok is false for one of no programme.
func Announced(a *market.Announcement, place drop.Place) (airdrop Airdrop, ok bool) {
	source := programmeOf(a)
	if source == "" {
		return Airdrop{}, false
	}
	name, symbol := projectOf(a.Title)
	id := a.Venue + "-" + a.ID
	e := Entry{
		AirdropID: id, Source: source, ActivityType: source, Exchange: a.Venue, ProjectID: id, ProjectName: name, TokenSymbol: symbol,
		TitleEN: a.Title, DescriptionEN: shortened(a.Text, 500), ContentEN: contentOf(a.AnnouncementText), TitleCN: a.Chinese.Title,
		DescriptionCN: shortened(a.Chinese.Text, 500), ContentCN: contentOf(a.Chinese), PublishTime: a.Published, StartTime: a.Start, EndTime: a.End, SourceURL: a.URL,
	}
	return Airdrop{e, place}, true
}

func programmeOf(a *market.Announcement) string {
	title := strings.ToLower(a.Title)
	has := func(word string) bool { return strings.Contains(title, word) }
	for _, word := range over {
		if has(word) {
			return ""
		}
	}
	for _, p := range programmes {
		fits := p.venue == a.Venue
		for _, word := range p.words {
			fits = fits && has(word)
		}
		if fits {
			return p.source
		}
	}
	return ""
}

// titled is what a title calls a project, with its short name: "Introducing Acme (ACME)".
var titled = regexp.MustCompile(`([^()]+) \(([A-Z0-9]{2,15})\)`)

// before is what stands before the name of a project in titles.
var before = regexp.MustCompile(`(?i).*(?:\b(?:introducing|adds?|lists?|launch(?:es)?|earn|get|share|for|on|of|the|with)|[:!,–-])(?:\s+|$)`)

// projectOf is the name and the short name of the project of which a title tells: the
// title itself and "" where it does not.
func projectOf(title string) (name, symbol string) {
	found := titled.FindStringSubmatch(title)
	if found == nil {
		return shortened(title, 100), ""
	}
	return shortened(cmp.Or(strings.TrimSpace(before.ReplaceAllString(found[1], "")), found[2]), 100), found[2]
}

// contentOf is the text of an announcement as Markdown: what the exchange says of it, and
// where the rest is; "" where it says nothing.
func contentOf(a market.AnnouncementText) string {
	if a.Title == "" {
		return ""
	}
	text := "# " + a.Title + "\n"
	if a.Text != "" {
		text += "\n" + a.Text + "\n"
	}
	if a.URL != "" {
		text += "\n<" + a.URL + ">\n"
	}
	return markdown.Harmless(text)
}

// shortened cuts a text to so many runes.
func shortened(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return strings.TrimSpace(string(runes[:most-1])) + "…"
	}
	return text
}
