package catalog

import "slices"

// Family names the function that serves a group of endpoints. Its folder under
// functions/ is the name with - read as /. The last word of the name is the file of
// its program, so no two families share it: see [ProgramFile].
type Family string

// The families.
const (
	Distributor      Family = "distributor"
	PerpMarket       Family = "perp-market"
	PerpFills        Family = "perp-fills"
	PerpOrders       Family = "perp-orders"
	PerpTraders      Family = "perp-traders"
	PerpWhales       Family = "perp-whales"
	PerpLiquidations Family = "perp-liquidations"
	PerpTwaps        Family = "perp-twaps"
	PerpDiscover     Family = "perp-discover"
	PerpInfo         Family = "perp-info"
	Content          Family = "content"
	Coins            Family = "coin"
	Futures          Family = "futures"
	Mix              Family = "mix"
	Signal           Family = "signal"
	Order            Family = "order"
	TradingPair      Family = "tradingpair"
	Platforms        Family = "platforms"
	Stock            Family = "stock"
	Index            Family = "index"
	Kline            Family = "kline"
	Treasury         Family = "treasury"
	Feeds            Family = "socket"
)

// Names of the programs that serve no family of their own.
const (
	FunctionAuthorizer = "authorizer" // verifies signatures for the gateway
	FunctionAdmin      = "admin"      // operator's actions, invoked through IAM only
	FunctionDataKey    = "datakey"    // makes the first data key, for CloudFormation
	FunctionPlanned    = "planned"    // answers 501 for families without a handler
	FunctionSocket     = "socket"     // the WebSocket routes
	ProgramIngester    = "ingester"   // follows the sources and writes what functions read
)

// built reports whether at least one endpoint of the family has a handler.
func (f Family) built() bool {
	return slices.ContainsFunc(endpoints, func(e *Endpoint) bool { return e.Family == f && !e.Planned })
}

// Served returns the endpoints that the named function answers for, ordered as
// [All] orders them.
func Served(function string) []*Endpoint {
	return slices.DeleteFunc(All(), func(e *Endpoint) bool { return e.Function() != function })
}
