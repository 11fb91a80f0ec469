package catalog

// Coins: what they are called and what they cost.
var (
	// Lists the coins in pages.
	CoinList = route[CoinListIn, Paged[CoinName]]("GET", "/v2/coin", Coins, anyLevel, EnvelopeA).needs(ReferenceCoins)
	// Shows prices and figures of the day of up to 100 coins; clients check a key by it, so where no source of prices is configured it succeeds with an empty list.
	CoinTickers = route[CoinTickersIn, []CoinTicker]("GET", "/v2/coin/ticker", Coins, anyLevel, EnvelopeA).needs(ReferencePrices).checksKeys()

	// Searches coins by name or symbol.
	_ = planned("GET", "/upgrade/v2/coin/search", Coins, anyLevel, EnvelopeB)
	// Searches coins by name or symbol, under an older path.
	_ = planned("GET", "/v2/coin/search", Coins, anyLevel, EnvelopeB)
	// Shows what is known of up to 100 coins: papers, sites, supply.
	_ = planned("GET", "/v2/coin/config", Coins, anyLevel, EnvelopeA)
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

// CoinTicker is what a coin costs. Figures are exact decimals as text, empty where they
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
