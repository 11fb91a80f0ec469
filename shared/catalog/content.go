package catalog

// The planned endpoints of the family Content: specified, without a handler yet.
var (
	_ = planned("POST", "/v2/content/ai-coins", Content, anyLevel, EnvelopeC)
	_ = planned("GET", "/v2/content/newsflash", Content, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/content/flashList", Content, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/content/exchange-listing-flash", Content, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/content/news-list", Content, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/content/news-detail", Content, anyLevel, EnvelopeA)
	_ = planned("GET", "/upgrade/v2/content/social/latest", Content, anyLevel, EnvelopeB)
	_ = planned("GET", "/upgrade/v2/content/social/search", Content, anyLevel, EnvelopeB)
	_ = planned("GET", "/upgrade/v2/content/social/members", Content, anyLevel, EnvelopeB)
	_ = planned("POST", "/upgrade/v2/content/social/interaction-stats", Content, anyLevel, EnvelopeB)
	_ = planned("GET", "/upgrade/v2/content/newsflash/search", Content, anyLevel, EnvelopeB)
	_ = planned("GET", "/upgrade/v2/content/newsflash/list", Content, anyLevel, EnvelopeB)
	_ = planned("GET", "/upgrade/v2/content/newsflash/detail", Content, anyLevel, EnvelopeB)
	_ = planned("GET", "/upgrade/v2/content/airdrop/list", Content, anyLevel, EnvelopeB)
	_ = planned("GET", "/v2/content/airdrop/list", Content, anyLevel, EnvelopeB)
	_ = planned("GET", "/upgrade/v2/content/airdrop/detail", Content, anyLevel, EnvelopeB)
	_ = planned("GET", "/upgrade/v2/content/airdrop/banner", Content, anyLevel, EnvelopeB)
)
