package trading

import "testing"

func TestTruthsOfAPerpetualFollowFromTheSeed(t *testing.T) {
	t.Parallel()
	open := func() *Market {
		return Open(7, []*Market{{Symbol: "BTCUSDT", Base: "BTC", Quote: "USDT", Swap: true, Tick: 1, Lot: 3, MaxLots: 3000, PerMinute: 40}})[0]
	}
	m, again := open(), open()
	const from = int64(1_790_000_000_000) / minute * minute
	moved, liquidated := map[int64]bool{}, 0
	for at := from; at < from+2*hour; at += 17 * second {
		if m.Funding(at) != again.Funding(at) || m.Interest(at) != again.Interest(at) || m.Mark(at) != again.Mark(at) || m.Longs(at) != again.Longs(at) {
			t.Fatalf("two markets of one seed differ at %d", at)
		}
		moved[m.Funding(at)] = true
		if mark, px := m.Mark(at), m.price(at); mark*1000 < px*999 || mark*1000 > px*1001 {
			t.Errorf("the mark is %d where the price is %d", mark, px)
		}
		if longs := m.Longs(at); longs < 3500 || longs > 6500 {
			t.Errorf("%d of 10,000 accounts are long", longs)
		}
		if m.Interest(at) <= 0 {
			t.Errorf("open interest is %d", m.Interest(at))
		}
	}
	if len(moved) < 50 {
		t.Errorf("the funding rate had %d values in two hours", len(moved))
	}
	all := m.Liquidations(from, from+2*hour)
	seconds := map[int64]bool{}
	for i, l := range all {
		if i > 0 && l.Time < all[i-1].Time || seconds[l.Time/second] {
			t.Errorf("liquidation %d of %d comes out of order, or in the second of another", i, l.Time)
		}
		seconds[l.Time/second] = true
		if l.Long {
			liquidated++
		}
	}
	if len(all) < 60 || liquidated == 0 || liquidated == len(all) {
		t.Errorf("%d liquidations in two hours, %d of longs", len(all), liquidated)
	}
	parts := append(m.Liquidations(from, from+minute+1), m.Liquidations(from+minute+1, from+2*hour)...)
	if len(parts) != len(all) {
		t.Errorf("two parts have %d, the whole %d", len(parts), len(all))
	}
}

func TestADayIsTheSumOfItsTrades(t *testing.T) {
	t.Parallel()
	m := Open(7, []*Market{{Symbol: "ETHUSDT", Base: "ETH", Quote: "USDT", Tick: 2, Lot: 4, MaxLots: 500, PerMinute: 2}})[0]
	const now = int64(1_790_000_012_345)
	want := Kline{Open: (now - 24*hour) / minute * minute}
	for _, trade := range m.Trades(want.Open, now) {
		want.Add(&trade)
	}
	if got := m.Day(now); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
