package market

import "slices"

// ChangeKind is the number of a kind of sudden changes, as clients name it.
type ChangeKind int

// The kinds of changes.
const (
	VolumeUp         ChangeKind = 1
	VolumeDown       ChangeKind = 2
	DaySurge         ChangeKind = 3
	DayPlunge        ChangeKind = 4
	Rebound          ChangeKind = 5
	Dive             ChangeKind = 6
	NewHigh          ChangeKind = 7
	NewLow           ChangeKind = 8
	Pump             ChangeKind = 9
	Dump             ChangeKind = 10
	LargeBuy         ChangeKind = 11
	LargeSell        ChangeKind = 12
	Inflow           ChangeKind = 17
	Outflow          ChangeKind = 18
	LongLiquidation  ChangeKind = 23
	ShortLiquidation ChangeKind = 24
)

// ChangeRule is a kind of changes, and when one is said.
type ChangeRule struct {
	Kind  ChangeKind
	Name  string // what it is called
	About string // the rule
}

// ChangeRules are all kinds, by number.
var ChangeRules = [...]ChangeRule{
	{VolumeUp, "volume surge up", "a minute rises by 0.3 % or more, and at least five times as much is traded in it as in a minute of the hour before on the mean"},
	{VolumeDown, "volume surge probe down", "a minute falls by 0.3 % or more, and at least five times as much is traded in it as in a minute of the hour before on the mean"},
	{DaySurge, "intraday surge", "the close comes to 5 % or more above the first price of the day"},
	{DayPlunge, "intraday plunge", "the close comes to 5 % or more below the first price of the day"},
	{Rebound, "quick rebound", "in 15 minutes the price falls to 1 % or more below where they began, and the close is 1 % or more above that low"},
	{Dive, "high dive", "the close is 1.5 % or more below the high of the day, which was in the last 15 minutes"},
	{NewHigh, "recent new high", "the close is above all prices of the day before it, of four hours or more"},
	{NewLow, "recent new low", "the close is below all prices of the day before it, of four hours or more"},
	{Pump, "rapid pump", "the close is 2 % or more above where the last five minutes began"},
	{Dump, "rapid dump", "the close is 2 % or more below where the last five minutes began"},
	{LargeBuy, "large buy", "takers buy in one run, as order/aggTrade lists them, for five times as much as makes one listed, or more"},
	{LargeSell, "large sell", "takers sell in one run, as order/aggTrade lists them, for five times as much as makes one listed, or more"},
	{Inflow, "fast inflow", "in five minutes takers buy three times as much as they sell, or more, and at least twice as much is traded as in five minutes of the last hour on the mean"},
	{Outflow, "fast outflow", "in five minutes takers sell three times as much as they buy, or more, and at least twice as much is traded as in five minutes of the last hour on the mean"},
	{LongLiquidation, "large long liquidation", "a long position is liquidated of five times the value that makes a run of takers listed, or more"},
	{ShortLiquidation, "large short liquidation", "a short position is liquidated of five times the value that makes a run of takers listed, or more"},
}

// PairChange is a sudden change of a pair.
type PairChange struct {
	Pair string
	Kind ChangeKind
	Time int64   // when it was known, ms: the end of a minute, or the trade or liquidation itself
	Of   string  // of which run of takers or liquidation; empty of a minute
	Px   Decimal // the close, the worst price of the run, or that of the liquidation; quote units
}

// largeRuns is how many times the value of a run that is listed a change has at least.
const largeRuns = 5

// ChangeOfRun is what a run of takers is that is over, of a pair of which runs are listed from a
// value on; false of one that is too small.
func ChangeOfRun(pair string, r *TakerRun, from Decimal) (c PairChange, large bool) {
	c = PairChange{Pair: pair, Kind: LargeBuy, Time: r.End, Of: decimalOf(r.ID).String(), Px: r.FarPx}
	if r.Side == Sell {
		c.Kind = LargeSell
	}
	return c, r.Value.Cmp(from.Mul(decimalOf(largeRuns))) >= 0
}

// ChangeOfLiquidation is what a liquidation is of a pair of a coin, likewise.
func ChangeOfLiquidation(l *PairLiquidation, coin string) (c PairChange, large bool) {
	c = PairChange{Pair: l.Pair, Kind: ShortLiquidation, Time: l.Time, Of: l.Px.String() + " " + l.Sz.String(), Px: l.Px}
	if l.Long {
		c.Kind = LongLiquidation
	}
	if l.ID != 0 {
		c.Of = decimalOf(l.ID).String()
	}
	return c, l.Value.Cmp(RunFrom(coin).Mul(decimalOf(largeRuns))) >= 0
}

// ChangeDay looks for changes in the minutes of a pair, one after another. What it says of a minute
// follows from the minutes of the same UTC day before it, so that who begins with a day says what
// one says who never ended. It says each kind once in an hour of the clock. The zero value has seen none.
type ChangeDay struct {
	day, open int64    // when the day, and the first minute of it, open, ms
	minutes   []Candle // the last hour and one, oldest first; those without a trade are left out
	first     Decimal  // price of the day
	high, low Decimal  // of the day
	said      map[ChangeKind]int64
}

const changeWindow = 60 // minutes that are remembered before the last

// Add takes a minute that has ended, and returns what changed with it. One that is no later than
// those that are known says nothing.
func (d *ChangeDay) Add(c *Candle) (kinds []ChangeKind) {
	if c.Empty() {
		return nil
	}
	if n := len(d.minutes); n > 0 && c.OpenTime <= d.minutes[n-1].OpenTime {
		return nil
	}
	if day := Day1.StartMs(c.OpenTime); day != d.day || len(d.minutes) == 0 {
		*d = ChangeDay{day: day, open: c.OpenTime, first: c.Open, high: c.High, low: c.Low, said: map[ChangeKind]int64{}}
	}
	d.minutes = append(d.minutes, *c)
	if old := len(d.minutes) - len(d.last(changeWindow+1)); old > changeWindow {
		d.minutes = slices.Delete(d.minutes, 0, old)
	}
	hour := Hour1.StartMs(c.OpenTime)
	for _, kind := range d.kinds(c) {
		if said, before := d.said[kind]; !before || said != hour {
			d.said[kind] = hour
			kinds = append(kinds, kind)
		}
	}
	if c.High.Cmp(d.high) > 0 {
		d.high = c.High
	}
	if c.Low.Cmp(d.low) < 0 {
		d.low = c.Low
	}
	return kinds
}

// last are the candles of so many minutes up to the last one.
func (d *ChangeDay) last(minutes int64) []Candle {
	from := d.minutes[len(d.minutes)-1].OpenTime - (minutes-1)*minuteMs
	n := len(d.minutes)
	for n > 0 && d.minutes[n-1].OpenTime >= from {
		n--
	}
	return d.minutes[n:]
}

// kinds are what changed with the last minute; the high and the low are those before it.
func (d *ChangeDay) kinds(c *Candle) (kinds []ChangeKind) {
	say := func(up, down bool, upKind, downKind ChangeKind) {
		if up {
			kinds = append(kinds, upKind)
		}
		if down {
			kinds = append(kinds, downKind)
		}
	}
	seen := (c.OpenTime - d.open) / minuteMs // minutes before this one
	if seen >= changeWindow {
		hour := d.last(changeWindow + 1)
		before := traded(hour[:len(hour)-1])
		if before.IsPos() && c.Amount.Mul(decimalOf(changeWindow)).Cmp(before.Mul(decimalOf(5))) >= 0 {
			say(above(c.Close, c.Open, minuteUp), below(c.Close, c.Open, minuteDown), VolumeUp, VolumeDown)
		}
		in, out := d.flows()
		say(in, out, Inflow, Outflow)
	}
	if n := len(d.minutes); n > 1 {
		was := d.minutes[n-2].Close
		say(above(c.Close, d.first, dayUp) && !above(was, d.first, dayUp), below(c.Close, d.first, dayDown) && !below(was, d.first, dayDown), DaySurge, DayPlunge)
	}
	if seen >= 14 {
		say(d.rebounds(c), d.dives(c), Rebound, Dive)
	}
	if seen >= 4*changeWindow {
		say(c.Close.Cmp(d.high) > 0, c.Close.Cmp(d.low) < 0, NewHigh, NewLow)
	}
	if seen >= 4 {
		began := d.last(5)[0].Open
		say(above(c.Close, began, rapidUp), below(c.Close, began, rapidDown), Pump, Dump)
	}
	return kinds
}

// flows reports whether takers bought, and sold, much more in the last five minutes. An exchange
// that does not count them in one of these says nothing.
func (d *ChangeDay) flows() (in, out bool) {
	five := d.last(5)
	var bought Decimal
	for i := range five {
		if five[i].Trades == 0 {
			return false, false
		}
		bought = bought.Add(five[i].AmountBuyer)
	}
	all := traded(five)
	if all.Mul(decimalOf(6)).Cmp(traded(d.last(changeWindow))) < 0 { // of twelve times five minutes
		return false, false
	}
	sold := all.Sub(bought)
	return all.IsPos() && bought.Cmp(sold.Mul(decimalOf(3))) >= 0, all.IsPos() && sold.Cmp(bought.Mul(decimalOf(3))) >= 0
}

func (d *ChangeDay) rebounds(c *Candle) bool {
	quarter := d.last(15)
	low := quarter[0].Low
	for i := range quarter {
		if quarter[i].Low.Cmp(low) < 0 {
			low = quarter[i].Low
		}
	}
	return below(low, quarter[0].Open, reboundDown) && above(c.Close, low, reboundUp)
}

func (d *ChangeDay) dives(c *Candle) bool {
	quarter := d.last(15)
	high := quarter[0].High
	for i := range quarter {
		if quarter[i].High.Cmp(high) > 0 {
			high = quarter[i].High
		}
	}
	return high.Cmp(d.high) >= 0 && below(c.Close, high, diveDown)
}

// traded is what was traded in candles, quote units.
func traded(candles []Candle) (sum Decimal) {
	for i := range candles {
		sum = sum.Add(candles[i].Amount)
	}
	return sum
}

// The thresholds, as parts of the price that they are held against.
var (
	minuteUp, minuteDown   = mustDecimal("1.003"), mustDecimal("0.997")
	dayUp, dayDown         = mustDecimal("1.05"), mustDecimal("0.95")
	rapidUp, rapidDown     = mustDecimal("1.02"), mustDecimal("0.98")
	reboundUp, reboundDown = mustDecimal("1.01"), mustDecimal("0.99")
	diveDown               = mustDecimal("0.985")
)

func above(px, of, part Decimal) bool { return px.Cmp(of.Mul(part)) >= 0 }

func below(px, of, part Decimal) bool { return px.Cmp(of.Mul(part)) <= 0 }
