package catalog

// ContentDomain is the domain of what people write, and what is set of it.
var (
	ContentDomain = domain(Domain{Name: "content"})

	EnvNewsFeeds = ContentDomain.setting(Setting{
		Name: "QUOTARY_NEWS_FEEDS", Deploy: "newsFeeds",
		Purpose: "the feeds of news that are followed; what a publisher allows is said in its terms of use",
		Check:   objectList("{url, language, source, every}"), // what they hold, the domain checks
	})
)
