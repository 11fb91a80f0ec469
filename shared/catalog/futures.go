package catalog

// The planned endpoints of the family Futures: specified, without a handler yet.
var (
	// Lists the funding rate of a pair over time, newest first.
	_ = planned("GET", "/upgrade/v2/futures/funding-rate/history", Futures, grant("futures:FUNDING_RATE_HISTORY"), EnvelopeB)
	// Lists the funding rate of a coin over time, weighted by volume, newest first.
	_ = planned("GET", "/upgrade/v2/futures/funding-rate/vol-weight-history", Futures, grant("futures:WEIGHTED_FUNDING_RATE"), EnvelopeB)
	// Lists the open interest of a coin in stablecoin-margined futures, oldest first.
	_ = planned("GET", "/upgrade/v2/futures/open-interest/aggregated-stablecoin-history", Futures, grant("futures:STABLECOIN_MARGIN_POSITION"), EnvelopeB)
	// Lists the open interest of a coin in coin-margined futures, oldest first.
	_ = planned("GET", "/upgrade/v2/futures/open-interest/aggregated-coin-margin-history", Futures, grant("futures:COIN_MARGIN_POSITION"), EnvelopeB)
	// Lists what was liquidated of a pair over time.
	_ = planned("GET", "/upgrade/v2/futures/liquidation/history", Futures, grant("futures:LIQUIDATION_ORDERS"), EnvelopeB)
	// Estimates by time, price and leverage what would be liquidated.
	_ = planned("GET", "/upgrade/v2/futures/estimated-liquidation/history", Futures, grant("futures:ESTIMATED_LIQUIDATION_HISTORY"), EnvelopeB)
	// Estimates by price and leverage what would be liquidated now.
	_ = planned("GET", "/upgrade/v2/futures/liquidation/map", Futures, grant("futures:LIQUIDATION_MAP"), EnvelopeB)
	// Lists past order books of a pair.
	_ = planned("GET", "/upgrade/v2/futures/historical-depth", Futures, grant("trading_pair:HISTORICAL_DEPTH"), EnvelopeB)
	// Lists large resting orders of a pair and what became of them.
	_ = planned("GET", "/upgrade/v2/futures/super-depth/history", Futures, grant("trading_pair:SUPER_DEPTH_HISTORY"), EnvelopeB)
	// Ranks pairs by open interest, with its trend.
	_ = planned("GET", "/v2/futures/interest", Futures, anyLevel, EnvelopeA)
)
