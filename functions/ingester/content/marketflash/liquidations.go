package marketflash

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"quotary/shared/data/pairliquidations"
	"quotary/shared/market"
)

// summaryEvery is from one summary of liquidations to the next.
const summaryEvery = 4 * time.Hour

// million is the size of a large order, US dollars, and how much larger the next one must be.
const million = 1_000_000

// How old what is said may be: accounts of Hyperliquid are known an hour or two later than what
// they did, where no node is followed. The text says when it was where that is a while ago.
const (
	newsFor     = time.Hour
	perpNewsFor = 3 * time.Hour
	whileAgo    = 15 * time.Minute
)

// liquidated says what was liquidated: every few hours in all, and large orders at once.
func (w *writer) liquidated() {
	var all market.Liquidated
	largest := map[string]order{} // by rule
	w.sumUp(w.Liquidations.Pairs, &all, &w.Since, newsFor, largest)
	w.sumUp(w.PerpLiquidations.Pairs, &all, &w.PerpSince, perpNewsFor, largest)
	for _, rule := range slices.Sorted(maps.Keys(largest)) {
		w.largest(rule, largest[rule])
	}
	if !w.passes(fmt.Sprint(liquidations), w.Now.Unix()/int64(summaryEvery.Seconds())) || all.Count == 0 {
		return
	}
	in, inCN := "In 24 hours", "过去 24 小时"
	if since := time.Unix(max(w.Since, w.PerpSince), 0).UTC(); w.Now.Sub(since) < pairliquidations.Window-time.Hour {
		in, inCN = since.Format("Since 15:04 UTC"), since.Format("自 UTC 15:04 以来")
	}
	total, long, short, most := all.Long.Add(all.Short).RoundHAZ(0), all.Long.RoundHAZ(0), all.Short.RoundHAZ(0), all.Largest.RoundHAZ(0)
	w.say(liquidations, fmt.Sprint(w.Now.Truncate(summaryEvery).Unix()), false, 0,
		fmt.Sprintf("%s %s US dollars were liquidated: longs %s, shorts %s; the largest position %s", in, total, long, short, most),
		fmt.Sprintf("%s全网爆仓 %s 美元：多单 %s，空单 %s；最大单笔 %s", inCN, total, long, short, most))
}

// sumUp adds what was liquidated of pairs in 24 hours to a sum, and takes the largest order of
// each coin and hour that is news for so long. since is from when on it is known, Unix s.
func (w *writer) sumUp(pairs []pairliquidations.Pair, all *market.Liquidated, since *int64, news time.Duration, largest map[string]order) {
	for i := range pairs {
		p := &pairs[i]
		sum := p.Since(w.Now.Add(-pairliquidations.Window))
		all.Merge(&sum)
		for i := range p.Minutes {
			m := &p.Minutes[i]
			if *since == 0 || m.Time/1000 < *since {
				*since = m.Time / 1000
			}
			rule := hourly(largeOrder, p.Coin, m.Time)
			if w.Now.UnixMilli()-m.Time < news.Milliseconds() && m.Largest.Cmp(largest[rule].dollars) > 0 {
				largest[rule] = order{p, m.Largest, m.Time}
			}
		}
	}
}

// hourly names a rule about a coin in the hour that holds a time, ms.
func hourly(kind int64, coin string, ms int64) string {
	return fmt.Sprint(kind, " ", coin, " ", ms/time.Hour.Milliseconds())
}

// order is the largest that closed a position of a pair by force in a time.
type order struct {
	of      *pairliquidations.Pair
	dollars market.Decimal
	time    int64 // ms, of its minute
}

// largest says that a large position was closed.
func (w *writer) largest(rule string, o order) {
	dollars, further := w.passesBy(rule, o.dollars, million)
	if !further {
		return
	}
	name := fmt.Sprint(strings.ToUpper(o.of.Coin), " (", o.of.Platform, ")")
	at, atCN := w.ago(o.time)
	w.say(largeOrder, fmt.Sprint(rule, " ", dollars), dollars >= 10*million, 0,
		fmt.Sprintf("A position of %s US dollars in %s was liquidated%s", o.dollars.RoundHAZ(0), name, at),
		fmt.Sprintf("%s%s 一笔 %s 美元的仓位被强平", atCN, name, o.dollars.RoundHAZ(0)))
}

// passesBy reports whether a value in US dollars, of which it returns the whole ones, is larger
// by so many than the last one of a rule, or the first that is as large.
func (w *writer) passesBy(rule string, value market.Decimal, by int64) (dollars int64, ok bool) {
	dollars, _ = value.Trunc(0).Int64()
	return dollars, dollars >= w.Said[rule].Step+by && w.passes(rule, dollars)
}

// ago says when something happened, ms, in English behind the words and in Chinese before them;
// nothing of what has just happened.
func (w *writer) ago(ms int64) (en, cn string) {
	at := time.UnixMilli(ms).UTC()
	if w.Now.Sub(at) < whileAgo {
		return "", ""
	}
	return at.Format(" at 15:04 UTC"), at.Format("UTC 15:04，")
}
