package catalog

// Airdrops and similar campaigns of exchanges, which belong to the family of content.
var (
	// Lists airdrops and similar campaigns, newest first.
	AirdropList = route[AirdropListIn, Airdrops]("GET", "/upgrade/v2/content/airdrop/list", Content, anyLevel, EnvelopeB).needs(ContentAirdrops)
	// Lists airdrops and similar campaigns, newest first, under an older path.
	AirdropListOlder = route[AirdropListIn, Airdrops]("GET", "/v2/content/airdrop/list", Content, anyLevel, EnvelopeB).needs(ContentAirdrops)
	// Shows an airdrop in full.
	AirdropDetail = route[AirdropDetailIn, AirdropArticle]("GET", "/upgrade/v2/content/airdrop/detail", Content, anyLevel, EnvelopeB).needs(ContentAirdrops)
	// Lists the airdrops to put forward.
	AirdropBanner = route[AirdropBannerIn, AirdropBanners]("GET", "/upgrade/v2/content/airdrop/banner", Content, anyLevel, EnvelopeB).needs(ContentAirdrops)

	// Lists the exchanges and kinds of activity of which there are airdrops, with their numbers.
	AirdropExchanges = addition[AirdropExchangesIn, AirdropFilters]("GET", "/upgrade/v2/content/airdrop/exchanges", Content, anyLevel, EnvelopeB).needs(ContentAirdrops)
	// Lists day by day which airdrops begin and end in a month.
	AirdropCalendar = addition[AirdropCalendarIn, AirdropMonth]("GET", "/upgrade/v2/content/airdrop/calendar", Content, anyLevel, EnvelopeB).needs(ContentAirdrops)
)

// AirdropListIn selects a page of airdrops, the latest beginning first. Where nothing
// matches, as with an unknown exchange, the list is empty.
type AirdropListIn struct {
	// Programme that the airdrops belong to. bitget_launchpool and bitget_poolx are other spellings of venue_launchpool and venue_poolx.
	Source string `query:"source" default:"all" enum:"all|hodler|xlaunch|earncoin|alpha|venue_launchpool|venue_poolx|bitget_launchpool|bitget_poolx"`
	// Which of them: those that are not finished, upcoming ones included, or those that are
	// finished.
	Status string `query:"status" default:"ongoing" enum:"ongoing|finished"`
	// Number of the page, from 1; a page behind the last one is empty.
	Page int64 `query:"page" default:"1" min:"1"`
	// Airdrops of a page; there are 2,000 in all at most.
	PageSize int64 `query:"page_size,pageSize" default:"20" min:"1"`
	// Key of an exchange, such as binance, in any case; absent for all.
	Exchange string `query:"exchange" maxlen:"64"`
	// Key of an activity, in any case, as airdrop/exchanges lists them; absent for all.
	ActivityType string `query:"activity_type,activityType" maxlen:"64"`
	// Language of texts: English, Chinese or traditional Chinese. What there is not in it is in English, or else in any.
	Lan string `query:"lan" default:"en" enum:"cn|en|tc"`
}

// Airdrops is a page of airdrops.
type Airdrops struct {
	// Number of airdrops of all pages.
	Count int64 `json:"count"`
	// Airdrops of the page.
	List []Airdrop `json:"list"`
}

// Airdrop is an airdrop in a list.
type Airdrop struct {
	// Identifier, by which airdrop/detail finds it.
	AirdropID string `json:"airdropId"`
	// Name of the project.
	ProjectName string `json:"projectName"`
	// Short name of what is given away; empty where it is not known.
	TokenSymbol string `json:"tokenSymbol"`
	// Key of the exchange.
	Exchange string `json:"exchange"`
	// Key of what one does to take part.
	ActivityType string `json:"activityType"`
	// How far it is now: 0 has not begun (airdrop/list shows it among the ongoing), 1 ongoing, 2 finished.
	Status int64 `json:"status"`
	// Programme that it belongs to: the type by which airdrop/detail finds it.
	Source string `json:"source"`
}

// AirdropDetailIn names an airdrop. An unknown one is 404.
type AirdropDetailIn struct {
	// Programme that it belongs to: hodler, xlaunch or another source of airdrop/list.
	Type string `query:"type" required:"true" enum:"hodler|xlaunch|earncoin|alpha|venue_launchpool|venue_poolx|bitget_launchpool|bitget_poolx"`
	// Identifier of the project or of the airdrop, or the short name of what is given away.
	// Of several the newest is shown.
	Token string `query:"token" required:"true" maxlen:"64" example:"simulated-hodler-1"`
	// Language of texts: English, Chinese or traditional Chinese. What there is not in it is in English, or else in any.
	Lan string `query:"lan" default:"en" enum:"cn|en|tc"`
}

// AirdropArticle is an airdrop in full.
type AirdropArticle struct {
	// Title, a text without markup.
	Title string `json:"title"`
	// Key of what one does to take part.
	ActivityType string `json:"activityType"`
	// Name of what one does to take part.
	ActivityTypeName string `json:"activityTypeName"`
	// Key of the exchange.
	Exchange string `json:"exchange"`
	// Name of the exchange.
	ExchangeName string `json:"exchangeName"`
	// Identifier of the project.
	ProjectID string `json:"projectId"`
	// When it was announced, ms; where that is not known, when the service found it.
	PublishDate int64 `json:"publishDate"`
	// Address of the announcement; empty for none.
	SourceURL string `json:"sourceUrl"`
	// Text as Markdown, without HTML, with links to http and https only; empty for none.
	ContentMD string `json:"contentMd"`
}

// AirdropBannerIn selects the airdrops to put forward.
type AirdropBannerIn struct {
	// Banners, 100 at most.
	Limit int64 `query:"limit" default:"5" min:"1" max:"100"`
	// Language of texts: English, Chinese or traditional Chinese. What there is not in it is in English, or else in any.
	Lan string `query:"lan" default:"en" enum:"cn|en|tc"`
}

// AirdropBanners are airdrops to put forward that are not finished: those that the
// operator of the service chose, in that order, or the newest where none was chosen.
type AirdropBanners struct {
	// Number of the banners.
	Count int64 `json:"count"`
	// Airdrops to put forward.
	Banners []AirdropBannerItem `json:"banners"`
	// The same rows as in banners, as some clients read them.
	List []AirdropBannerItem `json:"list"`
}

// AirdropBannerItem is an airdrop that is put forward.
type AirdropBannerItem struct {
	// Identifier of the airdrop.
	AirdropID string `json:"airdropId"`
	// Title, a text without markup.
	Title string `json:"title"`
	// A line to go under it; empty for none.
	Subtitle string `json:"subtitle"`
	// A few sentences; empty for none.
	Description string `json:"description"`
	// Address to which it leads; empty for none.
	ActionURL string `json:"actionUrl"`
	// Address of a picture to go behind it; empty for none.
	BackgroundImage string `json:"backgroundImage"`
	// Words on the button.
	ButtonText string `json:"buttonText"`
}

// AirdropExchangesIn asks what airdrops can be selected by.
type AirdropExchangesIn struct {
	// Language of names: English, Chinese or traditional Chinese. What there is not in it is in English, or else in any.
	Lan string `query:"lan" default:"en" enum:"cn|en|tc"`
}

// AirdropFilters is what airdrops can be selected by, the most frequent first.
type AirdropFilters struct {
	// Exchanges that have airdrops.
	Exchanges []AirdropExchange `json:"exchanges"`
	// What one does to take part in them.
	ActivityTypes []AirdropActivity `json:"activityTypes"`
}

// AirdropExchange is an exchange that has airdrops.
type AirdropExchange struct {
	// Key of the exchange.
	Exchange string `json:"exchange"`
	// Name of the exchange.
	ExchangeName string `json:"exchangeName"`
	// Number of airdrops of the exchange.
	Count int64 `json:"count"`
	// Number of those that are not finished.
	OngoingCount int64 `json:"ongoingCount"`
}

// AirdropActivity is what one does to take part in airdrops.
type AirdropActivity struct {
	// Key of the activity.
	ActivityType string `json:"activityType"`
	// Name of the activity.
	ActivityTypeName string `json:"activityTypeName"`
	// Number of airdrops with it.
	Count int64 `json:"count"`
	// Number of those that are not finished.
	OngoingCount int64 `json:"ongoingCount"`
}

// AirdropCalendarIn names a calendar month in UTC.
type AirdropCalendarIn struct {
	// Year.
	Year int64 `query:"year" required:"true" min:"2009" max:"9999" example:"2026"`
	// Month, 1 for January.
	Month int64 `query:"month" required:"true" min:"1" max:"12" example:"11"`
	// Language of texts: English, Chinese or traditional Chinese. What there is not in it is in English, or else in any.
	Lan string `query:"lan" default:"en" enum:"cn|en|tc"`
}

// AirdropMonth is a month of airdrops, day by day.
type AirdropMonth struct {
	// Year.
	Year int64 `json:"year"`
	// Month, 1 for January.
	Month int64 `json:"month"`
	// Number of beginnings and ends in the month.
	Count int64 `json:"count"`
	// The days on which an airdrop begins or ends, oldest first.
	List []AirdropDay `json:"list"`
}

// AirdropDay is what happens on a day in UTC.
type AirdropDay struct {
	// The day, as 2026-01-31.
	Date string `json:"date"`
	// Number of beginnings and ends on that day.
	Count int64 `json:"count"`
	// What begins and ends, oldest first.
	List []AirdropEvent `json:"list"`
}

// AirdropEvent is the beginning or the end of an airdrop.
type AirdropEvent struct {
	// What happens: start or end.
	Event string `json:"event"`
	// When it begins or ends, ms. Where no beginning is known, it is when the airdrop was
	// announced.
	Time int64 `json:"time"`
	// Identifier of the airdrop.
	AirdropID string `json:"airdropId"`
	// Title, a text without markup.
	Title string `json:"title"`
	// Name of the project.
	ProjectName string `json:"projectName"`
	// Short name of what is given away; empty where it is not known.
	TokenSymbol string `json:"tokenSymbol"`
	// Key of the exchange.
	Exchange string `json:"exchange"`
	// Name of the exchange.
	ExchangeName string `json:"exchangeName"`
	// Key of what one does to take part.
	ActivityType string `json:"activityType"`
	// Name of what one does to take part.
	ActivityTypeName string `json:"activityTypeName"`
	// How far it is now: 0 has not begun (airdrop/list shows it among the ongoing), 1 ongoing, 2 finished.
	Status int64 `json:"status"`
	// Programme that it belongs to: the type by which airdrop/detail finds it.
	Source string `json:"source"`
}
