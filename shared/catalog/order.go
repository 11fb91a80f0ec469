package catalog

// The planned endpoints of the family Order: specified, without a handler yet.
var (
	_ = planned("GET", "/v2/order/bigOrder", Order, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/order/aggTrade", Order, anyLevel, EnvelopeA)
)
