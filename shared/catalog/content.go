package catalog

// Articles; for flashes, posts and airdrops see their own files.
var (
	// Lists articles in pages, newest first.
	NewsList = route[NewsListIn, []NewsItem]("GET", "/v2/content/news-list", Content, anyLevel, EnvelopeA).needs(ContentNews)
	// Shows an article in full.
	NewsDetail = route[NewsDetailIn, NewsArticle]("GET", "/v2/content/news-detail", Content, anyLevel, EnvelopeA).needs(ContentNews)

	// Interprets the price trend of coins.
	_ = planned("POST", "/v2/content/ai-coins", Content, anyLevel, EnvelopeC)
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
