package catalog

// The planned endpoints of the family Market: specified, without a handler yet.
var (
	_ = planned("GET", "/v2/market", Market, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/market/ticker", Market, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/market/hotTabCoins", Market, anyLevel, EnvelopeA)
)
