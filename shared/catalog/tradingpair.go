package catalog

// The planned endpoints of the family TradingPair: specified, without a handler yet.
var (
	// Shows prices of up to 100 pairs.
	_ = planned("GET", "/v2/trading-pair/ticker", TradingPair, anyLevel, EnvelopeA)
	// Lists the pairs of a platform.
	_ = planned("GET", "/v2/trading-pair/getTradingPair", TradingPair, anyLevel, EnvelopeA)
	// Lists the pairs of a platform by currency or symbol.
	_ = planned("GET", "/v2/trading-pair", TradingPair, anyLevel, EnvelopeA)
)
