package catalog

// The endpoints of the family Platforms.
var (
	// Lists the platforms.
	PlatformList = route[PlatformListIn, []PlatformName]("GET", "/v2/market", Platforms, anyLevel, EnvelopeA).needs(ExchangePairs, VenueTrades)
	// Shows the net inflow of up to 100 platforms.
	PlatformTickers = route[PlatformTickersIn, []PlatformTicker]("GET", "/v2/market/ticker", Platforms, anyLevel, EnvelopeA).needs(ExchangePairs, VenueTrades).begins()

	// Lists the coins of a theme with their prices.
	ThemeCoins = route[ThemeCoinsIn, ThemeCoinList]("GET", "/v2/market/hotTabCoins", Platforms, anyLevel, EnvelopeA).needs(ReferenceCoins)
)

var _ = does(Platforms, readSeries, readViews)

// PlatformListIn asks for all platforms.
type PlatformListIn struct{}

// PlatformName is what a platform is called: an exchange, or a part of one with a key of
// its own.
type PlatformName struct {
	Key    string `json:"key"`     // names the platform in requests and in the keys of its pairs
	ENName string `json:"en_name"` // name in English
	CNName string `json:"cn_name"` // name in Chinese
}

// PlatformTickersIn names platforms. They are listed in the order in which they are asked
// for, each once; unknown ones are left out.
type PlatformTickersIn struct {
	MarketList []Key `query:"market_list" required:"true" max:"100" list:"set" example:"binance"` // keys of platforms, 100 at most
}

// PlatformTicker is what takers bought less what they sold on a platform in the last 24
// hours, in whole minutes, over the pairs that the service follows: exact decimals as
// text, negative where more was sold, empty where there is no data. For OKX and Bybit it
// covers what was traded since the service follows them, where that is less than 24 hours, which
// the header X-Data-Since says: of several platforms of the last of them.
// The 24 hours of Hyperliquid begin at a quarter of an hour.
type PlatformTicker struct {
	MarketKey    string `json:"market_key"`   // key of the platform, as it was asked for
	FundNetInCNY string `json:"fundNetInCny"` // in yuan, with the European Central Bank's reference rate
	FundNetInUSD string `json:"fundNetInUsd"` // in US dollars, where a stablecoin counts as one dollar
}

// ThemeCoinsIn selects a theme and a currency.
type ThemeCoinsIn struct {
	// theme: gamefi, anonymous, market (coins of exchanges), web, newcoin, stable or defi; an
	// unknown one has no coins. Which coins it has, the source of prices says, but for web and
	// newcoin, and an operator's drops
	Key      Key    `query:"key" required:"true" example:"defi"`
	Currency string `query:"currency" default:"cny" enum:"cny|usd"` // currency of the money: yuan or US dollars
}

// ThemeCoinList has the coins of a theme.
type ThemeCoinList struct {
	List []ThemeCoin `json:"list"` // the largest first, by market value
}

// ThemeCoin is a coin of a theme. Figures are exact decimals as text, null where they are not known.
type ThemeCoin struct {
	Key       string  `json:"key"`       // key that names the coin in requests
	Logo      string  `json:"logo"`      // address of its logo; empty where none is known
	Show      string  `json:"show"`      // short name, such as BTC
	CNName    string  `json:"cn_name"`   // name in Chinese; empty where none is known
	ENName    string  `json:"en_name"`   // name in English; empty where none is known
	Price     *string `json:"price"`     // price of one coin, as in /v2/coin/ticker; null where it is not known
	Vol24H    *string `json:"vol24H"`    // coins that were traded in 24 hours; null where it is not known
	Trade24H  *string `json:"trade24H"`  // value of what was traded in 24 hours; null where it is not known
	Degree24H *string `json:"degree24H"` // change of the price in 24 hours, percent; null where it is not known
}
