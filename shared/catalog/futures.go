package catalog

import (
	"encoding/json"
	"time"
)

// Perpetuals of exchanges over time: funding, open interest, liquidations. The perpetual
// exchange is one of them (btcswapusdc:hyperliquid) where its own datasets tell as much.
// Those endpoints that are planned are specified, without a handler yet.
var (
	// Lists the funding rate of a pair over time, newest first.
	FundingRates = route[FundingRatesIn, []FuturesBar]("GET", "/upgrade/v2/futures/funding-rate/history", Futures, grant("futures:FUNDING_RATE_HISTORY"), EnvelopeB).needs(ExchangeFunding, VenueFunding)
	// Lists the funding rate of a coin over time, weighted by volume, newest first.
	CoinFundingRates = route[CoinFundingRatesIn, []FuturesBar]("GET", "/upgrade/v2/futures/funding-rate/vol-weight-history", Futures, grant("futures:WEIGHTED_FUNDING_RATE"), EnvelopeB).needs(ExchangeFunding)
	// Lists the open interest of a coin in stablecoin-margined futures, oldest first.
	StablecoinInterest = route[CoinInterestIn, []FuturesBar]("GET", "/upgrade/v2/futures/open-interest/aggregated-stablecoin-history", Futures, grant("futures:STABLECOIN_MARGIN_POSITION"), EnvelopeB).needs(ExchangeInterest, VenueContexts)
	// Lists the open interest of a coin in coin-margined futures, oldest first.
	CoinMarginInterest = route[CoinInterestIn, []FuturesBar]("GET", "/upgrade/v2/futures/open-interest/aggregated-coin-margin-history", Futures, grant("futures:COIN_MARGIN_POSITION"), EnvelopeB).needs(ExchangeInterest)
	// Lists what was liquidated of a pair over time, oldest first.
	PairLiquidations = route[PairLiquidationsIn, []PairLiquidation]("GET", "/upgrade/v2/futures/liquidation/history", Futures, grant("futures:LIQUIDATION_ORDERS"), EnvelopeB).needs(ExchangeLiquidations, VenueFills).begins()
	// Estimates by time, price and leverage what would be liquidated.
	EstimatedLiquidations = route[EstimatedLiquidationsIn, EstimatedLiquidationHistory]("GET", "/upgrade/v2/futures/estimated-liquidation/history", Futures, grant("futures:ESTIMATED_LIQUIDATION_HISTORY"), EnvelopeB).needs(ExchangeInterest, VenueContexts)
	// Estimates by price and leverage what would be liquidated now.
	LiquidationMapNow = route[LiquidationMapIn, LiquidationMap]("GET", "/upgrade/v2/futures/liquidation/map", Futures, grant("futures:LIQUIDATION_MAP"), EnvelopeB).needs(ExchangeInterest, VenueContexts)
	// Ranks pairs by open interest, with its trend.
	FuturesInterest = route[FuturesInterestIn, FuturesInterestList]("GET", "/v2/futures/interest", Futures, anyLevel, EnvelopeA).needs(ExchangeInterest, VenueContexts)

	// Lists the latest trades of a pair, newest first.
	LatestTrades = addition[LatestTradesIn, []LatestTrade]("GET", "/upgrade/v2/futures/trade-data", Futures, anyLevel, EnvelopeB).needs(ExchangeTrades, VenueTrades).begins()

	// Lists large resting orders of a pair and what became of them, newest first.
	SuperDepths = route[SuperDepthsIn, []SuperDepth]("GET", "/upgrade/v2/futures/super-depth/history", Futures, grant("trading_pair:SUPER_DEPTH_HISTORY"), EnvelopeB).needs(ExchangeBooks)
)

var _ = does(Futures, readLog, readSeries, loadSeries, readViews,
	askIngester) // for pairs

// FundingRatesIn selects the funding rate of a perpetual in buckets: what its exchange
// expected for the running period, and at the end of each period what was paid for it, so
// that the bucket from 00:00 to 08:00 closes with what was paid at 08:00. Hyperliquid pays
// every hour: a bucket of its pairs has what was paid for its hours and, while it is open,
// what is expected for the running one. Spot pairs, and perpetuals that the service does
// not follow, have no buckets.
type FundingRatesIn struct {
	Symbol    PairKey         `query:"symbol" required:"true" example:"btcswapusdt:binance"` // key of the pair
	Interval  FuturesInterval `query:"interval" default:"8h"`                                // length of a bucket
	StartTime *Millis         `query:"start_time,startTime"`                                 // earliest bucket: when it opens, ms, inclusive
	EndTime   *Millis         `query:"end_time,endTime"`                                     // latest bucket: when it opens, ms, inclusive
	Limit     int64           `query:"limit" default:"100" min:"1" max:"1000"`               // buckets of the answer, the newest: 1,000 at most
}

// Needs implements [Needer].
func (in FundingRatesIn) Needs() []Need {
	return ofPairs([]PairKey{in.Symbol}, ExchangeFunding, VenueFunding)
}

// Span implements [Spanner].
func (in FundingRatesIn) Span(now time.Time) (start, end time.Time) {
	return spanMillis(in.StartTime, in.EndTime, now)
}

// FuturesBar is the first, highest, lowest and last value of a bucket, as decimal strings.
// A funding rate is a fraction of one period, open interest is in US dollars.
type FuturesBar struct {
	Time  int64  `json:"time"`  // when the bucket opens, ms
	Open  string `json:"open"`  // first value
	High  string `json:"high"`  // highest value
	Low   string `json:"low"`   // lowest value
	Close string `json:"close"` // last value
}

// CoinFundingRatesIn selects the funding rate of a coin in buckets: the mean over its
// perpetuals on centralised exchanges, each rate for eight hours, weighted by what was
// traded of them in 24 hours. It is made of expected rates minute by minute, and closes
// with the rates paid where all perpetuals pay at once. Before the service followed them
// only rates that were paid are known: buckets then have a value where all perpetuals paid
// at one time.
type CoinFundingRatesIn struct {
	Symbol    PairKey         `query:"symbol" required:"true" example:"btcswapusdt"` // the coin: BTC, bitcoin, btcswapusdt or the key of one of its pairs
	Interval  FuturesInterval `query:"interval" default:"8h"`                        // length of a bucket
	StartTime *Millis         `query:"start_time,startTime"`                         // earliest bucket: when it opens, ms, inclusive
	EndTime   *Millis         `query:"end_time,endTime"`                             // latest bucket: when it opens, ms, inclusive
	Limit     int64           `query:"limit" default:"100" min:"1" max:"1000"`       // buckets of the answer, the newest: 1,000 at most
}

// Span implements [Spanner].
func (in CoinFundingRatesIn) Span(now time.Time) (start, end time.Time) {
	return spanMillis(in.StartTime, in.EndTime, now)
}

// CoinInterestIn selects the open interest of a coin in buckets, in US dollars: the sum
// over its perpetuals of this kind of margin on centralised exchanges, those of
// Hyperliquid, which is margined in a stablecoin, included from when the service began to
// follow it. Of a coin of which the service follows no perpetual but that of Hyperliquid it is
// that one's.
type CoinInterestIn struct {
	Symbol    PairKey         `query:"symbol" required:"true" example:"BTC"`   // the coin: BTC, bitcoin, btcswapusdt or the key of one of its pairs
	Interval  FuturesInterval `query:"interval" default:"15m"`                 // length of a bucket
	StartTime *Millis         `query:"start_time,startTime"`                   // earliest bucket: when it opens, ms, inclusive
	EndTime   *Millis         `query:"end_time,endTime"`                       // latest bucket: when it opens, ms, inclusive
	Limit     int64           `query:"limit" default:"100" min:"1" max:"1000"` // buckets of the answer, the newest or, with a start, the first: 1,000 at most
}

// Span implements [Spanner].
func (in CoinInterestIn) Span(now time.Time) (start, end time.Time) {
	return spanMillis(in.StartTime, in.EndTime, now)
}

// PairLiquidationsIn selects what was liquidated of a perpetual in buckets. A bucket
// without a liquidation is left out.
type PairLiquidationsIn struct {
	Symbol    PairKey         `query:"symbol" required:"true" example:"btcswapusdt:binance"` // key of the pair
	Interval  FuturesInterval `query:"interval" default:"15m"`                               // length of a bucket
	StartTime *Millis         `query:"start_time,startTime"`                                 // earliest bucket: when it opens, ms, inclusive
	EndTime   *Millis         `query:"end_time,endTime"`                                     // latest bucket: when it opens, ms, inclusive
	Limit     int64           `query:"limit" default:"10" min:"1" max:"1000"`                // buckets of the answer, the newest or, with a start, the first: 1,000 at most
}

// Needs implements [Needer].
func (in PairLiquidationsIn) Needs() []Need {
	return ofPairs([]PairKey{in.Symbol}, ExchangeLiquidations, VenueFills)
}

// Span implements [Spanner].
func (in PairLiquidationsIn) Span(now time.Time) (start, end time.Time) {
	return spanMillis(in.StartTime, in.EndTime, now)
}

// PairLiquidation is what was liquidated in a bucket. Some exchanges publish only the
// newest or largest order of a second, and none publishes the past: sums cover what was
// published since the service follows the pair. Those of Hyperliquid
// (btcswapusdc:hyperliquid) cover the accounts whose fills are known.
type PairLiquidation struct {
	Time     int64  `json:"time"`                  // when the bucket opens, ms
	LongUSD  string `json:"long_liquidation_usd"`  // value of liquidated longs in US dollars, a decimal string
	ShortUSD string `json:"short_liquidation_usd"` // value of liquidated shorts in US dollars, a decimal string
}

// LatestTradesIn selects from the newest 100 trades of a pair those between two times.
// Of a pair that the service does not follow by itself they begin when it was asked for first.
type LatestTradesIn struct {
	DBKey     PairKey `query:"dbkey" required:"true" example:"btcswapusdt:binance"` // key of the pair
	StartTime *Millis `query:"start_time,startTime"`                                // earliest time, ms, inclusive
	EndTime   *Millis `query:"end_time,endTime"`                                    // latest time, ms, inclusive
	Limit     int64   `query:"limit" default:"100" min:"1" max:"100"`               // trades of the answer, the newest: 100 at most
}

// Needs implements [Needer].
func (in LatestTradesIn) Needs() []Need {
	return ofPairs([]PairKey{in.DBKey}, ExchangeTrades, VenueTrades)
}

// Span implements [Spanner].
func (in LatestTradesIn) Span(now time.Time) (start, end time.Time) {
	return spanMillis(in.StartTime, in.EndTime, now)
}

// LatestTrade is a trade, or several of one taker at one price that the exchange publishes
// as one. Decimals are strings.
type LatestTrade struct {
	ID       string `json:"id"`       // id of the trade in its pair; it grows from trade to trade, except on Hyperliquid
	Time     int64  `json:"time"`     // ms
	Price    string `json:"price"`    // price in quote coins
	Amount   string `json:"amount"`   // size in base coins
	Turnover string `json:"turnover"` // price x amount in quote coins
	Side     string `json:"side"`     // side of the taker: buy or sell
}

// LiquidationMapIn selects the newest estimate for a perpetual.
type LiquidationMapIn struct {
	DBKey    PairKey `query:"dbkey" required:"true" example:"btcswapusdt:binance"` // key of the pair
	Cycle    string  `query:"cycle" default:"24h" enum:"24h|7d"`                   // how far back the positions may have been opened
	Leverage string  `query:"leverage" enum:"|10|25|50|100"`                       // leverage of the positions; empty for all
}

// Needs implements [Needer].
func (in LiquidationMapIn) Needs() []Need {
	return ofPairs([]PairKey{in.DBKey}, ExchangeInterest, VenueContexts)
}

// LiquidationMap estimates at which prices positions would be liquidated, from turnover
// and open interest: of what was opened in each bucket 40 % at leverage 10, 30 % at 25, 20
// % at 50 and 10 % at 100, as many longs as shorts, at the average price of the bucket,
// with a maintenance margin of 0.4 %. What was closed since, and what the price has
// reached, is taken off.
type LiquidationMap struct {
	Time    *int64                      `json:"time"`     // time of the newest data in it, ms; null where nothing is known
	DataMap map[string]LiquidationSides `json:"data_map"` // estimates by leverage (10, 25, 50, 100); empty where nothing is known, as for a spot pair
}

// LiquidationSides is the estimate for positions of one leverage.
type LiquidationSides struct {
	Mapping   [3]string        `json:"mapping"`   // names of the columns: from, to, turnover
	Short     []LiquidationRow `json:"short"`     // rows [from, to, turnover] of shorts, by price: the prices from the first until below the second in quote coins, and the value of positions that would be liquidated there in US dollars at their entry, all numbers
	Long      []LiquidationRow `json:"long"`      // rows [from, to, turnover] of longs, by price, as those of shorts
	Timestamp int64            `json:"timestamp"` // time of the newest data in it, ms
}

// LiquidationRow is [from, to, turnover]: the prices from the first until below the second,
// in quote coins, and the value of positions that would be liquidated there, in US dollars
// at their entry. All three are numbers, exact.
type LiquidationRow [3]json.Number

// EstimatedLiquidationsIn selects the estimates for a perpetual as they were at times of
// the past: every five minutes with a cycle of 24h, every hour with one of 7d.
type EstimatedLiquidationsIn struct {
	DBKey     PairKey `query:"dbkey" required:"true" example:"btcswapusdt:binance"` // key of the pair
	Cycle     string  `query:"cycle" default:"24h" enum:"24h|7d"`                   // how far back before each time the positions may have been opened
	Leverage  string  `query:"leverage" enum:"|10|25|50|100"`                       // leverage of the positions; empty for all
	StartTime *Millis `query:"start_time,startTime"`                                // earliest time, ms, inclusive
	EndTime   *Millis `query:"end_time,endTime"`                                    // latest time, ms, inclusive
	Limit     int64   `query:"limit" default:"100" min:"1" max:"100"`               // times of the answer, the newest: 100 at most
}

// Needs implements [Needer].
func (in EstimatedLiquidationsIn) Needs() []Need {
	return ofPairs([]PairKey{in.DBKey}, ExchangeInterest, VenueContexts)
}

// Span implements [Spanner].
func (in EstimatedLiquidationsIn) Span(now time.Time) (start, end time.Time) {
	return spanMillis(in.StartTime, in.EndTime, now)
}

// EstimatedLiquidationHistory has the estimates by time.
type EstimatedLiquidationHistory struct {
	TimePoints map[string]EstimatedLiquidationsAt `json:"time_points"` // estimates by their time in seconds since 1970 UTC; empty where nothing is known, as for a spot pair
}

// EstimatedLiquidationsAt is the estimate at a time. It is made as that of
// /upgrade/v2/futures/liquidation/map.
type EstimatedLiquidationsAt struct {
	Columns [5]string                 `json:"columns"` // names of the columns: leverage, direction, from_price, to_price, turnover
	Name    string                    `json:"name"`    // always estimated_liq_vpc
	Values  []EstimatedLiquidationRow `json:"values"`  // rows [leverage, direction, from_price, to_price, turnover], by leverage, longs before shorts, by price: the leverage is a text, the direction long or short, the others are numbers as in liquidation/map
}

// EstimatedLiquidationRow is [leverage, direction, from_price, to_price, turnover]: the
// leverage as text, long or short, and three numbers as in a row of liquidation/map.
type EstimatedLiquidationRow [5]any

// FuturesInterestIn selects a page of the perpetuals that the service follows, the largest
// open interest first.
type FuturesInterestIn struct {
	Lan      string `query:"lan" default:"cn" enum:"cn|en"`                    // language of names
	Page     int64  `query:"page" default:"1" min:"1" max:"1000"`              // number of the page, from 1
	PageSize int64  `query:"pageSize,page_size" default:"20" min:"1" max:"20"` // pairs of a page, 20 at most
	Currency string `query:"currency" default:"cny" enum:"cny|usd"`            // currency of values: yuan or US dollars
}

// FuturesInterestList is a page of perpetuals.
type FuturesInterestList struct {
	List []FuturesInterestRow `json:"list"` // perpetuals of the page, the largest open interest first
}

// FuturesInterestRow is the open interest of a perpetual. Figures are exact decimals as
// text, empty where they are not known.
type FuturesInterestRow struct {
	Key        string                 `json:"key"`         // key of the pair
	Show       string                 `json:"show"`        // name of the pair, such as BTC/USDT
	Currency   string                 `json:"currency"`    // coin in which its prices are
	MarketName string                 `json:"market_name"` // name of the exchange
	Trade      string                 `json:"trade"`       // value of the open interest, in the currency that was asked for
	VolCoin    string                 `json:"vol_coin"`    // the open interest in coins
	Trend      []FuturesInterestTrend `json:"trend"`       // the last 24 hours that have a value, oldest first
}

// FuturesInterestTrend is the open interest at the end of an hour.
type FuturesInterestTrend struct {
	Time  string `json:"time"`  // when the hour begins, in seconds since 1970 UTC, as text
	Close string `json:"close"` // value of the open interest at the end of the hour, in the currency that was asked for
}
