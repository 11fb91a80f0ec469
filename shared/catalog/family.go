package catalog

import "slices"

// Family names the function that serves a group of endpoints. Its folder under
// functions/ is the name with - read as /.
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
	Market           Family = "market"
	Stock            Family = "stock"
	Index            Family = "index"
	Kline            Family = "kline"
	Treasury         Family = "treasury"
	Feeds            Family = "socket"
)

// Names of the functions that serve no family of their own.
const (
	FunctionAuthorizer = "authorizer" // verifies signatures for the gateway
	FunctionAdmin      = "admin"      // operator's actions, invoked through IAM only
	FunctionDataKey    = "datakey"    // makes the first data key, for CloudFormation
	FunctionPlanned    = "planned"    // answers 501 for families without a handler
	FunctionSocket     = "socket"     // the WebSocket routes
)

// built reports whether at least one endpoint of the family has a handler.
func (f Family) built() bool {
	return slices.ContainsFunc(table, func(e *Endpoint) bool { return e.Family == f && !e.Planned })
}

// Served returns the endpoints that the named function answers for, ordered as
// [All] orders them.
func Served(function string) []*Endpoint {
	return slices.DeleteFunc(All(), func(e *Endpoint) bool { return e.Function() != function })
}

// Functions returns the names of all functions behind the HTTPS endpoints,
// sorted.
func Functions() []string {
	var out []string
	for _, e := range table {
		if e.Method != MethodWS {
			out = append(out, e.Function())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// AllFunctions returns the names of all functions of a deployment, sorted: those of
// [Functions], and those that serve no HTTPS endpoint.
func AllFunctions() []string {
	all := append(Functions(), FunctionAuthorizer, FunctionAdmin, FunctionDataKey, FunctionSocket)
	slices.Sort(all)
	return all
}
