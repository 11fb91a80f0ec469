package content

import (
	"testing"
	"time"

	"quotary/internal/testenv"
	"quotary/shared/data/flashes"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairtickers"
	"quotary/shared/market"
)

// What exchanges publish becomes flashes, once, also over a restart.
func TestMarketsMakeFlashes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	listed := func() (list []flashes.Flash) {
		v, err := flashes.Open(w.stores.Views, time.Now).Get(t.Context())
		if err != nil {
			return nil
		}
		list, _ = v.Select(flashes.Selection{Platform: flashes.House, Language: "cn", Limit: 10})
		return list
	}
	const key = "btcusdt:binance"
	if err := pairs.Publish(t.Context(), w.stores.Views, pairs.View{Pairs: []pairs.Pair{{Pair: market.Pair{Key: key, Platform: "binance", Base: "BTC", Quote: "USDT"}, Followed: true}}}); err != nil {
		t.Fatal(err)
	}
	if err := pairtickers.Publish(t.Context(), w.stores.Views, pairtickers.View{Tickers: []pairtickers.Ticker{{Pair: key, Last: market.Whole(110), Open: market.Whole(100), Amount: market.Whole(5)}}}); err != nil {
		t.Fatal(err)
	}
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
