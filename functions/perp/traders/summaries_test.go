package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/accounts"
	"quotary/shared/data/contexts"
	"quotary/shared/data/followrequests"
	"quotary/shared/data/meta"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/service/accountlookup"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
)

// openHoldings is a book with markets, their marks, and accounts that the venue has said
// something of.
func openHoldings(t testing.TB, list ...*market.Account) *book {
	t.Helper()
	b := &book{stats: map[string]*market.TraderStats{}}
	b.World = apitest.Open(t, catalog.PerpTraders, func(open *apitest.World) {
		b.log, b.series = open.Log(), open.Series()
		views := open.Views(t)
		b.views = views
		described := meta.View{Time: now, Perps: map[string]json.RawMessage{
			"":    json.RawMessage(`{"universe":[{"name":"BTC","szDecimals":5,"maxLeverage":40},{"name":"ETH","szDecimals":4,"maxLeverage":25}]}`),
			"xyz": json.RawMessage(`{"universe":[{"name":"xyz:GOLD","szDecimals":3,"maxLeverage":20}]}`),
		}}
		storetest.Publish(t, views, meta.Published, described)
		storetest.Publish(t, views, contexts.Published, contexts.View{Time: now, Marks: map[string]string{"BTC": "110.0", "ETH": "10.0", "xyz:GOLD": "50.0"}})
		b.wanted = followrequests.Accounts.Open(open.Documents)
		r := &reader{log: b.log, series: b.series, accounts: accountlookup.New(catalog.PerpTraders, b.series, b.wanted, views, open.Now)}
		r.register(open.Family)
	})
	b.hold(t, list...)
	return b
}

func (b *book) hold(t testing.TB, list ...*market.Account) {
	t.Helper()
	rows := make([]store.SeriesRow, len(list))
	for i, a := range list {
		rows[i] = accounts.Row(a)
	}
	if err := b.series.Put(t.Context(), rows); err != nil {
		t.Error(err)
	}
}

// holder has 1,000 USDC in cash behind a long and a short in two dexes, and 50 on spot.
func holder(t testing.TB) *market.Account {
	t.Helper()
	open := func(size, cost string) *market.OpenPosition {
		return &market.OpenPosition{Size: decimal(t, size), Cost: decimal(t, cost)}
	}
	return &market.Account{
		Address: alice, Since: now - 1000, Time: now - 10, Mode: market.ModeStandard, Anchored: now - 100, SpotTime: now - 100,
		Dexes: []market.DexFunds{{Cash: decimal(t, "1000"), Anchored: now - 100}, {Dex: "xyz", Cash: decimal(t, "200"), Anchored: now - 100}},
		Holdings: []market.Holding{
			{Coin: "BTC", Leverage: market.Leverage{Value: 10}, Open: open("2", "200")},
			{Coin: "ETH", Leverage: market.Leverage{Value: 5}},
			{Coin: "xyz:GOLD", Leverage: market.Leverage{Value: 5}, Open: open("-3", "-156")},
		},
		Spot: []market.SpotHolding{{Token: market.USDC, Total: decimal(t, "50.5")}},
	}
}

func TestAccountsAreSummedUpOverAllDexes(t *testing.T) {
	t.Parallel()
	b := openHoldings(t, holder(t), &market.Account{Address: bob, Since: now, Time: now, Mode: market.ModeStandard, Anchored: now - 1, SpotTime: now - 1, Updates: []market.LedgerUpdate{{Time: now - 1}}})
	b.of(alice).LastOperation = now - 5000
	b.write(t)
	b.post(t, "accounts", body{"addresses": []string{alice, carol, bob}}).Golden(t, "accounts")
	rows := apitest.Data[[]catalog.AccountSummary](t, b.post(t, "accounts", body{"addresses": alice}))
	want := catalog.AccountSummary{
		Address: alice, CurrentPosition: new(int64(2)), MarginUsage: new("52.0"), // 220/10 + 150/5
		PerpValue: new("1226.0"), // 1000 + 20, 200 + 6
		SpotValue: new("50.5"), TotalValue: new("1276.5"), EffLeverage: new("0.301794"), MarginUsageRate: new("0.042414"),
		Leverage: new("7.115385"), LastOperationAt: new(now - 5000),
	}
	if diff := gocmp.Diff([]catalog.AccountSummary{want}, rows); diff != "" {
		t.Error(diff)
	}
}

// An account that nobody has seen is asked for at the venue. Until it is known, its row in an
// answer of many is there, and says nothing.
func TestTheFiguresOfAnAccountThatIsNotKnownAreNull(t *testing.T) {
	t.Parallel()
	b := openHoldings(t, holder(t))
	for path, member := range map[string]string{"accounts": "", "statistics": "", "clearinghouse-state": "state", "spot-clearinghouse-state": "spotState"} {
		rows := apitest.Data[[]map[string]any](t, b.post(t, path, body{"addresses": []string{carol, alice, carol}}))
		if len(rows) != 2 || rows[0]["address"] != carol || rows[1]["address"] != alice {
			t.Fatalf("%s: %v", path, rows)
		}
		for name, figure := range rows[0] {
			if name != "address" && figure != nil {
				t.Errorf("%s of an unknown account: %s is %v", path, name, figure)
			}
			if _, there := rows[1][name]; !there || member != "" && rows[1][member] == nil {
				t.Errorf("%s of a known account has no %s: %v", path, name, rows[1])
			}
		}
	}
	if wanted, err := b.wanted.List(t.Context(), b.Now()); err != nil || !slices.Equal(wanted.Things(), []string{carol}) {
		t.Errorf("%v are wanted, %v; want %s alone", wanted, err, carol)
	}
}

// Batches that sum up what accounts did want those that nobody has seen too, each once.
func TestBatchesWantTheAccountsThatAreNotKnown(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"batch-addr-stat", "batch-behavior-metrics"} {
		b := openHoldings(t)
		if rows := apitest.Data[[]map[string]any](t, b.post(t, path, body{"addresses": []string{carol, alice, carol}})); len(rows) == 0 || rows[0]["winRate"] != nil {
			t.Errorf("%s: %v", path, rows)
		}
		if wanted, err := b.wanted.List(t.Context(), b.Now()); err != nil || !slices.Contains(wanted.Things(), carol) {
			t.Errorf("%s: %v are wanted, %v", path, wanted, err)
		}
	}
}

func TestTooManyAccountsAreCut(t *testing.T) {
	t.Parallel()
	b := openHoldings(t)
	many := make([]string, 51)
	var list []*market.Account
	for i := range many {
		many[i] = fmt.Sprintf("0x%040x", i)
		list = append(list, &market.Account{Address: many[i], Since: now, Time: now, Anchored: now, Updates: []market.LedgerUpdate{{Time: now}}})
	}
	b.hold(t, list...)
	for _, path := range []string{"accounts", "statistics", "clearinghouse-state", "spot-clearinghouse-state"} {
		if rows := apitest.Data[[]map[string]any](t, b.post(t, path, body{"addresses": many})); len(rows) != 50 {
			t.Errorf("%s: %d rows for 51 addresses, want 50", path, len(rows))
		}
	}
	for _, path := range []string{"accounts", "statistics"} {
		b.post(t, path, body{"addresses": []string{"nope"}}).Refused(t, http.StatusBadRequest, "addresses", "address")
		b.post(t, path, body{}).Refused(t, http.StatusBadRequest, "missing addresses")
	}
	b.post(t, "statistics", body{"addresses": alice, "period": "year"}).Refused(t, http.StatusBadRequest, "period")
}

func TestStatisticsOfTraders(t *testing.T) {
	t.Parallel()
	b := openHoldings(t, holder(t))
	b.complete(t, alice, "BTC", now-40*dayMs, 3600, "500", "1")
	b.complete(t, alice, "ETH", now-7*dayMs, 60, "77", "0.5")
	b.complete(t, alice, "ETH", now-7*dayMs+1, 60, "-20.25", "0.5", short)
	b.complete(t, alice, "BTC", now-2000, 7, "12.345678", "0.25")
	s := b.of(alice)
	s.LastOperation = now - 2000
	markettest.Valued(s, now-8*dayMs, decimal(t, "1"))
	markettest.Valued(s, now-3*hourMs, decimal(t, "1000"))
	s.Ledger(&market.Ledger{Time: now, Type: "accountClassTransfer"}, nil, nil)
	s.Moved(decimal(t, "50"), market.Decimal{})
	markettest.Valued(s, now-2*hourMs, decimal(t, "1040.5"))
	markettest.Valued(s, now-hourMs, decimal(t, "1060"))
	b.write(t)
	a := b.post(t, "statistics", body{"addresses": []string{alice, carol}, "pnlList": true})
	a.Golden(t, "statistics")
	if strings.Contains(string(a.Body), "builderPerpValue") {
		t.Error("a row has builderPerpValue, which is for /smart/find alone")
	}
	for period, want := range map[any]int64{nil: 2, "0": 4, 7: 2, "8d": 3, 90: 4} {
		rows := apitest.Data[[]catalog.TraderStatisticsRow](t, b.post(t, "statistics", body{"addresses": []string{alice}, "period": period}))
		if len(rows) != 1 || *rows[0].Positions != want || rows[0].PnlList == nil || len(*rows[0].PnlList) > 0 {
			t.Errorf("period %v: %+v, want %d positions and no curve", period, rows, want)
		}
	}
	s.Curve = nil
	b.write(t)
	if rows := apitest.Data[[]catalog.TraderStatisticsRow](t, b.post(t, "statistics", body{"addresses": []string{alice}, "pnlList": true})); rows[0].PnlList != nil {
		t.Errorf("without a value that is known it earned %v", *rows[0].PnlList)
	}
}

// What the venue has not said yet of an account is null where only it can know: its funds,
// and of a position that was opened unseen what it cost, paid and set aside.
func TestWhatTheVenueHasNotSaidOfAnAccountIsNull(t *testing.T) {
	t.Parallel()
	unseen := &market.OpenPosition{Size: decimal(t, "2"), NoCost: true, Partial: true}
	b := openHoldings(t, &market.Account{
		Address: alice, Since: now - 1000, Time: now - 10, Dexes: []market.DexFunds{{Cash: decimal(t, "-0.5")}},
		Holdings: []market.Holding{{Coin: "BTC", Leverage: market.Leverage{Value: 10}, Open: unseen}, {Coin: "ETH", Leverage: market.Leverage{Isolated: true, Value: 5}, Open: unseen}, {Coin: "NEW", Open: unseen}},
		Spot:     []market.SpotHolding{{Token: "+441", Total: decimal(t, "5"), NoCost: true}, {Token: market.USDC, Total: decimal(t, "-2")}},
	}, &market.Account{
		Address: bob, Since: now - 1000, Time: now - 10, Mode: market.ModeStandard, Anchored: now - 100, SpotTime: now - 100, Dexes: []market.DexFunds{{Cash: decimal(t, "-300"), Anchored: now - 100}},
		Holdings: []market.Holding{{Coin: "BTC", Leverage: market.Leverage{Value: 10}, Open: &market.OpenPosition{Size: decimal(t, "2"), Cost: decimal(t, "200")}}},
		Spot:     []market.SpotHolding{{Token: "+441", Total: decimal(t, "5"), NoCost: true}},
	})
	b.write(t)
	for _, path := range []string{"accounts", "statistics"} {
		rows := apitest.Data[[]map[string]any](t, b.post(t, path, body{"addresses": []string{alice, bob}}))
		for _, name := range []string{"effLeverage", "marginUsage", "marginUsageRate", "perpValue", "spotValue", "totalValue"} {
			if figure, there := rows[0][name]; !there || figure != nil {
				t.Errorf("%s of an account that the venue has not told: %s is %v", path, name, figure)
			}
		}
		if rows[0]["currentPosition"] != 3.0 || rows[1]["perpValue"] != "-280.0" || rows[1]["effLeverage"] != nil || rows[1]["marginUsageRate"] != nil {
			t.Errorf("%s: %v", path, rows)
		}
	}
	b.post(t, "clearinghouse-state", body{"addresses": []string{alice}}).Golden(t, "clearinghouse-state-untold")
	b.post(t, "spot-clearinghouse-state", body{"addresses": []string{alice, bob}}).Golden(t, "spot-clearinghouse-state-untold")
}
