package catalog

// Fills of the perpetual venue.
var (
	// Lists the newest fills of an account, oldest first.
	FillsByAddress = route[FillsByAddressIn, []Fill]("GET", "/upgrade/v2/hl/fills/{address}", PerpFills, action("HL_FILLS"), EnvelopeB).needs(VenueAccountTrades)
	// Lists the fills of an order; data is null where none is known.
	FillsByOid = route[FillsByOidIn, *[]Fill]("GET", "/upgrade/v2/hl/fills/oid/{oid}", PerpFills, action("HL_FILLS"), EnvelopeB).needs(VenueFills).looksUp()
	// Lists the fills of a TWAP order.
	FillsByTwap = route[FillsByTwapIn, []TwapFill]("GET", "/upgrade/v2/hl/fills/twapid/{twapid}", PerpFills, action("HL_FILLS_BY_TWAP_ID"), EnvelopeB).needs(VenueFills).looksUp()
	// Lists the newest fills that a builder routed.
	FillsByBuilder = route[FillsByBuilderIn, []BuilderFill]("GET", "/upgrade/v2/hl/fills/builder/{builder}/latest", PerpFills, action("HL_FILLS_BUILDER"), EnvelopeB).needs(VenueFills)
	// Ranks the largest fills of a coin in a window that ends now.
	TopTrades = route[TopTradesIn, []TopFill]("GET", "/upgrade/v2/hl/fills/top-trades", PerpFills, action("HL_TOP_TRADES"), EnvelopeB).needs(VenueFills)
)

var _ = does(PerpFills, readLog, readSeries, checkpoint)

// FillsByAddressIn selects the newest fills of an account, in all coins or in one. They
// are listed oldest first.
type FillsByAddressIn struct {
	Address Address     `path:"address"`
	Coin    Coin        `query:"coin"`
	Limit   int64       `query:"limit" default:"1000" min:"1" max:"2000"` // rows of the answer, 2,000 at most
	Cursor  EventCursor `query:"cursor"`                                  // X-Next-Cursor of an earlier answer to the same request, or the cursor of a frame of ws/fills or userFills: what arrived behind that, oldest first in the order of arrival
}

// FillsByOidIn names an order, whose fills are listed oldest first.
type FillsByOidIn struct {
	Oid    int64  `path:"oid" min:"0"`
	Cursor Cursor `query:"cursor"`
}

// FillsByTwapIn names a TWAP order, whose fills are listed oldest first.
type FillsByTwapIn struct {
	TwapID int64  `path:"twapid" min:"0"`
	Cursor Cursor `query:"cursor"`
}

// FillsByBuilderIn selects the newest fills that a builder routed.
type FillsByBuilderIn struct {
	Builder Address `path:"builder"`
	Coin    Coin    `query:"coin"`
	Limit   int64   `query:"limit" default:"1000" min:"1" max:"2000"` // rows of the answer, 2,000 at most
	MinVal  int64   `query:"minVal" min:"0"`                          // least value (px x sz) of a fill in whole USD
	Cursor  Cursor  `query:"cursor"`
}

// TopTradesIn selects the largest fills of a coin by px x sz in a window that ends now,
// the largest first.
type TopTradesIn struct {
	Interval Lookback `query:"interval" required:"true" min:"1s" max:"7d"`
	Coin     Coin     `query:"coin" required:"true"`
	Limit    int64    `query:"limit" default:"10" min:"1" max:"100"` // rows of the answer, 100 at most
}

// Fill is one account's side of a trade. Decimals are texts as the venue writes them. Where no node is followed a fill
// is provisional until the hour is read that the venue publishes: what its public trade does not say is null.
type Fill struct {
	Cloid         *string `json:"cloid"`
	ClosedPnl     *string `json:"closedPnl"` // profit that the fill realized, in quote units without fees, a decimal string; null while it is provisional
	Coin          string  `json:"coin"`
	Crossed       bool    `json:"crossed"`  // true where the account was the taker
	Dir           *string `json:"dir"`      // what the fill did: Open Long, Close Short, Buy, ...; null while it is provisional
	Fee           *string `json:"fee"`      // what the account paid, negative for a rebate, a decimal string in feeToken; null while it is provisional
	FeeToken      *string `json:"feeToken"` // token in which the fee was paid, such as USDC; null while it is provisional
	Hash          string  `json:"hash"`
	Oid           *int64  `json:"oid"`                   // order id; null while it is provisional
	Provisional   bool    `json:"provisional,omitempty"` // true while the fill is known by its public trade alone; else left out
	Px            string  `json:"px"`
	Side          string  `json:"side"`          // B to buy, A to sell
	StartPosition *string `json:"startPosition"` // position before the fill in base units, negative for short, a decimal string; null while it is provisional
	Sz            string  `json:"sz"`
	Tid           int64   `json:"tid"`
	Time          int64   `json:"time"`             // ms
	TwapID        *int64  `json:"twapId,omitempty"` // id of the TWAP order that it belongs to; null or left out for none
}

// TwapFill is a fill of one slice of a TWAP order.
type TwapFill struct {
	Coin   string `json:"coin"`
	Side   string `json:"side"`
	Px     string `json:"px"`
	Sz     string `json:"sz"`
	Time   int64  `json:"time"` // ms
	TwapID int64  `json:"twapId"`
}

// BuilderFill is a fill that a builder routed.
type BuilderFill struct {
	Coin          string  `json:"coin"`
	Side          string  `json:"side"`
	Px            string  `json:"px"`
	Sz            string  `json:"sz"`
	Time          int64   `json:"time"` // ms
	Hash          string  `json:"hash"`
	Oid           int64   `json:"oid"`
	BuilderFee    *string `json:"builderFee"` // what the builder took, a decimal string in feeToken; null where the venue names none
	Fee           string  `json:"fee"`
	FeeToken      string  `json:"feeToken"`
	Dir           string  `json:"dir"`
	Crossed       bool    `json:"crossed"`
	ClosedPnl     string  `json:"closedPnl"`
	StartPosition string  `json:"startPosition"`
}

// TopFill is a fill among the largest ones.
type TopFill struct {
	Time        int64  `json:"time"` // ms
	Address     string `json:"address"`
	Coin        string `json:"coin"`
	Side        string `json:"side"`
	Oid         int64  `json:"oid"`
	IsTaker     bool   `json:"isTaker"`
	Px          string `json:"px"`
	Sz          string `json:"sz"`
	Val         string `json:"val"`         // value of the fill, px x sz in quote units, a decimal string
	EndPosition string `json:"endPosition"` // position after the fill in base units, negative for short, a decimal string
}

// Unless is what stands for a value on the wire that is null where it is not known.
func Unless[T any](unknown bool, value T) *T {
	if unknown {
		return nil
	}
	return &value
}

// OrNull is what stands for a text or a number on the wire that is null where it is "" or 0.
func OrNull[T comparable](value T) *T {
	var none T
	if value == none {
		return nil
	}
	return &value
}
