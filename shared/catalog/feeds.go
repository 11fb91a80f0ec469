package catalog

// The four WebSocket feeds. A connection passes the authorizer like a request;
// what is said on it is no part of the catalog.
var (
	// Streams books, best prices, trades, candles and accounts to which the client subscribes.
	_ = feed("/upgrade/v2/hl/ws", "HL_WS_NODE")
	// Streams the fills of addresses.
	_ = feed("/upgrade/v2/hl/ws/fills", "HL_WS_FILLS")
	// Streams the filled orders of addresses.
	_ = feed("/upgrade/v2/hl/ws/filled-orders", "HL_WS_FILLED_ORDERS")
	// Streams the perpetual accounts of addresses.
	_ = feed("/upgrade/v2/hl/ws/clearinghouse-state", "HL_WS_CLEARINGHOUSE_STATE")
)

// Stage variables of a WebSocket API say what the event of a connection does not.
const (
	// VariableFeed names the feed that the API serves: the last part of its path.
	VariableFeed = "feed"
	// VariableManagement is the URL of the management API, under which frames are
	// pushed, also where clients come through a domain.
	VariableManagement = "management"
)

func feed(path, name string) struct{} {
	declare(&Endpoint{Method: MethodWS, Path: path, Family: Feeds, Access: action(name)})
	return struct{}{}
}
