package catalog

import "path"

// The four WebSocket feeds. A connection passes the authorizer like a request;
// what is said on it is no part of the catalog.
var (
	// Streams books, best prices, trades, candles and accounts to which the client subscribes; a bucket without a trade has no candle.
	FeedChannels = feed("/upgrade/v2/hl/ws", "HL_WS_NODE")
	// Streams the fills of addresses.
	FeedFills = feed("/upgrade/v2/hl/ws/fills", "HL_WS_FILLS")
	// Streams the filled orders of addresses.
	FeedFilledOrders = feed("/upgrade/v2/hl/ws/filled-orders", "HL_WS_FILLED_ORDERS")
	// Streams the perpetual accounts of addresses.
	FeedClearinghouseState = feed("/upgrade/v2/hl/ws/clearinghouse-state", "HL_WS_CLEARINGHOUSE_STATE")
)

// Stage variables of a WebSocket API say what the event of a connection does not.
const (
	// VariableFeed names the feed that the API serves, see [Endpoint.Feed].
	VariableFeed = "feed"
	// VariableManagement is the URL of the management API, under which frames are
	// pushed, also where clients come through a domain.
	VariableManagement = "management"
)

// Feed returns the name of a WebSocket feed, the last part of its path; "" for any
// other endpoint.
func (e *Endpoint) Feed() string {
	if e.Method != MethodWS {
		return ""
	}
	return path.Base(e.Path)
}

func feed(path, name string) *Endpoint {
	return declare(&Endpoint{Method: MethodWS, Path: path, Family: Feeds, Access: action(name)})
}
