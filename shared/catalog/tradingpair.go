package catalog

// Pairs of the exchanges, and what they cost.
var (
	// Shows prices of up to 100 pairs.
	PairTickers = route[PairTickersIn, []PairTicker]("GET", "/v2/trading-pair/ticker", TradingPair, anyLevel, EnvelopeA).needs(ExchangeTickers, VenueTrades)
	// Lists the pairs of a platform.
	PlatformPairs = route[PlatformPairsIn, []PlatformPair]("GET", "/v2/trading-pair/getTradingPair", TradingPair, anyLevel, EnvelopeA).needs(ExchangePairs, VenueTrades)
	// Lists the pairs of a platform by currency or symbol.
	SelectedPairs = route[SelectedPairsIn, []SelectedPair]("GET", "/v2/trading-pair", TradingPair, anyLevel, EnvelopeA).needs(ExchangePairs, VenueTrades)
)

var _ = does(TradingPair, readSeries, readViews)

// PairTickersIn names pairs. They are listed in the order in which they are asked for,
// each once; unknown ones are left out.
type PairTickersIn struct {
	KeyList []Key `query:"key_list,symbol,dbkey,dbKey,key" required:"true" max:"100" list:"set" example:"btcusdt:binance"` // pair keys, 100 at most
}

// Needs implements [Needer].
func (in PairTickersIn) Needs() []Need { return ofPairs(in.KeyList, ExchangeTickers, VenueTrades) }

// PairTicker is what a pair costs. Figures are exact decimals as text, empty where they
// are not known. Those in US dollars are made with the quote coin's price, where a
// stablecoin counts as one dollar, and those in yuan from these with the European Central
// Bank's reference rate. The 24 hours of Hyperliquid begin at a quarter of an hour.
type PairTicker struct {
	Key        string `json:"key"`         // key of the pair, as it was asked for
	LastRaw    string `json:"last_raw"`    // price of the last trade, in the quote coin
	LastCNY    string `json:"last_cny"`    // price of the last trade in yuan
	LastUSD    string `json:"last_usd"`    // price of the last trade in US dollars
	High24hRaw string `json:"high24h_raw"` // highest price of 24 hours, in the quote coin
	High24hCNY string `json:"high24h_cny"` // highest price of 24 hours in yuan
	High24hUSD string `json:"high24h_usd"` // highest price of 24 hours in US dollars
	Low24hRaw  string `json:"low24h_raw"`  // lowest price of 24 hours, in the quote coin
	Low24hCNY  string `json:"low24h_cny"`  // lowest price of 24 hours in yuan
	Low24hUSD  string `json:"low24h_usd"`  // lowest price of 24 hours in US dollars
}

// PlatformPairsIn names a platform.
type PlatformPairsIn struct {
	Market Key `query:"market" required:"true" example:"binance"` // key of the platform, as /v2/market lists it
}

// Needs implements [Needer].
func (in PlatformPairsIn) Needs() []Need {
	return ofPlatform(string(in.Market), ExchangePairs, VenueTrades)
}

// PlatformPair is what a pair is called.
type PlatformPair struct {
	Key    string `json:"key"`     // key of the pair
	CNName string `json:"cn_name"` // name in Chinese
	ENName string `json:"en_name"` // name in English
	Show   string `json:"show"`    // short name, such as BTC/USDT
}

// SelectedPairsIn selects pairs of a platform.
type SelectedPairsIn struct {
	Market   Key `query:"market" required:"true" example:"binance"` // key of the platform, as /v2/market lists it
	Currency Key `query:"currency" example:"USDT"`                  // only pairs whose prices are in this coin, in any case
	Show     Key `query:"show" example:"BTC"`                       // only pairs of this coin, in any case, or with this short name
}

// Needs implements [Needer].
func (in SelectedPairsIn) Needs() []Need {
	return ofPlatform(string(in.Market), ExchangePairs, VenueTrades)
}

// SelectedPair is a pair of a platform.
type SelectedPair struct {
	Key      string `json:"key"`      // key of the pair
	Currency string `json:"currency"` // coin in which its prices are
	ENName   string `json:"en_name"`  // name in English
	CNName   string `json:"cn_name"`  // name in Chinese
	Show     string `json:"show"`     // short name, such as BTC/USDT
	Market   string `json:"market"`   // key of the platform
	Swap     bool   `json:"swap"`     // true for a perpetual
}
