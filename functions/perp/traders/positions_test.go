package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/completedtrades"
	"quotary/shared/data/contexts"
	"quotary/shared/data/datatest"
	"quotary/shared/data/fills"
	"quotary/shared/data/followrequests"
	"quotary/shared/data/meta"
	"quotary/shared/data/openorders"
	"quotary/shared/data/payments"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/service/accountlookup"
	"quotary/shared/store"
	"quotary/shared/store/retention"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// accountWorld is a world whose accounts are made of fills as the ingester makes them.
type accountWorld struct {
	*apitest.World
	log    *store.Log
	series *store.Series
	wanted *followrequests.Store

	accounts *accountlookup.Accounts
	folded   market.Account // alice's
	tid      int64
}

// minute is a time in the world, ms: minutes before its clock.
func minute(before int64) int64 { return apitest.Start.UnixMilli() - before*60_000 }

func newAccountWorld(t *testing.T) *accountWorld {
	t.Helper()
	w := new(accountWorld)
	var views *store.Views
	w.World = apitest.Open(t, catalog.PerpTraders, func(open *apitest.World) {
		w.log, w.series, views = open.Log(), open.Series(), open.Views(t)
		w.wanted = followrequests.Accounts.Open(open.Documents)
		w.accounts = accountlookup.New(catalog.PerpTraders, w.series, w.wanted, views, open.Now)
		(&reader{log: w.log, series: w.series, accounts: w.accounts}).register(open.Family)
	})
	storetest.Publish(t, views, meta.Published, meta.View{
		Time:  minute(0),
		Perps: map[string]json.RawMessage{"": json.RawMessage(`{"universe":[{"name":"BTC","szDecimals":2,"maxLeverage":40},{"name":"ETH","szDecimals":2,"maxLeverage":25}],"marginTables":[]}`)},
		Spot:  json.RawMessage(`{"tokens":[{"name":"USDC","index":0,"szDecimals":8},{"name":"HYPE","index":150,"szDecimals":2}],"universe":[{"name":"@107","tokens":[150,0]}]}`),
	})
	storetest.Publish(t, views, contexts.Published, contexts.View{Time: minute(0), Marks: map[string]string{"BTC": "140.0", "ETH": "10.0", "@107": "20.0"}})
	resting := market.SpotReserve{Quote: decimal(t, "40.25"), Base: decimal(t, "0.5")}
	_, err := hex.Decode(resting.Account[:], []byte(alice[2:]))
	must.Do(t, err)
	storetest.Publish(t, views, openorders.PublishedReserves, openorders.Reserves{Time: minute(0), Coins: map[string]openorders.ReserveColumn{"@107": openorders.NewReserveColumn([]market.SpotReserve{resting})}})
	w.folded.Anchor(&market.Anchor{Address: alice, Mode: market.ModeStandard, Dexes: []market.AccountState{{Time: minute(600), CrossMargin: market.MarginSummary{AccountValue: decimal(t, "1000")}}},
		Leverages: map[string]market.Leverage{"BTC": {Value: 10}, "ETH": {Isolated: true, Value: 5}},
		Spot:      []market.SpotBalance{{Coin: "USDC", Total: decimal(t, "50.5")}, {Coin: "HYPE", Token: 150, Total: decimal(t, "2.5"), EntryNtl: decimal(t, "30")}}, SpotTime: minute(600)}, nil, nil)
	return w
}

// fill stores a fill of alice, and what it completes. Minutes are those before the
// clock's time, sz is positive to buy.
func (w *accountWorld) fill(t *testing.T, before int64, coin string, oid int64, sz, px, closedPnl string) *market.CompletedTrade {
	t.Helper()
	w.tid++
	f := market.Fill{Address: alice, Coin: coin, Px: px, Sz: sz, Side: market.Buy, Time: minute(before), StartPosition: "0.0", Dir: "Open Long",
		ClosedPnl: closedPnl, Hash: "0x5a", Oid: oid, Fee: "0.1", FeeToken: "USDC", Tid: w.tid, Seq: w.tid}
	if sz[0] == '-' {
		f.Side, f.Sz = market.Sell, sz[1:]
	}
	if h, ok := w.folded.Holding(coin); ok && h.Open != nil {
		f.StartPosition = market.Text(h.Open.Size)
	}
	storetest.PutLog(t, w.log, fills.Name, fills.AppendRows, f)
	outcome, done := w.folded.Fill(&f, nil, nil)
	if outcome != market.Applied {
		t.Fatalf("fill %d is %s", f.Tid, outcome)
	}
	if done != nil {
		storetest.PutLog(t, w.log, completedtrades.Name, completedtrades.AppendRows, *done)
	}
	datatest.PutKlines(t, w.series, coin, market.Trade{Coin: coin, Side: f.Side, Px: decimal(t, f.Px), Sz: decimal(t, f.Sz), Tid: f.Tid, Time: f.Time})
	return done
}

func (w *accountWorld) pay(t *testing.T, before int64, coin, usdc string) {
	t.Helper()
	h, _ := w.folded.Holding(coin)
	p := market.FundingPayment{Address: alice, Coin: coin, Time: minute(before), USDC: usdc, Szi: market.Text(h.Open.Size), Rate: "0.0000125"}
	storetest.PutLog(t, w.log, payments.Name, payments.AppendRows, p)
	if outcome := w.folded.Payment(&p, nil); outcome != market.Applied {
		t.Fatalf("payment of %s is %s", coin, outcome)
	}
}

// store writes alice's account as the ingester does.
func (w *accountWorld) store(t *testing.T) {
	t.Helper()
	w.folded.Anchored = minute(1) // the venue was asked a minute ago
	must.Do(t, w.series.Put(t.Context(), []store.SeriesRow{accounts.Row(&w.folded)}))
}

// long is a position in BTC: two bought at 100 by one order, one at 130, one sold at 120.
func (w *accountWorld) long(t *testing.T) {
	t.Helper()
	w.fill(t, 150, "BTC", 1, "1.5", "100", "0.0")
	w.fill(t, 150, "BTC", 1, "0.5", "100", "0.0")
	w.fill(t, 120, "BTC", 2, "1", "130", "0.0")
	w.pay(t, 60, "BTC", "-0.5")
	w.fill(t, 30, "BTC", 3, "-1", "120", "10.0")
	w.store(t)
}

// short is a position in ETH that grew out of a long, and became one again.
func (w *accountWorld) short(t *testing.T) (trade *market.CompletedTrade) {
	t.Helper()
	w.fill(t, 500, "ETH", 11, "3", "10", "0.0")
	w.fill(t, 400, "ETH", 12, "-8", "11", "3.0") // short 5
	w.fill(t, 340, "ETH", 13, "-1", "12", "0.0") // short 6
	w.pay(t, 330, "ETH", "0.25")
	trade = w.fill(t, 290, "ETH", 14, "10", "9", "13.0") // long 4
	w.store(t)
	return trade
}

const ofAlice = traders + alice

func TestTheOpenPositionOfACoinIsShownInThreeWays(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.long(t)
	for _, kind := range []string{"history", "pnl", "executions"} {
		w.Get(t, w.SubKey, ofAlice+"/current-position-"+kind+"/BTC").Golden(t, "current-position-"+kind)
	}
}

func TestAClosedPositionIsNamedByItsTimesAndShownInThreeWays(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	trade := w.short(t)
	start, end := "startTime="+strconv.FormatInt(trade.Start, 10), "endTime="+strconv.FormatInt(trade.End, 10)
	for _, kind := range []string{"history", "pnl", "executions"} {
		target := ofAlice + "/completed-position-" + kind + "/ETH?"
		both := w.Get(t, w.SubKey, target+start+"&"+end)
		both.Golden(t, "completed-position-"+kind)
		for _, one := range []string{start, end} {
			if got := w.Get(t, w.SubKey, target+one); !bytes.Equal(got.Body, both.Body) {
				t.Errorf("%s by %s: %s, want %s", kind, one, got.Body, both.Body)
			}
		}
		for _, other := range []string{"", "startTime=" + strconv.FormatInt(trade.Start+1, 10), "endTime=" + strconv.FormatInt(trade.End-1, 10), start + "&endTime=" + strconv.FormatInt(trade.End+1, 10)} {
			absent(t, w.Get(t, w.SubKey, target+other), "startTime")
		}
	}
}

// absent wants the answer in which clients look for words, and the reason beside them.
func absent(t *testing.T, a apitest.Answer, why string) {
	t.Helper()
	if body := string(a.Body); a.Status != http.StatusOK || !strings.HasPrefix(body, `{"code":"400","msg":"position not found","data":null,"error":"`) || !strings.Contains(body, why) {
		t.Errorf("%d %s, want one with %q", a.Status, body, why)
	}
}

func TestTheLeverageInEffectIsThatOfTheHourBefore(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.long(t)
	var stats market.TraderStats
	markettest.Valued(&stats, minute(120), decimal(t, "1000"))
	must.Do(t, w.series.Put(t.Context(), []store.SeriesRow{accountstats.Row(alice, &stats)}))
	var got []string
	for _, p := range apitest.Data[catalog.PositionHistory](t, w.Get(t, w.SubKey, ofAlice+"/current-position-history/BTC")).History {
		if p.EffLeverage == nil {
			got = append(got, "unknown")
		} else {
			got = append(got, *p.EffLeverage)
		}
	}
	if want := []string{"unknown", "0.39", "unknown", "0.261903"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAnswersThatReachFurtherSaySinceWhenAnAccountIsKnown(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.folded.Since = minute(3 * 24 * 60)
	w.long(t)
	since := time.UnixMilli(w.folded.Since).UTC().Format(time.RFC3339)
	for target, want := range map[string]string{
		"/completed-trades": since, "/addr-stat?period=1": "", "/addr-stat?period=7": since, "/addr-stat?period=0": since,
		"/best-trades?period=1": "", "/best-trades?period=7": since, "/performance-by-coin?period=0": since, "/detailed-trading-statistics": since,
	} {
		if got := w.Get(t, w.SubKey, ofAlice+target).Header[catalog.HeaderDataSince]; got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}

func TestWhoHoldsNothingHasNoPosition(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.fill(t, 20, "BTC", 1, "1", "100", "0.0")
	w.fill(t, 10, "BTC", 2, "-1", "110", "10.0")
	w.fill(t, 5, "#441", 3, "5000", "0.4", "0.0")
	w.store(t)
	for _, coin := range []string{"BTC", "ETH", "@107", "%23441"} {
		for _, kind := range []string{"history", "pnl", "executions"} {
			answer := w.Get(t, w.SubKey, ofAlice+"/current-position-"+kind+"/"+coin)
			if data := apitest.Data[*struct{}](t, answer); data != nil {
				t.Errorf("%s of %s: %s", kind, coin, answer.Body)
			}
		}
	}
}

func TestTheWorthOfAPositionIsThatAtTheEndOfEachBucket(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.long(t)
	got := apitest.Data[catalog.PositionPnl](t, w.Get(t, w.SubKey, ofAlice+"/current-position-pnl/BTC?interval=30m&limit=4"))
	want := []catalog.PositionPnlPoint{
		{Time: minute(90), Size: "3.0", PositionValue: "390.0", UnrealizedPnl: new("60.0")}, // no trade: the price of the bucket before
		{Time: minute(60), Size: "3.0", PositionValue: "390.0", UnrealizedPnl: new("60.0")},
		{Time: minute(30), Size: "2.0", PositionValue: "240.0", UnrealizedPnl: new("20.0")},
		{Time: minute(0), Size: "2.0", PositionValue: "240.0", UnrealizedPnl: new("20.0")},
	}
	if d := gocmp.Diff(want, got.Pnls); d != "" {
		t.Error(d)
	}
}

// A position that was opened before fills are stored has its entry price from what
// closed a part of it.
func TestAPositionThatWasOpenedUnseenTellsItsEntryPriceWhenItIsReduced(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	for i, f := range []market.Fill{
		{Side: market.Buy, Sz: "1", Px: "130", StartPosition: "2.0", ClosedPnl: "0.0"},
		{Side: market.Sell, Sz: "1", Px: "120", StartPosition: "3.0", ClosedPnl: "10.0"},
	} {
		f.Address, f.Coin, f.Time, f.Tid, f.Oid, f.Hash, f.Fee, f.FeeToken, f.Dir = alice, "BTC", minute(10-int64(i)), int64(i+1), int64(i+1), "0x5a", "0.1", "USDC", "Open Long"
		storetest.PutLog(t, w.log, fills.Name, fills.AppendRows, f)
	}
	w.store(t)
	got := apitest.Data[catalog.PositionHistory](t, w.Get(t, w.SubKey, ofAlice+"/current-position-history/BTC"))
	if len(got.History) != 3 || got.History[0].EntryPrice == nil || *got.History[0].EntryPrice != "110.0" || *got.History[1].EntryPrice != "110.0" {
		t.Errorf("%+v", got.History)
	}
}

// Of a position that was opened before fills are stored, and only added to since, the venue
// tells the entry price. Where it has not, points of the past are left out.
func TestAHistoryHasNoPointWithoutAnEntryPrice(t *testing.T) {
	t.Parallel()
	for told, want := range map[string][]string{
		"600": {"3.0 120.0", "5.0 120.0", "5.0 120.0"}, // what was bought at 120 is in it
		"":    {"5.0 unknown"},
	} {
		w := newAccountWorld(t)
		for i, f := range []market.Fill{{Sz: "1", StartPosition: "2.0"}, {Sz: "2", StartPosition: "3.0"}} {
			f.Address, f.Coin, f.Side, f.Px, f.ClosedPnl, f.Time, f.Tid, f.Oid = alice, "BTC", market.Buy, "120", "0.0", minute(10-int64(i)), int64(i+1), int64(i+1)
			f.Hash, f.Fee, f.FeeToken, f.Dir = "0x5a", "0.1", "USDC", "Open Long"
			storetest.PutLog(t, w.log, fills.Name, fills.AppendRows, f)
			w.folded.Fill(&f, nil, nil)
		}
		if told != "" {
			w.folded.Anchor(&market.Anchor{Dexes: []market.AccountState{{Time: minute(2), Positions: []market.PositionState{{
				Coin: "BTC", Szi: decimal(t, "5"), Leverage: market.Leverage{Value: 10}, PositionValue: decimal(t, "700"), UnrealizedPnl: decimal(t, "700").Sub(decimal(t, told)),
			}}}}}, nil, nil)
		}
		w.store(t)
		var got []string
		for _, p := range apitest.Data[catalog.PositionHistory](t, w.Get(t, w.SubKey, ofAlice+"/current-position-history/BTC")).History {
			price := "unknown"
			if p.EntryPrice != nil {
				price = *p.EntryPrice
			}
			got = append(got, p.Size+" "+price)
		}
		if !slices.Equal(got, want) {
			t.Errorf("told %q: %q, want %q", told, got, want)
		}
	}
}

func TestTheStatesOfAccountsAreValuedAtTheMarks(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.long(t)
	w.short(t)
	ask := body{"addresses": []string{alice, carol, alice}}
	w.Call(t, w.SubKey, http.MethodPost, "/upgrade/v2/hl/traders/clearinghouse-state", ask).Golden(t, "clearinghouse-state")
	w.Call(t, w.SubKey, http.MethodPost, "/upgrade/v2/hl/traders/spot-clearinghouse-state", ask).Golden(t, "spot-clearinghouse-state")
}

// The ingester answers a wanted account while the request waits.
func TestAnAccountThatIsNotKnownIsAskedForAndWaitedFor(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.accounts.Patience = time.Minute // also on a slow machine
	answer := make(chan apitest.Answer)
	go func() {
		answer <- w.Call(t, w.SubKey, http.MethodPost, "/upgrade/v2/hl/traders/spot-clearinghouse-state", body{"addresses": []string{alice}})
	}()
	testenv.Until(t, "the account is wanted", func() bool {
		list, err := w.wanted.List(t.Context(), w.Now())
		must.Do(t, err)
		return slices.Equal(list.Things(), []string{alice})
	})
	w.folded.Anchored = w.Now().UnixMilli()
	must.Do(t, w.series.Put(t.Context(), []store.SeriesRow{accounts.Row(&w.folded)}))
	got := apitest.Data[[]catalog.AddressSpotState](t, <-answer)
	if len(got) != 1 || len(got[0].SpotState.Balances) != 2 {
		t.Errorf("%+v", got)
	}
}

func TestAnAnswerWaitsASecondForTheVenue(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	began := time.Now()
	w.Call(t, w.SubKey, http.MethodPost, "/upgrade/v2/hl/traders/clearinghouse-state", body{"addresses": []string{carol}})
	if waited := time.Since(began); waited < w.wanted.Wait {
		t.Errorf("it waited for %s", waited)
	}
}

// The venue's answer that it knows nothing of an account is stored as any other.
func TestAnAccountThatTheVenueDoesNotKnowIsNotWaitedForAndHasNothing(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.accounts.Patience = time.Hour
	var nobody market.Account
	nobody.Anchor(&market.Anchor{Address: carol, Mode: market.ModeStandard, Dexes: []market.AccountState{{Time: w.Now().Add(-accountlookup.FreshFor - time.Minute).UnixMilli()}}}, nil, nil)
	must.Do(t, w.series.Put(t.Context(), []store.SeriesRow{accounts.Row(&nobody)}))
	answer := w.Call(t, w.SubKey, http.MethodPost, "/upgrade/v2/hl/traders/clearinghouse-state", body{"addresses": []string{carol}})
	if got := apitest.Data[[]catalog.AddressState](t, answer); len(got) != 1 || got[0].State == nil || *got[0].State.MarginSummary.AccountValue != "0.0" {
		t.Errorf("%s", answer.Body)
	}
	if got := apitest.Data[*struct{}](t, w.Get(t, w.SubKey, traders+carol+"/current-position-history/BTC")); got != nil {
		t.Errorf("%+v", got)
	}
	if list, err := w.wanted.List(t.Context(), w.Now()); err != nil || len(list) != 0 {
		t.Errorf("%v are wanted, %v", list, err)
	}
}

// TestManyUnknownAccountsReadFewRows: between its looks a request reads one of them, and all
// once more at the end. Asked again it does not wait.
func TestManyUnknownAccountsReadFewRows(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	addresses := make([]string, 50)
	for i := range addresses {
		addresses[i] = fmt.Sprintf("0x%040x", i+1)
	}
	for _, most := range []float64{110, 51} {
		before := w.Logs.Len()
		answer := w.Call(t, w.SubKey, http.MethodPost, "/upgrade/v2/hl/traders/clearinghouse-state", body{"addresses": addresses})
		var line struct {
			Units float64 `json:"read_units"`
		}
		must.Do(t, json.Unmarshal(w.Logs.Bytes()[before:], &line))
		if answer.Status != http.StatusOK || line.Units < 50 || line.Units > most {
			t.Errorf("status %d, %v read units for 50 unknown accounts, want at most %v", answer.Status, line.Units, most)
		}
		w.Move(w.wanted.Wait)
	}
}

// All that is stored of it is the fill that closed it.
func TestAClosedPositionOfWhichOneFillIsKnown(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	f := market.Fill{Address: alice, Coin: "BTC", Side: market.Sell, Sz: "2", Px: "120", StartPosition: "2.0", ClosedPnl: "20.0", Time: minute(10), Tid: 1, Oid: 1, Hash: "0x5a", Fee: "0.1", FeeToken: "USDC", Dir: "Close Long"}
	storetest.PutLog(t, w.log, fills.Name, fills.AppendRows, f)
	var fresh market.Account
	_, trade := fresh.Fill(&f, nil, nil)
	storetest.PutLog(t, w.log, completedtrades.Name, completedtrades.AppendRows, *trade)
	target := ofAlice + "/completed-position-%s/BTC?endTime=" + strconv.FormatInt(trade.End, 10)
	got := apitest.Data[catalog.PositionHistory](t, w.Get(t, w.SubKey, fmt.Sprintf(target, "history")))
	if len(got.History) != 1 || got.History[0].Size != "0.0" || got.History[0].Leverage != 20 || *got.History[0].EntryPrice != "110.0" {
		t.Errorf("%+v", got)
	}
	done := apitest.Data[catalog.PositionExecutions](t, w.Get(t, w.SubKey, fmt.Sprintf(target, "executions")))
	if len(done.Executions) != 1 || done.Executions[0].SellSz != "2.0" {
		t.Errorf("%+v", done)
	}
}

// TestAClosedPositionWhoseFillsAreGoneIsNamedSo, with what is stored where that is for a
// retention: trades are kept for ever.
func TestAClosedPositionWhoseFillsAreGoneIsNamedSo(t *testing.T) {
	t.Parallel()
	for _, expired := range []bool{false, true} {
		w := newAccountWorld(t)
		trade := market.CompletedTrade{Address: alice, Coin: "BTC", Long: true, Size: decimal(t, "1"), EntryPx: decimal(t, "1"), ClosePx: decimal(t, "1"), Start: minute(20), End: minute(10), Tid: 7, Fills: 2}
		storetest.PutLog(t, w.log, completedtrades.Name, completedtrades.AppendRows, trade)
		want := "no fill of this position is stored"
		if expired {
			w.log.Now = w.Now
			must.Do(t, w.log.SaveExpiries(t.Context(), "perp", retention.Expiries{fills.Name: {{Days: 1, Before: retention.Day(w.Now())}}}))
			want = "no longer stored; startTime and endTime must be of 1795132800000 (2026-11-20) or later"
		}
		answer := w.Get(t, w.SubKey, ofAlice+"/completed-position-history/BTC?startTime="+strconv.FormatInt(trade.Start, 10))
		absent(t, answer, want)
		if since := answer.Header[catalog.HeaderDataSince]; (since == "2026-11-20T00:00:00Z") != expired {
			t.Errorf("X-Data-Since is %q", since)
		}
	}
}
