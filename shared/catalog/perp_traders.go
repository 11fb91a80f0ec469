package catalog

import (
	"encoding/json"
	"time"
)

// Accounts of the perpetual venue: what they hold, did and earned.
var (
	// Lists deposits and withdrawals of many accounts, newest first.
	DepositsWithdrawals = route[DepositsWithdrawalsIn, []FundsMovement]("POST", "/upgrade/v2/hl/ledger-updates/deposits-withdrawals", PerpTraders, action("HL_LEDGER_UPDATES_DEPOSITS_WITHDRAWALS"), EnvelopeB).needs(VenueLedgers)

	// Shows account value, profit and volume of an account over a window.
	Portfolio = route[PortfolioIn, []PortfolioScope]("GET", "/upgrade/v2/hl/portfolio/{address}/{window}", PerpTraders, action("HL_PORTFOLIO"), EnvelopeB).needs(VenueAccounts).fromVenue()
	// Lists the profit of an account over time.
	Pnls = route[PnlsIn, []PnlPoint]("GET", "/upgrade/v2/hl/pnls/{address}", PerpTraders, action("HL_PNLS"), EnvelopeB).needs(VenueAccounts).fromVenue()
	// Lists the profit of many accounts over time.
	BatchPnls = route[BatchPnlsIn, []PnlsRow]("POST", "/upgrade/v2/hl/batch-pnls", PerpTraders, action("HL_BATCH_PNLS"), EnvelopeB).needs(VenueAccounts)
	// Ranks the most profitable completed trades of an account.
	BestTrades = route[BestTradesIn, []BestTrade]("GET", "/upgrade/v2/hl/traders/{address}/best-trades", PerpTraders, action("HL_BEST_TRADES"), EnvelopeB).needs(VenueFills)
	// Sums up profit and fees of an account's completed trades by coin, the most profitable first.
	PerformanceByCoin = route[PerformanceByCoinIn, []CoinPerformance]("GET", "/upgrade/v2/hl/traders/{address}/performance-by-coin", PerpTraders, action("HL_PERFORMANCE_BY_COIN"), EnvelopeB).needs(VenueFills)
	// Sums up the completed trades of an account: orders, wins, duration, profit, and its drawdown.
	AddressStats = route[AddressStatsIn, AddressStatistics]("GET", "/upgrade/v2/hl/traders/{address}/addr-stat", PerpTraders, action("HL_ADDR_STAT"), EnvelopeB).needs(VenueFills)
	// Lists the newest completed trades of an account, oldest first.
	CompletedTrades = route[CompletedTradesIn, []CompletedTrade]("GET", "/upgrade/v2/hl/traders/{address}/completed-trades", PerpTraders, action("HL_COMPLETED_TRADES"), EnvelopeB).needs(VenueFills)
	// Shows the largest drawdown of an account in a number of days.
	MaxDrawdown = route[MaxDrawdownIn, Drawdown]("GET", "/upgrade/v2/hl/max-drawdown/{address}", PerpTraders, action("HL_MAX_DRAWDOWN"), EnvelopeB).needs(VenueAccounts).fromVenue()
	// Shows the largest drawdown of many accounts.
	BatchMaxDrawdown = route[BatchMaxDrawdownIn, []DrawdownRow]("POST", "/upgrade/v2/hl/batch-max-drawdown", PerpTraders, action("HL_BATCH_MAX_DRAWDOWN"), EnvelopeB).needs(VenueAccounts)
	// Sums up what an account deposited less what it withdrew.
	NetFlow = route[NetFlowIn, NetFlows]("GET", "/upgrade/v2/hl/ledger-updates/net-flow/{address}", PerpTraders, action("HL_LEDGER_UPDATES_NET_FLOW"), EnvelopeB).needs(VenueLedgers)
	// Sums up what many accounts deposited less what they withdrew.
	BatchNetFlow = route[BatchNetFlowIn, []NetFlowRow]("POST", "/upgrade/v2/hl/ledger-updates/batch-net-flow", PerpTraders, action("HL_BATCH_LEDGER_UPDATES_NET_FLOW"), EnvelopeB).needs(VenueLedgers)
	// Lists the completed trades of an account by the time at which they ended, oldest first, in pages.
	CompletedTradesByTime = route[CompletedTradesByTimeIn, CompletedTradePage]("POST", "/upgrade/v2/hl/traders/{address}/completed-trades/by-time", PerpTraders, action("HL_COMPLETED_TRADES_BY_TIME"), EnvelopeB).needs(VenueFills)
	// Sums up what accounts hold now: value, margin, leverage.
	Accounts = route[AccountsIn, []AccountSummary]("POST", "/upgrade/v2/hl/traders/accounts", PerpTraders, action("HL_TRADERS_ACCOUNTS"), EnvelopeB).needs(VenueAccounts)
	// Sums up what accounts hold now and the trades that they completed in a window, with their profit over time if asked for.
	TraderStatistics = route[TraderStatisticsIn, []TraderStatisticsRow]("POST", "/upgrade/v2/hl/traders/statistics", PerpTraders, action("HL_TRADERS_STATISTICS"), EnvelopeB).needs(VenueFills)
	// Sums up the completed trades of many accounts, one row an address.
	BatchAddressStats = route[BatchAddressStatsIn, []AddressStatisticsRow]("POST", "/upgrade/v2/hl/traders/batch-addr-stat", PerpTraders, action("HL_BATCH_ADDR_STAT"), EnvelopeB).needs(VenueFills)
	// Measures the trading behaviour of many accounts by UTC days, one row an address.
	BehaviorMetrics = route[BehaviorMetricsIn, []BehaviorMetricsRow]("POST", "/upgrade/v2/hl/traders/batch-behavior-metrics", PerpTraders, action("HL_BATCH_BEHAVIOR_METRICS"), EnvelopeB).needs(VenueFills)
	// Sums up the completed trades of an account in detail, with the best of them and its coins.
	TradingStatistics = route[TradingStatisticsIn, DetailedStatistics]("GET", "/upgrade/v2/hl/traders/{address}/detailed-trading-statistics", PerpTraders, action("HL_DETAILED_TRADING_STATISTICS"), EnvelopeB).needs(VenueFills)
)

var _ = does(PerpTraders, readLog, readSeries, loadSeries, readViews,
	askIngester) // for accounts

// DepositsWithdrawalsIn selects what came into accounts and left them between two times,
// both inclusive, newest first.
type DepositsWithdrawalsIn struct {
	Addresses []Address `body:"addresses" required:"true" min:"1" max:"2000"`
	StartTime *Millis   `body:"startTime" example:"1793000000000"`
	EndTime   *Millis   `body:"endTime" example:"1795000000000"`
	Limit     int64     `body:"limit" default:"10000" min:"1" max:"50000"` // rows of the answer, 50,000 at most
}

// Span implements [Spanner]. Without a start the answer reaches back to the beginning.
func (in DepositsWithdrawalsIn) Span(now time.Time) (start, end time.Time) {
	if in.StartTime == nil {
		in.StartTime = new(Millis)
	}
	return spanMillis(in.StartTime, in.EndTime, now)
}

// FundsMovement is a deposit or a withdrawal of an account. Amounts are exact decimals.
type FundsMovement struct {
	Address string       `json:"address"`
	Time    int64        `json:"time"` // ms
	Type    string       `json:"type"` // deposit or withdraw
	Hash    string       `json:"hash"` // hash of the transaction on the venue's chain
	USDC    json.Number  `json:"usdc"` // amount of USDC, negative for a withdrawal
	Fee     *json.Number `json:"fee"`  // fee in USDC; null where the venue names none
}

// NetFlowIn selects the ledger updates of an account in a number of days up to now.
type NetFlowIn struct {
	Address Address  `path:"address"`
	Days    LongDays `query:"days" default:"30"`
	Scope   string   `query:"scope" default:"perp" enum:"perp"` // perp alone: both parts are answered
}

// BatchNetFlowIn selects the ledger updates of accounts in a number of days up to now.
type BatchNetFlowIn struct {
	Addresses []Address      `body:"addresses" required:"true" min:"1" cut:"2000"` // accounts: 0x and 40 hexadecimal digits each, in any case; those beyond 2,000 are left out
	Days      LongWindowDays `body:"days" default:"30"`
}

// NetFlows is what ledger updates moved into the two parts of an account less what they moved
// out, other tokens at what they were worth then. A move from one part to the other counts in
// both. Where the day in which the window begins has more than 16 updates, that day counts by
// whole hours.
type NetFlows struct {
	NetPerpIn string `json:"netPerpIn"` // into perpetuals, USDC, a decimal string, negative where more was moved out
	NetSpotIn string `json:"netSpotIn"` // into the spot part, USDC, likewise
}

// NetFlowRow is what ledger updates moved into the two parts of one of many accounts less what
// they moved out. Where the account is not known that is null.
type NetFlowRow struct {
	Address   string  `json:"address"`
	NetPerpIn *string `json:"netPerpIn"` // into perpetuals, USDC, a decimal string, negative where more was moved out
	NetSpotIn *string `json:"netSpotIn"` // into the spot part, USDC, likewise
	Since     *string `json:"since"`     // from when on the figures are known, RFC 3339, where the window begins before; else null
}
