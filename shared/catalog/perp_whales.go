package catalog

// The planned endpoints of the family PerpWhales: specified, without a handler yet.
var (
	_ = planned("GET", "/upgrade/v2/hl/whales/open-positions", PerpWhales, action("HL_WHALES_OPEN_POSITIONS"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/whales/latest-events", PerpWhales, action("HL_WHALES_LATEST_EVENTS"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/whales/directions", PerpWhales, action("HL_WHALES_DIRECTIONS"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/whales/history-long-ratio", PerpWhales, action("HL_WHALES_HISTORY_LONG_RATIO"), EnvelopeB)
)
