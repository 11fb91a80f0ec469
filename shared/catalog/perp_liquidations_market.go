package catalog

import "github.com/quagmt/udecimal"

// LeastBucket is the least width of a bucket of a heat map, as fine as any liquidation price is.
var LeastBucket = udecimal.MustFromInt64(1, 10)

// Where positions would be liquidated.
var (
	// Sums up by price where open positions would be liquidated.
	MarketHeatmap = route[MarketHeatmapIn, MarketLiquidationHeatmap]("GET", "/upgrade/v2/hl/liquidations/market-heatmap", PerpLiquidations, action("HL_LIQUIDATIONS_MARKET_HEATMAP"), EnvelopeB).needs(VenueFills, VenueAccounts).covers()
)

// MarketHeatmapIn selects positions in a coin by the mark price at which each is liquidated, other
// marks unchanged. Without bounds the window spans those of all, and is narrowed around the mark price
// where that would be too much to answer; what the bounds and the bucket size ask for that is too
// much is 400 naming a bucket size that is not.
type MarketHeatmapIn struct {
	Coin        Coin     `query:"coin" default:"BTC"`
	BucketSize  Decimal  `query:"bucket_size,bucketSize" default:"10" min:"0.0000000001"` // width of a bucket in prices
	LowerPx     *Decimal `query:"lower_px,lowerPx" example:"60000"`                       // least liquidation price, inclusive
	UpperPx     *Decimal `query:"upper_px,upperPx" example:"90000"`                       // greatest liquidation price, exclusive; above 0 and lower_px
	IncludeMeta bool     `query:"include_meta,includeMeta"`                               // also answer meta
}

// MarketLiquidationHeatmap is where open positions would be liquidated. Prices and amounts are decimal
// strings, quote units but for sizes. A bucket without a position is left out.
type MarketLiquidationHeatmap struct {
	Coin              string                `json:"coin"`
	TimeMs            int64                 `json:"time_ms"` // of the mark prices, ms
	MarkPx            string                `json:"mark_px"` // "" where it is not known
	Window            MarketHeatmapWindow   `json:"window"`
	LongLiquidations  []MarketHeatmapBucket `json:"long_liquidations"`  // longs, by price
	ShortLiquidations []MarketHeatmapBucket `json:"short_liquidations"` // shorts, by price
	Meta              *MarketHeatmapMeta    `json:"meta,omitempty"`     // with include_meta
}

// MarketHeatmapWindow is the prices of a heat map.
type MarketHeatmapWindow struct {
	LowerPx     string `json:"lower_px"`     // inclusive
	UpperPx     string `json:"upper_px"`     // exclusive
	BucketWidth string `json:"bucket_width"` // of each bucket; they begin at multiples of it
}

// MarketHeatmapBucket sums up positions that are liquidated between two prices.
type MarketHeatmapBucket struct {
	LowerPx       string `json:"lower_px"`       // inclusive
	UpperPx       string `json:"upper_px"`       // exclusive
	PositionCount int64  `json:"position_count"` // open positions
	AddressCount  int64  `json:"address_count"`  // accounts that hold them
	TotalSz       string `json:"total_sz"`       // base units
	TotalNotional string `json:"total_notional"` // at the mark price as it is
}

// MarketHeatmapMeta says what a heat map is made of.
type MarketHeatmapMeta struct {
	OpenPositions int64   `json:"open_positions"` // known in the coin
	WithLiqPrice  int64   `json:"with_liq_price"` // of these, whose liquidation price is known and above 0
	BucketCount   int64   `json:"bucket_count"`   // in the answer
	Source        string  `json:"source"`         // positions: the positions of accounts
	Coverage      *string `json:"coverage"`       // part of the open interest that open_positions are, 0 to 1; null where the exchange does not say it
}
