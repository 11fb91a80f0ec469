package catalog

// The planned endpoints of the family PerpLiquidations: specified, without a handler yet.
var (
	// Sums up the liquidations of a window that ends now.
	_ = planned("GET", "/upgrade/v2/hl/liquidations/stat", PerpLiquidations, action("HL_LIQUIDATIONS_STAT"), EnvelopeB)
	// Sums up the liquidations of a window that ends now by coin.
	_ = planned("GET", "/upgrade/v2/hl/liquidations/stat-by-coin", PerpLiquidations, action("HL_LIQUIDATIONS_STAT_BY_COIN"), EnvelopeB)
	// Sums up liquidations period by period.
	_ = planned("GET", "/upgrade/v2/hl/liquidations/history", PerpLiquidations, action("HL_LIQUIDATIONS_HISTORY"), EnvelopeB)
	// Ranks the largest liquidations of a coin in a window that ends now.
	_ = planned("GET", "/upgrade/v2/hl/liquidations/top-positions", PerpLiquidations, action("HL_LIQUIDATIONS_TOP_POSITIONS"), EnvelopeB)
	// Sums up by price where open positions would be liquidated.
	_ = planned("GET", "/upgrade/v2/hl/liquidations/market-heatmap", PerpLiquidations, action("HL_LIQUIDATIONS_MARKET_HEATMAP"), EnvelopeB)
	// Estimates by time and price where positions would be liquidated.
	_ = planned("GET", "/upgrade/v2/hl/liquidations/estimated-heatmap", PerpLiquidations, action("HL_LIQUIDATIONS_MARKET_HEATMAP"), EnvelopeB)
)
