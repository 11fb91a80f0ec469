package catalog

// The planned endpoints of the family PerpTwaps: specified, without a handler yet.
var (
	_ = planned("GET", "/upgrade/v2/hl/twap-states/{address}/latest", PerpTwaps, action("HL_TWAP_STATES"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/twaps/execution-wall", PerpTwaps, action("HL_TWAP_EXECUTION_PRESSURE"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/twaps/top-impact", PerpTwaps, action("HL_TWAP_TOP_IMPACT"), EnvelopeB)
)
