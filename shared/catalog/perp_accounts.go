package catalog

// AccountsIn names accounts.
type AccountsIn struct {
	Addresses []Address `body:"addresses" required:"true" min:"1" cut:"50"` // accounts: 0x and 40 hexadecimal digits each, in any case; those beyond 50 are left out
}

// AccountSummary is what an account holds, in all dexes, at mark prices. Amounts are
// decimal strings in USDC. All figures are null while an account that was not asked for
// before is still being fetched: ask again some seconds later.
type AccountSummary struct {
	Address         string  `json:"address"`
	CurrentPosition *int64  `json:"currentPosition"` // number of open positions in perpetuals
	EffLeverage     *string `json:"effLeverage"`     // value of the positions over perpValue, a decimal string; null where that is not known or not positive
	LastOperationAt *int64  `json:"lastOperationAt"` // last fill or filled order, ms; null where none is known
	Leverage        *string `json:"leverage"`        // leverage as it is set, of all positions weighted by their values, a decimal string; null without positions
	MarginUsage     *string `json:"marginUsage"`     // margin that the positions use; null where that of a position is not known
	MarginUsageRate *string `json:"marginUsageRate"` // marginUsage over perpValue, a decimal string; null where either is not known or perpValue is not positive
	PerpValue       *string `json:"perpValue"`       // value of the perpetuals account, unrealized profit included; null while its funds are not known
	SpotValue       *string `json:"spotValue"`       // value of the spot balances; null while they are not known
	TotalValue      *string `json:"totalValue"`      // perpValue and spotValue together; null where one is not known
}

// TraderStatisticsIn names accounts, and the window in which trades were completed.
type TraderStatisticsIn struct {
	Addresses []Address `body:"addresses" required:"true" min:"1" cut:"50"` // accounts: 0x and 40 hexadecimal digits each, in any case; those beyond 50 are left out
	Period    Days      `body:"period" default:"7"`
	PnlList   bool      `body:"pnlList"` // true for the profit of the perpetuals over time too
}

// TraderStatisticsRow is what an account holds, and how it traded in a window. Amounts are
// decimal strings in quote units; profits are without fees and funding. All figures are
// null while an account that was not asked for before is still being fetched: ask again
// some seconds later.
type TraderStatisticsRow struct {
	Address         string      `json:"address"`
	AvgHoldingSec   *int64      `json:"avgHoldingSec"`   // average duration of completed trades, seconds
	CurrentPosition *int64      `json:"currentPosition"` // number of open positions in perpetuals
	EffLeverage     *string     `json:"effLeverage"`     // value of the positions over perpValue, a decimal string; null where that is not known or not positive
	LastOperationAt *int64      `json:"lastOperationAt"` // last fill or filled order, ms; null where none is known
	Leverage        *string     `json:"leverage"`        // leverage as it is set, of all positions weighted by their values, a decimal string; null without positions
	LongPnl         *string     `json:"longPnl"`         // profit of completed longs
	LongWr          *float64    `json:"longWr"`          // share of completed longs with a profit, 0 to 1
	MarginUsage     *string     `json:"marginUsage"`     // margin that the positions use; null where that of a position is not known
	MarginUsageRate *string     `json:"marginUsageRate"` // marginUsage over perpValue, a decimal string; null where either is not known or perpValue is not positive
	PerpValue       *string     `json:"perpValue"`       // value of the perpetuals account, unrealized profit included; null while its funds are not known
	PnlList         *[]PnlPoint `json:"pnlList"`         // profit of the perpetuals since the beginning of the window at full hours, of 30 days at most, oldest first, unrealized profit, funding and fees included; null where no value is known, empty unless asked for
	Positions       *int64      `json:"positions"`       // number of completed trades
	ProfitPositions *int64      `json:"profitPositions"` // number of completed trades with a profit
	RealizedPnl     *string     `json:"realizedPnl"`     // profit of completed trades
	ShortPnl        *string     `json:"shortPnl"`        // profit of completed shorts
	ShortWr         *float64    `json:"shortWr"`         // share of completed shorts with a profit, 0 to 1
	SpotValue       *string     `json:"spotValue"`       // value of the spot balances; null while they are not known
	TotalValue      *string     `json:"totalValue"`      // perpValue and spotValue together; null where one is not known
	WinRate         *float64    `json:"winRate"`         // profitPositions over positions, 0 to 1
	Since           *string     `json:"since"`           // from when on the account is known, RFC 3339, where the window begins before; else null
}

// PnlPoint is a profit at a time.
type PnlPoint struct {
	Ts int64  `json:"ts"` // ms
	V  string `json:"v"`  // profit in quote units, a decimal string
}
