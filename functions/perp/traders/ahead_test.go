package main

import (
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/accounts"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

// Where the events of accounts come later, what one holds is what the venue says, of when it has said it.
func TestWhatAnAccountHoldsIsWhatTheVenueSaysAheadOfItsEvents(t *testing.T) {
	t.Parallel()
	for name, confirmed := range map[string]*market.Account{
		"of one that is known":     {Address: alice, Since: now - 9_000_000, Time: now - 7_200_000, Holdings: []market.Holding{{Coin: "ETH", Open: &market.OpenPosition{Size: decimal(t, "1")}}}},
		"of one without any event": {Address: alice},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := openHoldings(t)
			must.Do(t, b.series.Put(t.Context(), []store.SeriesRow{accounts.RowOf(confirmed, holder(t), accounts.Bases{})}))
			b.write(t)
			rows := apitest.Data[[]catalog.AddressState](t, b.post(t, "clearinghouse-state", body{"addresses": []string{alice}}))
			if s := rows[0].State; s == nil || s.Time != now-10 || len(s.AssetPositions) != 1 || s.AssetPositions[0].Position.Coin != "BTC" {
				t.Errorf("it holds %+v", s)
			}
			if list := must.Get(b.wanted.List(t.Context(), b.Now()))(t); len(list) != 1 || len(list[0].Things) != 1 || list[0].Things[0] != alice {
				t.Errorf("followed are %+v", list)
			}
			if sums := apitest.Data[[]catalog.AccountSummary](t, b.post(t, "accounts", body{"addresses": []string{alice}})); sums[0].TotalValue == nil || *sums[0].TotalValue != "1276.5" {
				t.Errorf("it has %+v", sums[0])
			}
		})
	}
}
