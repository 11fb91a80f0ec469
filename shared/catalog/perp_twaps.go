package catalog

// The planned endpoints of the family PerpTwaps: specified, without a handler yet.
var (
	// Lists the newest states of an account's TWAP orders, newest first.
	_ = planned("GET", "/upgrade/v2/hl/twap-states/{address}/latest", PerpTwaps, action("HL_TWAP_STATES"), EnvelopeB)
	// Sums up what running TWAP orders will trade within a horizon.
	_ = planned("GET", "/upgrade/v2/hl/twaps/execution-wall", PerpTwaps, action("HL_TWAP_EXECUTION_PRESSURE"), EnvelopeB)
	// Ranks running TWAP orders by their share of the market's volume.
	_ = planned("GET", "/upgrade/v2/hl/twaps/top-impact", PerpTwaps, action("HL_TWAP_TOP_IMPACT"), EnvelopeB)
)
