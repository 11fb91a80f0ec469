package catalog

import "time"

// Flashes: short news of a line or a few.
var (
	// Lists the newest flashes.
	Flashes = route[FlashesIn, []Flash]("GET", "/v2/content/newsflash", Content, anyLevel, EnvelopeA).needs(ContentFlashes)
	// Lists flashes with their kind, from a time on.
	FlashList = route[FlashListIn, []TypedFlash]("GET", "/v2/content/flashList", Content, anyLevel, EnvelopeA).needs(ContentFlashes)
	// Lists flashes about listings on exchanges.
	ListingFlashes = route[ListingFlashesIn, []ListingFlash]("GET", "/v2/content/exchange-listing-flash", Content, anyLevel, EnvelopeA).needs(ContentFlashes)
	// Searches flashes by words.
	FlashSearch = route[FlashSearchIn, FoundFlashes]("GET", "/upgrade/v2/content/newsflash/search", Content, anyLevel, EnvelopeB).needs(ContentFlashes)
	// Lists flashes by tab, importance and date.
	FlashPages = route[FlashPagesIn, FlashPage]("GET", "/upgrade/v2/content/newsflash/list", Content, anyLevel, EnvelopeB).needs(ContentFlashes, ContentPosts)
	// Shows a flash in full.
	FlashDetail = route[FlashDetailIn, FlashInFull]("GET", "/upgrade/v2/content/newsflash/detail", Content, anyLevel, EnvelopeB).needs(ContentFlashes, ContentPosts)
)

// FlashesIn selects the newest 50 flashes of a language, newest first.
type FlashesIn struct {
	// Language: Chinese (cn), English (en) or traditional Chinese (tc). A flash without a
	// version in traditional Chinese is listed in Chinese there.
	Language string `query:"language" default:"cn" enum:"cn|en|tc"`
}

// Flash is a flash: a short piece of news.
type Flash struct {
	// Number of the flash, by which newsflash/detail finds it, 2^53-1 at most.
	ID int64 `json:"id"`
	// Title, a text without markup.
	Title string `json:"title"`
	// Text, without markup.
	Content string `json:"content"`
	// Language of title and content: cn, en or tc.
	Language string `json:"language"`
	// When it was published, in Unix seconds.
	CreateTime int64 `json:"createtime"`
	// Author of the flash.
	Columnist Columnist `json:"columnist"`
}

// FlashListIn selects flashes of a language, newest first: the newest 100 of those that
// were published from a time on.
type FlashListIn struct {
	// Language: Chinese (cn), English (en) or traditional Chinese (tc).
	Language string `query:"language" default:"cn" enum:"cn|en|tc"`
	// The earliest time of publication, in Unix seconds, inclusive; without it the newest.
	CreateTime *Seconds `query:"createtime"`
}

// TypedFlash is a flash with its kind.
type TypedFlash struct {
	// Number of the flash.
	ID int64 `json:"id"`
	// Title, a text without markup.
	Title string `json:"title"`
	// Text, without markup.
	Content string `json:"content"`
	// Language of title and content: cn, en or tc.
	Language string `json:"language"`
	// When it was published, in Unix seconds.
	CreateTime int64 `json:"createtime"`
	// What it is about: 0 unclassified; 1 a large move of a small coin; 3 turnover anomaly; 4 a coin's new high or low; 8 volume anomaly; 15 liquidations of the whole market; 18 a price level is crossed; 21 a new listing; 23 price moves; 25 a large liquidation; 26 open interest of exchanges; others as the document of the endpoint numbers them.
	FlashType int64 `json:"flashType"`
	// Author of the flash.
	Columnist Columnist `json:"columnist"`
}

// ListingFlashesIn selects flashes about listings, newest first.
type ListingFlashesIn struct {
	// Language: Chinese (cn), English (en) or traditional Chinese (tc).
	Language string `query:"language" default:"cn" enum:"cn|en|tc"`
	// Numbers of exchanges, 5 at most: 477 is Binance, 1509 OKX, 1510 Bybit. Without any,
	// Binance and OKX; null among them is left out.
	MemberIDs []int64 `query:"memberIds" max:"5" list:"set"`
	// Flashes of the answer, 100 at most.
	PageSize int64 `query:"pageSize,page_size" default:"20" min:"1" max:"100"`
}

// ListingFlash is a flash about a listing.
type ListingFlash struct {
	// Number of the flash.
	ID int64 `json:"id"`
	// Title, a text without markup.
	Title string `json:"title"`
	// Text, without markup.
	Content string `json:"content"`
	// Language of title and content: cn, en or tc.
	Language string `json:"language"`
	// When it was published, in Unix seconds.
	CreateTime int64 `json:"createtime"`
	// Always 2.
	NewsType int64 `json:"newsType"`
}

// FlashSearchIn searches all flashes. Those whose titles hold all words come first, then
// those that hold them elsewhere, the newest first among each.
type FlashSearchIn struct {
	// Words, all of which a flash must hold: English ones as whole words in any case, Chinese
	// as it is written.
	Word string `query:"word" required:"true" maxlen:"200" example:"bitcoin"`
	// Number of the page, from 1.
	Page int64 `query:"page" default:"1" min:"1" max:"1000"`
	// Flashes on a page, 50 at most.
	Size int64 `query:"size" default:"20" min:"1" max:"50"`
}

// FoundFlashes is a page of the flashes that were found.
type FoundFlashes struct {
	// Number of all flashes that hold the words.
	Total int64 `json:"total"`
	// Flashes of the page.
	List []FoundFlash `json:"list"`
}

// FoundFlash is a flash that was found.
type FoundFlash struct {
	// Number of the flash.
	ID int64 `json:"id"`
	// Title, a text without markup.
	Title string `json:"title"`
	// Text, without markup.
	Content string `json:"content"`
	// When it was published, in Unix seconds.
	CreateTime int64 `json:"createTime"`
	// Language of title and content: cn, en or tc.
	Language string `json:"language"`
	// Title in the other language, in which words may have been found too; empty for none.
	TransTitle string `json:"transTitle"`
	// Text in the other language; empty for none.
	TransContent string `json:"transContent"`
}

// FlashPagesIn selects a page of flashes or posts, newest first.
type FlashPagesIn struct {
	// Number of the last flash of the page before; absent for the first page. The page begins
	// behind the place where that flash stands now. An unknown number gives an empty page.
	LastID int64 `query:"last_id" min:"0" max:"9007199254740991"`
	// Flashes on the page, 50 at most.
	PageSize int64 `query:"pagesize,pageSize,page_size" default:"20" min:"1" max:"50"`
	// Tab: 0 lists the flashes of all tabs, another number only those of that tab.
	Tab int64 `query:"tab" default:"0" min:"0" max:"15"`
	// 1 for important ones only, 0 for all.
	OnlyImportant int64 `query:"only_important" default:"0" min:"0" max:"1"`
	// Language: Chinese or English.
	Lan string `query:"lan" default:"cn" enum:"cn|en"`
	// Which are listed: flashes (house) or posts of social networks (social). aicoin and
	// twitter are other spellings of these.
	PlatformShow string `query:"platform_show" default:"house" enum:"house|social|aicoin|twitter"`
	// Which dates: normal lists the newest, jump what was published until the end of a day,
	// range what was published on some days. Days are of UTC.
	DateMode string `query:"date_mode" default:"normal" enum:"normal|jump|range"`
	// Day of jump, as YYYY-MM-DD.
	JumpToDate EndDate `query:"jump_to_date"`
	// First day of range, as YYYY-MM-DD.
	StartDate StartDate `query:"start_date"`
	// Last day of range, as YYYY-MM-DD; absent for today.
	EndDate EndDate `query:"end_date"`
}

// Needs implements [Needer].
func (in FlashPagesIn) Needs() []Need {
	if in.PlatformShow == "social" || in.PlatformShow == "twitter" {
		return []Need{ContentPosts.On("")}
	}
	return []Need{ContentFlashes.On("")}
}

// Uses implements [Selective]: each mode has days of its own.
func (in *FlashPagesIn) Uses(parameter string) bool {
	switch parameter {
	case "jump_to_date":
		return in.DateMode == "jump"
	case "start_date", "end_date":
		return in.DateMode == "range"
	}
	return true
}

// Span implements [Spanner].
func (in FlashPagesIn) Span(now time.Time) (start, end time.Time) {
	return spanDates(in.StartDate, in.EndDate, now)
}

// FlashPage is a page of flashes.
type FlashPage struct {
	// Whether it is the first page of the newest flashes, on which new ones appear.
	IsLive bool `json:"isLive"`
	// Flashes of the page.
	List []PagedFlash `json:"list"`
}

// PagedFlash is a flash in a page.
type PagedFlash struct {
	// Number of the flash.
	ID int64 `json:"id"`
	// Title, a text without markup.
	Title string `json:"title"`
	// Text, without markup.
	Content string `json:"content"`
	// Title in the other language; empty for none.
	TransTitle string `json:"transTitle"`
	// Text in the other language; empty for none.
	TransContent string `json:"transContent"`
	// When it was published, in Unix seconds.
	Timestamp int64 `json:"timestamp"`
	// 1 for an important flash, else 0.
	IsImportant int64 `json:"is_important"`
	// Always 0: every flash may be shown to all users.
	IsPro int64 `json:"is_pro"`
	// Tab in which it is shown beside the tab 0; 0 for none.
	Tab int64 `json:"tab"`
	// Whom it is from; empty for flashes of the service itself.
	Source string `json:"source"`
}

// FlashDetailIn names a flash or a post.
type FlashDetailIn struct {
	// Number of the flash. An unknown one is 404.
	FlashID int64 `query:"flash_id" required:"true" min:"1" max:"9007199254740991" example:"1"`
}

// FlashInFull is a flash or a post in full.
type FlashInFull struct {
	// Number of the flash.
	ID int64 `json:"id"`
	// Title, a text without markup.
	Title string `json:"title"`
	// Text, without markup.
	Content string `json:"content"`
	// When it was published, in Unix seconds.
	Timestamp int64 `json:"timestamp"`
	// 1 for an important flash, else 0.
	IsImportant int64 `json:"is_important"`
	// Whom it is from; empty for flashes of the service itself.
	Source string `json:"source"`
	// Title in the other language; empty for none.
	TransTitle string `json:"transTitle"`
	// Text in the other language; empty for none.
	TransContent string `json:"transContent"`
	// Address of the whole story; empty for none.
	Link string `json:"link"`
	// Addresses of pictures.
	PicArray []string `json:"picArray"`
}
