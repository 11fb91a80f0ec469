package catalog

// The planned endpoints of the family PerpWhales: specified, without a handler yet.
var (
	// Ranks the open positions of whales, accounts with positions above 1,000,000 USD.
	_ = planned("GET", "/upgrade/v2/hl/whales/open-positions", PerpWhales, action("HL_WHALES_OPEN_POSITIONS"), EnvelopeB)
	// Lists what whales opened and closed last, newest first.
	_ = planned("GET", "/upgrade/v2/hl/whales/latest-events", PerpWhales, action("HL_WHALES_LATEST_EVENTS"), EnvelopeB)
	// Counts the whales that are long and those that are short.
	_ = planned("GET", "/upgrade/v2/hl/whales/directions", PerpWhales, action("HL_WHALES_DIRECTIONS"), EnvelopeB)
	// Lists the share of whales that are long over time.
	_ = planned("GET", "/upgrade/v2/hl/whales/history-long-ratio", PerpWhales, action("HL_WHALES_HISTORY_LONG_RATIO"), EnvelopeB)
)
