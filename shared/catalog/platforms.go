package catalog

// The planned endpoints of the family Platforms: specified, without a handler yet.
var (
	// Lists the platforms.
	_ = planned("GET", "/v2/market", Platforms, anyLevel, EnvelopeA)
	// Shows the net inflow of up to 100 platforms.
	_ = planned("GET", "/v2/market/ticker", Platforms, anyLevel, EnvelopeA)
	// Lists the coins of a theme with their prices.
	_ = planned("GET", "/v2/market/hotTabCoins", Platforms, anyLevel, EnvelopeA)
)
