package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/contexts"
	"quotary/shared/data/datatest"
	"quotary/shared/data/meta"
	"quotary/shared/data/openpositions"
	"quotary/shared/data/whales"
	"quotary/shared/market"
	"quotary/shared/service/markedpositions"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

const root = "/upgrade/v2/hl/whales/"

type world struct {
	*apitest.World
	series *store.Series
	views  *store.Views
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := new(world)
	w.World = apitest.Open(t, catalog.PerpWhales, func(open *apitest.World) {
		w.series, w.views = open.Series(), open.Views(t)
		r := &reader{series: w.series, positions: markedpositions.New(w.views, open.Now), events: whales.EventsOnly.Open(w.views, open.Now)}
		r.register(open.Family)
	})
	return w
}

const start = int64(1_790_000_000_000) // ms

func num(text string) market.Decimal {
	d, err := market.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

// account is account n of the main dex with so much cash and positions of "coin size cost", where a
// third part is its isolated margin.
func account(n int, cash string, positions ...string) *market.Account {
	a := &market.Account{Address: fmt.Sprintf("0x%040x", n), Mode: market.ModeStandard, Anchored: start, Dexes: []market.DexFunds{{Anchored: start, Cash: num(cash)}}}
	for i, text := range positions {
		part := strings.Fields(text)
		h := market.Holding{Coin: part[0], Leverage: market.Leverage{Value: 5}, Last: market.Order{Time: start + int64(10*n+i)},
			Open: &market.OpenPosition{Size: num(part[1]), Cost: num(part[2]), FundingSinceOpen: num("12.5"), Opened: start - int64(1000*n)}}
		if len(part) > 3 {
			h.Leverage.Isolated, h.Open.Margin, h.Open.FundingSinceOpen = true, num(part[3]), num("-3")
		}
		a.Holdings = append(a.Holdings, h)
	}
	return a
}

// positions are those of four whales and of one that is none: 2 has positions that are large
// together only, 4 has just told its fills.
func positions() *market.Positions {
	p := new(market.Positions)
	m := markets()
	for _, a := range []*market.Account{
		account(1, "500000", "BTC 40 1180000"),
		account(2, "300000", "BTC -20 -610000", "ETH 250 490000"),
		account(3, "9000000", "ETH -1000 -2100000 400000"),
		account(5, "10000", "BTC 1 30000"),
	} {
		p.SetAccount(a, m)
	}
	p.Add(&market.Fill{Address: fmt.Sprintf("0x%040x", 4), Coin: "BTC", Px: "30000.0", Sz: "50.0", Side: market.Buy, Time: start, StartPosition: "0.0", Tid: 9})
	return p
}

func view() meta.View { return datatest.TwoPerps(start, 40, 25) }

func markets() *market.Markets {
	v := view()
	return v.Markets()
}

func (w *world) publish(t *testing.T) {
	t.Helper()
	storetest.Publish(t, w.views, openpositions.Published, positions().Table(start))
	storetest.Publish(t, w.views, meta.Published, view())
	storetest.Publish(t, w.views, contexts.Published, contexts.View{Time: start, Marks: map[string]string{"BTC": "30000.0", "ETH": "2000.0"}, Interests: map[string]string{"BTC": "80.0", "ETH": "625.0"}})
}

// rows are the positions that an answer lists, as user and symbol.
func (w *world) rows(t *testing.T, query string) string {
	t.Helper()
	var list []string
	for _, p := range apitest.Data[[]catalog.WhalePosition](t, w.Get(t, w.SubKey, root+"open-positions"+query)) {
		list = append(list, strings.TrimLeft(p.User, "0x")+p.Symbol)
	}
	return strings.Join(list, " ")
}

func TestOpenPositionsOfWhales(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Get(t, w.SubKey, root+"open-positions").Refused(t, http.StatusServiceUnavailable, "have not arrived yet")
	w.Move(time.Minute)
	w.publish(t)
	answer := w.Get(t, w.SubKey, root+"open-positions?take=5")
	answer.Golden(t, "open-positions")
	if got := answer.Header[catalog.HeaderDataCoverage]; got != "0.7986" { // 111 BTC and 1,250 ETH of 160 and 1,250
		t.Errorf("it covers %q", got)
	}
	for query, want := range map[string]string{
		"":                                   "1BTC 2BTC 2ETH 3ETH 4BTC", // the newest first, then those of which it is not known
		"?take=2":                            "1BTC 2BTC",
		"?coin=ETH":                          "2ETH 3ETH",
		"?coin=DOGE":                         "",
		"?dir=short":                         "2BTC 3ETH",
		"?dir=long&topBy=position-value":     "4BTC 1BTC 2ETH",
		"?npnlSide=profit":                   "1BTC 2BTC 2ETH 3ETH",
		"?npnl-side=loss":                    "",
		"?frSide=profit":                     "3ETH",
		"?fr-side=loss":                      "1BTC 2BTC 2ETH",
		"?marginMode=%20Isolated%20":         "3ETH",
		"?marginMode=CROSS":                  "1BTC 2BTC 2ETH",
		"?marginMode=all&take=1":             "1BTC",
		"?topBy=margin-balance":              "3ETH 1BTC 2BTC 2ETH 4BTC",
		"?top-by=profit":                     "3ETH 1BTC 2BTC 2ETH 4BTC",
		"?topBy=loss":                        "2BTC 2ETH 1BTC 3ETH 4BTC",
		"?min_usd=1200000":                   "1BTC 3ETH 4BTC",
		"?min_usd=1200000.0001&topBy=profit": "3ETH 4BTC",
	} {
		if got := w.rows(t, query); got != want {
			t.Errorf("%s lists %s, want %s", query, got, want)
		}
	}
}

func TestDirectionsOfWhales(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(t)
	w.Get(t, w.SubKey, root+"directions?coin=BTC").Golden(t, "directions")
	if got := apitest.Data[catalog.WhaleDirectionCounts](t, w.Get(t, w.SubKey, root+"directions")); got != (catalog.WhaleDirectionCounts{LongCount: 3, ShortCount: 2}) {
		t.Errorf("in all coins there are %+v", got)
	}
}

func TestLatestEventsOfWhales(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(t)
	w.Get(t, w.SubKey, root+"latest-events").Refused(t, http.StatusServiceUnavailable, "have not arrived yet")
	w.Move(time.Minute)
	event := func(ms int64, n int, coin string, action market.PositionAction, size, value string) whales.Event {
		return whales.Event{Time: start + ms, User: fmt.Sprintf("0x%040x", n), Coin: coin, Action: action, Size: num(size), Value: num(value)}
	}
	opened, closed := event(1, 1, "BTC", market.PositionOpened, "40", "1200000"), event(3, 3, "ETH", market.PositionClosed, "-1000", "2000000")
	opened.Isolated, opened.EntryPx, opened.LiqPx = new(false), new(num("29500.5")), new(num("17307.69231"))
	closed.Isolated, closed.EntryPx = new(true), new(num("2100"))
	storetest.Publish(t, w.views, whales.PublishedEvents, whales.Events{Time: start, Events: []whales.Event{opened, event(2, 4, "BTC", market.PositionFlipped, "-50", "1500000"), closed}})
	w.Get(t, w.SubKey, root+"latest-events?limit=3").Golden(t, "latest-events")
	for query, want := range map[string]string{"?coin=BTC": "5 1", "?take=2": "2 5", "?limit=1": "2", "?coin=DOGE": ""} {
		var list []string
		for _, e := range apitest.Data[[]catalog.WhaleEvent](t, w.Get(t, w.SubKey, root+"latest-events"+query)) {
			list = append(list, fmt.Sprint(e.PositionAction))
		}
		if got := strings.Join(list, " "); got != want {
			t.Errorf("%s lists %s, want %s", query, got, want)
		}
	}
}

func TestLongRatiosOfWhales(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(t)
	var rows []store.SeriesRow
	for i := range int64(3) {
		ms := start/3_600_000*3_600_000 + i*3_600_000
		sides := whales.NewSides(ms+400, market.WhaleSides{Longs: 2 + i, Shorts: 1, LongValue: market.Micros(3_000_000_500_000 + i), ShortValue: 1_500_000_000_000})
		rows = append(rows, whales.Row(market.Hour1, ms, &sides))
	}
	must.Do(t, w.series.Put(t.Context(), rows))
	w.Get(t, w.SubKey, root+"history-long-ratio?limit=2").Golden(t, "history-long-ratio")
	if got := apitest.Data[[]catalog.WhaleLongRatio](t, w.Get(t, w.SubKey, root+"history-long-ratio?interval=1d&coin=BTC")); len(got) != 0 {
		t.Errorf("of days there are %+v", got)
	}
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for target, want := range map[string]string{
		"open-positions?marginMode=Portfolio": "invalid marginMode: Portfolio, expect cross/isolated/all",
		"open-positions?dir=up":               "invalid dir: ",
		"open-positions?npnlSide=big":         "invalid npnlSide: ",
		"open-positions?fr-side=big":          "invalid frSide: ",
		"open-positions?topBy=size":           "invalid topBy: ",
		"open-positions?take=201":             "invalid take: ",
		"open-positions?take=0":               "invalid take: ",
		"open-positions?min_usd=-1":           "invalid min_usd: ",
		"open-positions?coin=B%20C":           "invalid coin: ",
		"latest-events?limit=101":             "invalid limit: ",
		"directions?coin=%22":                 "invalid coin: ",
		"history-long-ratio?interval=15m":     "invalid interval: ",
		"history-long-ratio?limit=201":        "invalid limit: ",
	} {
		w.Get(t, w.SubKey, root+target).Refused(t, http.StatusBadRequest, want)
	}
}

func TestWhatCannotBeReadIsAnInternalErrorThatRevealsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{openpositions.Name, whales.EventsName} {
		must.Do(t, w.views.Publish(t.Context(), name, []byte(`{"rows":7,"events":"secret"}`)))
	}
	for _, target := range []string{"open-positions", "directions", "latest-events"} {
		w.Get(t, w.SubKey, root+target).Refused(t, http.StatusInternalServerError, "internal error")
	}
}
