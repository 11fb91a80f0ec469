package exchange

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/sourcetest"
	"quotary/localstack/sim/binance"
	"quotary/localstack/sim/bybit"
	"quotary/localstack/sim/okx"
	"quotary/localstack/sim/trading"
	"quotary/shared/data/largeorders"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testclock"
	"quotary/shared/testing/testenv"
)

// The lives of all large orders of the simulated exchanges, as books and trades tell them over
// WebSockets, are those that the exchanges made up.
func TestLargeOrdersAreThoseOfTheExchanges(t *testing.T) {
	t.Parallel()
	const minute = 60_000
	began := time.UnixMilli(noon.UnixMilli() / (3 * minute) * (3 * minute)).Add(2*time.Minute + 30*time.Second)
	clock := testclock.Running(began, 10) // faster, a busy machine is late
	w := newWorld(t)
	onBinance, onOKX, onBybit := binance.New(binance.Config{Clock: clock}), okx.New(okx.Config{Clock: clock}), bybit.New(bybit.Config{Clock: clock})
	w.config.Exchanges = []string{"binance", "okx", "bybit"}
	w.config.URLs = map[string]string{"binance": sourcetest.Serve(t, onBinance), "okx": sourcetest.Serve(t, onOKX), "bybit": sourcetest.Serve(t, onBybit)}
	markets := map[string]*trading.Market{
		"btcusdt:binance": onBinance.Market("BTCUSDT", false), "btcswapusdt:binance": onBinance.Market("BTCUSDT", true), "btcswapusd:binance": onBinance.Market("BTCUSD_PERP", true),
		"ethusdt:okex": onOKX.Market("ETH-USDT"), "btcswapusdt:okcoinfutures": onOKX.Market("BTC-USDT-SWAP"), "btcswapusd:okcoinfutures": onOKX.Market("BTC-USD-SWAP"),
		"btcusdt:bybit": onBybit.Market(bybit.Spot, "BTCUSDT"), "ethswapusdt:bybit": onBybit.Market(bybit.Linear, "ETHUSDT"), "btcswapusd:bybit": onBybit.Market(bybit.Inverse, "BTCUSD"),
	}
	p := newLargeOrders(new(leftOut))
	var mu sync.Mutex
	var rows []store.Row
	known := map[string]bool{} // whose books are
	pairs := map[string]market.Pair{}
	sink := func(_ context.Context, events *market.PairEvents) error {
		mu.Lock()
		defer mu.Unlock()
		for i := range events.LargeLevels {
			known[events.LargeLevels[i].Pair] = true
		}
		now := clock().Add(-time.Minute) // of which everything has come
		if err := p.Apply(&Batch{PairEvents: *events}, nil, now); err != nil {
			return err
		}
		for _, log := range p.Changes(now, false).Log {
			rows = append(rows, log.Rows...)
		}
		return nil
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	for _, v := range must.Get(w.config.venues())(t) {
		v = onClock(v, clock)
		var followed []market.Pair
		for _, pair := range must.Get(v.Pairs(ctx))(t) {
			if markets[pair.Key] != nil {
				followed = append(followed, pair)
				pairs[pair.Key] = pair
			}
		}
		books := source.Books{Levels: 25, Every: 20 * time.Millisecond, LargeFrom: largeFrom}
		running.Go(func() { _ = v.Follow(ctx, followed, v.Stats, sink) })
		running.Go(func() { _ = v.Venue.(Books).FollowBooks(ctx, followed, books, new(source.Stats), sink) })
	}
	testenv.Until(t, "all books are known", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(known) == len(markets)
	})
	from := clock().Add(time.Minute).UnixMilli()/(3*minute)*(3*minute) + 3*minute
	until := from + 4*minute // two of each market
	testenv.Until(t, "the orders are over", func() bool { return clock().UnixMilli() > until+70_000 })
	stop()
	running.Wait()

	var got, want []string
	for _, row := range rows {
		o := must.Get(largeorders.Decode(row))(t)
		if o.Start >= from && o.Start < until {
			order := largeorders.NewOrder(&o)
			order.Near = nil
			got = append(got, show(o.Pair, order, o.State(o.End), o.Bait()))
		}
	}
	states := map[market.LargeState]bool{}
	for key, m := range markets {
		for _, o := range m.LargeOrders(from, until) {
			if key == "btcusdt:binance" { // whose books change once a second
				o.Start, o.End = (o.Start+999)/1000*1000, (o.End+999)/1000*1000
			}
			order, bait := truthOf(t, m, pairs[key], o)
			state := order.State(order.End)
			states[state] = true
			want = append(want, show(key, largeorders.NewOrder(&order), state, bait))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%d orders, want %d (-want +got):\n%s", len(got), len(want), diff)
	}
	if len(want) < 2*len(markets) || len(states) < 3 {
		t.Errorf("%d orders of the states %v prove little", len(want), states)
	}
}

func show(pair string, order largeorders.Order, state market.LargeState, bait bool) string {
	return pair + " " + jsonOf(order) + " " + []string{"pending", "rests", "partly", "filled", "cancelled"}[state] + map[bool]string{true: " bait"}[bait]
}

// truthOf is a large order of a market as it is to be known, and whether it is bait.
func truthOf(t *testing.T, m *trading.Market, pair market.Pair, o trading.LargeOrder) (order market.LargeOrder, bait bool) {
	t.Helper()
	size := func(lots int64) market.Decimal {
		if m.Dollars > 0 {
			return dec(lots * m.Dollars)
		}
		return sourcetest.Decimal(t, m.Lots(lots))
	}
	order = market.LargeOrder{Pair: pair.Key, Side: market.Sell, Px: sourcetest.Decimal(t, m.Price(o.Price)), Contract: pair.Contract, Inverse: pair.Inverse, Start: o.Start, End: o.End, Changed: o.End}
	if o.Bid {
		order.Side = market.Buy
	}
	order.First, order.Highest, order.Gone = size(o.Size), size(o.Size), size(o.Size)
	nearest := int64(1 << 60)
	for _, trade := range m.Trades(o.Start+1, o.End+1) {
		nearest = min(nearest, max(trade.Price-o.Price, o.Price-trade.Price))
		if trade.Price == o.Price && trade.BuyerMaker == o.Bid {
			order.Met = order.Met.Add(size(trade.Size))
			order.Trades++
			order.FirstTrade, order.LastTrade = cmp.Or(order.FirstTrade, trade.Time), trade.Time
			if size(trade.Size).Cmp(order.LargestTrade) > 0 {
				order.LargestTrade = size(trade.Size)
			}
		}
	}
	return order, order.State(order.End) == market.LargeCancelled && nearest*1000 <= o.Price
}

func jsonOf(order largeorders.Order) string {
	text, _ := json.Marshal(order) // of texts and numbers
	return string(text)
}

// Another process goes on with what rested: what its book does not have any more went unseen.
func TestLargeOrdersOutliveARestart(t *testing.T) {
	t.Parallel()
	now := noon
	levels := func(number int64, whole bool, prices ...int64) *Batch {
		e := market.LargeLevels{Pair: "a:x", Time: now.UnixMilli(), Number: number, Whole: whole, From: dec(100)}
		for _, px := range prices {
			e.Levels = append(e.Levels, market.LargeLevel{Side: market.Buy, Px: dec(px), Sz: dec(50)})
		}
		return &Batch{PairEvents: market.PairEvents{LargeLevels: []market.LargeLevels{e}}}
	}
	p := newLargeOrders(new(leftOut))
	must.Do(t, p.Apply(levels(1, true, 10, 11), nil, now))
	now = now.Add(time.Minute)
	c := p.Changes(now, false)
	if len(c.Views) != 1 || len(c.Log) != 0 {
		t.Fatalf("%d views, %d logs", len(c.Views), len(c.Log))
	}
	q := newLargeOrders(new(leftOut))
	must.Do(t, q.Restore(map[string][]byte{largeorders.Name: c.Views[0].Body}))
	must.Do(t, q.Apply(levels(2, true, 11), nil, now))
	now = now.Add(time.Minute)
	c = q.Changes(now, false)
	if len(c.Log) != 1 || len(c.Log[0].Rows) != 1 {
		t.Fatalf("%+v", c.Log)
	}
	gone := must.Get(largeorders.Decode(c.Log[0].Rows[0]))(t)
	if gone.Start != noon.UnixMilli() || gone.Missed != noon.Add(time.Minute).UnixMilli() || !gone.Px.Equal(dec(10)) {
		t.Errorf("%+v", gone)
	}
	v := must.Get(largeorders.Published.Decode(c.Views[0].Body))(t)
	if rests := must.Get(v.Running("a:x"))(t); len(rests) != 1 || rests[0].Start != noon.UnixMilli() || !rests[0].Px.Equal(dec(11)) {
		t.Errorf("%+v", rests)
	}
}

func TestWhatLargeOrdersLeaveOutIsCounted(t *testing.T) {
	t.Parallel()
	left := new(leftOut)
	p := newLargeOrders(left)
	e := market.LargeLevels{Pair: "a:x", Time: noon.UnixMilli(), Number: 1, Whole: true, From: dec(100)}
	const beyond = 7
	for px := range int64(market.MostLarge + beyond) {
		e.Levels = append(e.Levels, market.LargeLevel{Side: market.Buy, Px: dec(1000 + px), Sz: dec(50)})
	}
	b := &Batch{PairEvents: market.PairEvents{LargeLevels: []market.LargeLevels{e}}}
	for i, want := range [][2]int64{{0, beyond}, {1, beyond}, {2, beyond}} { // first in time, then late
		must.Do(t, p.Apply(b, nil, noon.Add(time.Duration(i+1)*time.Minute)))
		if late, refused := left.largeLate.Load(), left.largeRefused.Load(); late != want[0] || refused != want[1] {
			t.Errorf("batch %d: %d are late and %d left out, want %v", i, late, refused, want)
		}
	}
}

// An exchange whose orders begin and are filled all the time fills no log that is kept for ever: so many
// of a pair are kept in an hour.
func TestSoManyLargeOrdersOfAPairAreKeptInAnHour(t *testing.T) {
	t.Parallel()
	left := new(leftOut)
	p := newLargeOrders(left)
	rows, number := 0, int64(0)
	written := func(now time.Time) (n int) {
		for _, log := range p.Changes(now, true).Log {
			n += len(log.Rows)
		}
		return n
	}
	for second := range 3 {
		now := noon.Add(time.Duration(second) * time.Second)
		b := NewBatch()
		for n := range int64(mostOver / 2) {
			number++
			px, at := dec(1000+number), now.UnixMilli()+n%500
			says := func(after int64, size int64) market.LargeLevels {
				return market.LargeLevels{Pair: "a:x", Time: at + after, Number: 2*number + after, From: dec(100), Levels: []market.LargeLevel{{Side: market.Buy, Px: px, Sz: dec(size)}}}
			}
			b.LargeLevels = append(b.LargeLevels, says(0, 50), says(1, 0))
			b.Trades = append(b.Trades, market.PairTrade{Pair: "a:x", ID: number, Prev: number - 1, Time: at + 1, Side: market.Sell, Px: px, Sz: dec(50)})
		}
		must.Do(t, p.Apply(b, nil, now))
		rows += written(now)
	}
	if rows += written(noon.Add(time.Minute)); rows != mostOver || left.largeRefused.Load() == 0 {
		t.Errorf("%d orders are kept, want %d; %d are left out", rows, mostOver, left.largeRefused.Load())
	}
}
