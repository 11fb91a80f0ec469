package catalog

// The planned endpoints of the family TradingPair: specified, without a handler yet.
var (
	_ = planned("GET", "/v2/trading-pair/ticker", TradingPair, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/trading-pair/getTradingPair", TradingPair, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/trading-pair", TradingPair, anyLevel, EnvelopeA)
)
