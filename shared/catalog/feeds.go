package catalog

// The planned endpoints of the family Feeds: specified, without a handler yet.
var (
	_ = planned(MethodWS, "/upgrade/v2/hl/ws/clearinghouse-state", Feeds, action("HL_WS_CLEARINGHOUSE_STATE"), "")
	_ = planned(MethodWS, "/upgrade/v2/hl/ws", Feeds, action("HL_WS_NODE"), "")
	_ = planned(MethodWS, "/upgrade/v2/hl/ws/fills", Feeds, action("HL_WS_FILLS"), "")
	_ = planned(MethodWS, "/upgrade/v2/hl/ws/filled-orders", Feeds, action("HL_WS_FILLED_ORDERS"), "")
)
