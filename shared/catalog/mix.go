package catalog

import "encoding/json"

// The endpoints of the family Mix.
var (
	// Shows the ratio of longs to shorts in bitcoin now, a day and a week ago.
	LongShortRatio = route[LongShortRatioIn, LongShortRatioNow]("GET", "/v2/mix/ls-ratio", Mix, anyLevel, EnvelopeA).needs(ExchangeRatios)
	// Sums up liquidations of the last hour and day.
	LiquidationSums = route[LiquidationSumsIn, LiquidationSummary]("GET", "/v2/mix/liq", Mix, anyLevel, EnvelopeA).needs(ExchangeLiquidations, VenueFills).begins()

	// Shows the plan of the calling key and when it ends.
	KeyPlanNow = addition[KeyPlanIn, KeyPlan]("GET", "/v2/api-key-info", Mix, anyLevel, EnvelopeA)

	// Lists the pairs and indexes of the navigation bar with their prices.
	Navigation = route[NavigationIn, []NavigationItem]("GET", "/v2/mix/nav", Mix, anyLevel, EnvelopeA).needs(ExchangeTickers)
	// Shows prices of the trust products.
	TrustProducts = route[TrustProductsIn, TrustProductList]("GET", "/v2/mix/grayscale-trust", Mix, anyLevel, EnvelopeA).needs(ReferenceTreasuries)
	// Shows what the trusts hold of coins and how it changed in a day.
	TrustHoldings = route[TrustHoldingsIn, TrustHoldingList]("GET", "/v2/mix/gray-scale", Mix, anyLevel, EnvelopeA).needs(ReferenceTreasuries)
	// Shows four major stock indexes.
	StockMarket = route[StockMarketIn, StockIndexList]("GET", "/v2/mix/stock-market", Mix, anyLevel, EnvelopeA).needs(ReferenceIndices)
)

var _ = does(Mix, readSeries, readViews)

// StockMarketIn asks for the four stock indexes.
type StockMarketIn struct{}

// StockIndexList has the four: Shanghai, Nasdaq, Dow Jones and S&P 500.
type StockIndexList struct {
	Detail []StockIndex `json:"detail"` // always the same four, in this order
}

// StockIndex is what a stock index closed at on its last day, of which an open one counts as
// far as its source has published it. A day that is older than two weeks has no figures.
type StockIndex struct {
	Key    string       `json:"key"`    // names the index in requests
	Name   string       `json:"name"`   // name in English
	Last   *string      `json:"last"`   // points, a decimal; null where they are not known
	Degree *json.Number `json:"degree"` // change from the close of the day before, percent to four places; null where it is not known
}

// NavigationIn asks for the navigation bar.
type NavigationIn struct {
	Lan string `query:"lan" default:"cn" enum:"cn|en"` // language of names
}

// NavigationItem is a pair of a major coin on the exchange that is asked first, or an index.
// Pairs come first; one without a price is left out, as is an index of more than two weeks ago.
type NavigationItem struct {
	Key         string   `json:"key"`          // key of the pair or index
	KeyType     string   `json:"key_type"`     // 1 for a pair, 3 for an index
	CoinShow    string   `json:"coin_show"`    // short name of the coin or index, such as BTC
	Last        string   `json:"last"`         // last price, or what the index stood at last: an exact decimal
	CoinName    string   `json:"coin_name"`    // name of the coin in the language asked for, its short name where none is known; of an index its name
	MarketName  string   `json:"market_name"`  // name of the exchange in the language asked for, or of the source of the index
	CurrencyStr string   `json:"currency_str"` // coin or currency of the price; empty for points
	Trades      []string `json:"trades"`       // prices of a day, oldest first: that of 24 hours ago, of an index the close before, and the last
}

// TrustProductsIn asks for the trusts.
type TrustProductsIn struct{}

// TrustProductList has the trusts.
type TrustProductList struct {
	Detail []TrustProduct `json:"detail"` // trusts whose shares have a price, by key
}

// TrustProduct is what a share of a trust cost on the last day that is known, of at most two
// weeks ago, in the currency of its market: exact decimals as text.
type TrustProduct struct {
	Key       string `json:"key"`        // key of the share
	Show      string `json:"show"`       // short name of the share, such as GBTC
	Name      string `json:"name"`       // name of the trust
	Last      string `json:"last"`       // last price
	Open      string `json:"open"`       // first price of the day
	High      string `json:"high"`       // highest price of the day
	Low       string `json:"low"`        // lowest price of the day
	Degree24h string `json:"degree_24h"` // change of the last price since the day before, percent; empty where that is not known
}

// TrustHoldingsIn selects coins. Those that no trust is known to hold are left out.
type TrustHoldingsIn struct {
	Coins []Key `query:"coins" max:"100" list:"set" example:"btc"` // short names or keys of coins, 100 at most: btc or bitcoin; absent for all
}

// TrustHoldingList has the holdings.
type TrustHoldingList struct {
	Detail map[string]TrustHolding `json:"detail"` // what all trusts together hold of each coin, by its name as it was asked for, else by its short name in lower case
}

// TrustHolding is what all trusts together hold of a coin.
type TrustHolding struct {
	Total     json.Number `json:"total"`      // coins that they hold
	DayChange string      `json:"day_change"` // coins that they bought less those that they sold since yesterday began, UTC: a decimal as text
	Percent   string      `json:"percent"`    // the same as part of what they held before, a decimal as text: 0.01 is one percent more; empty where they held nothing
}

// LongShortRatioIn asks for the ratio of bitcoin, the one that there is.
type LongShortRatioIn struct{}

// LongShortRatioNow has the ratio.
type LongShortRatioNow struct {
	Detail LongShortRatioDetail `json:"detail"`
}

// LongShortRatioDetail is how many accounts with a position in a perpetual of bitcoin are
// long for each that is short: 0.87 means more shorts. It is made of the mean share of
// longs over all perpetuals whose exchange has published it in the last hour; past ratios
// are of the same perpetuals.
type LongShortRatioDetail struct {
	Last     *string      `json:"last"`      // ratio now, a decimal string; null where it is not known
	LastDay  *json.Number `json:"last_day"`  // ratio 24 hours ago, a decimal string; null where it is not known of each of the perpetuals
	LastWeek *json.Number `json:"last_week"` // ratio seven days ago, a decimal string; null where it is not known of each of the perpetuals
}

// KeyPlanIn asks for the calling key's own plan.
type KeyPlanIn struct{}

// KeyPlan is the plan of a sub-key.
type KeyPlan struct {
	VIPType string `json:"vip_type"` // name of the key's level, as its reseller chose it: clients know basic, normal, premium and professional
	EndTime *int64 `json:"end_time"` // when the key expires, seconds since 1970 UTC; null for never
}

// LiquidationSumsIn selects what was liquidated on centralised exchanges and on
// Hyperliquid.
type LiquidationSumsIn struct {
	Currency  string `query:"currency" default:"cny" enum:"cny|usd"` // currency of the sums: yuan or US dollars
	Type      string `query:"type" enum:"|1|2"`                      // 1 for one coin, 2 for one exchange; without it what is given narrows the sums: the coin, the exchange or both
	CoinKey   Key    `query:"coinKey,coin_key"`                      // coin, not with type 2: bitcoin or btc
	MarketKey Key    `query:"marketKey,market_key"`                  // exchange, not with type 1: binance or hyperliquid
}

// LiquidationSummary has the sums.
type LiquidationSummary struct {
	Detail LiquidationDetail `json:"detail"`
}

// LiquidationDetail sums up what was liquidated in the last hour and the last 24 hours, in
// whole minutes, in the currency that was asked for: exact decimals as text. In yuan they
// are empty where no exchange rate is known. No exchange publishes past liquidations: on
// the first day the sums cover what was published since the service follows it, which the header
// X-Data-Since says.
type LiquidationDetail struct {
	Liq1h       string `json:"liq1h"`           // in the last hour
	LiqLong1h   string `json:"liqLong1h"`       // of longs in the last hour
	LiqShort1h  string `json:"liqShort1h"`      // of shorts in the last hour
	Liq24h      string `json:"liq24h"`          // in the last 24 hours
	LiqLong24h  string `json:"liqLong24h"`      // of longs in the last 24 hours
	LiqShort24h string `json:"liqShort24h"`     // of shorts in the last 24 hours
	MaxLiq      string `json:"maxLiq"`          // largest single one of the last 24 hours
	MaxMarket   string `json:"maxLiqMarket"`    // exchange of the largest single one; empty without any
	DayMarket   string `json:"liq24HMaxMarket"` // exchange with the most in the last 24 hours; empty without any
	DayPair     string `json:"liq24HMaxTpKey"`  // pair with the most in the last 24 hours; empty without any
}
