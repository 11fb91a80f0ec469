package catalog

import (
	"encoding/json"
	"time"
)

// The endpoints of the family Kline.
var (
	// Lists K-lines of a pair of an exchange, of an index or of an exchange rate, oldest first, the open one included.
	CommonKlines = route[CommonKlinesIn, CommonKlineList]("GET", "/v2/commonKline/dataRecords", Kline, anyLevel, EnvelopeA).needs(ExchangeKlines, VenueTrades, ReferenceIndices, ReferenceRates)

	// Lists the pairs of a coin that an indicator covers.
	IndicatorPairs = route[IndicatorPairsIn, IndicatorPairList]("GET", "/v2/indicatorKline/getTradingPair", Kline, anyLevel, EnvelopeA).needs(ExchangePairs)

	// Lists values of an indicator of a pair over time.
	IndicatorKlineRows = route[IndicatorKlinesIn, IndicatorKlineList]("GET", "/v2/indicatorKline/dataRecords", Kline, anyLevel, EnvelopeA).needs(ExchangeKlines, VenueTrades)
)

var _ = does(Kline, readSeries, readViews,
	askIngester) // for pairs

// CommonKlinesIn selects K-lines of a pair: the newest that open at or before a time,
// the open one included. A pair that trades and is not followed is filled back from its
// exchange when it is first asked for: until all that an answer is made of is there, requests
// are answered 503 with Retry-After, after some seconds at most. Such a pair is kept for a day after it was last
// asked for, its open K-line a minute old at most; a distributor may have 20 of them.
//
// Indexes, shares and exchange rates are known by the day: their K-lines are of a day and more,
// and a day without trade has none.
type CommonKlinesIn struct {
	// key of a pair, of an index or a share (i:vix:cboe), or of an exchange rate as in
	// /v2/index/indexPrice (t:usdcny); an unknown one has no K-lines
	Symbol PairKey `query:"symbol" required:"true" example:"btcusdt:binance"`

	// K-lines of the answer, 500 at most
	Size int64 `query:"size" default:"100" min:"1" max:"500"`

	// length of a K-line in seconds; three days open with every third day from 1970-01-02
	// on, a week with Monday, and 2592000 is a calendar month in UTC. K-lines of 14400 and of 43200 and more reach back to the first trade
	// of the pair, shorter ones as far as the operator keeps them. 3600 if it is not given, of an
	// index 86400
	Period *KlinePeriod `query:"period"`

	// time in seconds at or before which the newest K-line opens: now if it is not
	// given
	Since *Seconds `query:"since"`

	// when a day opens: 0 is 00:00 and 8 is 08:00 Beijing time (16:00 UTC of the day
	// before, and 00:00 UTC); it decides about K-lines from six hours to a week
	OpenTime string `query:"open_time" default:"0" enum:"0|8"`
}

// Needs implements [Needer].
func (in CommonKlinesIn) Needs() []Need {
	if IsIndexKey(in.Symbol) {
		return ofIndex(in.Symbol)
	}
	return ofPairs([]PairKey{in.Symbol}, ExchangeKlines, VenueTrades)
}

// Span implements [Spanner]: K-lines are looked for as far back as it takes.
func (in CommonKlinesIn) Span(time.Time) (start, end time.Time) { return time.Time{}, time.Time{} }

// IndicatorPairsIn selects the pairs of a coin of which there is an indicator.
type IndicatorPairsIn struct {
	CoinType Key `query:"coinType" required:"true" example:"bitcoin"` // key of the coin, or its short name

	// the indicator; the guide's page of indicators says of which pairs there are rows of each
	IndicatorKey string `query:"indicator_key" required:"true" enum:"fundflow|ttsi|ttmu|position|lsur|tvolume|ftbs|basis|mlr|bsv|fr|aibst|aili|aiaggtrade"`
}

// IndicatorPairList has the keys of pairs.
type IndicatorPairList struct {
	List []string `json:"list"` // pair keys, sorted; empty where the coin is not known
}

// CommonKlineList has the K-lines of a pair.
type CommonKlineList struct {
	// rows [time of the opening in seconds since 1970 UTC, open, high, low, close, volume],
	// oldest first: prices in quote coins, the volume in base coins, all exact numbers; a
	// bucket without a trade has no row. Of an index they are in points or in its currency; the
	// volume is in shares, and null where it is not known
	KlineData []KlineRow `json:"kline_data"`
}

// KlineRow is a K-line: time of its opening in seconds, open, high, low, close,
// volume, which is null where it is not known.
type KlineRow [6]*json.Number
