package catalog

// The planned endpoints of the family Order: specified, without a handler yet.
var (
	// Lists the latest 100 large orders of a pair.
	_ = planned("GET", "/v2/order/bigOrder", Order, anyLevel, EnvelopeA)
	// Lists the latest 100 aggregated trades of a pair.
	_ = planned("GET", "/v2/order/aggTrade", Order, anyLevel, EnvelopeA)
)
