package perp

import (
	"context"
	"errors"
	"testing"
	"time"

	"quotary/functions/ingester/source/hyperliquid"
	filldata "quotary/shared/data/fills"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

// The venue is asked for the last trades of each coin whenever a connection begins: those of a quiet one may be of
// weeks ago, when a node or an hour has told of them.
func TestAProvisionalFillTakesNobodysPlace(t *testing.T) {
	t.Parallel()
	stores, now := newStores(t), time.Now()
	trade := func(tid int64, ago time.Duration) market.Trade {
		return market.Trade{Coin: "BTC", Side: market.Buy, Px: market.DecimalFromInt(100), Sz: market.DecimalFromInt(1), Time: now.Add(-ago).UnixMilli(), Tid: tid, Users: [2]string{addressA, addressB}}
	}
	stored := held(1, "BTC", now.Add(-48*time.Hour), "100.0", "1.0", market.Buy)
	stored.Address, stored.Tid = addressA, 1
	storetest.PutLog(t, stores.Log, filldata.Name, filldata.AppendRows, stored)
	trades := []market.Trade{trade(1, 48*time.Hour), trade(2, 48*time.Hour), trade(3, time.Second)}
	given := func(c Config) (tids []int64) {
		t.Helper()
		sink := c.withProvisional(nil, func(_ context.Context, d hyperliquid.Delivery) error {
			for i := range d.Events.Provisional {
				tids = append(tids, d.Events.Provisional[i].Tid)
			}
			return nil
		})
		must.Do(t, sink(t.Context(), hyperliquid.Delivery{Events: market.Events{Trades: trades}}))
		return tids
	}
	check.Equal(t, []int64{1, 2, 2, 3, 3}, given(Config{Stores: stores, Logger: quiet})) // the seller's side of 1 is not stored
	broken := stores
	broken.Log = store.NewLog(storetest.Intercept(storetest.DynamoDB(t), func(any, func() (any, error)) (any, error) { return nil, errors.New("no") }), "log")
	check.Equal(t, []int64{3, 3}, given(Config{Stores: broken, Logger: quiet}))
}

// An old trade that is not stored when it is looked for may wait for the stores while its hour comes.
func TestAProvisionalFillThatWaitedReplacesNoneOfItsHour(t *testing.T) {
	t.Parallel()
	stores, then := newStores(t), time.Now().Add(-2*time.Hour)
	confirmed := held(1, "BTC", then, "100.0", "1.0", market.Buy)
	confirmed.Address, confirmed.Tid = addressA, 1
	trade := market.Trade{Coin: "BTC", Side: market.Buy, Px: market.DecimalFromInt(100), Sz: market.DecimalFromInt(1), Time: then.UnixMilli(), Tid: 1, Users: [2]string{addressA, addressB}}
	c := Config{Stores: stores, Logger: quiet}
	sink := c.withProvisional(nil, func(ctx context.Context, d hyperliquid.Delivery) error {
		storetest.PutLog(t, stores.Log, filldata.Name, filldata.AppendRows, confirmed)
		return stores.Log.Put(ctx, filldata.Name, fillLog.Append(nil, &Batch{Events: d.Events}))
	})
	must.Do(t, sink(t.Context(), hyperliquid.Delivery{Events: market.Events{Trades: []market.Trade{trade}}}))
	for address, want := range map[string]bool{addressA: false, addressB: true} {
		n := 0
		for f := range must.All(t, filldata.Newest(t.Context(), stores.Log, address, "", 0)) {
			if n++; f.Provisional != want {
				t.Errorf("the fill of %s is %+v", address, f)
			}
		}
		check.Equal(t, 1, n)
	}
}

const addressA, addressB = "0x00000000000000000000000000000000000000aa", "0x00000000000000000000000000000000000000bb"
