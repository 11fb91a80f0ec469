package catalog

// The planned endpoints of the family Futures: specified, without a handler yet.
var (
	_ = planned("GET", "/upgrade/v2/futures/funding-rate/history", Futures, grant("futures:FUNDING_RATE_HISTORY"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/futures/funding-rate/vol-weight-history", Futures, grant("futures:WEIGHTED_FUNDING_RATE"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/futures/open-interest/aggregated-stablecoin-history", Futures, grant("futures:STABLECOIN_MARGIN_POSITION"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/futures/open-interest/aggregated-coin-margin-history", Futures, grant("futures:COIN_MARGIN_POSITION"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/futures/liquidation/history", Futures, grant("futures:LIQUIDATION_ORDERS"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/futures/estimated-liquidation/history", Futures, grant("futures:ESTIMATED_LIQUIDATION_HISTORY"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/futures/liquidation/map", Futures, grant("futures:LIQUIDATION_MAP"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/futures/historical-depth", Futures, grant("trading_pair:HISTORICAL_DEPTH"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/futures/super-depth/history", Futures, grant("trading_pair:SUPER_DEPTH_HISTORY"), EnvelopeB)
	_ = planned("GET", "/v2/futures/interest", Futures, anyLevel, EnvelopeA)
)
