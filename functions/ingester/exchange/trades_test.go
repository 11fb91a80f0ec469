package exchange

import (
	"testing"
	"time"

	"quotary/shared/data/pairtrades"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

func TestTheNewestTradesOfEachPairAreKeptOnce(t *testing.T) {
	t.Parallel()
	p := newTrades()
	now := noon
	apply := func(p Projection, pair string, from, to int64) {
		t.Helper()
		b := NewBatch()
		for id := from; id < to; id++ {
			b.Trades = append(b.Trades, market.PairTrade{Pair: pair, ID: id, Time: now.UnixMilli() + id, Side: market.Sell, Px: market.DecimalFromInt(2), Sz: market.DecimalFromInt(3)})
		}
		must.Do(t, p.Apply(b, nil, now))
	}
	published := func(p Projection) (pairtrades.View, bool) {
		t.Helper()
		views := p.Changes(now, false).Views
		if len(views) == 0 {
			return pairtrades.View{}, false
		}
		v := must.Get(pairtrades.Published.Decode(views[0].Body))(t)
		return v, true
	}
	apply(p, "a:x", 1, 450)
	apply(p, "b:x", 7, 9)
	apply(p, "a:x", 440, 452) // some come again
	v, ok := published(p)
	list := v.Trades("a:x")
	if !ok || len(list) != pairtrades.Most || list[0].ID != 352 || list[99].ID != 451 || len(v.Trades("b:x")) != 2 || v.Trades("nobody") != nil {
		t.Fatalf("%d trades from %+v", len(list), list[:1])
	}
	for i, one := range list[1:] {
		if one.ID != list[i].ID+1 || !one.Sold || !one.Paid.Equal(market.DecimalFromInt(6)) {
			t.Fatalf("behind %+v is %+v", list[i], one)
		}
	}
	apply(p, "a:x", 452, 453)
	if _, ok := published(p); ok {
		t.Error("a second view comes at once")
	}
	now = now.Add(tradesEvery)
	if v, ok = published(p); !ok || len(v.Trades("a:x")) != pairtrades.Most {
		t.Error("the next view is missing or is not whole")
	}
	// A trade of an id that is none hides none of those behind it.
	high := NewBatch()
	high.Trades = []market.PairTrade{{Pair: "c:x", ID: 9_000_000_000_000, Time: now.UnixMilli(), Px: market.DecimalFromInt(2), Sz: market.DecimalFromInt(3)}}
	must.Do(t, p.Apply(high, nil, now))
	apply(p, "c:x", 5, 7)
	now = now.Add(tradesEvery)
	if of, _ := published(p); len(of.Trades("c:x")) != 3 {
		t.Errorf("behind a high id there are %d trades", len(of.Trades("c:x")))
	}
	// Another process goes on, and a pair that trades no more is dropped.
	q := newTrades()
	must.Do(t, q.Restore(map[string][]byte{pairtrades.Name: pairtrades.Published.Encode(v)}))
	now = now.Add(25 * time.Hour)
	apply(q, "a:x", 450, 460)
	if v, ok = published(q); !ok || len(v.Trades("a:x")) != pairtrades.Most || v.Trades("a:x")[99].ID != 459 || v.Trades("b:x") != nil {
		t.Errorf("after a restart %+v", v)
	}
}
