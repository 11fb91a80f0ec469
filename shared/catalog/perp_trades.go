package catalog

import "time"

// CompletedTradesIn selects the trades of an account that were completed last, in all
// coins or in one. They are listed oldest first.
type CompletedTradesIn struct {
	Address Address `path:"address"`
	Coin    Coin    `query:"coin"`
	Limit   int64   `query:"limit" default:"100" min:"1" max:"2000"` // rows of the answer, 2,000 at most
}

// CompletedTradesByTimeIn selects the trades of an account that ended between two times,
// both inclusive, in all coins or in one.
type CompletedTradesByTimeIn struct {
	Address     Address `path:"address"`
	PageNum     int64   `body:"pageNum" default:"1" min:"1" max:"50"`     // number of the page, from 1
	PageSize    int64   `body:"pageSize" default:"20" min:"1" max:"2000"` // rows of a page, 2,000 at most
	Coin        Coin    `body:"Coin,coin"`
	EndTimeFrom *Millis `body:"endTimeFrom"` // earliest end of a trade in milliseconds since 1970 UTC; absent for no bound
	EndTimeTo   *Millis `body:"endTimeTo"`   // latest end of a trade in milliseconds since 1970 UTC; absent for no bound
}

// Span implements [Spanner]. Without a start the answer reaches back to the beginning.
func (in CompletedTradesByTimeIn) Span(now time.Time) (start, end time.Time) {
	if in.EndTimeFrom == nil {
		in.EndTimeFrom = new(Millis)
	}
	return spanMillis(in.EndTimeFrom, in.EndTimeTo, now)
}

// CompletedTrade is a position in a perpetual from its opening to its close. Decimals are
// strings.
type CompletedTrade struct {
	Coin       string `json:"coin"`
	MarginMode string `json:"marginMode"` // cross or isolated
	Direction  string `json:"direction"`  // long or short
	Size       string `json:"size"`       // base units that were opened and closed in all
	EntryPrice string `json:"entryPrice"` // average price of the fills that opened it, by size
	StartTime  string `json:"startTime"`  // when it was opened, ISO 8601, UTC; where it was opened before its fills are known, the first known one
	EndTime    string `json:"endTime"`    // when it was closed, ISO 8601, UTC
	ClosePrice string `json:"closePrice"` // average price of the fills that closed it, by size
	TotalFee   string `json:"totalFee"`   // fees of all its fills in USDC, negative for a rebate
	Pnl        string `json:"pnl"`        // profit in quote units, without fees and funding
}

// CompletedTradePage is a page of completed trades, ordered by the time at which they
// ended, oldest first.
type CompletedTradePage struct {
	List     []CompletedTrade `json:"list"`
	Total    int64            `json:"total"`   // trades of all pages together; of one coin between two times, 100001 means more than 100,000
	PageNum  int64            `json:"pageNum"` // number of the page, from 1
	PageSize int64            `json:"pageSize"`
}

// BestTradesIn selects the trades of an account that were completed in a window, the most
// profitable first.
type BestTradesIn struct {
	Address Address `path:"address"`
	Period  Days    `query:"period" default:"7"`
	Limit   int64   `query:"limit" default:"10" min:"1" max:"100"` // rows of the answer, 100 at most
}

// BestTrade is a completed trade among the most profitable ones.
type BestTrade struct {
	Coin       string `json:"coin"`
	CreateAt   int64  `json:"createAt"`   // when the position was opened, ms
	Direction  string `json:"direction"`  // long or short
	DurationMs int64  `json:"durationMs"` // how long it was held, in milliseconds
	Pnl        string `json:"pnl"`        // profit in quote units, without fees and funding, a decimal string
}

// PerformanceByCoinIn selects the trades of an account that were completed in a window;
// their sums by coin are listed, the most profitable first.
type PerformanceByCoinIn struct {
	Address Address `path:"address"`
	Period  Days    `query:"period" default:"7"`
	Limit   int64   `query:"limit" default:"10" min:"1" max:"100"` // rows of the answer, 100 at most
}

// CoinPerformance is what the completed trades of an account in a coin come to.
type CoinPerformance struct {
	Coin   string `json:"coin"`
	Fees   string `json:"fees"`   // fees in USDC, negative for a rebate, a decimal string
	Pnl    string `json:"pnl"`    // profit in quote units, without fees and funding, a decimal string
	Trades int64  `json:"trades"` // number of completed trades
}

// AddressStatsIn selects the trades of an account that were completed in a window.
type AddressStatsIn struct {
	Address Address `path:"address"`
	Period  Days    `query:"period" default:"7"`
}

// BatchAddressStatsIn selects the trades of accounts that were completed in a window.
type BatchAddressStatsIn struct {
	Addresses []Address  `body:"addresses" required:"true" min:"1" cut:"2000"` // accounts: 0x and 40 hexadecimal digits each, in any case; those beyond 2,000 are left out
	Period    WindowDays `body:"period" default:"7"`
}

// AddressStatistics is what the completed trades of an account come to. All of it is
// zero where the account is not known.
type AddressStatistics struct {
	WinRate        float64  `json:"winRate"`        // share of completed trades with a profit before fees and funding, 0 to 1
	OrderCount     int64    `json:"orderCount"`     // number of distinct orders that opened and closed them
	ClosePosCount  int64    `json:"closePosCount"`  // number of completed trades
	AvgPosDuration int64    `json:"avgPosDuration"` // average duration of a completed trade, seconds
	MaxDrawdown    *float64 `json:"maxDrawdown"`    // largest fall of the perpetuals account's value at full hours of the window, of 30 days at most, without what was deposited and withdrawn, 0 to 1; null where no value is known
	TotalPnl       string   `json:"totalPnl"`       // profit in quote units, without fees and funding, a decimal string
}

// AddressStatisticsRow is what the completed trades of one of many accounts come to.
// All of it is null where the account is not known.
type AddressStatisticsRow struct {
	Address        string   `json:"address"`
	WinRate        *float64 `json:"winRate"`        // share of completed trades with a profit before fees and funding, 0 to 1
	OrderCount     *int64   `json:"orderCount"`     // number of distinct orders that opened and closed them
	ClosePosCount  *int64   `json:"closePosCount"`  // number of completed trades
	AvgPosDuration *int64   `json:"avgPosDuration"` // average duration of a completed trade, seconds
	MaxDrawdown    *float64 `json:"maxDrawdown"`    // largest fall of the perpetuals account's value at full hours of the window, of 30 days at most, without what was deposited and withdrawn, 0 to 1; null where no value is known
	TotalPnl       *string  `json:"totalPnl"`       // profit in quote units, without fees and funding, a decimal string
	Since          *string  `json:"since"`          // from when on the account is known, RFC 3339, where the window begins before; else null
}

// BehaviorMetricsIn selects days of UTC: today and those before it, as many as the period
// has.
type BehaviorMetricsIn struct {
	Addresses []Address  `body:"addresses" required:"true" min:"1" cut:"2000"` // accounts: 0x and 40 hexadecimal digits each, in any case; those beyond 2,000 are left out
	Period    WindowDays `body:"period" default:"30"`
}

// BehaviorMetricsRow is how an account trades in perpetuals. For all time, what is counted
// by fills and orders covers 90 days and the drawdown 30. All of it but totalPnl is null
// where the account is not known.
type BehaviorMetricsRow struct {
	Address              string   `json:"address"`
	ProfitLossRatio      *float64 `json:"profitLossRatio"`      // average profit of a fill with profit over average loss of a fill with loss, by closedPnl without fees; null without a loss
	TpslCloseOrderRatio  *float64 `json:"tpslCloseOrderRatio"`  // share of filled reduce-only orders that were a take-profit or stop-loss, 0 to 100; null without such orders
	FeeToAvgDepositRatio *float64 `json:"feeToAvgDepositRatio"` // fees over the deposits of an average day, 0 to 100; null without deposits
	TradingActivity      *float64 `json:"tradingActivity"`      // share of days with a fill, 0 to 100
	AddOnProfitRatio     *float64 `json:"addOnProfitRatio"`     // share of fills that added to a position while it was in profit, 0 to 100; null without such fills
	FillsCount           *int64   `json:"fillsCount"`           // number of fills in perpetuals
	MaxDrawdown          *float64 `json:"maxDrawdown"`          // largest fall of the perpetuals account's value at full hours, without what was deposited and withdrawn, a fraction; null where no value is known
	WinRate              *float64 `json:"winRate"`              // share of completed trades with a profit, 0 to 100
	TotalPnl             string   `json:"totalPnl"`             // profit of completed trades in quote units, without fees and funding, a decimal string
	Volume               *string  `json:"volume"`               // value of fills in USDC, a decimal string
	Roi                  *float64 `json:"roi"`                  // totalPnl over the value of the perpetuals account at the beginning and what came in since, a fraction; null where that is not known
	Since                *string  `json:"since"`                // from when on the account is known, RFC 3339, where the window begins before; else null
}

// TradingStatisticsIn selects the trades of an account that were completed in a window.
type TradingStatisticsIn struct {
	Address Address    `path:"address"`
	Period  WindowDays `query:"period" default:"30"`
}

// DetailedStatistics is what the completed trades of an account come to in detail.
type DetailedStatistics struct {
	TotalPnl          string            `json:"totalPnl"`          // profit less fees in quote units, a decimal string
	Gross             string            `json:"gross"`             // profit without fees and funding in quote units, a decimal string
	Fees              string            `json:"fees"`              // fees in USDC, negative for a rebate, a decimal string
	LongPnl           string            `json:"longPnl"`           // part of totalPnl that longs made, a decimal string
	ShortPnl          string            `json:"shortPnl"`          // part of totalPnl that shorts made, a decimal string
	WinRate           float64           `json:"winRate"`           // share of trades with a profit before fees and funding, 0 to 1
	Winning           int64             `json:"winning"`           // number of trades with a profit before fees and funding
	Total             int64             `json:"total"`             // number of completed trades
	TradeDuration     int64             `json:"tradeDuration"`     // average duration of a trade, seconds
	MinDuration       int64             `json:"minDuration"`       // shortest duration of a trade, seconds
	MaxDuration       int64             `json:"maxDuration"`       // longest duration of a trade, seconds
	BestTrades        []DetailedTrade   `json:"bestTrades"`        // the ten most profitable trades, the best first
	PerformanceAssets []CoinPerformance `json:"performanceAssets"` // sums of every coin, the most profitable first
}

// DetailedTrade is a completed trade among the most profitable ones.
type DetailedTrade struct {
	Coin      string `json:"coin"`
	Direction string `json:"direction"` // long or short
	Duration  int64  `json:"duration"`  // how long it was held, ms
	CreateAt  int64  `json:"createAt"`  // when the position was opened, ms
	Pnl       string `json:"pnl"`       // profit in quote units, without fees and funding, a decimal string
}
