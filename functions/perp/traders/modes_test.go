package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/contexts"
	"quotary/shared/data/followrequests"
	"quotary/shared/data/meta"
	"quotary/shared/market"
	"quotary/shared/service/accountlookup"
	"quotary/shared/store/storetest"
)

// TestAccountsInEveryMode answers for accounts of one mode each, which have the same balances
// and positions in three dexes of two collaterals.
func TestAccountsInEveryMode(t *testing.T) {
	t.Parallel()
	b := &book{stats: map[string]*market.TraderStats{}}
	described := meta.View{Time: now, Perps: map[string]json.RawMessage{
		"":    json.RawMessage(`{"universe":[{"name":"BTC","szDecimals":5,"maxLeverage":40}],"collateralToken":0}`),
		"xyz": json.RawMessage(`{"universe":[{"name":"xyz:GOLD","szDecimals":3,"maxLeverage":20}],"collateralToken":0}`),
		"flx": json.RawMessage(`{"universe":[{"name":"flx:OIL","szDecimals":2,"maxLeverage":10}],"collateralToken":360}`),
	}, Spot: json.RawMessage(`{"universe":[{"name":"@230","tokens":[360,0]},{"name":"@107","tokens":[150,0]}],"tokens":[{"name":"USDC","index":0},{"name":"HYPE","index":150},{"name":"USDH","index":360}]}`)}
	b.World = apitest.Open(t, catalog.PerpTraders, func(open *apitest.World) {
		b.log, b.series = open.Log(), open.Series()
		views := open.Views(t)
		storetest.Publish(t, views, meta.Published, described)
		storetest.Publish(t, views, contexts.Published, contexts.View{Time: now, Marks: map[string]string{
			"BTC": "110.0", "xyz:GOLD": "50.0", "flx:OIL": "20.0", "@230": "0.998", "@107": "30.0",
		}})
		b.wanted = followrequests.Accounts.Open(open.Documents)
		(&reader{log: b.log, series: b.series, accounts: accountlookup.New(catalog.PerpTraders, b.series, b.wanted, views, open.Now)}).register(open.Family)
	})
	addresses := []string{}
	for i, mode := range []market.Mode{market.ModeUnknown, market.ModeStandard, market.ModeUnified, market.ModePortfolio, market.ModeOther} {
		a := &market.Account{Address: fmt.Sprintf("0x%040x", 0xa11ce+i)}
		addresses = append(addresses, a.Address)
		a.Anchor(&market.Anchor{
			Mode: mode, SpotTime: now - 30_000,
			Spot: []market.SpotBalance{{Coin: market.USDC, Total: decimal(t, "1000")}, {Coin: "HYPE", Total: decimal(t, "4"), EntryNtl: decimal(t, "100"), Lent: decimal(t, "-1.5")}, {Coin: "USDH", Total: decimal(t, "200")}},
			Dexes: []market.AccountState{
				position(t, "xyz", "xyz:GOLD", "-3", "150", "6", true), position(t, "flx", "flx:OIL", "5", "100", "-4", false), position(t, "", "BTC", "2", "220", "20", false),
			},
		}, described.Markets(), nil)
		b.hold(t, a)
	}
	for _, path := range []string{"accounts", "clearinghouse-state", "spot-clearinghouse-state"} {
		b.post(t, path, body{"addresses": addresses}).Golden(t, path+"-modes")
	}
	b.post(t, "clearinghouse-state", body{"addresses": addresses, "dex": "nobody"}).Refused(t, http.StatusBadRequest, "dex", "nobody")
	b.post(t, "clearinghouse-state", body{"addresses": addresses, "dex": "flx"}).Golden(t, "clearinghouse-state-modes-flx")
}

// position is what the venue says of a dex with a position, half a minute ago.
func position(t *testing.T, dex, coin, size, value, pnl string, isolated bool) market.AccountState {
	t.Helper()
	s := market.AccountState{Dex: dex, Time: now - 30_000, Withdrawable: decimal(t, "1.5"), Margin: market.MarginSummary{AccountValue: decimal(t, "75"), TotalRawUsd: decimal(t, "12")}}
	s.CrossMargin = s.Margin
	p := market.PositionState{Coin: coin, Szi: decimal(t, size), Leverage: market.Leverage{Isolated: isolated, Value: 5}, PositionValue: decimal(t, value), UnrealizedPnl: decimal(t, pnl), LiquidationPx: decimal(t, "7.75")}
	if isolated {
		p.RawUsd = decimal(t, "190")
	}
	s.Positions = []market.PositionState{p}
	return s
}
