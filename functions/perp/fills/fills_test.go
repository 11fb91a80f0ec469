package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/fills"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
)

const root = "/upgrade/v2/hl/fills"

type world struct {
	*apitest.World
	log    *store.Log
	series *store.Series
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := new(world)
	w.World = apitest.Open(t, catalog.PerpFills, func(open *apitest.World) {
		w.log, w.series = open.Log(), open.Series()
		(&reader{log: w.log, series: w.series}).register(open.Family)
	})
	return w
}

const (
	alice   = "0xa11ce00000000000000000000000000000000001"
	bob     = "0xb0b0000000000000000000000000000000000002"
	builder = "0xb111de4000000000000000000000000000000003"
	first   = int64(1_790_000_000_000) // ms, of the made-up fills
)

// one is a fill of alice; number n differs in time, trade and order.
func one(n int64) market.Fill {
	return market.Fill{
		Address: alice, Coin: "BTC", Px: "30135.0", Sz: "0.5", Side: market.Buy, Time: first + n*1000,
		StartPosition: "-0.25", Dir: "Short > Long", ClosedPnl: "-12.5", Hash: "0x" + strings.Repeat("ab", 32),
		Oid: 9_000 + n, Crossed: true, Fee: "6.78", Tid: 100 + n, FeeToken: "USDC", Seq: n + 1,
	}
}

func (w *world) put(t *testing.T, list ...market.Fill) {
	t.Helper()
	storetest.PutLog(t, w.log, fills.Name, fills.AppendRows, list...)
}

// golden calls and compares with the golden file.
func (w *world) golden(t *testing.T, name, target string) {
	t.Helper()
	w.Get(t, w.SubKey, root+target).Golden(t, name)
}

// tids calls and returns the trade ids of the fills.
func (w *world) tids(t *testing.T, target string) []int64 {
	t.Helper()
	ids := []int64{}
	for _, f := range apitest.Data[[]catalog.Fill](t, w.Get(t, w.SubKey, root+target)) {
		ids = append(ids, f.Tid)
	}
	return ids
}

// various are fills with every member that a fill may have.
func various() []market.Fill {
	plain, rich, twap := one(0), one(1), one(2)
	rich.Cloid = "0x00000000000000000000000000000001"
	rich.Builder, rich.BuilderFee = builder, "0.75"
	rich.Liquidation = &market.Liquidation{LiquidatedUser: bob, MarkPx: "30130.0", Method: "market"}
	rich.Fee = "-0.31" // a rebate
	rich.Crossed = false
	id := int64(77)
	twap.TwapID, twap.Side, twap.Coin, twap.Dir = &id, market.Sell, "@107", "Sell"
	return []market.Fill{plain, rich, twap}
}

func TestFillsOfAnAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, various()...)
	w.golden(t, "by-address", "/"+alice)
	upper := strings.ToUpper(alice[2:])
	if got := w.tids(t, "/0x"+upper); len(got) != 3 {
		t.Errorf("in upper case the address has %d fills, want 3", len(got))
	}
	if answer := w.Get(t, w.SubKey, root+"/"+bob); string(answer.Body) != `{"code":"0","msg":"success","data":[]}` {
		t.Errorf("an address without fills answers %s", answer.Body)
	}
}

func TestFillsOfAnAddressAreTheNewestOldestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []market.Fill
	for n := range int64(2100) {
		f := one(n)
		f.Time = first + n/3 // three in a millisecond, in the order of Seq, against that of tid
		f.Tid = 10_000 - n
		if n%700 == 0 {
			f.Coin = "xyz:GOLD"
		}
		list = append(list, f)
	}
	w.put(t, list...)
	newest := func(n int64) []int64 {
		ids := []int64{}
		for i := 2100 - n; i < 2100; i++ {
			ids = append(ids, 10_000-i)
		}
		return ids
	}
	for target, want := range map[string][]int64{
		"":                           newest(1000),
		"?limit=2000":                newest(2000),
		"?limit=4":                   newest(4),
		"?limit=1":                   newest(1),
		"?coin=xyz:GOLD":             {10_000, 9300, 8600},
		"?coin=xyz:GOLD&limit=2":     {9300, 8600},
		"?coin=xyz%3AGOLD&limit=2":   {9300, 8600},
		"?coin=gold":                 {},
		"?limit=2&unknown=parameter": newest(2),
	} {
		check.Equalf(t, want, w.tids(t, "/"+alice+target), "%s", target)
	}
}

func TestFillsOfAnOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	parts := []market.Fill{one(0), one(1), one(2)}
	for i := range parts {
		parts[i].Oid = 9_001
	}
	other := one(5)
	w.put(t, append(parts, other)...)
	w.golden(t, "by-oid", "/oid/9001")
	if answer := w.Get(t, w.SubKey, root+"/oid/1"); string(answer.Body) != `{"code":"0","msg":"success","data":null}` {
		t.Errorf("an unknown order answers %s", answer.Body)
	}
}

// The shares of a dust conversion have the order id, the time and the trade id
// 0 in common, so that only the account distinguishes their rows.
func TestAllSharesOfADustConversionAreFoundByItsOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []market.Fill
	for n := range int64(2500) {
		f := one(0)
		f.Address, f.Tid, f.Seq, f.Dir = fmt.Sprintf("0x%040x", n), 0, n, market.DustConversion
		list = append(list, f)
	}
	w.put(t, list...)
	if got := w.tids(t, "/oid/9000"); len(got) != 2500 {
		t.Errorf("%d fills, want 2500", len(got))
	}
}

func TestFillsOfATwap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := int64(77)
	var list []market.Fill
	for n := range int64(3) {
		f := one(n)
		f.TwapID = &id
		list = append(list, f)
	}
	w.put(t, append(list, one(9))...)
	w.golden(t, "by-twap", "/twapid/77")
	if answer := w.Get(t, w.SubKey, root+"/twapid/78"); string(answer.Body) != `{"code":"0","msg":"success","data":[]}` {
		t.Errorf("an unknown TWAP answers %s", answer.Body)
	}
}

func TestFillsOfABuilder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, various()...)
	w.golden(t, "by-builder", "/builder/"+builder+"/latest")
}

func TestFillsOfABuilderAreTheNewestThatFit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []market.Fill
	for n := range int64(1500) {
		f := one(n)
		f.Builder, f.Px, f.Sz = builder, "100.0", fmt.Sprintf("%d.5", n) // worth 100 n + 50
		if n%500 == 0 {
			f.Coin = "PURR/USDC"
		}
		list = append(list, f)
	}
	w.put(t, list...)
	for target, want := range map[string]struct {
		n     int
		first int64 // order id less 9000
	}{
		"":                              {1000, 1499},
		"?limit=2000":                   {1500, 1499},
		"?limit=3":                      {3, 1499},
		"?coin=PURR/USDC":               {3, 1000},
		"?coin=PURR%2FUSDC&limit=1":     {1, 1000},
		"?coin=PURR/USDC&minVal=100051": {0, 0},
		"?coin=PURR/USDC&minVal=100050": {1, 1000},
		"?minVal=149850":                {2, 1499}, // 149950 and 149850: the bound itself counts
		"?minVal=149851":                {1, 1499},
		"?minVal=0&limit=2":             {2, 1499},
	} {
		rows := apitest.Data[[]catalog.BuilderFill](t, w.Get(t, w.SubKey, root+"/builder/"+builder+"/latest"+target))
		if len(rows) != want.n || len(rows) > 0 && rows[0].Oid != 9000+want.first {
			t.Errorf("%s: %d fills, want %d beginning with %d", target, len(rows), want.n, want.first)
		}
		for i := 1; i < len(rows); i++ {
			if rows[i].Time >= rows[i-1].Time {
				t.Errorf("%s: fill %d is not older than the one before", target, i)
			}
		}
	}
	if rows := apitest.Data[[]catalog.BuilderFill](t, w.Get(t, w.SubKey, root+"/builder/"+alice+"/latest")); len(rows) != 0 {
		t.Errorf("an address that builds nothing has %d fills", len(rows))
	}
}

func TestFillsOfAnAccountGoOnBehindACursor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []market.Fill
	for n := range int64(7) {
		f := one(n)
		f.Time = first + n/3
		list = append(list, f)
	}
	w.put(t, list...)
	for _, coin := range []string{"", "&coin=BTC"} {
		var pages [][]int64
		for next := ""; ; {
			answer := w.Get(t, w.SubKey, root+"/"+alice+"?limit=3"+coin+next)
			var page []int64
			for _, f := range apitest.Data[[]catalog.Fill](t, answer) {
				page = append(page, f.Tid)
			}
			pages = append(pages, page)
			cursor := answer.Header[catalog.HeaderNextCursor]
			if cursor == "" {
				break
			}
			next = "&cursor=" + cursor
		}
		check.Equal(t, [][]int64{{104, 105, 106}, {101, 102, 103}, {100}}, pages)
	}
}

func TestFillsOfAnOrderGoOnBehindACursor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []market.Fill
	for n := range int64(7) {
		f := one(n)
		f.Oid, f.Builder, f.Time = 9_000, builder, first+n/3
		list = append(list, f)
	}
	w.put(t, list...)
	for path, want := range map[string][]int64{
		"/oid/9000?cursor=" + string(catalog.CursorAt(first, 2)):   {102, 103, 104, 105, 106},
		"/oid/9000?cursor=" + string(catalog.CursorAt(first+2, 1)): nil,
	} {
		if got := w.tids(t, path); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	if answer := w.Get(t, w.SubKey, root+"/oid/9000?cursor="+string(catalog.CursorAt(first+2, 1))); !strings.Contains(string(answer.Body), `"data":[]`) {
		t.Errorf("behind the last fill: %s", answer.Body)
	}
	var times []int64 // which tell the pages of a builder apart: 6 | 5 4 3 | 2 1 0
	for _, f := range apitest.Data[[]catalog.BuilderFill](t, w.Get(t, w.SubKey, root+"/builder/"+builder+"/latest?limit=3&cursor="+string(catalog.CursorAt(first+1, 2)))) {
		times = append(times, f.Time-first)
	}
	if !slices.Equal(times, []int64{1, 0, 0}) {
		t.Errorf("a builder's fills go on at %v", times)
	}
	a := w.Get(t, w.SubKey, root+"/builder/"+builder+"/latest?limit=4")
	if got := a.Header[catalog.HeaderNextCursor]; !strings.HasPrefix(got, string(catalog.CursorAt(first+1, 3))+".") {
		t.Errorf("the next cursor is %s", got)
	}
	// It is of that builder alone.
	next := "/latest?limit=2&cursor=" + a.Header[catalog.HeaderNextCursor]
	if a := w.Get(t, w.SubKey, root+"/builder/"+builder+next); a.Status != http.StatusOK {
		t.Errorf("the same builder is answered %d %s", a.Status, a.Body)
	}
	w.Get(t, w.SubKey, root+"/builder/0x00000000000000000000000000000000000000b9"+next).Refused(t, http.StatusBadRequest, "invalid cursor")
	w.Get(t, w.SubKey, root+"/builder/"+builder+next+"0").Refused(t, http.StatusBadRequest, "invalid cursor")
	if a := w.Get(t, w.SubKey, root+"/oid/9000"); a.Header[catalog.HeaderNextCursor] != "" {
		t.Errorf("all fills have a next cursor %s", a.Header[catalog.HeaderNextCursor])
	}
}

// What its public trade does not say is null, until the venue's hour has the fill.
func TestAProvisionalFillSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, one(0))
	trade, ok := (&market.Fill{Address: alice, Coin: "BTC", Px: "30135.5", Sz: "0.25", Side: market.Buy, Time: first + 1000, Hash: "0x" + strings.Repeat("ab", 32), Crossed: true, Tid: 101}).Trade()
	if !ok {
		t.Fatal("it is no trade")
	}
	w.put(t, market.AppendProvisional(nil, []market.Trade{trade})...)
	w.golden(t, "provisional", "/"+alice)
	w.Get(t, w.SubKey, root+"/"+alice+"?coin=BTC&limit=1").Golden(t, "provisional_newest")
	for path, want := range map[string]string{"/oid/0": "null", "/builder/" + builder + "/latest": "[]"} {
		check.Equal(t, string(w.Get(t, w.SubKey, root+path).Body), `{"code":"0","msg":"success","data":`+want+`}`)
	}
	w.put(t, one(1))
	check.Equal(t, fmt.Sprint(w.tids(t, "/"+alice)), "[100 101]")
	if a := w.Get(t, w.SubKey, root+"/"+alice); strings.Contains(string(a.Body), "provisional") {
		t.Errorf("it is still provisional: %s", a.Body)
	}
}
