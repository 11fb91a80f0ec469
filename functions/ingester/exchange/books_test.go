package exchange

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source/sourcetest"
	"quotary/localstack/sim/binance"
	"quotary/localstack/sim/bybit"
	"quotary/localstack/sim/okx"
	"quotary/localstack/sim/trading"
	"quotary/shared/data/pairbooks"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testclock"
	"quotary/shared/testing/testenv"
)

func TestTheViewHasAllLevelsOfBooksUntilTheyAreLostOrStale(t *testing.T) {
	t.Parallel()
	p := newBooks()
	now := noon
	take := func(book market.PairBook) {
		t.Helper()
		must.Do(t, p.Apply(&Batch{PairEvents: market.PairEvents{Books: []market.PairBook{book}}}, nil, now))
	}
	apply := func(pair string, at time.Time, bid int64, levels int) {
		t.Helper()
		book := market.PairBook{Pair: pair, Time: at.UnixMilli(), Asks: []market.PairLevel{{Px: dec(bid + 1), Sz: dec(3)}}}
		for i := range levels {
			book.Bids = append(book.Bids, market.PairLevel{Px: dec(bid - int64(i)), Sz: dec(2)})
		}
		take(book)
	}
	published := func() (pairbooks.View, bool) {
		t.Helper()
		views := p.Changes(now, false).Views
		if len(views) == 0 {
			return pairbooks.View{}, false
		}
		v := must.Get(pairbooks.Published.Decode(views[0].Body))(t)
		return v, true
	}
	known := func(v pairbooks.View, pair string) string {
		b, followed, err := v.Lookup(pair, now)
		switch {
		case err != nil:
			t.Fatal(err)
		case !followed:
			return "not followed"
		case b.Lost:
			return "lost"
		}
		return "known"
	}
	apply("b:x", now, 500, 150)
	apply("a:x", now, 600, 1)
	apply("b:x", now.Add(-time.Second), 900, 1) // late
	v, ok := published()
	b, _, err := v.Lookup("b:x", now)
	if !ok || err != nil || len(v.Books) != 2 || len(b.Bids) != 150 || !b.Bids[0].Px.Equal(dec(500)) || !b.Bids[149].Px.Equal(dec(351)) || !b.Asks[0].Sz.Equal(dec(3)) || v.Time != now.UnixMilli() || b.Time != v.Time {
		t.Fatalf("%v, %+v", err, v)
	}
	apply("a:x", now.Add(58*time.Second), 601, 1) // of a clock that is ahead
	if _, ok := published(); ok {
		t.Error("a second view comes at once")
	}
	now = now.Add(booksEvery)
	take(market.PairBook{Pair: "a:x", Time: now.UnixMilli(), Lost: true})
	if v, _ = published(); known(v, "a:x") != "lost" || known(v, "b:x") != "known" || known(v, "c:x") != "not followed" {
		t.Errorf("a book that is lost is %s, the other %s", known(v, "a:x"), known(v, "b:x"))
	}
	now = now.Add(pairbooks.StaleAfter)
	if known(v, "b:x") != "lost" {
		t.Error("a book that stands still is read out of an old view")
	}
	apply("a:x", now, 602, 1)
	if v, _ = published(); known(v, "a:x") != "known" || known(v, "b:x") != "lost" || v.Books["b:x"].Levels != nil {
		t.Errorf("a book that came again is %s, one that stands still %s", known(v, "a:x"), known(v, "b:x"))
	}
	now = now.Add(pairbooks.StaleAfter + 1)
	if v, ok = published(); !ok || known(v, "a:x") != "lost" {
		t.Errorf("where nothing comes any more there is %+v", v)
	}
	now = now.Add(booksEvery)
	if _, ok := published(); ok {
		t.Error("nothing has changed, and a view comes")
	}
	now = now.Add(bookFollowed)
	if v, ok = published(); !ok || len(v.Books) != 0 {
		t.Errorf("books that are not followed any more are %+v", v)
	}
}

func TestASampleIsTakenOfTheFirstBookOfABucket(t *testing.T) {
	t.Parallel()
	p := newDepths()
	at := noon.UnixMilli()
	book := func(ms int64, lost bool) market.PairBook {
		return market.PairBook{Pair: "b:x", Time: ms, Lost: lost, Bids: []market.PairLevel{{Px: dec(ms % 100_000), Sz: dec(2)}}}
	}
	var rows []store.SeriesRow
	for _, one := range []market.PairBook{book(at+1, true), book(at+2, false), book(at+9_999, false), book(at+10_000, false), book(at+7, false), book(at+40_001, false)} {
		must.Do(t, p.Apply(&Batch{PairEvents: market.PairEvents{Books: []market.PairBook{one}}}, nil, noon))
		rows = append(rows, p.Changes(noon, false).Fine...)
	}
	series := storetest.Open(t).Series
	storetest.PutSeries(t, series, rows...)
	got := must.Get(pairbooks.Samples(t.Context(), series, "b:x", time.Time{}, time.Time{}, 100, false))(t)
	var times []int64
	for _, one := range got {
		times = append(times, one.Time-at)
		if len(one.Bids) != 1 || !one.Bids[0].Px.Equal(dec(one.Time%100_000)) {
			t.Errorf("%+v", one)
		}
	}
	if !slices.Equal(times, []int64{2, 10_000, 40_001}) {
		t.Errorf("samples are of %v", times)
	}
}

// All exchanges' books are followed by the engine: the view has what rests there at its time,
// also after updates were lost.
func TestTheViewHasTheBooksOfAllExchanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	clock := testclock.Running(time.Now(), 5)
	onBinance, onOKX, onBybit := binance.New(binance.Config{Clock: clock}), okx.New(okx.Config{Clock: clock}), bybit.New(bybit.Config{Clock: clock})
	w.config.Exchanges, w.config.Books, w.config.Coins = []string{"binance", "okx", "bybit"}, []string{"BTC"}, []string{"BTC", "SOL"}
	w.config.URLs = map[string]string{}
	for name, x := range map[string]interface {
		Handler() http.Handler
		Disconnect()
	}{"binance": onBinance, "okx": onOKX, "bybit": onBybit} {
		w.config.URLs[name] = sourcetest.Serve(t, x)
	}
	markets := map[string]*trading.Market{
		"btcusdt:binance": onBinance.Market("BTCUSDT", false), "btcswapusdt:binance": onBinance.Market("BTCUSDT", true),
		"btcswapusd:binance": onBinance.Market("BTCUSD_PERP", true),
		"btcusdt:okex":       onOKX.Market("BTC-USDT"), "btcswapusdt:okcoinfutures": onOKX.Market("BTC-USDT-SWAP"), "btcswapusd:okcoinfutures": onOKX.Market("BTC-USD-SWAP"),
		"btcusdt:bybit": onBybit.Market(bybit.Spot, "BTCUSDT"), "btcswapusdt:bybit": onBybit.Market(bybit.Linear, "BTCUSDT"), "btcswapusd:bybit": onBybit.Market(bybit.Inverse, "BTCUSD"),
	}
	venues := must.Get(w.config.venues())(t)
	var sources []engine.Source[*Batch]
	followed := map[string]market.Pair{}
	for _, v := range venues {
		v = onClock(v, clock)
		lists := w.config.lister(v)
		pairs := must.Get(lists.of(t.Context(), w.config.Books))(t)
		for _, pair := range pairs {
			followed[pair.Key] = pair
		}
		for _, s := range w.config.sources(v, lists, nil) {
			if strings.HasSuffix(s.Name, " books") {
				sources = append(sources, s)
			}
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(markets)), slices.Sorted(maps.Keys(followed))); diff != "" {
		t.Fatalf("followed pairs (-want +got):\n%s", diff)
	}
	gaps := func() (all int64) {
		for _, s := range sources {
			all += s.Stats.Gaps.Load()
		}
		return all
	}
	views := pairbooks.Published.Open(w.config.Stores.Views, testclock.Running(time.Now(), 1000)) // which asks again at once
	seen, from := map[string]bool{}, int64(0)                                                     // books that were right, of that time or later, ms
	right := func() bool {
		v, err := views.Get(t.Context())
		if err != nil {
			return false
		}
		for pair := range v.Books {
			book, _, err := v.Lookup(pair, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if book.Lost {
				continue
			}
			sourcetest.IsBook(t, markets[pair], followed[pair], book, pairbooks.MaxLevels)
			if book.Time >= from {
				seen[pair] = true
			}
		}
		return len(seen) == len(markets)
	}
	w.run(t, sources, func() bool {
		if !right() {
			return false
		}
		if gaps() == 0 {
			onBinance.LoseBooks(1)
			onOKX.LoseBooks(1)
			onBybit.LoseBooks(1)
			testenv.Until(t, "updates are missing", func() bool { return gaps() >= 3 })
			seen, from = map[string]bool{}, clock().Add(2*time.Second).UnixMilli() // behind the changes that were on the way
			return false
		}
		return true
	})
	for _, s := range sources {
		if s.Stats.Reconnects.Load() > 0 {
			t.Errorf("%s has connected again for a missing update", s.Name)
		}
	}
	for pair, m := range markets {
		samples := must.Get(pairbooks.Samples(t.Context(), w.config.Stores.Series, pair, time.Time{}, time.Time{}, 1000, false))(t)
		if len(samples) == 0 {
			t.Errorf("%s has no samples", pair)
		}
		for _, one := range samples {
			sourcetest.IsBook(t, m, followed[pair], one, pairbooks.SampleLevels)
		}
	}
}
