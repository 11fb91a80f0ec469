package catalog

// ContentDomain is the domain of what people write, and what is set of it.
var (
	ContentDomain = domain(Domain{Name: "content"})

	EnvNewsFeeds = ContentDomain.setting(Setting{
		Name: "QUOTARY_NEWS_FEEDS", Deploy: "newsFeeds",
		Purpose: "the feeds of news that are followed; what a publisher allows is said in its terms of use",
		Check:   objectList("{url, language, source, every}"), // what they hold, the domain checks
	})
	EnvAnnouncements = ContentDomain.setting(Setting{
		Name: "QUOTARY_ANNOUNCEMENTS", Deploy: "announcements", Deployed: "off",
		Purpose: "the exchanges whose announcements are followed, of binance, bybit and okx; none if not set",
		Check:   matching(`[a-z]+( *, *[a-z]+)*`, "names of lower-case letters, separated by commas"),
	})
	EnvAnnouncementsEvery = ContentDomain.setting(Setting{
		Name: "QUOTARY_ANNOUNCEMENTS_EVERY", Default: "1m", Check: span,
		Purpose: "how often each of these exchanges is asked for announcements",
	})
	EnvAnnouncementsURL = ContentDomain.setting(Setting{
		Name: "QUOTARY_ANNOUNCEMENTS_URL", Purpose: "where the announcements of all exchanges are simulated; the exchanges themselves if not set",
	})
)
