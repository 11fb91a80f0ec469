// Package prices is what coins cost in the local stack: one table, by which the simulated
// venue, exchange and source of prices show one market. Each of them walks by itself, a
// percent or two around the [Walk] of a coin.
//
// A walk is a function of the seed and the time alone, so that a restart, or who asks for
// the past, changes nothing. None of it is a market.
package prices

import "hash/fnv"

// starts are prices in billionths of a dollar.
var starts = map[string]int64{
	"BTC": 98_000_000_000_000, "ETH": 3_400_000_000_000, "SOL": 185_000_000_000, "HYPE": 32_000_000_000, "DOGE": 250_000_000, "XRP": 2_300_000_000,
	"PEPE": 12_500, "ARB": 550_000_000, "LINK": 14_200_000_000, "AVAX": 36_000_000_000, "SUI": 3_100_000_000,
}

// Walk is the price of a coin over time. The zero value is that of a coin which is not in
// the table: 0.
type Walk struct {
	seed  uint64
	start int64 // billionths of a dollar
}

// WalkOf returns the walk of a coin by its short name: BTC.
func WalkOf(seed uint64, coin string) Walk { return From(seed, coin, starts[coin]) }

// From returns the walk of a coin, in the table or not, around a price in billionths of a
// dollar.
func From(seed uint64, coin string, start int64) Walk {
	name := fnv.New64a()
	_, _ = name.Write([]byte(coin))
	return Walk{Hash(seed, name.Sum64()), start}
}

// Known reports whether the coin is in the table.
func (w Walk) Known() bool { return w.start > 0 }

// Start is the price around which the coin walks, in units of so many decimal places of a
// dollar, at most 9.
func (w Walk) Start(places int) int64 { return w.start / pow10[9-places] }

const (
	hour = int64(3_600_000) // ms
	day  = 24 * hour
)

// waves are the grids between whose points a price walks: how far apart they are in ms,
// and how far the price goes, in millionths.
var waves = [...]struct{ apart, far int64 }{{90 * day, 120_000}, {5 * day, 40_000}, {6 * hour, 15_000}}

// At is the price at a time (Unix ms) in units of so many decimal places of a dollar, at
// most 9.
func (w Walk) At(ms int64, places int) int64 {
	off := int64(0) // millionths
	for i, wave := range waves {
		off += Wave(w.seed, i, ms, wave.apart, wave.far)
	}
	return (w.start + w.start/1_000_000*off + w.start%1_000_000*off/1_000_000) / pow10[9-places]
}

// Wave is where a walk between points that are drawn for every so many ms stands at a
// time: at most far off from 0. Waves of other numbers are other ones.
func Wave(seed uint64, number int, ms, apart, far int64) int64 {
	at, part := ms/apart, ms%apart
	from, to := point(seed, number, at), point(seed, number, at+1)
	return (from + (to-from)*(part/1000)/(apart/1000)) * far / 1_000_000
}

// point is a number from -1,000,000 to 1,000,000.
func point(seed uint64, number int, at int64) int64 {
	return int64(Hash(seed, uint64(number), uint64(at))%2_000_001) - 1_000_000
}

// Hash is a hash of numbers, each step the finish of splitmix64.
func Hash(h uint64, numbers ...uint64) uint64 {
	for _, n := range numbers {
		h += n + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

var pow10 = [...]int64{1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000}
