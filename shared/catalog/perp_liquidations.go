package catalog

// The planned endpoints of the family PerpLiquidations: specified, without a handler yet.
var (
	_ = planned("GET", "/upgrade/v2/hl/liquidations/stat", PerpLiquidations, action("HL_LIQUIDATIONS_STAT"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/liquidations/stat-by-coin", PerpLiquidations, action("HL_LIQUIDATIONS_STAT_BY_COIN"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/liquidations/history", PerpLiquidations, action("HL_LIQUIDATIONS_HISTORY"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/liquidations/top-positions", PerpLiquidations, action("HL_LIQUIDATIONS_TOP_POSITIONS"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/liquidations/market-heatmap", PerpLiquidations, action("HL_LIQUIDATIONS_MARKET_HEATMAP"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/liquidations/estimated-heatmap", PerpLiquidations, action("HL_LIQUIDATIONS_MARKET_HEATMAP"), EnvelopeB)
)
