package exchange

import (
	"testing"
	"time"

	"quotary/shared/data/wants"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
)

// A pair that a client asks for is filled back like a followed one. When nobody has asked
// for it for a day it is forgotten; what is stored of it stays.
func TestAPairThatAClientWantsIsFilledBackForAsLongAsItIsWanted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	db := storetest.DynamoDB(t)
	w.config.Coins = []string{"BTC"}
	w.config.Wanted = store.NewDocuments(db, storetest.Tables(t, db)+schema.DocumentsTable, wants.Pairs.Name, wants.Limits)
	wanting := func() *history {
		h := w.history(t)
		h.wanted = w.config.wanted()
		h.wanted.now = w.clock.Now
		return h
	}
	const key, followed = "ethswapusdt:binance", "btcswapusdt:binance"
	for _, id := range []string{key, followed, "nobodyusdt:binance"} {
		if refused, err := wants.Pairs.Want(t.Context(), w.config.Wanted, "one", []string{id}, noon); err != nil || refused > 0 {
			t.Fatal(refused, err)
		}
	}
	truth := w.truth(t, w.Market("ETHUSDT", true), noon)
	h := wanting()
	w.run(t, w.source(h), func() bool { return unlike(t, w.stored(t, key), truth) == "" })
	if p := h.filled[key]; !p.Wanted || h.filled[followed].Wanted || len(h.filled) != 2 {
		t.Errorf("known are %+v", h.filled)
	}
	w.clock.Move(25 * time.Hour)
	h = wanting()
	btc := w.truth(t, w.Market("BTCUSDT", true), w.clock.Now())
	w.run(t, w.source(h), func() bool { return unlike(t, w.stored(t, followed), btc) == "" })
	if len(h.filled) != 1 {
		t.Errorf("a day later known are %+v", h.filled)
	}
	if diff := unlike(t, w.stored(t, key), truth); diff != "" {
		t.Errorf("what was stored has changed: %s", diff)
	}
}
