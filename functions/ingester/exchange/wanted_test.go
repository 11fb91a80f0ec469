package exchange

import (
	"context"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/wants"
	"quotary/shared/market"
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
	table := storetest.Tables(t, db) + schema.DocumentsTable
	w.config.Wanted = wants.Pairs.Open(func(kind string, limits store.DocumentLimits) *store.Documents {
		return store.NewDocuments(db, table, kind, limits)
	})
	wanting := func() *history {
		h := w.history(t)
		h.wanted = w.config.wanted()
		h.wanted.now = w.clock.Now
		return h
	}
	const key, followed = "ethswapusdt:binance", "btcswapusdt:binance"
	for _, id := range []string{key, followed, "nobodyusdt:binance"} {
		if refused, err := w.config.Wanted.Want(t.Context(), "one", []string{id}, noon); err != nil || len(refused) > 0 {
			t.Fatal(refused, err)
		}
	}
	truth := w.truth(t, w.Market("ETHUSDT", true), noon)
	h := wanting()
	sources := w.source(h)
	var first *Batch // of the pair
	follow := sources[0].Follow
	sources[0].Follow = func(ctx context.Context, from engine.Position, sink engine.Sink[*Batch]) error {
		return follow(ctx, from, func(ctx context.Context, d engine.Delivery[*Batch]) error {
			if first == nil && len(d.Batch.Runs) > 0 && d.Batch.Runs[0].Pair == key {
				first = &Batch{Runs: d.Batch.Runs, Past: d.Batch.Past}
			}
			return sink(ctx, d)
		})
	}
	w.run(t, sources, func() bool { return unlike(t, w.stored(t, key), truth) == "" })
	if first == nil || len(first.Past) != 1 || first.Past[0].Interval != market.Day1 || first.Past[0].To != first.Runs[0].From || len(first.Past[0].Candles) != 4 {
		t.Errorf("today comes without the days before: %+v", first)
	}
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
