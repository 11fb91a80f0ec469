package catalog

// The planned endpoints of the family Index: specified, without a handler yet.
var (
	// Lists the indexes with their prices.
	_ = planned("GET", "/v2/index/getIndex", Index, anyLevel, EnvelopeA)
	// Shows the price of an index.
	_ = planned("GET", "/v2/index/indexPrice", Index, anyLevel, EnvelopeA)
	// Describes an index.
	_ = planned("GET", "/v2/index/indexInfo", Index, anyLevel, EnvelopeA)
)
