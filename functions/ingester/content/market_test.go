package content

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/data/contexts"
	"quotary/shared/data/datatest"
	"quotary/shared/data/flashes"
	"quotary/shared/data/pairliquidations"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairtickers"
	"quotary/shared/data/whales"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/testenv"
)

// A perpetual of a coin that no exchange trades is spoken of with its platform: so where the
// domain of exchanges does not run.
func TestPerpetualsMakeFlashes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := time.Now()
	figures := json.RawMessage(`[{"universe":[{"name":"SIM"},{"name":"OLD"}]},[{"markPx":"110","prevDayPx":"100","dayBaseVlm":"30","dayNtlVlm":"3300"},{"markPx":"1","prevDayPx":"0.0"}]]`)
	storetest.Publish(t, w.stores.Views, contexts.Published, contexts.View{Time: now.UnixMilli(), Perps: map[string]json.RawMessage{"": figures}})
	for day := range 8 {
		trade := market.Trade{Coin: "SIM", Px: market.DecimalFromInt(90), Sz: market.DecimalFromInt(10), Time: now.AddDate(0, 0, -day-1).UnixMilli(), Seq: int64(day), Tid: int64(day) + 1, Side: market.Buy}
		datatest.PutKlines(t, w.stores.Series, "SIM", trade)
	}
	stop := w.start(t, w.pipeline(w.stores))
	titles := func() (all []string) {
		v, err := flashes.Published.Open(w.stores.Views, time.Now).Get(t.Context())
		if err != nil {
			return nil
		}
		list, _ := v.Select(flashes.Selection{Platform: flashes.House, Language: "en", Limit: 10})
		for _, f := range list {
			all = append(all, f.Title)
		}
		slices.Sort(all)
		return all
	}
	want := []string{
		"SIM perpetual (Hyperliquid) is at a new high of 8 days: 110 USD", "SIM perpetual (Hyperliquid) is up 10% in 24 hours, at 110 USD",
		"SIM perpetual (Hyperliquid) was traded 3 times as much as usual in 24 hours, for 3300 USD",
	}
	testenv.Until(t, "flashes are listed", func() bool { return len(titles()) == len(want) })
	stop()
	if diff := cmp.Diff(want, titles()); diff != "" {
		t.Error(diff)
	}
}

// What accounts of the perpetual exchange did is said, of which no exchange is followed.
func TestAccountsOfThePerpetualExchangeMakeFlashes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now, million := time.Now().UnixMilli(), market.DecimalFromInt(1_000_000)
	storetest.Publish(t, w.stores.Views, pairliquidations.OfPerps, pairliquidations.View{Time: now, Pairs: []pairliquidations.Pair{
		{Key: "simswapusdc:hyperliquid", Coin: "sim", Platform: "hyperliquid", Minutes: []pairliquidations.Minute{{Time: now, Long: million, Largest: million, Count: 1}}},
	}})
	const user = "0x00000000000000000000000000000000000000aa"
	storetest.Publish(t, w.stores.Views, whales.PublishedEvents, whales.Events{Time: now, Events: []whales.Event{
		{Time: now, User: user, Coin: "SIM", Action: market.PositionOpened, Size: million, Value: market.DecimalFromInt(7_000_000)},
	}})
	stop := w.start(t, w.pipeline(w.stores))
	titles := func() (all []string) {
		v, err := flashes.Published.Open(w.stores.Views, time.Now).Get(t.Context())
		if err != nil {
			return nil
		}
		list, _ := v.Select(flashes.Selection{Platform: flashes.House, Language: "cn", Limit: 10, Keep: func(f *flashes.Flash) bool { return f.FlashType != 15 }})
		for _, f := range list {
			all = append(all, f.Title)
		}
		slices.Sort(all)
		return all
	}
	testenv.Until(t, "flashes are listed", func() bool { return len(titles()) == 2 })
	stop()
	want := []string{"SIM (hyperliquid) 一笔 1000000 美元的仓位被强平", "鲸鱼 " + user + " 在 Hyperliquid 新开 SIM 多单，价值 7000000 美元"}
	if diff := cmp.Diff(want, titles()); diff != "" {
		t.Error(diff)
	}
}

// What exchanges publish becomes flashes, once, also over a restart.
func TestMarketsMakeFlashes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	listed := func() (list []flashes.Flash) {
		v, err := flashes.Published.Open(w.stores.Views, time.Now).Get(t.Context())
		if err != nil {
			return nil
		}
		list, _ = v.Select(flashes.Selection{Platform: flashes.House, Language: "cn", Limit: 10})
		return list
	}
	const key = "btcusdt:binance"
	storetest.Publish(t, w.stores.Views, pairs.Published, pairs.View{Pairs: []pairs.Pair{{Pair: market.Pair{Key: key, Platform: "binance", Base: "BTC", Quote: "USDT"}, Followed: true}}})
	storetest.Publish(t, w.stores.Views, pairtickers.Published, pairtickers.View{Tickers: []pairtickers.Ticker{{Pair: key, Last: market.DecimalFromInt(110), Open: market.DecimalFromInt(100), Amount: market.DecimalFromInt(5)}}})
	stop := w.start(t, w.pipeline(w.stores))
	testenv.Until(t, "a flash is listed", func() bool { return len(listed()) == 1 })
	before := listed()[0]
	stop()
	if before.Title != "BTC 24 小时上涨 10%，现报 110 USDT" || before.FlashType != 23 {
		t.Errorf("%+v", before)
	}
	p := w.pipeline(w.stores)
	stop = w.start(t, p)
	testenv.Until(t, "the markets were looked at again", func() bool { return p.Stats.Flushed.Load() > 0 })
	stop()
	if now := listed(); len(now) != 1 || now[0] != before {
		t.Errorf("after a restart %+v", now)
	}
}
