package catalog

// The planned endpoints of the family Mix: specified, without a handler yet.
var (
	_ = planned("GET", "/v2/mix/ls-ratio", Mix, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/mix/nav", Mix, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/mix/grayscale-trust", Mix, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/mix/gray-scale", Mix, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/mix/liq", Mix, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/mix/stock-market", Mix, anyLevel, EnvelopeA)
)
