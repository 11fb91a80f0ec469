package catalog

import "encoding/json"

// TWAP orders of the perpetual venue: sizes that it executes in slices, spread over minutes.
var (
	// Lists the newest statuses that an account's TWAP orders came to, newest first.
	TwapStates = route[TwapStatesIn, []TwapOrderState]("GET", "/upgrade/v2/hl/twap-states/{address}/latest", PerpTwaps, action("HL_TWAP_STATES"), EnvelopeB).needs(VenueTwaps)
	// Sums up what running TWAP orders will trade within a horizon.
	TwapExecutionWall = route[TwapExecutionWallIn, TwapWall]("GET", "/upgrade/v2/hl/twaps/execution-wall", PerpTwaps, action("HL_TWAP_EXECUTION_PRESSURE"), EnvelopeB).needs(VenueTwaps)
	// Ranks running TWAP orders by their share of the market's volume.
	TwapTopImpact = route[TwapTopImpactIn, []TwapImpact]("GET", "/upgrade/v2/hl/twaps/top-impact", PerpTwaps, action("HL_TWAP_TOP_IMPACT"), EnvelopeB).needs(VenueTwaps)
)

var _ = does(PerpTwaps, readLog, readViews)

// TwapStatesIn selects the statuses that the TWAP orders of an account came to last, in all
// coins or in one.
type TwapStatesIn struct {
	Address Address `path:"address"`
	Coin    Coin    `query:"coin"`                                  // name of the market: BTC, dex:GOLD, or @107 of spot; absent for all
	Limit   int64   `query:"limit" default:"100" min:"1" max:"100"` // rows of the answer, 100 at most
}

// TwapOrderState is a status that a TWAP order came to. Each has two rows: one of when it was
// activated, and one of its end.
type TwapOrderState struct {
	TwapID *int64    `json:"twapId"`          // id of the TWAP order; null where the exchange gave it none
	Time   int64     `json:"time"`            // when it came to the status, ms
	Status string    `json:"status"`          // activated, finished, terminated (by its account) or error
	Error  *string   `json:"error,omitempty"` // what went wrong, in the exchange's words; only with the status error
	State  TwapState `json:"state"`
}

// TwapState is a TWAP order as it stood at a status; while it runs, what was executed of it is
// that of now, a few seconds old.
type TwapState struct {
	Coin        string `json:"coin"`
	User        string `json:"user"`        // address of its account
	Side        string `json:"side"`        // B to buy, A to sell
	Sz          string `json:"sz"`          // size of the whole order, base units
	ExecutedSz  string `json:"executedSz"`  // size that was executed, base units
	ExecutedNtl string `json:"executedNtl"` // value of what was executed, quote units
	Minutes     int64  `json:"minutes"`     // for how many minutes it runs
	ReduceOnly  bool   `json:"reduceOnly"`
	Randomize   bool   `json:"randomize"` // the sizes of its slices vary
	Timestamp   int64  `json:"timestamp"` // when it began, ms
}

// TwapExecutionWallIn names a market and how far is looked ahead.
type TwapExecutionWallIn struct {
	Coin            Coin   `query:"coin"`                                           // name of one market: BTC is the perpetual, dex:GOLD one of a dex, @107 or PURR/USDC a spot asset; absent for all
	Horizon         string `query:"horizon" default:"1h" enum:"10m|30m|1h|4h|24h"`  // how far ahead of now is looked
	TopContributors int64  `query:"topContributors" default:"10" min:"0" max:"100"` // rows of topContributors, 100 at most
}

// TwapTopImpactIn names a market and how far is looked ahead.
type TwapTopImpactIn struct {
	Coin    Coin   `query:"coin"`                                          // name of one market: BTC is the perpetual, dex:GOLD one of a dex, @107 or PURR/USDC a spot asset; absent for all
	Horizon string `query:"horizon" default:"1h" enum:"10m|30m|1h|4h|24h"` // how far ahead of now is looked
	Limit   int64  `query:"limit" default:"10" min:"1" max:"100"`          // rows of the answer, 100 at most
}

// TwapHorizons are the minutes of each horizon.
var TwapHorizons = map[string]int64{"10m": 10, "30m": 30, "1h": 60, "4h": 240, "24h": 1440}

// TwapWall sums up what running TWAP orders are expected to trade. Amounts are US dollars at
// mark prices, decimal strings. They are null where no price of any of the orders is known;
// an order without one is counted, and in no sum.
type TwapWall struct {
	Horizon         string       `json:"horizon"`           // how far ahead of now is looked, as asked
	HorizonMinutes  int64        `json:"horizonMinutes"`    // minutes of the horizon
	MarketValPerMin *string      `json:"marketValPerMin"`   // what the market traded a minute, on average of its last 24 hours; of all markets together where no coin is named; null where it is not known
	ExpectedVal     *string      `json:"expectedVal"`       // what the orders will trade within the horizon, if each is executed evenly over the minutes that remain to it
	BuyExpectedVal  *string      `json:"buyExpectedVal"`    // the part of expectedVal of orders to buy
	SellExpectedVal *string      `json:"sellExpectedVal"`   // the part of expectedVal of orders to sell
	NetExpectedVal  *string      `json:"netExpectedVal"`    // buyExpectedVal less sellExpectedVal
	RateValPerMin   *string      `json:"rateValPerMin"`     // what the orders trade a minute now
	BuyRateVal      *string      `json:"buyRateValPerMin"`  // the part of rateValPerMin of orders to buy
	SellRateVal     *string      `json:"sellRateValPerMin"` // the part of rateValPerMin of orders to sell
	NetRateVal      *string      `json:"netRateValPerMin"`  // buyRateValPerMin less sellRateValPerMin
	ImpactRatio     *json.Number `json:"impactRatio"`       // rateValPerMin / marketValPerMin, to six places; null where either is not known
	TwapCount       int64        `json:"twapCount"`         // number of TWAP orders that run
	TopContributors []TwapImpact `json:"topContributors"`   // the orders of the largest expectedVal, the largest first
}

// TwapImpact is what a running TWAP order is expected to trade. Amounts are US dollars at mark
// prices, decimal strings, null where the price is not known.
type TwapImpact struct {
	TwapID          int64        `json:"twapId"` // id of the TWAP order
	Address         string       `json:"address"`
	Coin            string       `json:"coin"`
	Side            string       `json:"side"`            // buy or sell
	ExpectedVal     *string      `json:"expectedVal"`     // what it will trade within the horizon: remainVal x min(1, horizon / remainMinutes)
	RemainVal       *string      `json:"remainVal"`       // value of what is still to be executed
	RemainMinutes   int64        `json:"remainMinutes"`   // minutes that remain to it, rounded up
	RateValPerMin   *string      `json:"rateValPerMin"`   // what it trades a minute: remainVal / remainMinutes
	MarketValPerMin *string      `json:"marketValPerMin"` // what its market traded a minute, on average of the last 24 hours; null where it is not known
	ImpactRatio     *json.Number `json:"impactRatio"`     // rateValPerMin / marketValPerMin, to six places; null where either is not known
}
