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
	"quotary/shared/testing/must"
	"quotary/shared/testing/testclock"
	"quotary/shared/testing/testenv"
)

func TestTheViewHasTheBestLevelsOfBooksThatChange(t *testing.T) {
	t.Parallel()
	p := newBooks()
	now := noon
	apply := func(pair string, at time.Time, bid int64, levels int) {
		t.Helper()
		book := market.PairBook{Pair: pair, Time: at.UnixMilli(), Asks: []market.PairLevel{{Px: dec(bid + 1), Sz: dec(3)}}}
		for i := range levels {
			book.Bids = append(book.Bids, market.PairLevel{Px: dec(bid - int64(i)), Sz: dec(2)})
		}
		must.Do(t, p.Apply(&Batch{PairEvents: market.PairEvents{Books: []market.PairBook{book}}}, nil, now))
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
	apply("b:x", now, 500, 150)
	apply("a:x", now, 600, 1)
	apply("b:x", now.Add(-time.Second), 900, 1) // late
	v, ok := published()
	b, _ := v.Lookup("b:x")
	if !ok || len(v.Books) != 2 || len(b.Bids) != pairbooks.Levels || !b.Bids[0][0].Equal(dec(500)) || !b.Bids[99][0].Equal(dec(401)) || !b.Asks[0][1].Equal(dec(3)) || v.Time != now.UnixMilli() {
		t.Fatalf("%+v", v)
	}
	apply("a:x", now.Add(58*time.Second), 601, 1) // of a clock that is ahead
	if _, ok := published(); ok {
		t.Error("a second view comes at once")
	}
	now = now.Add(booksEvery)
	if v, _ = published(); len(v.Books) != 2 {
		t.Errorf("of two books there are %+v", v)
	}
	now = now.Add(bookFor)
	apply("a:x", now, 602, 1)
	if v, _ = published(); len(v.Books) != 1 || v.Books[0].Pair != "a:x" {
		t.Errorf("of a book that stands still there is %+v", v)
	}
	now = now.Add(bookFor + 1)
	if v, ok = published(); !ok || len(v.Books) != 0 {
		t.Errorf("where nothing comes any more there is %+v", v)
	}
	now = now.Add(booksEvery)
	if _, ok := published(); ok {
		t.Error("nothing has changed, and a view comes")
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
		for _, b := range v.Books {
			book := market.PairBook{Pair: b.Pair, Time: b.Time}
			for _, l := range b.Bids {
				book.Bids = append(book.Bids, market.PairLevel{Px: l[0], Sz: l[1]})
			}
			for _, l := range b.Asks {
				book.Asks = append(book.Asks, market.PairLevel{Px: l[0], Sz: l[1]})
			}
			sourcetest.IsBook(t, markets[b.Pair], followed[b.Pair], book, pairbooks.Levels)
			if b.Time >= from {
				seen[b.Pair] = true
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
}
