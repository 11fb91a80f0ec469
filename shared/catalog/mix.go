package catalog

// The planned endpoints of the family Mix: specified, without a handler yet.
var (
	// Shows the ratio of longs to shorts now, a day and a week ago.
	_ = planned("GET", "/v2/mix/ls-ratio", Mix, anyLevel, EnvelopeA)
	// Lists the pairs and indexes of the navigation bar with their prices.
	_ = planned("GET", "/v2/mix/nav", Mix, anyLevel, EnvelopeA)
	// Shows prices of the trust products.
	_ = planned("GET", "/v2/mix/grayscale-trust", Mix, anyLevel, EnvelopeA)
	// Shows what the trusts hold of coins and how it changed in a day.
	_ = planned("GET", "/v2/mix/gray-scale", Mix, anyLevel, EnvelopeA)
	// Sums up liquidations of the last hour and day.
	_ = planned("GET", "/v2/mix/liq", Mix, anyLevel, EnvelopeA)
	// Shows major stock indexes.
	_ = planned("GET", "/v2/mix/stock-market", Mix, anyLevel, EnvelopeA)
)
