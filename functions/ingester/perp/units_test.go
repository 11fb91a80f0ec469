package perp

import (
	"maps"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"quotary/shared/data/mids"
	"quotary/shared/data/tickers"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

func TestALateTradeDoesNotTakeBackTheLastPrice(t *testing.T) {
	t.Parallel()
	p := newLastPrices()
	px := func(s string) market.Decimal { d, _ := market.ParseDecimal(s); return d }
	must.Do(t, p.Apply(&Batch{Events: market.Events{Trades: []market.Trade{{Coin: "BTC", Px: px("2"), Time: 20, Seq: 1, Tid: 2}, {Coin: "BTC", Px: px("1"), Time: 10, Seq: 9, Tid: 1}, {Coin: "BTC", Px: px("3"), Time: 20, Seq: 0, Tid: 3}, {Coin: "A", Px: px("7.5"), Time: 1, Tid: 1}}}}, nil, time.Time{}))
	want := `{"time":99,"tickers":[{"coin":"A","price":"7.5","time":1,"seq":0,"tid":1},{"coin":"BTC","price":"2.0","time":20,"seq":1,"tid":2}]}`
	if got := string(p.Changes(time.UnixMilli(99), false).Views[0].Body); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	s := newSet()
	err := s.restore(map[string][]byte{tickers.Name: []byte(want), mids.Name: []byte(`{"time":5,"mids":{"":{"BTC":"1.5"}}}`)})
	if err != nil || stateOf[tickers.View, *lastPrices](s).last["BTC"].Price != "2.0" || stateOf[mids.View, *midPrices](s).byDex[""]["BTC"] != "1.5" {
		t.Fatal(err)
	}
	if stateOf[tickers.View, *lastPrices](s).add(&market.Trade{Coin: "BTC", Px: px("1"), Time: 20, Seq: 0, Tid: 3}) {
		t.Fatal("an earlier trade of the same ms overwrote the restored price")
	}
}

func TestMemoryStaysBounded(t *testing.T) {
	t.Parallel()
	s := newSet()
	d := newDisk()
	p := &process{d, s, rand.New(rand.NewPCG(1, 1)), time.UnixMilli(base).UTC()}
	for i := range 3000 {
		f := market.Fill{Address: "0x1", Coin: "BTC", Px: "2.5", Sz: "1.0", Side: market.Buy, Time: base + int64(i)*60_000, StartPosition: strconv.Itoa(i) + ".0", ClosedPnl: "0.0", Fee: "0.0", Oid: 1, Tid: int64(i + 1), Crossed: true}
		p.now = time.UnixMilli(f.Time)
		must.Do(t, p.apply(&Batch{Events: market.Events{Fills: []market.Fill{f}}}))
		s.changes(p.now, false)
	}
	var count func(n *klineNode) int
	count = func(n *klineNode) int {
		total := 1
		for _, c := range n.children {
			total += count(c)
		}
		return total
	}
	nodes := 0
	for week := range maps.Values(of[*Klines](s).coins["BTC"].weeks) {
		nodes += count(week)
	}
	buckets := 0
	for _, m := range of[*topFills](s).coins["BTC"].buckets {
		buckets += len(m)
	}
	if nodes > 400 || buckets > 60 {
		t.Fatalf("%d buckets of klines and %d of top fills in memory", nodes, buckets)
	}
}
