package main

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/contexts"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// someAccount has alice long two BTC on the main dex, as the venue told it.
func (w *world) someAccount(t *testing.T) {
	t.Helper()
	w.someMeta(t)
	storetest.Publish(t, w.views, contexts.Published, contexts.View{Time: start, Marks: map[string]string{"BTC": "84026.5"}})
	account := market.Account{Address: alice}
	decimal := func(text string) market.Decimal { return must.Get(market.ParseDecimal(text))(t) }
	now := w.Now().UnixMilli()
	account.Anchor(&market.Anchor{Address: alice, Mode: market.ModeStandard,
		Dexes: []market.AccountState{{Time: now, CrossMargin: market.MarginSummary{AccountValue: decimal("68053.0")}, Positions: []market.PositionState{
			{Coin: "BTC", Szi: decimal("2"), Leverage: market.Leverage{Value: 20}, EntryPx: decimal("80000.0"), PositionValue: decimal("168053.0"), UnrealizedPnl: decimal("8053.0"), MaxLeverage: 40}}}},
		Leverages: map[string]market.Leverage{"BTC": {Value: 20}},
		Spot:      []market.SpotBalance{{Coin: "USDC", Total: decimal("50.5")}}, SpotTime: now}, nil, nil)
	must.Do(t, w.series.Put(t.Context(), []store.SeriesRow{accounts.Row(&account), accounts.Row(&market.Account{Address: "0xb0b0000000000000000000000000000000000002", Anchored: now})}))
}

// somePast has the venue have said what alice was worth before she was known.
func (w *world) somePast(t *testing.T) {
	t.Helper()
	storetest.PutSeries(t, w.series, accountstats.Row(alice, &market.TraderStats{VenueUntil: w.Now().UnixMilli()}))
}

// A curve of an account that the venue was never asked about, or just now, is none before the venue
// has said what it was worth before.
func TestACurveIsAwaitedBeforeItIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.accounts.Patience = 0
	const question = `{"type":"portfolio","user":"` + alice + `"}`
	awaited := func() {
		t.Helper()
		answer := w.ask(t, question)
		if answer.Refused(t, http.StatusServiceUnavailable, "was worth is being asked for at the exchange"); answer.Header["Retry-After"] != "2" {
			t.Errorf("Retry-After is %q", answer.Header["Retry-After"])
		}
	}
	must.Do(t, w.series.Put(t.Context(), []store.SeriesRow{accounts.Row(&market.Account{Address: alice, Time: start})})) // from logs alone
	awaited()
	w.someAccount(t)
	awaited()
	w.somePast(t)
	if answer := w.ask(t, question); answer.Status != http.StatusOK {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
}

func TestStatesOfAnAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.someAccount(t)
	const user = `,"user":"` + alice + `"`
	w.golden(t, "clearinghouseState", `{"type":"clearinghouseState"`+user+`}`)
	w.golden(t, "clearinghouseState-dex", `{"type":"clearinghouseState","dex":"xyz"`+user+`}`)
	w.golden(t, "spotClearinghouseState", `{"type":"spotClearinghouseState"`+user+`}`)
	stats := market.TraderStats{Sampled: market.Hour1.StartMs(w.Now().UnixMilli())}
	at := func(hours int64) int64 { return stats.Sampled - hours*time.Hour.Milliseconds() }
	for hours, perp := range map[int64]int64{800: 60_000, 100: 66_000, 2: 68_000, 1: 68_010} {
		value := market.Micros(perp * 1_000_000).Decimal()
		stats.AddPoint(at(hours), &market.Worth{Perp: value, PerpKnown: true, Spot: value, SpotKnown: hours < 100})
	}
	must.Do(t, w.series.Put(t.Context(), []store.SeriesRow{accountstats.Row(alice, &stats)}))
	w.golden(t, "portfolio", `{"type":"portfolio"`+user+`}`)
	w.golden(t, "portfolio-unknown", `{"type":"portfolio","user":"0xb0b0000000000000000000000000000000000002"}`)
	w.golden(t, "activeAssetData", `{"type":"activeAssetData","coin":"BTC"`+user+`}`)
	w.golden(t, "activeAssetData-untraded", `{"type":"activeAssetData","coin":"xyz:GOLD"`+user+`}`)
	for body, want := range map[string]string{
		`{"type":"clearinghouseState","dex":"abc"` + user + `}`:     `unknown dex "abc"`,
		`{"type":"activeAssetData","coin":"PURR/USDC"` + user + `}`: "unknown coin PURR/USDC: it must be that of a perpetual",
	} {
		w.ask(t, body).Refused(t, http.StatusBadRequest, want)
	}
}

// TestAnUnknownAccountIsAskedFor: what it holds is not known, and nothing is shown for it.
func TestAnUnknownAccountIsAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.accounts.Patience = 0
	testenv.Until(t, "all three are wanted: where a busy machine could not write one in time, the next request does", func() bool {
		for n, kind := range []string{"clearinghouseState", "spotClearinghouseState", `activeAssetData","coin":"BTC`} {
			w.ask(t, fmt.Sprintf(`{"type":"%s","user":"0x%040x"}`, kind, n)).Refused(t, http.StatusServiceUnavailable, "asked for at the exchange")
		}
		defer w.Move(2 * time.Second)
		return len(must.Get(w.wanted.List(t.Context(), w.Now()))(t).Things()) == 3
	})
}

func TestVolumesOfDaysOfWhichAPartIsNotKnownAreNull(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.someAccount(t)
	const ask = `{"type":"userFees","user":"` + alice + `"}`
	w.golden(t, "userFees-unknown", ask)
	today := w.Now().Unix() / 86_400
	decimal := func(text string) market.Decimal { return must.Get(market.ParseDecimal(text))(t) }
	stats := market.TraderStats{Began: (today-2)*86_400_000 - 1, Days: []market.TradingDay{
		{Day: today - 3, Activity: market.Activity{Fills: 1, Volume: decimal("5.0")}},
		{Day: today - 2, Activity: market.Activity{Fills: 2, Volume: decimal("100.5"), Taken: decimal("40.25"), SpotVolume: decimal("10.0"), SpotTaken: decimal("10.0")}},
		{Day: today, Activity: market.Activity{Fills: 1, Volume: decimal("1.0")}},
	}}
	must.Do(t, w.series.Put(t.Context(), []store.SeriesRow{accountstats.Row(alice, &stats)}))
	w.golden(t, "userFees", ask)
}

func TestFillsOfTwapsAreTheNewestOfThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list := []market.Fill{one(0), one(1), one(2), one(3)}
	list[1].TwapID, list[3].TwapID = new(int64(7)), new(int64(8))
	w.put(t, list...)
	w.golden(t, "userTwapSliceFills", `{"type":"userTwapSliceFills","user":"`+alice+`"}`)
	var many []market.Fill
	for n := range int64(maxFills) {
		f := one(10 + n)
		f.TwapID = new(n)
		many = append(many, f)
	}
	w.put(t, many...)
	got := apitest.Data[[]catalog.InfoTwapFill](t, w.ask(t, `{"type":"userTwapSliceFills","user":"`+alice+`"}`))
	check.Equal(t, maxFills, len(got))
	check.Equal(t, int64(0), got[maxFills-1].TwapID)
}
