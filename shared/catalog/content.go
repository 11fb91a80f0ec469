package catalog

// The planned endpoints of the family Content: specified, without a handler yet.
var (
	// Interprets the price trend of coins.
	_ = planned("POST", "/v2/content/ai-coins", Content, anyLevel, EnvelopeC)
	// Lists the newest flashes.
	_ = planned("GET", "/v2/content/newsflash", Content, anyLevel, EnvelopeA)
	// Lists flashes with their kind, from a time on.
	_ = planned("GET", "/v2/content/flashList", Content, anyLevel, EnvelopeA)
	// Lists flashes about listings on exchanges.
	_ = planned("GET", "/v2/content/exchange-listing-flash", Content, anyLevel, EnvelopeA)
	// Lists articles in pages, newest first.
	_ = planned("GET", "/v2/content/news-list", Content, anyLevel, EnvelopeA)
	// Shows an article in full.
	_ = planned("GET", "/v2/content/news-detail", Content, anyLevel, EnvelopeA)
	// Lists the newest posts, page by page.
	_ = planned("GET", "/upgrade/v2/content/social/latest", Content, anyLevel, EnvelopeB)
	// Searches posts by a word.
	_ = planned("GET", "/upgrade/v2/content/social/search", Content, anyLevel, EnvelopeB)
	// Searches authors of posts by name.
	_ = planned("GET", "/upgrade/v2/content/social/members", Content, anyLevel, EnvelopeB)
	// Counts likes, replies, reposts and views of up to 50 posts.
	_ = planned("POST", "/upgrade/v2/content/social/interaction-stats", Content, anyLevel, EnvelopeB)
	// Searches flashes by a word.
	_ = planned("GET", "/upgrade/v2/content/newsflash/search", Content, anyLevel, EnvelopeB)
	// Lists flashes by tab, importance and date.
	_ = planned("GET", "/upgrade/v2/content/newsflash/list", Content, anyLevel, EnvelopeB)
	// Shows a flash in full.
	_ = planned("GET", "/upgrade/v2/content/newsflash/detail", Content, anyLevel, EnvelopeB)
	// Lists airdrops and similar campaigns.
	_ = planned("GET", "/upgrade/v2/content/airdrop/list", Content, anyLevel, EnvelopeB)
	// Lists airdrops and similar campaigns, under an older path.
	_ = planned("GET", "/v2/content/airdrop/list", Content, anyLevel, EnvelopeB)
	// Shows an airdrop in full.
	_ = planned("GET", "/upgrade/v2/content/airdrop/detail", Content, anyLevel, EnvelopeB)
	// Lists the airdrops to put forward.
	_ = planned("GET", "/upgrade/v2/content/airdrop/banner", Content, anyLevel, EnvelopeB)
)
