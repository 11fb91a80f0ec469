package catalog

// Articles; for flashes, posts and airdrops see their own files.
var (
	// Lists articles in pages, newest first.
	NewsList = route[NewsListIn, []NewsItem]("GET", "/v2/content/news-list", Content, anyLevel, EnvelopeA).needs(ContentNews)
	// Shows an article in full.
	NewsDetail = route[NewsDetailIn, NewsArticle]("GET", "/v2/content/news-detail", Content, anyLevel, EnvelopeA).needs(ContentNews)
	// Lists articles in pages, newest first, as RSS.
	NewsFeed = addition[NewsListIn, NewsRSS]("GET", "/v2/content/square/market/news-list", Content, anyLevel, EnvelopeA).needs(ContentNews)

	// Interprets the price trend of coins.
	CoinReadings = route[CoinReadingsIn, CoinReadingList]("POST", "/v2/content/ai-coins", Content, anyLevel, EnvelopeC).needs(ContentReadings)
)

var _ = does(Content, readLog, readViews)

// NewsListIn selects a page of the news of all languages, newest first. The newest 5,000
// items are listed; a page behind them is empty.
type NewsListIn struct {
	// Number of the page, from 1.
	Page int64 `query:"page" default:"1" min:"1"`
	// Items on a page, 20 at most.
	PageSize int64 `query:"pageSize,page_size" default:"20" min:"1" max:"20"`
}

// NewsItem is a news item without its text.
type NewsItem struct {
	// Number of the item, by which news-detail finds it, 2^53-1 at most.
	ID int64 `json:"id"`
	// Title, a text without markup.
	Title string `json:"title"`
	// Summary, a text without markup of at most 500 characters; empty where the publisher gives none.
	Describe string `json:"describe"`
	// Absolute address of a picture, empty for none.
	Cover string `json:"cover"`
	// When the item was published, in Unix seconds; when it was first seen, where the publisher gives no time.
	CreateTime int64 `json:"createtime"`
	// Language: 10 for Chinese, 11 for English.
	Language int64 `json:"language"`
	// Author of the item.
	Columnist Columnist `json:"columnist"`
}

// NewsRSS is all of the response body: RSS 2.0, of which each item has title, link, description,
// pubDate, author and guid, the number by which news-detail finds it. A link, a description or an author that the publisher does not give is left out.
type NewsRSS string

// Bare marks a response without envelope.
func (NewsRSS) Bare() {}

// MediaType says that it is no JSON.
func (NewsRSS) MediaType() string { return "application/rss+xml" }

// NewsDetailIn names a news item.
type NewsDetailIn struct {
	// Number of the item, as news-list shows it. An unknown one is 404.
	ID int64 `query:"id" required:"true" min:"1" max:"9007199254740991"`
}

// NewsArticle is a news item with its text.
type NewsArticle struct {
	// Number of the item.
	ID int64 `json:"id"`
	// Title, a text without markup.
	Title string `json:"title"`
	// Summary, a text without markup of at most 500 characters; empty where the publisher gives none.
	Describe string `json:"describe"`
	// Absolute address of a picture, empty for none.
	Cover string `json:"cover"`
	// When the item was published, in Unix seconds; when it was first seen, where the publisher gives no time.
	CreateTime int64 `json:"createtime"`
	// Text, as HTML of harmless elements with absolute addresses. Some publishers give no
	// more than a summary.
	Content string `json:"content"`
	// Name of the publisher.
	Source string `json:"source"`
	// Language: 10 for Chinese, 11 for English.
	Language int64 `json:"language"`
	// Author of the item.
	Columnist Columnist `json:"columnist"`
}

// CoinReadingsIn names coins.
type CoinReadingsIn struct {
	// Coin keys, 100 at most. A coin that is not known, and one without K-lines enough, is left out.
	CoinKeys []Key `body:"coinKeys" required:"true" max:"100" list:"set" example:"bitcoin"`
	// Language of the texts: Chinese, English or traditional Chinese.
	Language string `body:"language" default:"CN" enum:"CN|EN|TC"`
}

// CoinReadingList is what is read of coins.
type CoinReadingList struct {
	// Readings, in the order in which the coins were asked for.
	List []CoinReading `json:"list"`
}

// CoinReading is what published indicators say of a coin by its K-lines of four hours, worded
// by the program. It follows from these alone: docs/readings.md has the rule. Exact decimals are
// texts, empty where they are not known.
type CoinReading struct {
	// Key of the coin.
	CoinKey string `json:"coinKey"`
	// Short name, such as BTC.
	CoinShow string `json:"coinShow"`
	// Address of the coin's picture, empty for none.
	CoinLogo string `json:"coinLogo"`
	// Price of one coin now, US dollars.
	Price string `json:"price"`
	// Change of the price in 24 hours, percent.
	Degree string `json:"degree"`
	// What trend, momentum, volatility and volume are, a text in the language that was asked for.
	Interpret string `json:"interpret"`
	// What more of the five signs speak for: rise or fall.
	Trend string `json:"trend"`
	// How many signs speak for it, within which prices the next four hours lie at the average range, and which price would speak against it: a text in the language that was asked for.
	Predition string `json:"predition"`
}

// Columnist is the author of an item.
type Columnist struct {
	// Name of the author, or of the publisher where the item names none.
	NickName string `json:"nick_name"`
	// Absolute address of the publisher's picture, empty for none.
	Avatar string `json:"avatar"`
	// Absolute address of the publisher's picture for dark backgrounds; it is the same as
	// avatar.
	AvatarBlack string `json:"avatar_black"`
}
