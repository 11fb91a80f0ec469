package catalog

// The planned endpoints of the family PerpDiscover: specified, without a handler yet.
var (
	_ = planned("POST", "/upgrade/v2/hl/smart/find", PerpDiscover, action("HL_SMART_FIND"), EnvelopeB)
	_ = planned("POST", "/upgrade/v2/hl/traders/discover", PerpDiscover, action("HL_TRADERS_DISCOVER"), EnvelopeB)
	_ = planned("POST", "/upgrade/v2/hl/traders/discover-history", PerpDiscover, action("HL_TRADERS_DISCOVER_HISTORY"), EnvelopeB)
	_ = planned("POST", "/upgrade/v2/hl/traders/query-addr-tags", PerpDiscover, action("HL_QUERY_ADDR_TAGS"), EnvelopeB)
)
