package catalog

// The planned endpoints of the family Coins: specified, without a handler yet.
var (
	_ = planned("GET", "/upgrade/v2/coin/search", Coins, anyLevel, EnvelopeB)
	_ = planned("GET", "/v2/coin/search", Coins, anyLevel, EnvelopeB)
	_ = planned("GET", "/v2/coin", Coins, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/coin/ticker", Coins, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/coin/config", Coins, anyLevel, EnvelopeA)
)
