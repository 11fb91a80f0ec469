package catalog

// The planned endpoints of the family PerpOrders: specified, without a handler yet.
var (
	_ = planned("GET", "/upgrade/v2/hl/orders/{address}/latest", PerpOrders, action("HL_ORDERS"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/orders/oid/{oid}", PerpOrders, action("HL_ORDERS"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/orders/top-open-orders", PerpOrders, action("HL_TOP_OPEN_ORDERS"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/orders/active-stats", PerpOrders, action("HL_ACTIVE_STATS"), EnvelopeB)
)
