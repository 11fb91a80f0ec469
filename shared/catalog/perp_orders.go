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
	TopOpenOrders = route[TopOpenOrdersIn, []TopOpenOrder]("GET", "/upgrade/v2/hl/orders/top-open-orders", PerpOrders, action("HL_TOP_OPEN_ORDERS"), EnvelopeB)
	// Counts and sums up the orders that rest in the books.
	ActiveOrders = route[ActiveOrdersIn, ActiveOrderStats]("GET", "/upgrade/v2/hl/orders/active-stats", PerpOrders, action("HL_ACTIVE_STATS"), EnvelopeB)
)

var _ = does(PerpOrders, readLog, readViews)

// OrdersByAddressIn selects the orders of an account that came to a status last,
// newest first.
type OrdersByAddressIn struct {
	Address Address `path:"address"`
	Coin    Coin    `query:"coin"`
	Limit   int64   `query:"limit" default:"2000" min:"1" max:"2000"` // rows of the answer, 2,000 at most
}

// FilledOrdersByAddressIn selects the orders of an account that were filled
// last, newest first.
type FilledOrdersByAddressIn struct {
	Address Address `path:"address"`
	Coin    Coin    `query:"coin"`
	Limit   int64   `query:"limit" default:"1000" min:"1" max:"1000"` // rows of the answer, 1,000 at most
}

// OrderByOidIn names an order, which is null when nothing is known of it.
type OrderByOidIn struct {
	Oid int64 `path:"oid" min:"0"`
}

// TopOpenOrdersIn selects orders that rest in the books, the largest first by limitPx x
// sz. A coin of which nothing rests gives an empty list.
type TopOpenOrdersIn struct {
	MinVal Decimal `query:"minVal,min_val" default:"0" min:"0"`   // least value (limitPx x sz), quote units; an order of exactly this value is listed
	Coin   Coin    `query:"coin"`                                 // all coins if not given
	Limit  int64   `query:"limit" default:"10" min:"1" max:"100"` // rows of the answer, 100 at most
}

// TopOpenOrder is an order that rests in a book. Triggers that wait for their price are
// none. Prices are quote units, sizes base units, all exact.
type TopOpenOrder struct {
	Time       int64        `json:"time"` // when it was placed, ms
	Address    string       `json:"address"`
	Oid        int64        `json:"oid"`
	Coin       string       `json:"coin"`
	Side       string       `json:"side"`   // B buy, A sell
	Sz         string       `json:"sz"`     // what rests
	OrigSz     string       `json:"origSz"` // what was placed
	LimitPx    string       `json:"limitPx"`
	Val        string       `json:"val"` // limitPx x sz, quote units
	ReduceOnly bool         `json:"reduceOnly"`
	Tif        *string      `json:"tif"`     // Gtc or Alo; null on triggers that have fired
	DistPct    *json.Number `json:"distPct"` // (limitPx - last) / last x 100, of the coin's last traded price: negative below it; to four places, half away from zero; null before the coin has traded
}

// ActiveOrdersIn selects the orders that rest in the books of one coin or of all.
type ActiveOrdersIn struct {
	WhaleThreshold Decimal `query:"whaleThreshold,whale_threshold" default:"1000000" min:"0"` // value (limitPx x sz) from which an order is a whale's, quote units; one of exactly this value is
	Coin           Coin    `query:"coin"`                                                     // all coins if not given
}

// ActiveOrderStats counts and sums up the orders that rest in the books. Values are
// limitPx x sz in quote units, exact. Ratios are bids / (bids + asks), a fraction of 0 to
// 1, to six places, half away from zero; 0 where there is neither.
type ActiveOrderStats struct {
	TotalCount         int64       `json:"totalCount"`         // orders
	BidCount           int64       `json:"bidCount"`           // orders to buy
	AskCount           int64       `json:"askCount"`           // orders to sell
	BidValue           string      `json:"bidValue"`           // of the orders to buy
	AskValue           string      `json:"askValue"`           // of the orders to sell
	BidValueRatio      json.Number `json:"bidValueRatio"`      // bidValue / (bidValue + askValue), 0 to 1
	WhaleBidCount      int64       `json:"whaleBidCount"`      // orders to buy of at least whaleThreshold
	WhaleAskCount      int64       `json:"whaleAskCount"`      // orders to sell of at least whaleThreshold
	WhaleBidValue      string      `json:"whaleBidValue"`      // of the whales' orders to buy
	WhaleAskValue      string      `json:"whaleAskValue"`      // of the whales' orders to sell
	WhaleBidValueRatio json.Number `json:"whaleBidValueRatio"` // whaleBidValue / (whaleBidValue + whaleAskValue), 0 to 1
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
