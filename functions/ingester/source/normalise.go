package source

import (
	"time"

	"quotary/shared/market"
)

// mostBehind is how long ago an event may have happened that is pushed. Each minute of the past of
// which something is said is read and written again: what is older is asked for, and in order.
const mostBehind = time.Hour

// normalise names pairs by their keys and counts sizes in base coins. Events of pairs that
// are not followed are left out, and such as cannot have happened yet or are too old.
func (f *follower) normalise(e *market.PairEvents) {
	latest, oldest := f.now().Add(MostAhead).UnixMilli(), f.now().Add(-mostBehind).UnixMilli()
	known := func(symbol *string, at int64) *followedPair {
		pair := f.pairs[*symbol]
		switch {
		case pair == nil:
			return nil
		case at > latest:
			f.ahead(pair.Key, at)
			return nil
		case at < oldest:
			f.Stats.Malformed.Add(1)
			return nil
		}
		*symbol = pair.Key
		return pair
	}
	e.Trades = keep(e.Trades, func(t *market.PairTrade) bool {
		if f.pairs[t.Pair] == nil { // it was not asked for
			f.Stats.Malformed.Add(1)
		}
		pair := known(&t.Pair, t.Time)
		switch {
		case pair == nil:
			return false
		case !f.Protocol.Unnumbered && !pair.believes(t):
			f.Stats.Malformed.Add(1)
			return false
		}
		f.trade(pair, t)
		return true
	})
	e.Tickers = keep(e.Tickers, func(t *market.PairTicker) bool { return known(&t.Pair, t.Time) != nil })
	e.Fundings = keep(e.Fundings, func(r *market.PairFunding) bool { return known(&r.Pair, r.Time) != nil })
	e.Interests = keep(e.Interests, func(i *market.PairInterest) bool { return known(&i.Pair, i.Time) != nil })
	e.Liquidations = keep(e.Liquidations, func(l *market.PairLiquidation) bool {
		pair := known(&l.Pair, l.Time)
		if pair != nil {
			l.Sz, l.Value = Sizes(&pair.Pair, l.Px, l.Sz)
		}
		return pair != nil
	})
	e.Ratios = keep(e.Ratios, func(r *market.PairRatio) bool { return known(&r.Pair, r.Time) != nil })
}

// keep leaves out what is not kept.
func keep[T any](list []T, kept func(*T) bool) []T {
	n := 0
	for i := range list {
		if kept(&list[i]) {
			list[n] = list[i]
			n++
		}
	}
	return list[:n]
}

// ahead counts an event that is ahead of our clock.
func (f *follower) ahead(key string, at int64) {
	if f.Stats.Malformed.Add(1); !f.saidAhead {
		f.saidAhead = true
		f.Log.Error("the venue's clock is ahead of ours: what it says of the future is dropped, and only counted from now on",
			"pair", key, "time", at, "ahead", time.UnixMilli(at).Sub(f.now()).String())
	}
}

// trade normalises a trade and counts those that are missing before it.
func (f *follower) trade(pair *followedPair, t *market.PairTrade) {
	if f.Protocol.Unnumbered {
		t.Prev, t.ID = pair.last, pair.last+1
	} else if missing := t.Prev - pair.last; pair.last > 0 && missing > 0 {
		f.Stats.Gaps.Add(missing)
	}
	pair.last = max(pair.last, t.ID)
	sz, amount := Sizes(&pair.Pair, t.Px, t.Sz)
	t.Sz = sz
	if pair.Inverse {
		t.Amount = amount
	}
}
