package catalog

// The planned endpoints of the family Index: specified, without a handler yet.
var (
	_ = planned("GET", "/v2/index/getIndex", Index, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/index/indexPrice", Index, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/index/indexInfo", Index, anyLevel, EnvelopeA)
)
