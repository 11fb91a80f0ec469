package catalog

// Coins: what they are called and what they cost.
var (
	// Lists the coins in pages.
	CoinList = route[CoinListIn, Paged[CoinName]]("GET", "/v2/coin", Coins, anyLevel, EnvelopeA).needs(ReferenceCoins)
	// Shows prices and figures of the day of up to 100 coins; clients check a key by it, so where no source of prices is configured it succeeds with an empty list.
	CoinTickers = route[CoinTickersIn, []CoinTicker]("GET", "/v2/coin/ticker", Coins, anyLevel, EnvelopeA).needs(ReferencePrices).checksKeys()

	// Searches coins by name or symbol.
	CoinSearch = route[CoinSearchIn, CoinSearchPage]("GET", "/upgrade/v2/coin/search", Coins, anyLevel, EnvelopeB).needs(ReferenceCoins)
	// Searches coins by name or symbol, under an older path.
	CoinSearchOld = route[CoinSearchIn, CoinSearchPage]("GET", "/v2/coin/search", Coins, anyLevel, EnvelopeB).needs(ReferenceCoins)
	// Shows what is known of up to 100 coins: papers, sites, supply.
	CoinConfigs = route[CoinConfigsIn, []CoinConfig]("GET", "/v2/coin/config", Coins, anyLevel, EnvelopeA).needs(ReferenceCoins)
)

var _ = does(Coins, readViews)

// CoinListIn selects a page of all coins: the largest first, by market value, then
// those whose value is not known, by key.
type CoinListIn struct {
	Page     int64 `query:"page" default:"1" min:"1"`                           // number of the page, from 1; beyond the last one there is nothing
	PageSize int64 `query:"page_size,pageSize" default:"100" min:"1" max:"100"` // coins of a page, 100 at most
}

// CoinName is what a coin is called.
type CoinName struct {
	CoinKey string `json:"coin_key"` // key that names the coin in requests, exactly as it is written
	HashKey string `json:"hash_key"` // an id of fixed length that follows from coin_key: the first 32 hexadecimal digits of its SHA-256
	Show    string `json:"show"`     // short name, such as BTC
	CNName  string `json:"cn_name"`  // name in Chinese; empty where none is known
	ENName  string `json:"en_name"`  // name in English; empty where none is known
}

// CoinTickersIn names coins. They are listed in the order in which they are asked for,
// each once. A coin that is not known, or whose price is older than a day, is left out.
type CoinTickersIn struct {
	CoinList []Key `query:"coin_list" required:"true" max:"100" list:"set" example:"bitcoin"` // coin keys, 100 at most
}

// CoinTicker is what a coin costs. Where the service follows a pair of it with USDT on Binance,
// OKX or Bybit, the price and its change of 24 hours are that pair's, with a USDT as one US dollar;
// all other figures, and those of all other coins, are those of the source of prices.
// Figures are exact decimals as text, empty where they
// are not known. Those in yuan (cny) are made from those in US dollars (usd) with the
// European Central Bank's reference rates of the days concerned.
type CoinTicker struct {
	CoinKey string `json:"coin_key"` // key of the coin, as it was asked for

	PriceCNY      string `json:"price_cny"`         // price of one coin in yuan
	PriceUSD      string `json:"price_usd"`         // price of one coin in US dollars
	Degree24hCNY  string `json:"degree_24h_cny"`    // change of the price in yuan in 24 hours, percent: -0.61 is 0.61 % less
	Degree24hUSD  string `json:"degree_24h_usd"`    // change of the price in US dollars in 24 hours, percent
	Degree7dayCNY string `json:"degree_7day_cny"`   // change of the price in yuan in seven days, percent
	Degree7dayUSD string `json:"degree_7day_usd"`   // change of the price in US dollars in seven days, percent
	SupplyCNY     string `json:"supply_cny"`        // value of the circulating supply, in yuan: coins in circulation x price
	SupplyUSD     string `json:"supply_usd"`        // value of the circulating supply, in US dollars
	Trade24hCNY   string `json:"trade_24h_cny"`     // value of what was traded in 24 hours, in yuan
	Trade24hUSD   string `json:"trade_24h_usd"`     // value of what was traded in 24 hours, in US dollars
	NetIn24hCNY   string `json:"fundNetIn_24h_cny"` // bought less sold by takers in 24 hours, in yuan; always empty as yet
	NetIn24hUSD   string `json:"fundNetIn_24h_usd"` // bought less sold by takers in 24 hours, in US dollars; always empty as yet
	Vol24h        string `json:"vol_24h"`           // what was traded in 24 hours, in coins: trade_24h_usd / price_usd, to eight places
}

// CoinSearchIn selects coins whose short name, names or key hold a text: first those of which
// one is the text, then those of which one begins with it, then the others, each the largest
// first.
type CoinSearchIn struct {
	Search   string `query:"search" required:"true" maxlen:"64" example:"btc"`  // text, in any letter case
	Page     int64  `query:"page" default:"1" min:"1"`                          // number of the page, from 1; beyond the last one there is nothing
	PageSize int64  `query:"page_size,pageSize" default:"20" min:"1" max:"100"` // coins of a page, 100 at most
	Market   Key    `query:"market" example:"binance"`                          // only coins with a pair on this platform, with those pairs
	// only coins with pairs of a kind, with those pairs: spot, or perpetuals as swap or futures
	TradeType string `query:"trade_type,tradeType" enum:"|spot|swap|futures"`
}

// CoinSearchPage is a page of coins that were found.
type CoinSearchPage struct {
	Count int64       `json:"count"` // coins of all pages together
	List  []CoinFound `json:"list"`  // coins of the page
}

// CoinFound is a coin that was found. Figures are exact decimals as text, empty where they are
// not known; money is in yuan.
type CoinFound struct {
	CoinKey   string `json:"coinKey"`   // key that names the coin in requests
	CoinName  string `json:"coinName"`  // name in English; the short name where none is known
	CoinShow  string `json:"coinShow"`  // short name, such as BTC
	DBKeys    string `json:"dbKeys"`    // keys of its pairs, joined by commas; empty where it has none
	Degree24H string `json:"degree24H"` // change of the price in yuan in 24 hours, percent
	Logo      string `json:"logo"`      // address of its logo; empty where none is known
	Market    string `json:"market"`    // platform of the pair by which it is priced, else of its first pair; empty without one
	Price     string `json:"price"`     // price of one coin in yuan
	Rank      string `json:"rank"`      // place by market value, from 1; empty where it is not known
	Trade24H  string `json:"trade24H"`  // value of what was traded in 24 hours, in yuan
}

// CoinConfigsIn names coins. They are listed in the order in which they are asked for, each
// once. A coin that is not known is left out.
type CoinConfigsIn struct {
	CoinList []Key `query:"coin_list" required:"true" max:"100" list:"set" example:"bitcoin"` // coin keys, 100 at most
}

// CoinConfig is what is known of a coin beside its price. An empty text is not known: an
// operator's drops say it, and the source of prices the logo and how many coins there are.
type CoinConfig struct {
	CoinKey       string     `json:"coin_key"`      // key of the coin, as it was asked for
	Show          string     `json:"show"`          // short name, such as BTC
	CNName        string     `json:"cnName"`        // name in Chinese
	ENName        string     `json:"enName"`        // name in English
	Describe      string     `json:"describe"`      // what it is
	WhitePaper    string     `json:"whitePaper"`    // address of its paper
	OfficialURL   string     `json:"officialUrl"`   // address of its site
	PublishAmount string     `json:"publishAmount"` // how many coins there will ever be, a decimal
	Telegram      string     `json:"telegram"`      // address of its group
	Logo          string     `json:"logo"`          // address of its logo
	Algorithm     string     `json:"algorithm"`     // by which it is mined or signed
	Consensus     string     `json:"consensus"`     // how its nodes agree
	PublishTime   string     `json:"publishTime"`   // when it was first issued, seconds since 1970 UTC
	PublishPrice  string     `json:"publishPrice"`  // price at which it was first issued in US dollars, a decimal
	SupplyValue   string     `json:"supplyValue"`   // coins in circulation, a decimal
	DBKey         string     `json:"dbkey"`         // key of the pair by which it is priced, else of its first pair; empty without one
	Distribution  []CoinPart `json:"distribution"`  // how the first coins were given out; empty where it is not known
}

// CoinPart is what part of the coins who had at first.
type CoinPart struct {
	ICO        string `json:"ico"`        // sold in an offering, percent as a decimal; empty where it is not known
	Foundation string `json:"foundation"` // kept by the foundation, percent as a decimal; empty where it is not known
}
