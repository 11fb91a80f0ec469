package binance

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"quotary/localstack/prices"
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
	base      prices.Walk // of the base coin
	quote     prices.Walk // of the quote coin, none for a dollar
	thousand  bool        // a thousand base coins are traded as one
	tick, lot int         // decimals of prices and sizes
	lots      int64       // of a trade at most
	perMinute int64       // trades
	quiet     bool        // every seventh minute has none

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
		{Symbol: "BTCUSDT", Base: "BTC", Quote: "USDT", tick: 2, lot: 5, lots: 40_000, perMinute: 30},
		{Symbol: "ETHUSDT", Base: "ETH", Quote: "USDT", tick: 2, lot: 4, lots: 50_000, perMinute: 20},
		{Symbol: "SOLUSDT", Base: "SOL", Quote: "USDT", tick: 2, lot: 3, lots: 90_000, perMinute: 4, quiet: true},
		{Symbol: "ETHBTC", Base: "ETH", Quote: "BTC", tick: 5, lot: 4, lots: 50_000, perMinute: 2},
		{Symbol: "BTCUSDT", Base: "BTC", Quote: "USDT", Swap: true, tick: 1, lot: 3, lots: 3_000, perMinute: 40},
		{Symbol: "ETHUSDT", Base: "ETH", Quote: "USDT", Swap: true, tick: 2, lot: 3, lots: 40_000, perMinute: 25},
		{Symbol: "SOLUSDT", Base: "SOL", Quote: "USDT", Swap: true, tick: 3, lot: 0, lots: 500, perMinute: 6, quiet: true},
		{Symbol: "1000PEPEUSDT", Base: "1000PEPE", Quote: "USDT", Swap: true, tick: 7, lot: 0, lots: 900_000, perMinute: 5},
	}
	for i, m := range all {
		m.seed, m.minutes = prices.Hash(seed, uint64(i)), map[int64]Kline{}
		coin, thousand := strings.CutPrefix(m.Base, "1000")
		m.base, m.quote, m.thousand = prices.Of(seed, coin), prices.Of(seed, m.Quote), thousand
	}
	return all
}

// price is where the price stands at a time, in ticks: around that of the coin, by two
// waves of the market's own, in millionths.
func (m *Market) price(ms int64) int64 {
	var ticks int64
	switch {
	case m.quote.Known():
		ticks = m.base.At(ms, 6) * pow10(m.tick) / m.quote.At(ms, 6)
	case m.thousand:
		ticks = m.base.At(ms, 9) * 1000 / pow10(9-m.tick)
	default:
		ticks = m.base.At(ms, m.tick)
	}
	off := prices.Wave(m.seed, 0, ms, 20*minute, 500) + prices.Wave(m.seed, 1, ms, minute, 300)
	return max(1, ticks+ticks*off/1_000_000)
}

func pow10(places int) int64 {
	n := int64(1)
	for range places {
		n *= 10
	}
	return n
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
		h := prices.Hash(m.seed, 99, uint64(first+place))
		slot := minute / m.perMinute
		at := number*minute + place*slot + int64(h%uint64(slot))
		h = prices.Hash(h, 1)
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
