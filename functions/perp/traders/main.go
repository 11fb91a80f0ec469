// The perp-traders function answers for what accounts of the perpetual venue do and
// have done: what moved in and out of them, from the log of ledger updates; which trades
// they completed, from the log of these; and how they trade, from one row an account.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.PerpTraders, func(o *service.Opened) error {
		r := &reader{log: o.Log(), series: o.Series()}
		r.register(o.Family)
		return nil
	}))
}

func (r *reader) register(family *api.Family) {
	api.Handle(family, catalog.DepositsWithdrawals, r.depositsWithdrawals)

	api.Handle(family, catalog.CompletedTrades, r.completedTrades)
	api.Handle(family, catalog.CompletedTradesByTime, r.completedTradesByTime)
	api.Handle(family, catalog.BestTrades, r.bestTrades)
	api.Handle(family, catalog.PerformanceByCoin, r.performanceByCoin)
	api.Handle(family, catalog.TradingStatistics, r.tradingStatistics)

	api.Handle(family, catalog.AddressStats, r.addressStats)
	api.Handle(family, catalog.BatchAddressStats, r.batchAddressStats)
	api.Handle(family, catalog.BehaviorMetrics, r.behaviorMetrics)
}
