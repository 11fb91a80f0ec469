package catalog

import "encoding/json"

// Orders of the perpetual venue and what became of them.
var (
	// Lists the newest orders of an account, newest first.
	OrdersByAddress = route[OrdersByAddressIn, []OrderWrapper]("GET", "/upgrade/v2/hl/orders/{address}/latest", PerpOrders, action("HL_ORDERS"), EnvelopeB).needs(VenueOrders)
	// Shows an order by its id.
	OrderByOid = route[OrderByOidIn, *OrderWrapper]("GET", "/upgrade/v2/hl/orders/oid/{oid}", PerpOrders, action("HL_ORDERS"), EnvelopeB).needs(VenueOrders)
	// Lists the newest filled orders of an account, newest first.
	FilledOrdersByAddress = route[FilledOrdersByAddressIn, []OrderWrapper]("GET", "/upgrade/v2/hl/filled-orders/{address}/latest", PerpOrders, action("HL_FILLED_ORDERS"), EnvelopeB).needs(VenueOrders)
	// Shows a filled order by its id.
	FilledOrderByOid = route[OrderByOidIn, *OrderWrapper]("GET", "/upgrade/v2/hl/filled-orders/oid/{oid}", PerpOrders, action("HL_FILLED_ORDERS"), EnvelopeB).needs(VenueOrders)

	// Ranks the largest orders that rest in the books.
	TopOpenOrders = route[TopOpenOrdersIn, []TopOpenOrder]("GET", "/upgrade/v2/hl/orders/top-open-orders", PerpOrders, action("HL_TOP_OPEN_ORDERS"), EnvelopeB).needs(VenueOrders)
	// Counts and sums up the orders that rest in the books.
	ActiveOrders = route[ActiveOrdersIn, ActiveOrderStats]("GET", "/upgrade/v2/hl/orders/active-stats", PerpOrders, action("HL_ACTIVE_STATS"), EnvelopeB).needs(VenueOrders)
)

var _ = does(PerpOrders, readLog, readSeries, checkpoint, readViews)

// OrdersByAddressIn selects the orders of an account whose status changed last, in all
// coins or in one, newest first.
type OrdersByAddressIn struct {
	Address Address     `path:"address"`
	Coin    Coin        `query:"coin"`
	Limit   int64       `query:"limit" default:"2000" min:"1" max:"2000"` // rows of the answer, 2,000 at most
	Cursor  EventCursor `query:"cursor"`                                  // X-Next-Cursor of an earlier answer to the same request, or the cursor of a frame of ws/filled-orders: each status that arrived behind that, oldest first in the order of arrival
}

// FilledOrdersByAddressIn selects the orders of an account that were filled last, in all
// coins or in one, newest first.
type FilledOrdersByAddressIn struct {
	Address Address     `path:"address"`
	Coin    Coin        `query:"coin"`
	Limit   int64       `query:"limit" default:"1000" min:"1" max:"1000"` // rows of the answer, 1,000 at most
	Cursor  EventCursor `query:"cursor"`                                  // X-Next-Cursor of an earlier answer to the same request, or the cursor of a frame of ws/filled-orders: what arrived behind that, oldest first in the order of arrival
}

// OrderByOidIn names an order. Where nothing is known of it data is null.
type OrderByOidIn struct {
	Oid int64 `path:"oid" min:"0"`
}

// TopOpenOrdersIn selects orders that rest in the books, the largest first by limitPx x
// sz. A coin without a resting order gives an empty list.
type TopOpenOrdersIn struct {
	MinVal Decimal `query:"minVal,min_val" default:"0" min:"0"`   // least value (limitPx x sz) of an order in quote units, inclusive
	Coin   Coin    `query:"coin"`                                 // name of the market: BTC, dex:GOLD, PURR/USDC, @107 or #12; absent for all
	Limit  int64   `query:"limit" default:"10" min:"1" max:"100"` // rows of the answer, 100 at most
}

// TopOpenOrder is an order that rests in a book. Triggers that wait for their price are
// not among them. Prices are quote units, sizes base units, all exact decimal strings.
type TopOpenOrder struct {
	Time       int64        `json:"time"` // when it was placed, ms
	Address    string       `json:"address"`
	Oid        int64        `json:"oid"`
	Coin       string       `json:"coin"`
	Side       string       `json:"side"`   // B to buy, A to sell
	Sz         string       `json:"sz"`     // size that still rests, base units
	OrigSz     string       `json:"origSz"` // size that was placed, base units
	LimitPx    string       `json:"limitPx"`
	Val        string       `json:"val"` // value of the order, limitPx x sz in quote units
	ReduceOnly bool         `json:"reduceOnly"`
	Tif        *string      `json:"tif"`     // time in force: Gtc or Alo; null for a trigger that has fired
	DistPct    *json.Number `json:"distPct"` // distance of the price from the coin's last traded price, (limitPx - last) / last x 100 percent, negative below it, to four places; null before the coin has traded
}

// ActiveOrdersIn selects the orders that rest in the books of one coin or of all.
type ActiveOrdersIn struct {
	WhaleThreshold Decimal `query:"whaleThreshold,whale_threshold" default:"1000000" min:"0"` // least value (limitPx x sz) of a whale's order in quote units, inclusive
	Coin           Coin    `query:"coin"`                                                     // name of the market: BTC, dex:GOLD, PURR/USDC, @107 or #12; absent for all
}

// ActiveOrderStats counts and sums up the orders that rest in the books. Values are
// limitPx x sz in quote units, exact decimal strings. Ratios are fractions from 0 to 1, to
// six places; 0 where there is no order on either side.
type ActiveOrderStats struct {
	TotalCount         int64       `json:"totalCount"`         // number of orders
	BidCount           int64       `json:"bidCount"`           // number of orders to buy
	AskCount           int64       `json:"askCount"`           // number of orders to sell
	BidValue           string      `json:"bidValue"`           // value of the orders to buy
	AskValue           string      `json:"askValue"`           // value of the orders to sell
	BidValueRatio      json.Number `json:"bidValueRatio"`      // bidValue / (bidValue + askValue), 0 to 1
	WhaleBidCount      int64       `json:"whaleBidCount"`      // number of orders to buy of at least whaleThreshold
	WhaleAskCount      int64       `json:"whaleAskCount"`      // number of orders to sell of at least whaleThreshold
	WhaleBidValue      string      `json:"whaleBidValue"`      // value of the orders to buy of at least whaleThreshold
	WhaleAskValue      string      `json:"whaleAskValue"`      // value of the orders to sell of at least whaleThreshold
	WhaleBidValueRatio json.Number `json:"whaleBidValueRatio"` // whaleBidValue / (whaleBidValue + whaleAskValue), 0 to 1
}

// OrderWrapper is an order with the status that it came to.
type OrderWrapper struct {
	Order           VenueOrder `json:"order"`
	Status          string     `json:"status"`          // status of the order: open, filled, canceled, triggered, rejected and others of the venue
	StatusTimestamp int64      `json:"statusTimestamp"` // when it came to that status, ms
}

// VenueOrder is an order as it stood when its status changed. Decimals are texts as the
// venue writes them.
type VenueOrder struct {
	Children         []json.RawMessage `json:"children"` // orders that it brings along, such as its take-profit, as the venue sends them
	Cloid            *string           `json:"cloid"`    // order id that the client chose; null for none
	Coin             string            `json:"coin"`
	IsPositionTpsl   bool              `json:"isPositionTpsl"`
	IsTrigger        bool              `json:"isTrigger"`
	LimitPx          string            `json:"limitPx"`
	Oid              int64             `json:"oid"`
	OrderType        string            `json:"orderType"` // kind of order: Limit, Market, Stop Market, ...
	OrigSz           string            `json:"origSz"`    // size that was placed, base units
	ReduceOnly       bool              `json:"reduceOnly"`
	Side             string            `json:"side"`      // B to buy, A to sell
	Sz               string            `json:"sz"`        // size that still rests, base units
	Tif              *string           `json:"tif"`       // time in force: Gtc, Ioc, Alo, ...; null for triggers
	Timestamp        int64             `json:"timestamp"` // when it was placed, ms
	TriggerCondition string            `json:"triggerCondition"`
	TriggerPx        string            `json:"triggerPx"`
}
