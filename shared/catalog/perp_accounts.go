package catalog

// AccountsIn names accounts.
type AccountsIn struct {
	Addresses []Address `body:"addresses" required:"true" min:"1" cut:"50"` // accounts: 0x and 40 hexadecimal digits each, in any case; those beyond 50 are left out
}

// AccountSummary is what an account holds, in all dexes, at the mark prices. All
// of it is null of an account that is asked for at the venue for the first time, and has not
// been told yet. Amounts are decimal strings in USDC.
type AccountSummary struct {
	Address         string  `json:"address"`
	CurrentPosition *int64  `json:"currentPosition"` // number of open positions in perpetuals
	EffLeverage     *string `json:"effLeverage"`     // value of the positions over perpValue, 0 where that is not positive
	LastOperationAt *int64  `json:"lastOperationAt"` // last fill or filled order, ms; null where none is known
	Leverage        *string `json:"leverage"`        // as it is set, of all positions by their values; null without positions
	MarginUsage     *string `json:"marginUsage"`     // margin that the positions use
	MarginUsageRate *string `json:"marginUsageRate"` // marginUsage over perpValue, 0 where that is not positive
	PerpValue       *string `json:"perpValue"`       // of perpetuals, unrealized profit included
	SpotValue       *string `json:"spotValue"`       // of the spot balances
	TotalValue      *string `json:"totalValue"`      // perpValue and spotValue
}

// TraderStatisticsIn names accounts, and the window in which trades were completed.
type TraderStatisticsIn struct {
	Addresses []Address `body:"addresses" required:"true" min:"1" cut:"50"` // accounts: 0x and 40 hexadecimal digits each, in any case; those beyond 50 are left out
	Period    Days      `body:"period" default:"7"`
	PnlList   bool      `body:"pnlList"` // whether the profit over time is wanted
}

// TraderStatisticsRow is what an account holds and how it traded in a window. All of
// it is null of an account that is asked for at the venue for the first time, and has not been
// told yet. Amounts are decimal strings in quote units; profits are without fees and funding.
type TraderStatisticsRow struct {
	Address         string      `json:"address"`
	AvgHoldingSec   *int64      `json:"avgHoldingSec"`   // average duration of completed trades
	CurrentPosition *int64      `json:"currentPosition"` // number of open positions in perpetuals
	EffLeverage     *string     `json:"effLeverage"`     // value of the positions over perpValue, 0 where that is not positive
	LastOperationAt *int64      `json:"lastOperationAt"` // last fill or filled order, ms; null where none is known
	Leverage        *string     `json:"leverage"`        // as it is set, of all positions by their values; null without positions
	LongPnl         *string     `json:"longPnl"`         // of completed longs
	LongWr          *float64    `json:"longWr"`          // share of completed longs with a profit, 0 to 1
	MarginUsage     *string     `json:"marginUsage"`     // margin that the positions use
	MarginUsageRate *string     `json:"marginUsageRate"` // marginUsage over perpValue, 0 where that is not positive
	PerpValue       *string     `json:"perpValue"`       // of perpetuals, unrealized profit included
	PnlList         *[]PnlPoint `json:"pnlList"`         // profit since the beginning of the window at full hours of 30 days at most, unrealized, funding and fees included; empty unless asked for
	Positions       *int64      `json:"positions"`       // completed trades
	ProfitPositions *int64      `json:"profitPositions"` // completed trades with a profit
	RealizedPnl     *string     `json:"realizedPnl"`     // of completed trades
	ShortPnl        *string     `json:"shortPnl"`        // of completed shorts
	ShortWr         *float64    `json:"shortWr"`         // share of completed shorts with a profit, 0 to 1
	SpotValue       *string     `json:"spotValue"`       // of the spot balances
	TotalValue      *string     `json:"totalValue"`      // perpValue and spotValue
	WinRate         *float64    `json:"winRate"`         // profitPositions over positions, 0 to 1
}

// PnlPoint is a profit at a time.
type PnlPoint struct {
	Ts int64  `json:"ts"` // ms
	V  string `json:"v"`  // quote units
}
