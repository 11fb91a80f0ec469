// The perp-traders function answers for what accounts of the perpetual venue hold, do and
// have done: from the logs of fills, funding, completed trades and ledger updates, and
// from the rows that the ingester keeps of each account and of how it trades.
//
// What an account holds is valued when it is asked for, at the mark prices of the views.
// Where the venue itself was never asked about an account, or long ago, the function
// leaves a document that asks the ingester to, and waits for a second at most: see
// package accountlookup.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/followrequests"
	"quotary/shared/service"
	"quotary/shared/service/accountlookup"
	"quotary/shared/store"
)

func main() {
	lambda.Start(service.Family(catalog.PerpTraders, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		series := o.Series()
		accounts := accountlookup.New(catalog.PerpTraders, series, followrequests.Accounts.Open(o.Documents), views, o.Clock)
		accounts.Metrics = o.Family.Metrics
		r := &reader{log: o.Log(), series: series, accounts: accounts}
		r.register(o.Family)
		return nil
	}))
}

// reader answers from what is stored of accounts.
type reader struct {
	log      *store.Log
	series   *store.Series
	accounts *accountlookup.Accounts
}

func (r *reader) register(family *api.Family) {
	api.Handle(family, catalog.DepositsWithdrawals, r.depositsWithdrawals)
	api.Handle(family, catalog.NetFlow, r.netFlow)
	api.Handle(family, catalog.BatchNetFlow, r.batchNetFlow)

	api.Handle(family, catalog.Portfolio, r.portfolio)
	api.Handle(family, catalog.Pnls, r.pnls)
	api.Handle(family, catalog.BatchPnls, r.batchPnls)
	api.Handle(family, catalog.MaxDrawdown, r.maxDrawdown)
	api.Handle(family, catalog.BatchMaxDrawdown, r.batchMaxDrawdown)

	api.Handle(family, catalog.CompletedTrades, r.completedTrades)
	api.Handle(family, catalog.CompletedTradesByTime, r.completedTradesByTime)
	api.Handle(family, catalog.BestTrades, r.bestTrades)
	api.Handle(family, catalog.PerformanceByCoin, r.performanceByCoin)
	api.Handle(family, catalog.TradingStatistics, r.tradingStatistics)

	api.Handle(family, catalog.AddressStats, r.addressStats)
	api.Handle(family, catalog.BatchAddressStats, r.batchAddressStats)
	api.Handle(family, catalog.BehaviorMetrics, r.behaviorMetrics)
	api.Handle(family, catalog.Accounts, r.accountSummaries)
	api.Handle(family, catalog.TraderStatistics, r.traderStatistics)

	api.Handle(family, catalog.CurrentPositionHistory, r.currentPositionHistory)
	api.Handle(family, catalog.CompletedPositionHistory, r.completedPositionHistory)
	api.Handle(family, catalog.CurrentPositionPnl, r.currentPositionPnl)
	api.Handle(family, catalog.CompletedPositionPnl, r.completedPositionPnl)
	api.Handle(family, catalog.CurrentPositionExecutions, r.currentPositionExecutions)
	api.Handle(family, catalog.CompletedPositionExecutions, r.completedPositionExecutions)
	api.Handle(family, catalog.ClearinghouseStates, r.clearinghouseStates)
	api.Handle(family, catalog.SpotClearinghouseStates, r.spotStates)
}
