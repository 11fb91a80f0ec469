package catalog

import (
	"encoding/json"
	"time"
)

// SuperDepthsIn selects the large orders of a pair whose order book is followed by when they were
// first seen. Of any other key the list is empty.
type SuperDepthsIn struct {
	Key       PairKey `query:"key" required:"true" example:"btcswapusdt:binance"` // key of the pair
	StartTime *Millis `query:"start_time,startTime"`                              // earliest time, ms, inclusive; 24 hours before the latest if not given
	EndTime   *Millis `query:"end_time,endTime"`                                  // latest time, ms, inclusive; now if not given
	Amount    int64   `query:"amount" default:"10000" min:"0"`                    // the least value when they were first seen, USDT
	Limit     int64   `query:"limit" default:"100" min:"1" max:"1000"`            // orders of the answer, the newest: 1,000 at most
}

// Span implements [Spanner].
func (in SuperDepthsIn) Span(now time.Time) (start, end time.Time) {
	end = now
	if in.EndTime != nil {
		end = in.EndTime.Time()
	}
	if in.StartTime != nil {
		return in.StartTime.Time(), end
	}
	return end.Add(-24 * time.Hour), end
}

// SuperDepth is a price at which much rests in an order book, from when it was first seen until it
// is over; several orders at one price are one. Amounts are USDT or, of an inverse perpetual, US
// dollars, and volumes coins. What no order book tells, such as a place in the queue of a price, is
// null.
type SuperDepth struct {
	ID                    string       `json:"id"`                      // names it among those of the pair
	CacheAicoinID         *int64       `json:"cache_aicoin_id"`         // always null: a number of another service
	CoinType              string       `json:"coin_type"`               // what is traded, in lower case: btcusdt, of a perpetual btcswapusdt
	Coin                  string       `json:"coin"`                    // the coin, in lower case: btc
	Platform              string       `json:"platform"`                // key of the exchange
	TradeType             string       `json:"trade_type"`              // spot or futures
	DepthType             string       `json:"depth_type"`              // bid or ask
	DepthPrice            json.Number  `json:"depth_price"`             // its price
	DepthAmount           json.Number  `json:"depth_amount"`            // value of what rested when it was first seen, in USDT
	DepthTurnover         json.Number  `json:"depth_turnover"`          // the same, in US dollars
	DepthVol              json.Number  `json:"depth_vol"`               // the same, in coins
	CreateTime            int64        `json:"create_time"`             // when it was first seen, ms
	StartTime             int64        `json:"start_time"`              // when it was first seen, ms
	UpdateTime            int64        `json:"update_time"`             // when its size changed last, ms
	UpdateStateTime       *int64       `json:"update_state_time"`       // when its state changed last, ms; null of one that is partly filled and rests
	DepthState            int64        `json:"depth_state"`             // 0 pending: not yet ten seconds; 1 confirmed; 2 partly filled; 3 fully filled; 4 cancelled
	DepthStatus           int64        `json:"depth_status"`            // 0 it rests; 1 it is over; 2 it went while its book was not seen
	ShowState             int64        `json:"show_state"`              // 1, or 0 of one that is pending
	BaitState             int64        `json:"bait_state"`              // 1 of one that may have been bait: cancelled within ten minutes, after prices within a thousandth of its own; else 0
	HoldTime              int64        `json:"hold_time"`               // for how long it has rested until now or its end, ms
	OrderOverTime         *int64       `json:"order_over_time"`         // when it was over, ms; null where it is not, or that is not known
	OrderOverStatus       *int64       `json:"order_over_status"`       // its state when it was over; null likewise
	OrderMissTime         *int64       `json:"order_miss_time"`         // when it was found to be gone, of one that went while its book was not seen, ms; else null
	OrderMissPrice        *json.Number `json:"order_miss_price"`        // always null
	UporderTime           *int64       `json:"uporder_time"`            // always null
	TradeStartTime        *int64       `json:"trade_start_time"`        // when its first trade was, ms; null before one
	TradeStopTime         *int64       `json:"trade_stop_time"`         // when its last trade was, ms; null before one
	TradeMissTime         *int64       `json:"trade_miss_time"`         // always null
	TradeMissPrice        *json.Number `json:"trade_miss_price"`        // always null
	UptradeTime           *int64       `json:"uptrade_time"`            // always null
	TradePrice            *json.Number `json:"trade_price"`             // price of its trades, which is its own; null before one
	TradeAmount           json.Number  `json:"trade_amount"`            // value of what was traded of it, in USDT
	TradeTurnover         json.Number  `json:"trade_turnover"`          // the same, in US dollars
	TradeVol              json.Number  `json:"trade_vol"`               // the same, in coins
	TradeCount            int64        `json:"trade_count"`             // trades at its price against its side, as the exchange shows them
	TransactionRatio      json.Number  `json:"transaction_ratio"`       // how much of all that ever rested of it was traded, in percent
	HighAmount            json.Number  `json:"high_amount"`             // value of the most that rested, in USDT
	HighTurnover          json.Number  `json:"high_turnover"`           // the same, in US dollars
	HighVol               json.Number  `json:"high_vol"`                // the same, in coins
	HighTradeAmount       json.Number  `json:"high_trade_amount"`       // value of the largest of its trades, in USDT
	HighTradeTurnover     json.Number  `json:"high_trade_turnover"`     // the same, in US dollars
	HighTradeVol          json.Number  `json:"high_trade_vol"`          // the same, in coins
	LastAmount            json.Number  `json:"last_amount"`             // value of what rests now, or was left at the end, in USDT
	LastTurnover          json.Number  `json:"last_turnover"`           // the same, in US dollars
	LastVol               json.Number  `json:"last_vol"`                // the same, in coins
	LastCheckAmount       *json.Number `json:"last_check_amount"`       // always null
	MissPrice             *json.Number `json:"miss_price"`              // always null
	MissTime              *int64       `json:"miss_time"`               // the same as order_miss_time
	PositionStart         *json.Number `json:"position_start"`          // always null
	PositionStartVol      *json.Number `json:"position_start_vol"`      // always null
	PositionStartTurnover *json.Number `json:"position_start_turnover"` // always null
	PositionStop          *json.Number `json:"position_stop"`           // always null
	PositionStopVol       *json.Number `json:"position_stop_vol"`       // always null
	PositionStopTurnover  *json.Number `json:"position_stop_turnover"`  // always null
	PositionSub           *json.Number `json:"position_sub"`            // always null
	PositionSubVol        *json.Number `json:"position_sub_vol"`        // always null
	PositionSubTurnover   *json.Number `json:"position_sub_turnover"`   // always null
	FakePrice             *json.Number `json:"fake_price"`              // its price, of one that may have been bait; else null
}
