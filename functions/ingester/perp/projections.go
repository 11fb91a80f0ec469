package perp

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"

	"quotary/functions/ingester/engine"
	"quotary/shared/store"
)

// Projection folds the domain's batches.
type Projection = engine.Projection[*Batch]

// Projections returns all projections of the domain, without state, and the
// klines among them, from which the feeds read the open candles.
func Projections() ([]Projection, *Klines) {
	return projections(newAccountStates(nil, slog.New(slog.DiscardHandler)), newOpenOrders(nil), newTwapOrders(), newVaultQuestions(), new(liquidationCounts))
}

// projections are those of [Projections], with folds of accounts, of open orders and of TWAP orders. They say of
// which vaults the venue is to be asked, and count what is in no statistic of liquidations.
func projections(accounts *accountStates, orders *openOrders, twaps *twapOrders, asked *vaultQuestions, counts *liquidationCounts) ([]Projection, *Klines) {
	klines := NewKlines()
	accounts.held = newOpenInterest()
	return []Projection{
		klines,
		newTopFills(),
		newLastPrices(),
		newMidPrices(),
		newDescriptions(),
		newContexts(),
		newFundings(),
		newLastBooks(),
		newBookDepth(),
		accounts.held,
		newPairInterests(),
		newPairFundings(),
		newPairLiquidations(&counts.leftOut),
		newLiquidationEvents(counts),
		orders,
		twaps,
		newPlacedOrders(),
		newVaults(asked),
		&fundsIndex{},
		&accountNotes{},
		accounts,
	}, klines
}

// Logs are the domain's logs, whose rows need no state.
var Logs = []engine.Log[*Batch]{fillLog, otherLog, filledLog, ledgerLog, paymentLog, twapLog}

// newest is the time of the newest row of a series, in ms, or -1 without any; ok is
// false while it is not read.
func newest(r *engine.Reads, series store.SeriesKey) (ms int64, ok bool) {
	t, ok := r.Latest(series)
	if t.IsZero() {
		return -1, ok
	}
	return t.UnixMilli(), ok
}

// sorted returns the keys of a map in their order.
func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
