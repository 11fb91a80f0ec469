// Package trading makes up the trades of the simulated exchanges. It holds no protocol:
// each exchange writes trades and their sums in its own way.
//
// Nothing is remembered: every trade is a function of the seed, its market and its time,
// so that any minute of the past can be told at any moment, and a restart changes
// nothing. Prices walk around those of package prices; each minute has the same number of
// trades, but for markets that are quiet every seventh minute. Ids of trades, and those of
// their fills, count up by one from 1970 on. Sums are in scaled integers: they are the
// truth that derived figures are compared with.
package trading

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"quotary/localstack/sim/prices"
)

// Trade is an aggregated trade.
type Trade struct {
	ID          int64
	Time        int64 // ms
	Price       int64 // ticks
	Size        int64 // lots
	Coins       int64 // hundred-millionths of a base coin, of an inverse market
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
	Coins, CoinsBought     int64 // of an inverse market, hundred-millionths of a base coin
	Fills                  int64
}

// Market is a pair of an exchange. [Open] makes it trade.
type Market struct {
	Symbol, Base, Quote string
	Swap                bool // a perpetual

	// Dollars are what a contract is worth of an inverse market, which counts sizes in
	// contracts and is paid in its base coin; 0 of others.
	Dollars int64

	Tick, Lot int   // decimals of prices, and of sizes in base coins or contracts
	MaxLots   int64 // of a trade, but for those of large orders and of sudden markets
	PerMinute int64 // trades
	Quiet     bool  // every seventh minute has none
	Large     int64 // lots of the smallest large order; 0 has none
	Sudden    bool  // its price leaves that of its coin every half hour

	seed     uint64
	base     prices.Walk // of the base coin
	quote    prices.Walk // of the quote coin, none for a dollar
	thousand bool        // a thousand base coins are traded as one

	mu      sync.Mutex
	minutes map[int64]Kline      // of minutes that have ended, by number
	larges  map[int64]LargeOrder // of minutes, by number
}

const minute = int64(60_000) // ms

// Open makes markets trade by a seed. A market whose base is a coin behind 1000 trades a
// thousand of these as one.
func Open(seed uint64, all []*Market) []*Market {
	for i, m := range all {
		m.seed, m.minutes = prices.Hash(seed, uint64(i)), map[int64]Kline{}
		coin, thousand := strings.CutPrefix(m.Base, "1000")
		m.base, m.quote, m.thousand = prices.WalkOf(seed, coin), prices.WalkOf(seed, m.Quote), thousand
	}
	return all
}

// price is where the price stands at a time, in ticks: around that of the coin, by two
// waves of the market's own, in millionths.
func (m *Market) price(ms int64) int64 {
	var ticks int64
	switch {
	case m.quote.Known():
		ticks = m.base.At(ms, 6) * pow10(m.Tick) / m.quote.At(ms, 6)
	case m.thousand:
		ticks = m.base.At(ms, 9) * 1000 / pow10(9-m.Tick)
	default:
		ticks = m.base.At(ms, m.Tick)
	}
	off, _ := m.sudden(ms)
	off += prices.Wave(m.seed, 0, ms, 20*minute, 500) + prices.Wave(m.seed, 1, ms, minute, 300)
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
	if m.Quiet {
		number -= (number + 3) / 7
	}
	return number * m.PerMinute
}

// fillsOf is how many fills the trade at a place of its minute has.
func fillsOf(place int64) int64 { return place%3 + 1 }

// timeOf is when the trade at a place of a minute is, ms.
func (m *Market) timeOf(number, place int64) int64 {
	h := prices.Hash(m.seed, 99, uint64(m.before(number)+place))
	slot := minute / m.PerMinute
	return number*minute + place*slot + int64(h%uint64(slot))
}

// trades returns the trades of a minute, by its number.
func (m *Market) trades(number int64) []Trade {
	if m.Quiet && number%7 == 3 {
		return nil
	}
	first := m.before(number)
	perMinute := int64(0)
	for place := range m.PerMinute {
		perMinute += fillsOf(place)
	}
	fill := first / m.PerMinute * perMinute
	list := make([]Trade, m.PerMinute)
	large, _ := m.largeOf(number)
	for place := range m.PerMinute {
		at, h := m.timeOf(number, place), prices.Hash(m.seed, 99, uint64(first+place), 1)
		t := Trade{
			ID: first + place, Time: at, Price: max(1, m.price(at)+int64(h%7)-3),
			Size: 1 + int64(h>>8%uint64(m.MaxLots)), BuyerMaker: h>>40%2 == 0,
			First: fill, Last: fill + fillsOf(place) - 1,
		}
		if _, times := m.sudden(at); times > 1 {
			t.Size *= times
		}
		if lots := large.Trades[place]; lots > 0 {
			t.Price, t.Size, t.BuyerMaker = large.Price, lots, large.Bid
		}
		t.Coins = m.CoinsOf(t.Size, t.Price)
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

// Add puts a trade into a K-line.
func (k *Kline) Add(t *Trade) {
	if k.Fills == 0 {
		k.First, k.High, k.Low = t.Price, t.Price, t.Price
	}
	k.High, k.Low, k.Last = max(k.High, t.Price), min(k.Low, t.Price), t.Price
	k.Size += t.Size
	k.Quote += t.Price * t.Size
	k.Coins += t.Coins
	k.Fills += t.Last - t.First + 1
	if !t.BuyerMaker {
		k.SizeBought += t.Size
		k.QuoteBought += t.Price * t.Size
		k.CoinsBought += t.Coins
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
	k.Coins += later.Coins
	k.CoinsBought += later.CoinsBought
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
			k.Add(&t)
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
func (m *Market) Price(ticks int64) string { return Decimal(ticks, m.Tick) }

// Lots writes a size.
func (m *Market) Lots(lots int64) string { return Decimal(lots, m.Lot) }

// Amount writes a product of price and size.
func (m *Market) Amount(product int64) string { return Decimal(product, m.Tick+m.Lot) }

// CoinsOf is what contracts of an inverse market are worth at a price (ticks), in
// hundred-millionths of a base coin, rounded to the nearest; 0 of other markets.
func (m *Market) CoinsOf(contracts, ticks int64) int64 {
	return (contracts*m.Dollars*pow10(coinPlaces+m.Tick) + ticks/2) / ticks
}

const coinPlaces = 8

// Coins writes hundred-millionths of a coin.
func Coins(n int64) string { return Decimal(n, coinPlaces) }

// Rate writes a funding rate, of hundred-millionths.
func Rate(n int64) string { return Decimal(n, ratePlaces) }

const ratePlaces = 8

// Decimal writes n with so many places.
func Decimal(n int64, places int) string {
	if n < 0 {
		return "-" + Decimal(-n, places)
	}
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
