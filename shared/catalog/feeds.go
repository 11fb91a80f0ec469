package catalog

// The four WebSocket feeds. A connection passes the authorizer like a request;
// what is said on it is no part of the catalog.
var (
	_ = feed("/upgrade/v2/hl/ws", "HL_WS_NODE")
	_ = feed("/upgrade/v2/hl/ws/fills", "HL_WS_FILLS")
	_ = feed("/upgrade/v2/hl/ws/filled-orders", "HL_WS_FILLED_ORDERS")
	_ = feed("/upgrade/v2/hl/ws/clearinghouse-state", "HL_WS_CLEARINGHOUSE_STATE")
)

func feed(path, name string) struct{} {
	declare(&Endpoint{Method: MethodWS, Path: path, Family: Feeds, Access: action(name)})
	return struct{}{}
}
