package trading

import "quotary/localstack/sim/prices"

// What a perpetual has besides trades, each a function of the seed and the time: marks,
// funding, open interest, accounts, and positions that are closed by force.

const (
	second = int64(1000) // ms
	hour   = 60 * minute
)

// Numbers of the waves that a market walks by; 0 and 1 are those of its price.
const (
	markWave = iota + 2
	indexWave
	fundingWave
	interestWave
	ratioWave
	topWave
	topPositionWave
	loanWave
)

// Period is how long a funding period is, ms: of a quiet market half as long.
func (m *Market) Period() int64 {
	if m.Quiet {
		return 4 * hour
	}
	return 8 * hour
}

// Mark and Index are prices at a time (ms), in ticks: the mark within 0.02 % of the price,
// the index within 0.05 %.
func (m *Market) Mark(ms int64) int64 { return m.near(ms, markWave, 200) }

// Index is the price of the coin itself.
func (m *Market) Index(ms int64) int64 { return m.near(ms, indexWave, 500) }

func (m *Market) near(ms int64, wave int, millionths int64) int64 {
	px := m.price(ms)
	return max(1, px+px*prices.Wave(m.seed, wave, ms, minute, millionths)/1_000_000)
}

// Funding is the rate that is expected at a time (ms) for the running period, in
// hundred-millionths: within 0.02 % of 0.01 %. It moves once a second.
func (m *Market) Funding(ms int64) int64 {
	return 10_000 + prices.Wave(m.seed, fundingWave, ms/second*second, 2*hour, 20_000)
}

// Paid is the rate that was paid at the end of a period (ms), in hundred-millionths: what
// was expected a second before.
func (m *Market) Paid(end int64) int64 { return m.Funding(end - second) }

// Due is when the period ends that holds a time, ms.
func (m *Market) Due(ms int64) int64 { return (ms/m.Period() + 1) * m.Period() }

// Interest is the open interest at a time (ms), one side, in lots. It moves once a second.
func (m *Market) Interest(ms int64) int64 {
	const times = 4000 // the largest trade
	all := m.MaxLots * times
	return all + all/1000*prices.Wave(m.seed, interestWave, ms/second*second, hour, 150_000)/1000
}

// Longs is the share of accounts that are long at a time (ms), in ten-thousandths. It
// changes every five minutes.
func (m *Market) Longs(ms int64) int64 {
	return 5000 + prices.Wave(m.seed, ratioWave, ms/(5*minute)*(5*minute), 6*hour, 1500)
}

// TopLongs and TopPositions are the shares of the top traders' accounts and of their positions
// that are long at a time (ms), as [Market.Longs].
func (m *Market) TopLongs(ms int64) int64 {
	return 5000 + prices.Wave(m.seed, topWave, ms/(5*minute)*(5*minute), 8*hour, 2000)
}

// TopPositions is explained at [Market.TopLongs].
func (m *Market) TopPositions(ms int64) int64 {
	return 5000 + prices.Wave(m.seed, topPositionWave, ms/(5*minute)*(5*minute), 5*hour, 2500)
}

// Loans is what is lent of quote coins in margin trading for one that is lent of the coin, of
// equal value, at a time (ms), in hundredths.
func (m *Market) Loans(ms int64) int64 {
	return 900 + prices.Wave(m.seed, loanWave, ms/(5*minute)*(5*minute), 12*hour, 600)
}

// Liquidation is a position that was closed by force, or a part of one.
type Liquidation struct {
	Time  int64 // ms
	Long  bool  // it was a long position
	Price int64 // ticks
	Size  int64 // lots
}

// Liquidations returns those from a time to another, ms, the end not included: some ten a
// minute of a busy market, one in ten minutes of a quiet one. No two of a market are of the
// same second.
func (m *Market) Liquidations(from, to int64) (list []Liquidation) {
	const slot = 3 * second
	one := uint64(2)
	if m.Quiet {
		one = 200
	}
	for number := from / slot; number*slot < to; number++ {
		h := prices.Hash(m.seed, 77, uint64(number))
		if h%one != 0 {
			continue
		}
		h = prices.Hash(h, 1)
		at := number*slot + int64(h%uint64(slot-second))
		l := Liquidation{Time: at, Long: h>>40%2 == 0, Price: max(1, m.price(at)+int64(h%11)-5), Size: 1 + int64(h>>16%uint64(10*m.MaxLots))}
		if at >= from && at < to {
			list = append(list, l)
		}
	}
	return list
}

// Day sums up the 24 hours before a time (ms), in whole minutes and what there is of the
// running one.
func (m *Market) Day(now int64) Kline {
	k := Kline{Open: (now - 24*hour) / minute * minute}
	for number := k.Open / minute; number*minute <= now; number++ {
		k.join(m.minuteOf(number, now))
	}
	return k
}
