package content

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"quotary/shared/catalog"
	"quotary/shared/data/news"
	"quotary/shared/service/config"
)

// Feed is a feed of news that the operator follows.
type Feed struct {
	URL      *url.URL
	Language news.Language
	Source   string        // the publisher's name, as clients see it; it is part of what numbers items
	Every    time.Duration // between two looks
}

// Bounds of the setting.
const (
	everyDefault = 5 * time.Minute
	everyLeast   = time.Second
	maxFeeds     = 200
	maxSource    = 64 // characters
)

// Settings reads the domain's part of the environment. QUOTARY_NEWS_FEEDS is a JSON
// list, empty or not set for none:
//
//	[{"url": "https://news.example/rss", "language": "en", "source": "Example News", "every": "5m"}]
//
// The language is cn or en, every may be left out.
func Settings(env *config.Env) Config {
	c := Config{
		Feeds:      config.Parsed(env, catalog.EnvNewsFeeds, parseFeeds),
		DropsEvery: env.Duration(catalog.EnvDropsEvery),
		Exchanges:  env.Text(catalog.EnvExchanges) != "",
		Venue:      env.Text(catalog.EnvHyperliquidURL) != "",
	}
	c.Announcements, c.AnnouncementsURL, c.AnnouncementsEvery = announcementSettings(env)
	c.BlockBeats = blockBeatsSettings(env)
	return c
}

func parseFeeds(text string) ([]Feed, error) {
	type object struct {
		URL      string `json:"url"`
		Language string `json:"language"`
		Source   string `json:"source"`
		Every    string `json:"every"`
	}
	list, err := config.Objects[object](text, "{url, language, source, every}", maxFeeds, "feeds")
	if err != nil {
		return nil, err
	}
	var feeds []Feed
	for n, one := range list {
		f := Feed{Language: news.Languages[strings.ToLower(one.Language)], Source: strings.TrimSpace(one.Source), Every: everyDefault}
		var err error
		f.URL, err = url.Parse(one.URL)
		switch {
		case err != nil || f.URL.Host == "" || f.URL.Scheme != "http" && f.URL.Scheme != "https":
			return nil, fmt.Errorf("feed %d: url must be an address of http or https", n+1)
		case f.Language == 0:
			return nil, fmt.Errorf("feed %d: language must be cn or en, not %q", n+1, one.Language)
		case f.Source == "" || utf8.RuneCountInString(f.Source) > maxSource:
			return nil, fmt.Errorf("feed %d: source must be the publisher's name, of 1 to %d characters", n+1, maxSource)
		case slices.ContainsFunc(feeds, func(have Feed) bool { return have.name() == f.name() }):
			return nil, fmt.Errorf("feed %d: its url is listed twice", n+1)
		}
		if one.Every != "" {
			if f.Every, err = time.ParseDuration(one.Every); err != nil || f.Every < everyLeast {
				return nil, fmt.Errorf("feed %d: every must be a duration of at least %s, such as 5m", n+1, everyLeast)
			}
		}
		feeds = append(feeds, f)
	}
	return feeds, nil
}
