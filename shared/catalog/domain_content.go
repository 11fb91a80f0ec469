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
		Name: "QUOTARY_ANNOUNCEMENTS", Deploy: "announcements", Deployed: "off", Free: "binance,bybit,okx",
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

	// https://api.theblockbeats.news/v1/open-api/open-flash is the vendor's open API, whose
	// terms of use say who may show its flashes to others.
	EnvBlockBeatsURL = ContentDomain.setting(Setting{
		Name: "QUOTARY_BLOCKBEATS_URL", Deploy: "blockBeatsURL", Deployed: "off", Check: webAddress,
		Purpose: "the address of the flashes of BlockBeats, or of whoever speaks its protocol; no vendor is asked for flashes if not set",
	})
	EnvBlockBeatsKey = ContentDomain.setting(Setting{Name: "QUOTARY_BLOCKBEATS_KEY", Purpose: "the key of an account there, sent as the header api-key"})
	// Four lists every minute, in two languages.
	EnvBlockBeatsEvery = ContentDomain.setting(Setting{
		Name: "QUOTARY_BLOCKBEATS_EVERY", Default: "1m", Check: span,
		Purpose: "how often each of its lists is asked for",
	})
)
