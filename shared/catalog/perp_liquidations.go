package catalog

import "time"

// Liquidations of the perpetual venue.
var (
	// Sums up the liquidations of a coin, or of all, in a window that ends now.
	LiquidationStat = route[LiquidationStatIn, LiquidationStats]("GET", "/upgrade/v2/hl/liquidations/stat", PerpLiquidations, action("HL_LIQUIDATIONS_STAT"), EnvelopeB).needs(VenueFills)
	// Sums up the liquidations of a window that ends now by coin.
	LiquidationStatByCoin = route[LiquidationStatByCoinIn, []CoinLiquidationStats]("GET", "/upgrade/v2/hl/liquidations/stat-by-coin", PerpLiquidations, action("HL_LIQUIDATIONS_STAT_BY_COIN"), EnvelopeB).needs(VenueFills)
	// Sums up the liquidations of a coin, or of all, period by period.
	LiquidationHistory = route[LiquidationHistoryIn, []LiquidationStats]("GET", "/upgrade/v2/hl/liquidations/history", PerpLiquidations, action("HL_LIQUIDATIONS_HISTORY"), EnvelopeB).needs(VenueFills)
	// Ranks the largest liquidations of a coin in a window that ends now.
	TopLiquidations = route[TopLiquidationsIn, []TopLiquidation]("GET", "/upgrade/v2/hl/liquidations/top-positions", PerpLiquidations, action("HL_LIQUIDATIONS_TOP_POSITIONS"), EnvelopeB).needs(VenueFills)
	// Estimates by time and price where positions would be liquidated.
	EstimatedHeatmap = route[EstimatedHeatmapIn, EstimatedLiquidationHeatmap]("GET", "/upgrade/v2/hl/liquidations/estimated-heatmap", PerpLiquidations, action("HL_LIQUIDATIONS_MARKET_HEATMAP"), EnvelopeB).needs(VenueContexts)
)

var _ = does(PerpLiquidations, readSeries, readViews)

// LiquidationStatIn selects the liquidations of a window that ends now.
type LiquidationStatIn struct {
	Coin     Coin     `query:"coin"` // perpetual; absent for all of them
	Interval Lookback `query:"interval" default:"1d" min:"1s" max:"60d"`
}

// LiquidationStatByCoinIn selects the liquidations of a window that ends now, of all coins.
type LiquidationStatByCoinIn struct {
	Interval Lookback `query:"interval" default:"1d" min:"1s" max:"60d"`
}

// LiquidationHistoryIn selects the newest periods, of which the last is running. They begin at
// multiples of the interval from 1970 on, and reach back 366 days at most.
type LiquidationHistoryIn struct {
	Coin     Coin     `query:"coin"`                                     // perpetual; absent for all of them
	Interval Lookback `query:"interval" default:"1d" min:"1m" max:"60d"` // length of a period: whole minutes, above 1d whole hours
	Limit    int64    `query:"limit" default:"20" min:"1" max:"100"`     // periods of the answer, 100 at most
}

// Reach implements [Reacher].
func (in LiquidationHistoryIn) Reach() time.Duration {
	return time.Duration(in.Limit) * in.Interval.Reach()
}

// TopLiquidationsIn selects the largest liquidations of a coin in a window that ends now, the
// largest first.
type TopLiquidationsIn struct {
	Interval Lookback `query:"interval" required:"true" min:"1m" max:"60d"`
	Coin     Coin     `query:"coin" required:"true"`                 // perpetual
	Limit    int64    `query:"limit" default:"10" min:"1" max:"100"` // rows of the answer, 100 at most
}

// LiquidatedSums sum up liquidations. One is an order by which a position was closed by force,
// or a part of one, however many others it met: by an order into the book, by the liquidator's
// vault, or by auto-deleveraging. Only the account that was liquidated counts, and not those that
// it met. Decimals are strings; a unit of what a dex counts in is a dollar.
type LiquidatedSums struct {
	Addresses         int64  `json:"addresses"`         // accounts that were liquidated, each once
	ShortLiquidations int64  `json:"shortLiquidations"` // liquidations of shorts
	LongLiquidations  int64  `json:"longLiquidations"`  // liquidations of longs
	TotalFilled       string `json:"totalFilled"`       // value of what was closed, px x sz, in US dollars
	LongFilled        string `json:"longFilled"`        // the part of longs
	ShortFilled       string `json:"shortFilled"`       // the part of shorts
	TotalPnl          string `json:"totalPnl"`          // what the accounts realized, without fees, in US dollars
	LongPnl           string `json:"longPnl"`           // the part of longs
	ShortPnl          string `json:"shortPnl"`          // the part of shorts
}

// LiquidationStats sum up the liquidations of a time.
type LiquidationStats struct {
	StartTime string `json:"startTime"` // when it begins, ISO 8601, UTC
	LiquidatedSums
}

// CoinLiquidationStats sum up the liquidations of a coin, of which there is at least one. The
// coin with the largest totalFilled comes first.
type CoinLiquidationStats struct {
	Coin string `json:"coin"`
	LiquidatedSums
}

// TopLiquidation is an order by which a position was closed by force, or a part of one. Decimals
// are strings.
type TopLiquidation struct {
	Time          int64  `json:"time"`    // ms
	Address       string `json:"address"` // account that was liquidated
	Coin          string `json:"coin"`
	Direction     string `json:"direction"`     // of the position that was closed: long or short
	Oid           int64  `json:"oid"`           // id of the order
	LiqPrice      string `json:"liqPrice"`      // mean price of its fills in quote units
	LiquidatedVal string `json:"liquidatedVal"` // value of what was closed, px x sz, in US dollars
	Pnl           string `json:"pnl"`           // what the account realized, without fees, in US dollars
	StartPosition string `json:"startPosition"` // position before it in base units, negative for short
	EndPosition   string `json:"endPosition"`   // position after it in base units, negative for short
}

// EstimatedHeatmapIn selects the estimates for a perpetual as they were at times of the past.
type EstimatedHeatmapIn struct {
	Coin      Coin    `query:"coin" default:"BTC"`                               // perpetual
	Interval  string  `query:"interval" required:"true" enum:"1m|5m|15m|30m|1h"` // time between two estimates
	StartTime *Millis `query:"startTime"`                                        // earliest time, ms, inclusive; absent for limit intervals back
	EndTime   *Millis `query:"endTime"`                                          // latest time, ms, inclusive; absent for now
	Leverage  string  `query:"leverage" enum:"|10|25|50|100"`                    // leverage of the positions; absent for all
	Limit     int64   `query:"limit" default:"100" min:"1" max:"1000"`           // times of the answer, the newest: 1,000 at most
}

// Span implements [Spanner].
func (in EstimatedHeatmapIn) Span(now time.Time) (start, end time.Time) {
	return spanMillis(in.StartTime, in.EndTime, now)
}

// EstimatedLiquidationHeatmap estimates at which prices positions would be liquidated, time by
// time, from K-lines and open interest, by the model of /upgrade/v2/futures/liquidation/map: of
// what was opened in each interval 40 % at leverage 10, 30 % at 25, 20 % at 50 and 10 % at 100, as
// many longs as shorts, at the average price of the interval, with a maintenance margin of 0.4 %.
// What was closed since, and what the price has reached, is taken off. Positions are remembered
// for 6 hours at 1m, for a day at 5m, for 3 days at 15m and for 7 days at 30m and 1h.
type EstimatedLiquidationHeatmap struct {
	Coin       string                 `json:"coin"`
	Interval   string                 `json:"interval"`    // time between two estimates
	Window     EstimatedHeatmapWindow `json:"window"`      // what the answer spans
	TimePoints []EstimatedHeatmapTime `json:"time_points"` // estimates by time, oldest first; times of which neither a K-line nor open interest is known are left out
	Meta       EstimatedHeatmapMeta   `json:"meta"`        // of what the estimates are made
}

// EstimatedHeatmapWindow is what a heat map spans.
type EstimatedHeatmapWindow struct {
	StartTime   int64  `json:"start_time"`   // first time, ms
	EndTime     int64  `json:"end_time"`     // last time, ms
	BucketWidth string `json:"bucket_width"` // width of a bucket in quote units, a decimal string; 0.0 where nothing is known
}

// EstimatedHeatmapTime is the estimate at the end of an interval.
type EstimatedHeatmapTime struct {
	TimeMs            int64                    `json:"time_ms"`            // start of the interval, ms
	LongLiquidations  []EstimatedHeatmapBucket `json:"long_liquidations"`  // longs, by price; null where the open interest is not known. What is opened since it is known last, as in the interval that runs, is not in it
	ShortLiquidations []EstimatedHeatmapBucket `json:"short_liquidations"` // shorts, likewise
}

// EstimatedHeatmapBucket is what would be liquidated while the price moves through it.
type EstimatedHeatmapBucket struct {
	LowerPx       string `json:"lower_px"`       // lowest price in quote units, inclusive, a decimal string
	UpperPx       string `json:"upper_px"`       // highest price in quote units, exclusive, a decimal string
	PositionCount *int64 `json:"position_count"` // always null: the model estimates values and not how many positions they are
	TotalNotional string `json:"total_notional"` // value of the positions at their entry in US dollars, a decimal string
}

// EstimatedHeatmapMeta says of what a heat map is made.
type EstimatedHeatmapMeta struct {
	BucketCount int64   `json:"bucket_count"` // buckets of all times
	RowCount    int64   `json:"row_count"`    // times
	Coverage    *string `json:"coverage"`     // share of the open interest at the last time for which the model knows a price, 0 to 1, of all leverages, a decimal string; the rest was opened earlier than it remembers. null where the open interest is not known, as outside of the main dex
	Source      string  `json:"source"`       // always klines and open interest
}
