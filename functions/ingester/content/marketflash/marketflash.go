// Package marketflash writes the flashes that markets make themselves, in English and
// Chinese, by the rules below. It knows nothing but snapshots of the views that the domains
// of exchanges and of perpetuals publish, and what it has said.
//
// # Rules
//
// Prices are those of a coin's spot pair with USDT on the first of Binance, OKX and Bybit
// that has one. Where none has, they are mark prices of the coin's perpetual on Hyperliquid,
// which the flash names. The ten coins of the highest turnover in 24 hours are large, others small. Of
// a rule and a coin a flash is written once a day (UTC) at most, but where a further step is
// passed. Of all together there are no more than [source.States], beside listings; what is held
// back for that is looked at again, the highest turnover first.
//
//	type 23  the price of a large coin has moved by a further 5 % within 24 hours
//	type 1   the price of a small coin has moved by a further 10 % within 24 hours
//	type 4   the price is above all highs, or below all lows, of the last 30 days; of 7 at least
//	type 18  the price of a large coin has crossed a level: a tenth of its power of ten, such
//	         as every 1,000 from 10,000 on; by 0.05 % at least
//	type 8   a large coin was traded in 24 hours 2.5 times as much as on the mean of the last 7
//	         days (UTC)
//	type 3   the same of a small coin
//	type 15  every four hours: what was liquidated of all perpetuals in 24 hours, or since when
//	         it is known
//	type 25  an order of a million US dollars or more closed a position by force; of a coin
//	         another one of the hour only where it is larger by a million than the last of these;
//	         of several at once the largest
//	type 22  a whale has opened, closed or turned round a position of five million US dollars or
//	         more on Hyperliquid; of a coin another one of the hour only where it is larger by
//	         five million than the last of these; of several at once the largest
//	type 27  the funding of a coin is a further 100 % a year, paid by longs or by shorts: that of
//	         the perpetual that pays most, among those with an open interest of ten million US
//	         dollars or more
//	type 26  every day: the open interest of perpetuals by exchange
//	type 21  a pair with USDT or USDC has begun to trade on a market of which others were known
package marketflash

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/data/contracts"
	"quotary/shared/data/drop"
	"quotary/shared/data/flashes"
	"quotary/shared/data/news"
	"quotary/shared/data/pairliquidations"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairtickers"
	"quotary/shared/data/whales"
	"quotary/shared/market"
)

// Types of flashes, as the API numbers them.
const (
	smallMove    = 1
	turnover     = 3
	extreme      = 4
	volume       = 8
	liquidations = 15
	level        = 18
	listing      = flashes.TypeListing
	mainForce    = 22
	move         = 23
	largeOrder   = 25
	openInterest = 26
	confidence   = 27
)

// Snapshot is the state of the markets at a time.
type Snapshot struct {
	Now          time.Time
	Tickers      pairtickers.View
	Pairs        pairs.View
	Liquidations pairliquidations.View
	Contracts    contracts.View

	// Of Hyperliquid. What its accounts did is known when its published hours are, where no node
	// is followed.
	Perps            market.Contexts
	PerpLiquidations pairliquidations.View
	Whales           whales.Events

	Began time.Time // since when somebody looks at the markets

	// AwaitSpot is set where other exchanges are followed, and nothing has come of these yet:
	// nothing is said of perpetuals then, as it is not known which coins are of no other.
	AwaitSpot bool

	// Days are the daily K-lines that have ended of spot pairs, by pair, and of perpetuals, by
	// [PerpKey]: oldest first.
	Days map[string][]market.Candle
}

// Memory is what was said, as the checkpoint of the source holds it. The zero value has said
// nothing: the first snapshot only tells it which pairs there are and where prices stand.
type Memory struct {
	Since     int64                     `json:"since,omitempty"`     // from when on liquidations are known of exchanges, Unix s
	PerpSince int64                     `json:"perpSince,omitempty"` // and of Hyperliquid
	Said      map[string]Reported       `json:"said,omitempty"`
	Levels    map[string]market.Decimal `json:"levels,omitempty"` // of prices, by pair and step: a coin's price may come from another exchange
	Pairs     []uint32                  `json:"pairs,omitempty"`  // digests of the keys of pairs that trade, and of their markets, ascending
	States    int64                     `json:"states,omitempty"` // until when flashes are used up, Unix s: see [source.States]
	Listed    int64                     `json:"listed,omitempty"` // and those of listings, which are said once or never
}

// Reported is how far a rule has gone, and when.
type Reported struct {
	Step int64 `json:"step"`
	At   int64 `json:"at"` // Unix s
}

// rememberFor is how long it is known what was said: rules say things once a day.
const rememberFor = 48 * 3600 // s

// writer writes the flashes of a snapshot.
type writer struct {
	*Memory
	Snapshot
	list []flashes.Flash
}

// Flashes returns what is to be said of a snapshot, and remembers it.
func (m *Memory) Flashes(s Snapshot) []flashes.Flash {
	if m.Said == nil {
		m.Said = map[string]Reported{}
	}
	if m.Levels == nil {
		m.Levels = map[string]market.Decimal{}
	}
	w := writer{Memory: m, Snapshot: s}
	for i, c := range w.coins() {
		w.coin(&c, i < large)
	}
	w.liquidated()
	w.whales()
	w.funding()
	w.interest()
	w.listings()
	for key, said := range m.Said {
		if s.Now.Unix()-said.At > rememberFor {
			delete(m.Said, key)
		}
	}
	return w.list
}

// passes reports whether a rule of coins or of all markets has passed a further step.
func (w *writer) passes(rule string, step int64) bool {
	return w.passesWithin(&w.States, source.States, rule, step)
}

// passesWithin reports whether a rule has passed a further step, as often as the rate allows; used
// is until when that is used up, Unix s.
func (w *writer) passesWithin(used *int64, rate source.Rate, rule string, step int64) bool {
	if said, ok := w.Said[rule]; step < 1 || ok && step <= said.Step {
		return false
	}
	until, may := rate.Take(*used, w.Now)
	if !may {
		return false
	}
	*used = until
	w.Said[rule] = Reported{Step: step, At: w.Now.Unix()}
	return true
}

// day is the running day, as rules are named by it.
func (w *writer) day() string { return w.Now.UTC().Format(time.DateOnly) }

// tab is that of all flashes that markets make.
const tab = 5

// say writes a flash in both languages. What is said of one occasion has the same numbers
// however often it is said.
func (w *writer) say(kind int64, occasion string, important bool, member int64, en, cn string) {
	for i, text := range []string{en, cn} {
		language := []string{"en", "cn"}[i]
		w.list = append(w.list, flashes.Flash{
			Entry: flashes.Entry{
				ID: news.ID("market", fmt.Sprint(kind, " ", occasion, " ", language)), Time: w.Now.Unix(), Language: language, Platform: flashes.House, Title: text, Content: text,
				TransTitle: []string{cn, en}[i], TransContent: []string{cn, en}[i], FlashType: kind, Tab: tab, Important: important, MemberID: member,
			},
			Place: drop.Place{Time: w.Now.UnixMilli(), File: "market", Line: 1},
		})
	}
}

var (
	percent   = market.DecimalFromInt(100)
	tenth     = market.DecimalFromInt(1).MustDiv(market.DecimalFromInt(10))
	surely    = market.DecimalFromInt(1).MustDiv(market.DecimalFromInt(2000)) // by which a level is crossed
	anomalous = market.DecimalFromInt(5).MustDiv(market.DecimalFromInt(2))    // of the mean
)

// coin applies the rules of a coin.
func (w *writer) coin(c *coin, isLarge bool) {
	kind, every := int64(smallMove), int64(10)
	if isLarge {
		kind, every = move, 5
	}
	moved := c.Last.Sub(c.Open).Mul(percent).MustDiv(c.Open)
	word, wordCN := "up", "上涨"
	if moved.IsNeg() {
		word, wordCN = "down", "下跌"
	}
	by := moved.Abs().RoundHAZ(2)
	steps, _ := by.MustDiv(market.DecimalFromInt(every)).Trunc(0).Int64()
	rule := fmt.Sprint(kind, " ", c.name, " ", w.day(), " ", word)
	if w.passes(rule, steps) {
		w.say(kind, fmt.Sprint(rule, " ", steps), isLarge && steps > 1, 0,
			fmt.Sprintf("%s is %s %s%% in 24 hours, at %s %s", c.en, word, by, c.Last, c.unit),
			fmt.Sprintf("%s 24 小时%s %s%%，现报 %s %s", c.cn, wordCN, by, c.Last, c.unit))
	}
	w.extremes(c)
	w.traded(c, isLarge)
	if isLarge {
		w.level(c)
	}
}

// Days that are looked back, and how many there must be.
const (
	extremeDays  = 30
	extremeLeast = 7
	tradedDays   = 7
)

// extremes says that a price is higher or lower than on many days.
func (w *writer) extremes(c *coin) {
	days := w.Days[c.Pair]
	days = days[max(0, len(days)-extremeDays):]
	if len(days) < extremeLeast {
		return
	}
	high, low := days[0].High, days[0].Low
	for i := range days {
		if days[i].High.Cmp(high) > 0 {
			high = days[i].High
		}
		if days[i].Low.Cmp(low) < 0 {
			low = days[i].Low
		}
	}
	word, wordCN := "high", "新高"
	switch {
	case c.Last.Cmp(high) > 0:
	case c.Last.Cmp(low) < 0:
		word, wordCN = "low", "新低"
	default:
		return
	}
	if rule := fmt.Sprint(extreme, " ", c.name, " ", w.day(), " ", word); w.passes(rule, 1) {
		w.say(extreme, rule, false, 0,
			fmt.Sprintf("%s is at a new %s of %d days: %s %s", c.en, word, len(days), c.Last, c.unit),
			fmt.Sprintf("%s 创 %d 日%s：%s %s", c.cn, len(days), wordCN, c.Last, c.unit))
	}
}

// traded says that a coin is traded much more than before.
func (w *writer) traded(c *coin, isLarge bool) {
	from := w.Now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -tradedDays).UnixMilli()
	days := w.Days[c.Pair]
	if len(days) == 0 || days[0].OpenTime > from {
		return
	}
	var sum market.Decimal
	for i := range days {
		if days[i].OpenTime >= from {
			sum = sum.Add(days[i].Size)
		}
	}
	if !sum.IsPos() {
		return
	}
	times := c.Size.Mul(market.DecimalFromInt(tradedDays)).MustDiv(sum) // the mean may be less than any decimal
	kind := int64(turnover)
	if isLarge {
		kind = volume
	}
	if rule := fmt.Sprint(kind, " ", c.name, " ", w.day()); times.Cmp(anomalous) >= 0 && w.passes(rule, 1) {
		w.say(kind, rule, false, 0,
			fmt.Sprintf("%s was traded %s times as much as usual in 24 hours, for %s %s", c.en, times.RoundHAZ(1), c.Amount.RoundHAZ(0), c.unit),
			fmt.Sprintf("%s 24 小时成交为平日的 %s 倍，成交额 %s %s", c.cn, times.RoundHAZ(1), c.Amount.RoundHAZ(0), c.unit))
	}
}

// mostLevels bounds where prices stand that are remembered.
const mostLevels = 300

// level says that a price has crossed a level. Where it stands is known by the level below.
func (w *writer) level(c *coin) {
	step := stepOf(c.Last)
	key := fmt.Sprint(c.Pair, " ", step)
	below := c.Last.Sub(remainder(c.Last, step))
	have, ok := w.Levels[key]
	if !ok {
		if len(w.Levels) >= mostLevels { // other coins are large each time
			clear(w.Levels)
		}
		w.Levels[key] = below
		return
	}
	crossed, word, wordCN := below, "above", "突破"
	switch by := surely.Mul(c.Last); {
	case below.Cmp(have) > 0 && c.Last.Cmp(below.Add(by)) > 0:
	case below.Cmp(have) < 0 && c.Last.Cmp(have.Sub(by)) < 0:
		crossed, word, wordCN = below.Add(step), "below", "跌破"
	default:
		return
	}
	w.Levels[key] = below
	if rule := fmt.Sprint(level, " ", c.name, " ", w.day(), " ", word, " ", crossed); w.passes(rule, 1) {
		w.say(level, rule, true, 0,
			fmt.Sprintf("%s is %s %s %s, at %s", c.en, word, crossed, c.unit, c.Last),
			fmt.Sprintf("%s %s %s %s，现报 %s", c.cn, wordCN, crossed, c.unit, c.Last))
	}
}

// stepOf is a tenth of the power of ten at or below a price, and not less than the least decimal.
func stepOf(px market.Decimal) market.Decimal {
	power, ten := market.DecimalFromInt(1), market.DecimalFromInt(10)
	for px.Cmp(power.Mul(ten)) >= 0 {
		power = power.Mul(ten)
	}
	for px.Cmp(power) < 0 && power.Mul(tenth).Mul(tenth).IsPos() {
		power = power.Mul(tenth)
	}
	return power.Mul(tenth)
}

// remainder is what is left of a price above a multiple of a step.
func remainder(px, step market.Decimal) market.Decimal {
	return px.Sub(px.MustDiv(step).Trunc(0).Mul(step))
}

// interest says once a day how much is open on each exchange.
func (w *writer) interest() {
	sums := map[string]market.Decimal{}
	var names []string
	for i := range w.Contracts.Contracts {
		c := &w.Contracts.Contracts[i]
		if _, ok := sums[c.Pair.Platform]; !ok {
			names = append(names, c.Pair.Platform)
		}
		sums[c.Pair.Platform] = sums[c.Pair.Platform].Add(c.Value)
	}
	if len(names) == 0 || !w.allOpen() && w.Now.Sub(w.Began) < openWithin || !w.passes(fmt.Sprint(openInterest, " ", w.day()), 1) {
		return
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(sums[b].Cmp(sums[a]), cmp.Compare(a, b)) })
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = fmt.Sprint(name, " ", sums[name].RoundHAZ(0))
	}
	text := strings.Join(parts, ", ")
	w.say(openInterest, w.day(), false, 0, "Open interest of the followed perpetuals, US dollars: "+text, "所跟踪永续合约持仓总额（美元）："+text)
}

// openWithin is how long figures of perpetuals are waited for that have none yet.
const openWithin = time.Hour

// allOpen reports whether the open interest of all followed perpetuals is known.
func (w *writer) allOpen() bool {
	known := map[string]bool{}
	for i := range w.Contracts.Contracts {
		c := &w.Contracts.Contracts[i]
		known[c.Pair.Key] = c.InterestTime > 0
	}
	return !slices.ContainsFunc(w.Snapshot.Pairs.Pairs, func(p pairs.Pair) bool { return p.Followed && p.Swap && !known[p.Key] })
}

// Of a platform so many listings are said at once, and of all so many pairs are remembered:
// more than exchanges have ever listed in an hour, and several times as many as they have.
const (
	listedAtOnce = 20
	mostPairs    = 30_000
)

// listingStates are so many that no exchange lists more.
var listingStates = source.Rate{AtOnce: 200, Every: 10 * time.Minute}

// listings says which pairs have begun to trade.
func (w *writer) listings() {
	if len(w.Snapshot.Pairs.Pairs) == 0 {
		return
	}
	known := func(name string) bool {
		_, ok := slices.BinarySearch(w.Memory.Pairs, digest(name))
		return ok
	}
	var now []uint32
	said := map[string]int{} // by platform
	for i := range w.Snapshot.Pairs.Pairs[:min(len(w.Snapshot.Pairs.Pairs), mostPairs)] {
		p := &w.Snapshot.Pairs.Pairs[i]
		of := fmt.Sprint("market ", p.Platform, p.Swap, p.Inverse)
		now = append(now, digest(p.Key), digest(of))
		if known(p.Key) || !known(of) || p.Quote != "USDT" && p.Quote != "USDC" || said[p.Platform] == listedAtOnce {
			continue
		}
		said[p.Platform]++
		what, whatCN := "spot", "现货"
		if p.Swap {
			what, whatCN = "perpetual", "永续合约"
		}
		if w.passesWithin(&w.Listed, listingStates, fmt.Sprint(listing, " ", p.Key), 1) {
			w.say(listing, p.Key, true, flashes.MemberID(p.Platform),
				fmt.Sprintf("%s/%s (%s) trades on %s", p.Base, p.Quote, what, p.Platform),
				fmt.Sprintf("%s 上线 %s/%s %s", p.Platform, p.Base, p.Quote, whatCN))
		}
	}
	slices.Sort(now)
	w.Memory.Pairs = slices.Compact(now)
}

// digest is a short one of a name.
func digest(name string) uint32 {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name)) // it never fails
	return sum.Sum32()
}
