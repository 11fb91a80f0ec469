package catalog

// The planned endpoints of the family Market: specified, without a handler yet.
var (
	// Lists the platforms.
	_ = planned("GET", "/v2/market", Market, anyLevel, EnvelopeA)
	// Shows the net inflow of up to 100 platforms.
	_ = planned("GET", "/v2/market/ticker", Market, anyLevel, EnvelopeA)
	// Lists the coins of a theme with their prices.
	_ = planned("GET", "/v2/market/hotTabCoins", Market, anyLevel, EnvelopeA)
)
