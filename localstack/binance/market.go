package binance

import (
	"strconv"
	"strings"
	"sync"
	"time"
)

// Trade is an aggregated trade.
type Trade struct {
	ID          int64
	Time        int64 // ms
	Price       int64 // ticks
	Size        int64 // lots
	First, Last int64 // ids of its fills
	BuyerMaker  bool  // the taker sold
}

// Kline is the sum of the trades of a bucket. Without any of them, prices are those of
// the last one before.
type Kline struct {
	Open                   int64 // ms
	First, High, Low, Last int64 // ticks
	Size, SizeBought       int64 // lots; bought by takers
	Quote, QuoteBought     int64 // ticks x lots
	Fills                  int64
}

// Market is a pair of the exchange.
type Market struct {
	Symbol, Base, Quote string
	Swap                bool // a perpetual

	seed      uint64
	base      int64 // price around which it walks, ticks
	tick, lot int   // decimals of prices and sizes
	lots      int64 // of a trade at most
	perMinute int64 // trades
	quiet     bool  // every seventh minute has none

	mu      sync.Mutex
	minutes map[int64]Kline // of minutes that have ended, by number
}

const (
	minute = int64(60_000) // ms
	hour   = 60 * minute
	day    = 24 * hour
)

// markets are those that there are.
func markets(seed uint64) []*Market {
	all := []*Market{
		{Symbol: "BTCUSDT", Base: "BTC", Quote: "USDT", base: 61_234_56, tick: 2, lot: 5, lots: 40_000, perMinute: 30},
		{Symbol: "ETHUSDT", Base: "ETH", Quote: "USDT", base: 2_412_05, tick: 2, lot: 4, lots: 50_000, perMinute: 20},
		{Symbol: "SOLUSDT", Base: "SOL", Quote: "USDT", base: 148_20, tick: 2, lot: 3, lots: 90_000, perMinute: 4, quiet: true},
		{Symbol: "ETHBTC", Base: "ETH", Quote: "BTC", base: 3_939, tick: 5, lot: 4, lots: 50_000, perMinute: 2},
		{Symbol: "BTCUSDT", Base: "BTC", Quote: "USDT", Swap: true, base: 61_240_1, tick: 1, lot: 3, lots: 3_000, perMinute: 40},
		{Symbol: "ETHUSDT", Base: "ETH", Quote: "USDT", Swap: true, base: 2_412_30, tick: 2, lot: 3, lots: 40_000, perMinute: 25},
		{Symbol: "SOLUSDT", Base: "SOL", Quote: "USDT", Swap: true, base: 148_210, tick: 3, lot: 0, lots: 500, perMinute: 6, quiet: true},
		{Symbol: "1000PEPEUSDT", Base: "1000PEPE", Quote: "USDT", Swap: true, base: 105_312, tick: 7, lot: 0, lots: 900_000, perMinute: 5},
	}
	for i, m := range all {
		m.seed, m.minutes = mix(seed, uint64(i)), map[int64]Kline{}
	}
	return all
}

// mix is a hash of numbers, each step the finish of splitmix64.
func mix(h uint64, numbers ...uint64) uint64 {
	for _, n := range numbers {
		h += n + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// waves are the grids between whose points a price walks: how far apart they are in
// ms, and how far the price goes, in millionths.
var waves = [...]struct{ apart, far int64 }{{90 * day, 300_000}, {5 * day, 80_000}, {6 * hour, 20_000}, {20 * minute, 4_000}, {minute, 800}}

// price is where the price stands at a time, in ticks.
func (m *Market) price(ms int64) int64 {
	far := int64(0)
	for i, w := range waves {
		at, part := ms/w.apart, ms%w.apart
		point := func(k int64) int64 { return int64(mix(m.seed, uint64(i), uint64(k))%2_000_001) - 1_000_000 }
		from := point(at)
		far += (from + (point(at+1)-from)*(part/1000)/(w.apart/1000)) * w.far / 1_000_000
	}
	return max(1, m.base+m.base*far/1_000_000)
}

// before is how many trades there were before a minute, by its number.
func (m *Market) before(number int64) int64 {
	if m.quiet {
		number -= (number + 3) / 7
	}
	return number * m.perMinute
}

// fillsOf is how many fills the trade at a place of its minute has.
func fillsOf(place int64) int64 { return place%3 + 1 }

// trades returns the trades of a minute, by its number.
func (m *Market) trades(number int64) []Trade {
	if m.quiet && number%7 == 3 {
		return nil
	}
	first := m.before(number)
	perMinute := int64(0)
	for place := range m.perMinute {
		perMinute += fillsOf(place)
	}
	fill := first / m.perMinute * perMinute
	list := make([]Trade, m.perMinute)
	for place := range m.perMinute {
		h := mix(m.seed, 99, uint64(first+place))
		slot := minute / m.perMinute
		at := number*minute + place*slot + int64(h%uint64(slot))
		h = mix(h, 1)
		t := Trade{
			ID: first + place, Time: at, Price: max(1, m.price(at)+int64(h%7)-3),
			Size: 1 + int64(h>>8%uint64(m.lots)), BuyerMaker: h>>40%2 == 0,
			First: fill, Last: fill + fillsOf(place) - 1,
		}
		fill = t.Last + 1
		list[place] = t
	}
	return list
}

// Trades returns the trades from a time to another, ms, the end not included.
func (m *Market) Trades(from, to int64) (list []Trade) {
	for number := from / minute; number*minute < to; number++ {
		for _, t := range m.trades(number) {
			if t.Time >= from && t.Time < to {
				list = append(list, t)
			}
		}
	}
	return list
}

// add puts a trade into a K-line.
func (k *Kline) add(t *Trade) {
	if k.Fills == 0 {
		k.First, k.High, k.Low = t.Price, t.Price, t.Price
	}
	k.High, k.Low, k.Last = max(k.High, t.Price), min(k.Low, t.Price), t.Price
	k.Size += t.Size
	k.Quote += t.Price * t.Size
	k.Fills += t.Last - t.First + 1
	if !t.BuyerMaker {
		k.SizeBought += t.Size
		k.QuoteBought += t.Price * t.Size
	}
}

// join puts a later K-line behind.
func (k *Kline) join(later Kline) {
	if later.Fills == 0 {
		return
	}
	if k.Fills == 0 {
		open := k.Open
		*k = later
		k.Open = open
		return
	}
	k.High, k.Low, k.Last = max(k.High, later.High), min(k.Low, later.Low), later.Last
	k.Size += later.Size
	k.SizeBought += later.SizeBought
	k.Quote += later.Quote
	k.QuoteBought += later.QuoteBought
	k.Fills += later.Fills
}

// minuteOf is the K-line of a minute, as far as it goes until now (ms).
func (m *Market) minuteOf(number, now int64) Kline {
	ended := (number+1)*minute <= now
	if ended {
		m.mu.Lock()
		k, known := m.minutes[number]
		m.mu.Unlock()
		if known {
			return k
		}
	}
	k := Kline{Open: number * minute}
	for _, t := range m.trades(number) {
		if t.Time < now {
			k.add(&t)
		}
	}
	if ended {
		m.mu.Lock()
		m.minutes[number] = k
		m.mu.Unlock()
	}
	return k
}

// Kline is what there is of the bucket from one time to another, ms, until now.
func (m *Market) Kline(from, to int64, now time.Time) Kline {
	k := Kline{Open: from}
	for at := from; at < to && at < now.UnixMilli(); at += minute {
		k.join(m.minuteOf(at/minute, now.UnixMilli()))
	}
	if k.Fills == 0 { // what was paid last
		for number := from/minute - 1; ; number-- {
			if before := m.minuteOf(number, now.UnixMilli()); before.Fills > 0 {
				k.First, k.High, k.Low, k.Last = before.Last, before.Last, before.Last, before.Last
				break
			}
		}
	}
	return k
}

// Price, Lots and Amount write numbers of the market as decimals, with all places:
// ticks, lots, and ticks x lots.
func (m *Market) Price(ticks int64) string { return decimal(ticks, m.tick) }

// Lots writes a size.
func (m *Market) Lots(lots int64) string { return decimal(lots, m.lot) }

// Amount writes a product of price and size.
func (m *Market) Amount(product int64) string { return decimal(product, m.tick+m.lot) }

// decimal writes n with so many places.
func decimal(n int64, places int) string {
	digits := strconv.FormatInt(n, 10)
	if places == 0 {
		return digits
	}
	if missing := places + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - places
	return digits[:point] + "." + digits[point:]
}
