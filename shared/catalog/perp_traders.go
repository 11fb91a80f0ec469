package catalog

import (
	"encoding/json"
	"time"
)

// Accounts of the perpetual venue: what they hold, did and earned.
var (
	DepositsWithdrawals = route[DepositsWithdrawalsIn, []FundsMovement]("POST", "/upgrade/v2/hl/ledger-updates/deposits-withdrawals", PerpTraders, action("HL_LEDGER_UPDATES_DEPOSITS_WITHDRAWALS"), EnvelopeB)

	_ = planned("GET", "/upgrade/v2/hl/portfolio/{address}/{window}", PerpTraders, action("HL_PORTFOLIO"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/pnls/{address}", PerpTraders, action("HL_PNLS"), EnvelopeB)
	_ = planned("POST", "/upgrade/v2/hl/batch-pnls", PerpTraders, action("HL_BATCH_PNLS"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/traders/{address}/best-trades", PerpTraders, action("HL_BEST_TRADES"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/traders/{address}/performance-by-coin", PerpTraders, action("HL_PERFORMANCE_BY_COIN"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/traders/{address}/addr-stat", PerpTraders, action("HL_ADDR_STAT"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/traders/{address}/completed-trades", PerpTraders, action("HL_COMPLETED_TRADES"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/traders/{address}/current-position-history/{coin}", PerpTraders, action("HL_CURRENT_POSITION_HISTORY"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/traders/{address}/completed-position-history/{coin}", PerpTraders, action("HL_COMPLETED_POSITION_HISTORY"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/traders/{address}/current-position-pnl/{coin}", PerpTraders, action("HL_CURRENT_POSITION_PNL"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/traders/{address}/completed-position-pnl/{coin}", PerpTraders, action("HL_COMPLETED_POSITION_PNL"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/traders/{address}/current-position-executions/{coin}", PerpTraders, action("HL_CURRENT_POSITION_EXECUTIONS"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/traders/{address}/completed-position-executions/{coin}", PerpTraders, action("HL_COMPLETED_POSITION_EXECUTIONS"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/max-drawdown/{address}", PerpTraders, action("HL_MAX_DRAWDOWN"), EnvelopeB)
	_ = planned("POST", "/upgrade/v2/hl/batch-max-drawdown", PerpTraders, action("HL_BATCH_MAX_DRAWDOWN"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/ledger-updates/net-flow/{address}", PerpTraders, action("HL_LEDGER_UPDATES_NET_FLOW"), EnvelopeB)
	_ = planned("POST", "/upgrade/v2/hl/ledger-updates/batch-net-flow", PerpTraders, action("HL_BATCH_LEDGER_UPDATES_NET_FLOW"), EnvelopeB)
	_ = planned("POST", "/upgrade/v2/hl/traders/{address}/completed-trades/by-time", PerpTraders, action("HL_COMPLETED_TRADES_BY_TIME"), EnvelopeB)
	_ = planned("POST", "/upgrade/v2/hl/traders/accounts", PerpTraders, action("HL_TRADERS_ACCOUNTS"), EnvelopeB)
	_ = planned("POST", "/upgrade/v2/hl/traders/statistics", PerpTraders, action("HL_TRADERS_STATISTICS"), EnvelopeB)
	_ = planned("POST", "/upgrade/v2/hl/traders/batch-addr-stat", PerpTraders, action("HL_BATCH_ADDR_STAT"), EnvelopeB)
	_ = planned("POST", "/upgrade/v2/hl/traders/batch-behavior-metrics", PerpTraders, action("HL_BATCH_BEHAVIOR_METRICS"), EnvelopeB)
	_ = planned("GET", "/upgrade/v2/hl/traders/{address}/detailed-trading-statistics", PerpTraders, action("HL_DETAILED_TRADING_STATISTICS"), EnvelopeB)
)

var _ = does(PerpTraders, readLog)

// DepositsWithdrawalsIn selects what came into accounts and left them between two
// times, both inclusive, newest first.
type DepositsWithdrawalsIn struct {
	Addresses []Address `body:"addresses" required:"true" min:"1" max:"2000"`
	StartTime *Millis   `body:"startTime" example:"1793000000000"`
	EndTime   *Millis   `body:"endTime" example:"1795000000000"`
	Limit     int64     `body:"limit" default:"10000" min:"1" max:"50000"`
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
	Hash    string       `json:"hash"` // of the transaction
	USDC    json.Number  `json:"usdc"` // negative for a withdrawal
	Fee     *json.Number `json:"fee"`  // null where the venue names none
}
