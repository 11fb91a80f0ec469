package catalog

import "time"

// Prices and volumes of the perpetual venue's markets.
var (
	// Lists the last traded price of every coin.
	Tickers = route[None, []Ticker]("GET", "/upgrade/v2/hl/tickers", PerpMarket, action("HL_TICKERS"), EnvelopeB).needs(VenueTrades)
	// Shows the last traded price of a coin.
	TickerCoin = route[TickerCoinIn, Ticker]("GET", "/upgrade/v2/hl/tickers/coin/{coin}", PerpMarket, action("HL_TICKERS"), EnvelopeB).needs(VenueTrades)
	// Lists K-lines of a coin with the part in which the taker bought; a bucket without a trade has none.
	TakerKlines = route[TakerKlinesIn, []TakerKline]("GET", "/upgrade/v2/hl/klines-with-taker-vol/{coin}/{interval}", PerpMarket, action("HL_KLINES_WITH_TAKER_VOL"), EnvelopeB).needs(VenueTrades)
	// Sums up what takers bought less what they sold in a window that ends now.
	TakerDelta = route[TakerDeltaIn, TakerDeltaSum]("GET", "/upgrade/v2/hl/accumulated-taker-delta/{coin}", PerpMarket, action("HL_ACCUMULATED_TAKER_DELTA"), EnvelopeB).needs(VenueTrades)

	// Lists what rested on each side of a coin's book over time.
	BookSummaries = route[BookSummariesIn, []BookSummary]("GET", "/upgrade/v2/hl/orderbooks/history-summaries/{coin}", PerpMarket, action("HL_ORDERBOOKS_HISTORY_SUMMARIES"), EnvelopeB).needs(VenueBooks)
	// Sums up the open positions of all perpetuals.
	OpenInterestSummary = route[None, OpenInterestTotal]("GET", "/upgrade/v2/hl/open-interest/summary", PerpMarket, action("HL_OPEN_INTEREST_SUMMARY"), EnvelopeB).needs(VenueFills).covers()
	// Ranks coins by the value of their open positions.
	OpenInterestTopCoins = route[OpenInterestTopIn, []OpenInterestCoin]("GET", "/upgrade/v2/hl/open-interest/top-coins", PerpMarket, action("HL_OPEN_INTEREST_TOP_COINS"), EnvelopeB).needs(VenueFills).covers()
	// Lists the open interest of a coin over time, oldest first.
	OpenInterestHistory = route[OpenInterestHistoryIn, []OpenInterestPoint]("GET", "/upgrade/v2/hl/open-interest/history/{coin}", PerpMarket, action("HL_OPEN_INTEREST_HISTORY"), EnvelopeB).needs(VenueFills).covers()
)

var _ = does(PerpMarket, readSeries, readViews)

// Ticker is the last traded price of a coin, in quote units.
type Ticker struct {
	Coin  string `json:"coin"`
	Price string `json:"price"` // price of the last trade in quote units, a decimal string
}

// TickerCoinIn names a coin.
type TickerCoinIn struct {
	Coin Coin `path:"coin"`
}

// TakerKlinesIn selects the K-lines of a coin that open in a span: the newest of them,
// oldest first, the open one included. A bucket without a trade has no row.
type TakerKlinesIn struct {
	Coin      Coin    `path:"coin"`
	Interval  string  `path:"interval" enum:"1s|3s|5s|10s|15s|30s|1m|3m|5m|10m|15m|30m|1h|2h|4h|8h|12h|1d|1w"` // length of a K-line
	StartTime *Millis `query:"startTime"`
	EndTime   *Millis `query:"endTime"`
	Limit     int64   `query:"limit" default:"100" min:"1" max:"2000"` // rows of the answer, 2,000 at most
}

// Span implements [Spanner].
func (in TakerKlinesIn) Span(now time.Time) (start, end time.Time) {
	return spanMillis(in.StartTime, in.EndTime, now)
}

// TakerKline is what was traded of a coin in a bucket.
type TakerKline struct {
	OpenTime    int64  `json:"openTime"` // when the bucket opens, ms
	TC          int64  `json:"tc"`       // number of trades
	Size        string `json:"size"`     // base volume, a decimal string
	Amount      string `json:"amount"`
	TCBuyer     int64  `json:"tcBuyer"`
	SizeBuyer   string `json:"sizeBuyer"`
	AmountBuyer string `json:"amountBuyer"`
	Open        string `json:"open"`
	High        string `json:"high"`
	Low         string `json:"low"`
	Close       string `json:"close"`
}

// TakerDeltaIn selects the trades of a coin in a window that reaches back from
// now and begins with a whole second.
type TakerDeltaIn struct {
	Coin     Coin     `path:"coin"`
	Interval Lookback `query:"interval" default:"1h" min:"1s" max:"60d"`
}

// TakerDeltaSum is what takers bought less what they sold, negative where they sold more.
// Both are exact decimal strings, 0.0 without a trade and null for a coin that the venue
// does not have.
type TakerDeltaSum struct {
	SzDelta  *string `json:"szDelta"`  // bought less sold, base units
	ValDelta *string `json:"valDelta"` // bought less sold, quote units
}

// BookSummariesIn selects what rested in a coin's order book in a window that ends now,
// oldest first.
type BookSummariesIn struct {
	Coin     Coin     `path:"coin"`
	Interval Lookback `query:"interval" default:"1d" min:"1h" max:"180d"`
}

// BookSummary is what rested in a coin's order book at a time, summed over the best 20
// prices of each side.
type BookSummary struct {
	Time      int64  `json:"time"` // seconds since 1970 UTC
	Coin      string `json:"coin"`
	BidVolume string `json:"bidVolume"`
	AskVolume string `json:"askVolume"`
}

// OpenInterestTotal sums up the open positions of all perpetuals at mark prices. Averages
// are rounded to six places, 0.0 without a position.
type OpenInterestTotal struct {
	PositionCount int64  `json:"positionCount"`
	LongPv        string `json:"longPv"`
	ShortPv       string `json:"shortPv"`
	TotalPv       string `json:"totalPv"`
	AvgPv         string `json:"avgPv"` // totalPv / positionCount in quote units, a decimal string
}

// OpenInterestTopIn selects the coins with the most value in open positions, the most
// first, among those that were traded in a window that ends now.
type OpenInterestTopIn struct {
	Limit    int64    `query:"limit" default:"10" min:"1" max:"50"` // rows of the answer, 50 at most
	Interval Lookback `query:"interval" default:"3d" min:"15m" max:"180d"`
}

// OpenInterestCoin sums up the open positions of one coin at its mark price. Averages are
// rounded to six places, 0.0 without a position.
type OpenInterestCoin struct {
	Coin          string `json:"coin"`
	PositionCount int64  `json:"positionCount"`
	LongPv        string `json:"longPv"`
	ShortPv       string `json:"shortPv"`
	TotalPv       string `json:"totalPv"`
	AvgPv         string `json:"avgPv"`
}

// OpenInterestHistoryIn selects the open interest of a coin in a window that ends now,
// oldest first. Longer windows have points further apart, about 1,000 at most.
type OpenInterestHistoryIn struct {
	Coin     Coin     `path:"coin"`
	Interval Lookback `query:"interval" default:"3d" min:"15m" max:"180d"`
}

// OpenInterestPoint is the open interest of a coin at a time.
type OpenInterestPoint struct {
	Time          int64  `json:"time"` // ms
	Coin          string `json:"coin"`
	PositionCount int64  `json:"positionCount"`
	LongCount     int64  `json:"longCount"`
	LongPv        string `json:"longPv"`
	TotalPv       string `json:"totalPv"`
	AvgPv         string `json:"avgPv"`
}
