package catalog

// The planned endpoints of the family PerpDiscover: specified, without a handler yet.
var (
	// Finds successful accounts with more than 100,000 USD in perpetuals.
	_ = planned("POST", "/upgrade/v2/hl/smart/find", PerpDiscover, action("HL_SMART_FIND"), EnvelopeB)
	// Finds accounts by filters on their statistics.
	_ = planned("POST", "/upgrade/v2/hl/traders/discover", PerpDiscover, action("HL_TRADERS_DISCOVER"), EnvelopeB)
	// Finds accounts by filters on their statistics as of a time in the past.
	_ = planned("POST", "/upgrade/v2/hl/traders/discover-history", PerpDiscover, action("HL_TRADERS_DISCOVER_HISTORY"), EnvelopeB)
	// Lists the tags of many addresses.
	_ = planned("POST", "/upgrade/v2/hl/traders/query-addr-tags", PerpDiscover, action("HL_QUERY_ADDR_TAGS"), EnvelopeB)
)
