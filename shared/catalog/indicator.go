package catalog

import "time"

// Indicator is what the endpoints of indicator K-lines show over time.
type Indicator struct {
	Key    string   // as clients name it
	Fields []string // of a row, in order

	Means   string // what it says, one sentence
	Formula string // how a row comes about
	Unit    string // of its values
	Source  string // who defined it, and of which pairs there are rows
}

// A row's first value is the time of its bucket's opening, in seconds.
var (
	ofExchanges  = "pairs of spot and of perpetuals; Binance counts takers in its K-lines, and of exchanges that do not the rows go back three days, over minutes whose trades were all seen"
	ofPerpetuals = "perpetuals"
)

// Indicators are all that clients may name, in the order of the documents.
var Indicators = []Indicator{
	{
		Key: "fundflow", Fields: []string{"timestmap", "value"}, //nolint:misspell // as the document spells it
		Means:   "Net inflow: what takers bought less what they sold.",
		Formula: "2 × turnover in which the taker bought − turnover", Unit: "quote coins",
		Source: "our definition; " + ofExchanges,
	},
	{
		Key: "ttsi", Fields: []string{"time", "buyAccount", "sellAccount"},
		Means:   "How many of the top traders' accounts are long, and how many short.",
		Formula: "as the exchange says", Unit: "fractions of one",
		Source: "the exchange (Binance topLongShortAccountRatio, OKX); perpetuals of Binance, and those of OKX that are no inverse ones",
	},
	{
		Key: "ttmu", Fields: []string{"time", "buyInterest", "sellInterest"},
		Means:   "How much of the top traders' positions is long, and how much short.",
		Formula: "as the exchange says", Unit: "fractions of one",
		Source: "the exchange (Binance topLongShortPositionRatio, OKX); as ttsi",
	},
	{
		Key: "position", Fields: []string{"time", "open", "high", "low", "close"},
		Means:   "Open interest.",
		Formula: "first, highest, lowest and last of what the exchange said", Unit: "US dollars, one side",
		Source: "the exchange; " + ofPerpetuals,
	},
	{
		Key: "lsur", Fields: []string{"time", "sellAccount", "buyAccount", "ratios"},
		Means:   "How many of all accounts with a position are long, and how many short.",
		Formula: "the last share of the bucket; ratios = buyAccount / sellAccount, empty where none is short", Unit: "fractions of one",
		Source: "the exchange (Binance globalLongShortAccountRatio, OKX, Bybit account-ratio); " + ofPerpetuals,
	},
	{
		Key: "tvolume", Fields: []string{"time", "openInterest", "volume"},
		Means:   "Open interest beside what was traded.",
		Formula: "the last open interest of the bucket; base coins traded × price, the sum over its trades", Unit: "US dollars, a stable coin as one",
		Source: "our definition; " + ofPerpetuals,
	},
	{
		Key: "ftbs", Fields: []string{"time", "buyVolume", "sellVolume"},
		Means:   "What takers of a perpetual bought and what they sold.",
		Formula: "volume in which the taker bought; the rest", Unit: "base coins",
		Source: "as Binance's takerlongshortRatio counts it; perpetuals, else as fundflow",
	},
	{
		Key: "basis", Fields: []string{"time", "basis", "basisRate"},
		Means:   "How much dearer the perpetual is than spot.",
		Formula: "close of the perpetual − close of the same exchange's spot pair of the same coins; basisRate = basis / close of spot", Unit: "quote coins; a fraction",
		Source: "our definition: Binance's own takes an index price in the place of spot; perpetuals that are no inverse ones, whose exchange has the spot pair",
	},
	{
		Key: "mlr", Fields: []string{"time", "ratios"},
		Means:   "What is lent of quote coins in margin trading for one that is lent of the coin, of equal value.",
		Formula: "as the exchange says", Unit: "a ratio",
		Source: "the exchange; pairs of OKX, of which one of a coin has the coin's",
	},
	{
		Key: "bsv", Fields: []string{"time", "buyVolume", "sellVolume"},
		Means:   "What takers bought and what they sold.",
		Formula: "as ftbs", Unit: "base coins",
		Source: "our definition; " + ofExchanges,
	},
	{
		Key: "fr", Fields: []string{"fundingTime", "time", "fundingRate"},
		Means:   "The funding rate.",
		Formula: "the last rate of the bucket: of a period that ended in it what was paid, else what the exchange expected; fundingTime is of when that is", Unit: "a fraction of one period, positive where longs pay",
		Source: "the exchange; perpetuals of Binance, OKX and Bybit",
	},
	{
		Key: "aibst", Fields: []string{"timestamp", "buyAccount", "sellAccount"},
		Means:   "How many large takers bought, and how many sold.",
		Formula: "runs of takers that began in the bucket, as order/aggTrade counts them", Unit: "counts",
		Source: "our definition; followed pairs with USDT and inverse perpetuals, in buckets behind that of the oldest of the pair's last 100 runs; one without a run is left out",
	},
	{
		Key: "aili", Fields: []string{"timestamp", "buySize", "sellSize"},
		Means:   "What liquidations bought and what they sold: shorts and longs that were closed by force.",
		Formula: "sums of liquidated shorts; of liquidated longs", Unit: "US dollars",
		Source: "the exchange's liquidations, as futures/liquidation/history; " + ofPerpetuals,
	},
	{
		Key: "aiaggtrade", Fields: []string{"timestamp", "key", "coin_type", "trade_type", "start_price", "max_price", "total_vol", "total_turnover", "total_count"},
		Means:   "Runs of large takers, one in a row; timestamp is when it began.",
		Formula: "as order/aggTrade", Unit: "quote coins, base coins",
		Source: "our definition; the pair's last 100 runs, of the same pairs as aibst",
	},
}

// IndicatorOf is the indicator of a key that the catalog accepts.
func IndicatorOf(key string) Indicator {
	for _, i := range Indicators {
		if i.Key == key {
			return i
		}
	}
	return Indicator{}
}

// IndicatorKlinesIn selects rows of an indicator of a pair: the newest that open at or before a
// time, the open bucket included.
type IndicatorKlinesIn struct {
	Symbol PairKey `query:"symbol" required:"true" example:"btcswapusdt:binance"` // key of a pair; an unknown one has no rows

	// the indicator; the guide's page of indicators has what each shows, its formula, unit and source
	IndicatorKey string `query:"indicator_key" required:"true" enum:"fundflow|ttsi|ttmu|position|lsur|tvolume|ftbs|basis|mlr|bsv|fr|aibst|aili|aiaggtrade"`

	Size     int64       `query:"size" default:"100" min:"1" max:"500"` // rows of the answer, 500 at most
	Period   KlinePeriod `query:"period" default:"3600"`                // length of a bucket in seconds, as of common K-lines
	Since    *Seconds    `query:"since"`                                // time in seconds at or before which the newest bucket opens: now if it is not given
	OpenTime string      `query:"open_time" default:"0" enum:"0|8"`     // when a day opens, as of common K-lines
}

// Needs implements [Needer].
func (in IndicatorKlinesIn) Needs() []Need {
	exchanges, perp := ExchangeKlines, VenueTrades
	switch in.IndicatorKey {
	case "position", "tvolume":
		exchanges, perp = ExchangeInterest, VenueContexts
	case "lsur", "ttsi", "ttmu", "mlr":
		exchanges = ExchangeRatios
	case "fr":
		exchanges = ExchangeFunding
	case "aili":
		exchanges, perp = ExchangeLiquidations, VenueFills
	}
	return ofPairs([]PairKey{in.Symbol}, exchanges, perp)
}

// Span implements [Spanner]: rows are looked for as far back as it takes.
func (in IndicatorKlinesIn) Span(time.Time) (start, end time.Time) { return time.Time{}, time.Time{} }

// IndicatorKlineList has rows of an indicator.
type IndicatorKlineList struct {
	KlineData IndicatorKlines `json:"kline_data"` // the rows, and what their values are
}

// IndicatorKlines are rows of an indicator.
type IndicatorKlines struct {
	Mapping []string `json:"mapping"` // names of a row's values

	// rows of texts, oldest first; times in seconds since 1970 UTC, of the opening of the bucket; a
	// bucket of which nothing is known has no row, and neither has a pair whose exchange does
	// not give what the indicator is made of
	List [][]string `json:"list"`

	RequestState int64 `json:"request_state"` // always 1: the rows are all that there are
}
