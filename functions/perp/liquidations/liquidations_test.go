package main

import (
	"fmt"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/datatest"
	"quotary/shared/market"
	"quotary/shared/service/markedpositions"
	"quotary/shared/store"
)

const (
	root  = "/upgrade/v2/hl/liquidations"
	alice = "0xa11ce00000000000000000000000000000000001"
	bob   = "0xb0b0000000000000000000000000000000000002"
)

type world struct {
	*apitest.World
	series *store.Series
	views  *store.Views
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := new(world)
	w.World = apitest.Open(t, catalog.PerpLiquidations, func(open *apitest.World) {
		w.series, w.views = open.Series(), open.Views(t)
		(&reader{series: w.series, positions: markedpositions.New(w.views, open.Now)}).register(open.Family)
	})
	return w
}

// liquidation is a fill by which a long of an account was liquidated some time before now.
func liquidation(address, coin string, oid int64, before time.Duration, sz string) market.Fill {
	return market.Fill{
		Address: address, Coin: coin, Px: "30135.0", Sz: sz, Side: market.Sell, Time: apitest.Start.Add(-before).UnixMilli(),
		StartPosition: "5.0", Dir: "Close Long", ClosedPnl: "-12.5", Oid: oid, Crossed: true, Fee: "6.78", Tid: oid * 10, FeeToken: "USDC",
		Liquidation: &market.Liquidation{LiquidatedUser: address, MarkPx: "30130.0", Method: "market"},
	}
}

// various are liquidations of two accounts in two coins, one of an order that met two.
func various() []market.Fill {
	met := liquidation(alice, "BTC", 1, 90*time.Second, "0.5")
	again := met
	again.Tid, again.Px, again.StartPosition = met.Tid+1, "30134.0", "4.5"
	short := liquidation(bob, "BTC", 2, time.Hour, "2.25")
	short.Side, short.StartPosition, short.Dir, short.ClosedPnl = market.Buy, "-2.25", "Close Short", "-100.75"
	other := met // of the side that was not liquidated
	other.Address, other.Side, other.Crossed, other.Dir, other.StartPosition, other.ClosedPnl = bob, market.Buy, false, "Open Long", "0.0", "0.0"
	return []market.Fill{met, again, short, other, liquidation(alice, "xyz:GOLD", 3, 25*time.Hour, "1.0"), liquidation(bob, "xyz:GOLD", 4, 26*time.Hour, "3.0")}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	datatest.PutLiquidations(t, w.series, various()...)
	for name, target := range map[string]string{
		"stat":          "/stat?interval=2d",
		"stat-coin":     "/stat?coin=BTC&interval=1h",
		"stat-by-coin":  "/stat-by-coin?interval=2d",
		"history":       "/history?coin=BTC&interval=30m&limit=3",
		"top-positions": "/top-positions?coin=BTC&interval=1d&limit=5",
	} {
		w.Get(t, w.SubKey, root+target).Golden(t, name)
	}
}

// Clients send neither an interval nor a limit, where these are not required.
func TestWhatIsNotSaidIsADay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	datatest.PutLiquidations(t, w.series, various()...)
	for unsaid, said := range map[string]string{
		"/stat":                               "/stat?interval=1d",
		"/stat?coin=BTC":                      "/stat?coin=BTC&interval=24h",
		"/stat-by-coin?coin=BTC":              "/stat-by-coin?interval=1d",
		"/history?coin=BTC":                   "/history?coin=BTC&interval=1d&limit=20",
		"/history":                            "/history?interval=1d&limit=20",
		"/top-positions?coin=BTC&interval=1d": "/top-positions?coin=BTC&interval=1d&limit=10",
	} {
		a, b := w.Get(t, w.SubKey, root+unsaid), w.Get(t, w.SubKey, root+said)
		if a.Status != 200 || string(a.Body) != string(b.Body) {
			t.Errorf("%s: %d %s\nwant %s", unsaid, a.Status, a.Body, b.Body)
		}
	}
}

func TestAWindowBeginsWhereItIsAskedTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	datatest.PutLiquidations(t, w.series, various()...)
	for interval, want := range map[string]string{
		"1s": "0 0 0 0.0", "89s": "0 0 0 0.0", "90s": "1 0 1 30134.5", "59m": "1 0 1 30134.5", "1h": "1 1 2 97938.25",
		"1d": "1 1 2 97938.25", "25h": "2 1 2 128073.25", "26h": "3 1 2 218478.25", "60d": "3 1 2 218478.25", "8w": "3 1 2 218478.25",
	} {
		s := apitest.Data[catalog.LiquidationStats](t, w.Get(t, w.SubKey, root+"/stat?interval="+interval))
		if got := fmt.Sprint(s.LongLiquidations, s.ShortLiquidations, s.Addresses, " ", s.TotalFilled); got != want {
			t.Errorf("%s: %s, want %s", interval, got, want)
		}
	}
}

// Nothing is known of periods before the first liquidation that is; those without one since are
// zero.
func TestHistoryBeginsWithTheFirstLiquidation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if answer := w.Get(t, w.SubKey, root+"/history"); string(answer.Body) != `{"code":"0","msg":"success","data":[]}` {
		t.Errorf("without any: %s", answer.Body)
	}
	datatest.PutLiquidations(t, w.series, various()...)
	list := apitest.Data[[]catalog.LiquidationStats](t, w.Get(t, w.SubKey, root+"/history?coin=BTC&interval=1h&limit=100"))
	if len(list) != 27 || list[0].StartTime != "2026-11-20T08:00:00Z" || list[0].TotalFilled != "0.0" || list[26].StartTime != "2026-11-21T10:00:00Z" {
		t.Errorf("%d periods, from %s", len(list), list[0].StartTime)
	}
	if day := apitest.Data[[]catalog.LiquidationStats](t, w.Get(t, w.SubKey, root+"/history?limit=100&interval=60d")); len(day) != 1 || day[0].Addresses != 2 {
		t.Errorf("of 60 days: %+v", day)
	}
}

// What an answer costs must not grow with what is stored.
func TestAnAnswerReadsLittle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var fills []market.Fill
	for i := range int64(6000) { // 100 a day in each of ten coins on six days of sixty
		fills = append(fills, liquidation(fmt.Sprintf("0x%040d", i%700), fmt.Sprint("COIN", i%10), i+1, time.Duration(i%6*9)*24*time.Hour+time.Duration(i)*13*time.Second, "1.0"))
	}
	datatest.PutLiquidations(t, w.series, fills...)
	for target, most := range map[string]float64{"/stat?interval=60d": 20, "/stat-by-coin?interval=60d": 40, "/history?interval=1d&limit=100": 20, "/top-positions?coin=COIN1&interval=60d&limit=100": 30} {
		if answer := w.Get(t, w.SubKey, root+target); answer.Status != 200 {
			t.Errorf("%s: %d %s", target, answer.Status, answer.Body)
		}
		if read := w.ReadUnits(t); read > most {
			t.Errorf("%s reads %g units, more than %g", target, read, most)
		} else {
			t.Logf("%s reads %g units", target, read)
		}
	}
}
