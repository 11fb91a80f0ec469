package market

import "slices"

// PairEvents is what an exchange says of its pairs, in the order in which it was
// received. Of a pair each list is in the order of its times.
type PairEvents struct {
	Trades       []PairTrade // of a pair in the order of their ids
	Tickers      []PairTicker
	Fundings     []PairFunding
	Interests    []PairInterest
	Liquidations []PairLiquidation
	Ratios       []PairRatio
	Books        []PairBook
	LargeLevels  []LargeLevels
}

// Merge appends events that came later. Of the books of a pair the newest stays alone.
func (e *PairEvents) Merge(later *PairEvents) {
	e.Trades = append(e.Trades, later.Trades...)
	e.Tickers = append(e.Tickers, later.Tickers...)
	e.Fundings = append(e.Fundings, later.Fundings...)
	e.Interests = append(e.Interests, later.Interests...)
	e.Liquidations = append(e.Liquidations, later.Liquidations...)
	e.Ratios = append(e.Ratios, later.Ratios...)
	e.LargeLevels = append(e.LargeLevels, later.LargeLevels...)
	for i := range later.Books {
		e.keep(&later.Books[i])
	}
}

// keep takes a book in the place of an older one.
func (e *PairEvents) keep(book *PairBook) {
	if i := slices.IndexFunc(e.Books, func(b PairBook) bool { return b.Pair == book.Pair }); i >= 0 {
		e.Books[i] = *book
	} else {
		e.Books = append(e.Books, *book)
	}
}

// Len is the number of events.
func (e *PairEvents) Len() int {
	return len(e.Trades) + len(e.Tickers) + len(e.Fundings) + len(e.Interests) + len(e.Liquidations) + len(e.Ratios) + len(e.Books) + len(e.LargeLevels)
}

// Reset empties e and keeps the room.
func (e *PairEvents) Reset() {
	e.Trades, e.Tickers, e.Fundings = e.Trades[:0], e.Tickers[:0], e.Fundings[:0]
	e.Interests, e.Liquidations, e.Ratios = e.Interests[:0], e.Liquidations[:0], e.Ratios[:0]
	e.Books, e.LargeLevels = e.Books[:0], e.LargeLevels[:0]
}

// Newest is the time of the newest event, ms; 0 without one.
func (e *PairEvents) Newest() (newest int64) {
	for i := range e.Trades {
		newest = max(newest, e.Trades[i].Time)
	}
	for i := range e.Tickers {
		newest = max(newest, e.Tickers[i].Time)
	}
	for i := range e.Fundings {
		newest = max(newest, e.Fundings[i].Time)
	}
	for i := range e.Interests {
		newest = max(newest, e.Interests[i].Time)
	}
	for i := range e.Liquidations {
		newest = max(newest, e.Liquidations[i].Time)
	}
	for i := range e.Ratios {
		newest = max(newest, e.Ratios[i].Time)
	}
	for i := range e.Books {
		newest = max(newest, e.Books[i].Time)
	}
	for i := range e.LargeLevels {
		newest = max(newest, e.LargeLevels[i].Time)
	}
	return newest
}

// DropAfter leaves out the events of later than a time, ms, and returns how many these were.
func (e *PairEvents) DropAfter(latest int64) int {
	before := e.Len()
	e.Trades = slices.DeleteFunc(e.Trades, func(t PairTrade) bool { return t.Time > latest })
	e.Tickers = slices.DeleteFunc(e.Tickers, func(t PairTicker) bool { return t.Time > latest })
	e.Fundings = slices.DeleteFunc(e.Fundings, func(f PairFunding) bool { return f.Time > latest })
	e.Interests = slices.DeleteFunc(e.Interests, func(i PairInterest) bool { return i.Time > latest })
	e.Liquidations = slices.DeleteFunc(e.Liquidations, func(l PairLiquidation) bool { return l.Time > latest })
	e.Ratios = slices.DeleteFunc(e.Ratios, func(r PairRatio) bool { return r.Time > latest })
	e.Books = slices.DeleteFunc(e.Books, func(b PairBook) bool { return b.Time > latest })
	e.LargeLevels = slices.DeleteFunc(e.LargeLevels, func(l LargeLevels) bool { return l.Time > latest })
	return before - e.Len()
}

// PairTicker is what an exchange says of the last 24 hours of a pair. What it does not
// say is 0.
type PairTicker struct {
	Pair            string  // its key
	Time            int64   // ms
	Last            Decimal // price of the newest trade, quote units per base unit
	Open, High, Low Decimal // prices of the 24 hours before Time
	Size            Decimal // traded in them, base units
	Amount          Decimal // the same, quote units
}

// PairFunding is the funding rate of a perpetual: either the one that the exchange
// expects for the running period, or, where Paid is set, the one that was paid at Time.
type PairFunding struct {
	Pair   string
	Time   int64   // ms
	Rate   Decimal // of one period, as a fraction: positive when longs pay shorts
	Due    int64   // when the running period is paid, ms; 0 where the exchange does not say
	Period int64   // how long a period is, ms; 0 where the exchange does not say
	Paid   bool
}

// At is the time whose bucket the rate belongs to, ms: of what was paid the last millisecond
// before it was, as the rate that is expected runs towards it. So a bucket that ends with a
// payment closes with it. Exchanges pay some milliseconds after a full minute.
func (f *PairFunding) At() int64 {
	if !f.Paid {
		return f.Time
	}
	return Minute1.StartMs(f.Time+30_000) - 1
}

// PairInterest is the open interest of a perpetual: one side, as longs equal shorts.
type PairInterest struct {
	Pair  string
	Time  int64   // ms
	Size  Decimal // base units
	Value Decimal // US dollars, of which a stable coin counts as one
}

// PairLiquidation is a position that an exchange closed by force, or a part of one.
type PairLiquidation struct {
	Pair  string
	ID    int64   // of its trade among those of the pair; 0 where the exchange numbers none
	Of    string  // what it is a part of: the same of all parts of one liquidation; empty where it is all of one
	Time  int64   // ms
	Long  bool    // a long position was closed
	Px    Decimal // what was paid or, where the exchange says only that, the bankruptcy price; quote units per base unit
	Sz    Decimal // base units
	Value Decimal // US dollars, of which a stable coin counts as one
}

// PairRatio is how an exchange says that its clients are divided, of a perpetual.
type PairRatio struct {
	Pair  string
	Time  int64 // ms
	Kind  RatioKind
	Value Decimal // as the kind says
}

// RatioKind is what a [PairRatio] is of.
type RatioKind int

// The kinds of ratios. Shares are from 0 to 1, of the longs; the rest is short.
const (
	LongAccounts     RatioKind = iota // share of the accounts with a position
	LongTopAccounts                   // share of the accounts that the exchange counts among its top traders
	LongTopPositions                  // share of the positions of these
	MarginLoans                       // what is lent of quote coins in margin trading of the coin, for one that is lent of it, of equal value
)

// RatioKinds are all of them.
var RatioKinds = [...]RatioKind{LongAccounts, LongTopAccounts, LongTopPositions, MarginLoans}
