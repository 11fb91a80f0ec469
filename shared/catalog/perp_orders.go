package catalog

import "encoding/json"

// Orders of the perpetual venue and what became of them.
var (
	// Lists the newest orders of an account, newest first.
	OrdersByAddress = route[OrdersByAddressIn, []OrderWrapper]("GET", "/upgrade/v2/hl/orders/{address}/latest", PerpOrders, action("HL_ORDERS"), EnvelopeB)
	// Shows an order by its id.
	OrderByOid = route[OrderByOidIn, *OrderWrapper]("GET", "/upgrade/v2/hl/orders/oid/{oid}", PerpOrders, action("HL_ORDERS"), EnvelopeB)
	// Lists the newest filled orders of an account, newest first.
	FilledOrdersByAddress = route[FilledOrdersByAddressIn, []OrderWrapper]("GET", "/upgrade/v2/hl/filled-orders/{address}/latest", PerpOrders, action("HL_FILLED_ORDERS"), EnvelopeB)
	// Shows a filled order by its id.
	FilledOrderByOid = route[OrderByOidIn, *OrderWrapper]("GET", "/upgrade/v2/hl/filled-orders/oid/{oid}", PerpOrders, action("HL_FILLED_ORDERS"), EnvelopeB)

	// Ranks the largest orders that rest in the books.
	_ = planned("GET", "/upgrade/v2/hl/orders/top-open-orders", PerpOrders, action("HL_TOP_OPEN_ORDERS"), EnvelopeB)
	// Counts and sums up the orders that rest in the books.
	_ = planned("GET", "/upgrade/v2/hl/orders/active-stats", PerpOrders, action("HL_ACTIVE_STATS"), EnvelopeB)
)

var _ = does(PerpOrders, readLog)

// OrdersByAddressIn selects the orders of an account that came to a status last,
// newest first.
type OrdersByAddressIn struct {
	Address Address `path:"address"`
	Coin    Coin    `query:"coin"`
	Limit   int64   `query:"limit" default:"2000" min:"1" max:"2000"`
}

// FilledOrdersByAddressIn selects the orders of an account that were filled
// last, newest first.
type FilledOrdersByAddressIn struct {
	Address Address `path:"address"`
	Coin    Coin    `query:"coin"`
	Limit   int64   `query:"limit" default:"1000" min:"1" max:"1000"`
}

// OrderByOidIn names an order, which is null when nothing is known of it.
type OrderByOidIn struct {
	Oid int64 `path:"oid" min:"0"`
}

// OrderWrapper is an order with the status that it came to.
type OrderWrapper struct {
	Order           VenueOrder `json:"order"`
	Status          string     `json:"status"`          // open, filled, canceled, ...
	StatusTimestamp int64      `json:"statusTimestamp"` // ms
}

// VenueOrder is an order as it stood when its status changed. Decimals are the
// venue's own texts.
type VenueOrder struct {
	Children         []json.RawMessage `json:"children"` // orders that it brings along, as the venue sends them
	Cloid            *string           `json:"cloid"`    // client order id
	Coin             string            `json:"coin"`
	IsPositionTpsl   bool              `json:"isPositionTpsl"`
	IsTrigger        bool              `json:"isTrigger"`
	LimitPx          string            `json:"limitPx"`
	Oid              int64             `json:"oid"`
	OrderType        string            `json:"orderType"` // Limit, Market, Stop Market, ...
	OrigSz           string            `json:"origSz"`    // what was placed, base units
	ReduceOnly       bool              `json:"reduceOnly"`
	Side             string            `json:"side"`      // B buy, A sell
	Sz               string            `json:"sz"`        // what rests, base units
	Tif              *string           `json:"tif"`       // Gtc, Ioc, Alo, ...; null on triggers
	Timestamp        int64             `json:"timestamp"` // when it was placed, ms
	TriggerCondition string            `json:"triggerCondition"`
	TriggerPx        string            `json:"triggerPx"`
}
