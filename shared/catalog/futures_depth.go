package catalog

import (
	"strings"
	"time"
)

// Order books of the pairs of exchanges. Those of the most traded coins are followed.
var (
	// Lists past order books of a pair, oldest first.
	HistoricalDepth = route[HistoricalDepthIn, []Depth]("GET", "/upgrade/v2/futures/historical-depth", Futures, depthGrant, EnvelopeB).needs(ExchangeBooks)
	// Shows the best levels of the order book of a pair as it is now.
	LatestDepth = addition[LatestDepthIn, Depth]("GET", "/upgrade/v2/futures/latest-depth", Futures, depthGrant, EnvelopeB).needs(ExchangeBooks, VenueBooks)
	// Shows all levels that are known of the order book of a pair as it is now.
	FullDepth = addition[FullDepthIn, Depth]("GET", "/upgrade/v2/futures/full-depth", Futures, depthGrant, EnvelopeB).needs(ExchangeBooks, VenueBooks)
	// Shows the order book of a pair as it is now, summed up by price.
	GroupedDepth = addition[GroupedDepthIn, Depth]("GET", "/upgrade/v2/futures/full-depth/grouped", Futures, depthGrant, EnvelopeB).needs(ExchangeBooks, VenueBooks)
)

var depthGrant = grant("trading_pair:HISTORICAL_DEPTH")

// HistoricalDepthIn selects samples of the order book of a pair. There is one for every ten
// seconds in which the book has changed, with the best 50 levels of each side, from when the
// service began to follow the book; without a time these are the newest. A pair whose book is not
// followed has none.
type HistoricalDepthIn struct {
	Key       PairKey `query:"key" required:"true" example:"btcswapusdt:binance"` // key of the pair
	StartTime *Millis `query:"start_time,startTime"`                              // earliest time, ms, inclusive
	EndTime   *Millis `query:"end_time,endTime"`                                  // latest time, ms, inclusive
	Limit     int64   `query:"limit" default:"100" min:"1" max:"1000"`            // samples of the answer, the newest or, with a start, the first: 1,000 at most
}

// Span implements [Spanner].
func (in HistoricalDepthIn) Span(now time.Time) (start, end time.Time) {
	return spanMillis(in.StartTime, in.EndTime, now)
}

// LatestDepthIn names a pair. One whose book is not followed is refused; one whose book is not
// known at the moment, as changes of it are missing or nothing of it has come for a minute, is
// answered 503 until all of it has come again. Of pairs of Hyperliquid the best 20 levels of each
// side are known.
type LatestDepthIn struct {
	DBKey PairKey `query:"dbKey" required:"true" example:"btcswapusdt:binance"` // key of the pair
	Size  int64   `query:"size" default:"50" min:"1" max:"500"`                 // levels of each side, the best: 500 at most
}

// Needs implements [Needer].
func (in LatestDepthIn) Needs() []Need { return booksOf(in.DBKey) }

// Needs implements [Needer].
func (in FullDepthIn) Needs() []Need { return booksOf(in.DBKey) }

// Needs implements [Needer].
func (in GroupedDepthIn) Needs() []Need { return booksOf(in.DBKey) }

// booksOf is what the book of a pair is known of. That of an exchange without books is refused,
// and not waited for: nothing is needed of one platform alone.
func booksOf(key PairKey) []Need {
	if _, platform, _ := strings.Cut(string(key), ":"); strings.EqualFold(platform, PerpPlatform) {
		return AllOf(VenueBooks)
	}
	return AllOf(ExchangeBooks)
}

// FullDepthIn names a pair, as that of latest-depth. As many levels are known as the exchange
// gives out: 5,000 of each side at most.
type FullDepthIn struct {
	DBKey PairKey `query:"dbKey" required:"true" example:"btcswapusdt:binance"` // key of the pair
}

// GroupedDepthIn names a pair, as that of latest-depth. All levels that are known within a
// group are summed up: bids are rounded down to a multiple of its size, asks up.
type GroupedDepthIn struct {
	DBKey     PairKey `query:"dbKey" required:"true" example:"btcswapusdt:binance"`        // key of the pair
	GroupSize Decimal `query:"groupSize,group_size" required:"true" min:"0" example:"100"` // width of a group as a difference of prices, in quote coins, above 0
}

// Depth is what rests in the order book of a pair.
type Depth struct {
	Time int64        `json:"time"` // of the book, as its exchange says, ms
	Bids []DepthLevel `json:"bids"` // highest price first
	Asks []DepthLevel `json:"asks"` // lowest price first
}

// DepthLevel is [price, quantity]: the price in quote coins, and what rests there in base coins,
// both decimal strings.
type DepthLevel [2]string
