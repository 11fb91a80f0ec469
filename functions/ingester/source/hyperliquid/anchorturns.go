package hyperliquid

import (
	"cmp"
	"slices"
	"time"

	"quotary/shared/market"
)

// anchored is what is known of an account that was asked about.
type anchored struct {
	asked   time.Time // when it was last
	busy    bool
	all     time.Time // when all dexs were asked about
	moded   time.Time // when the mode was said
	mode    market.Mode
	doubted time.Time // when it was asked for, as the balances looked as in another one
	used    []string  // dexs that it uses, the main one included
	empty   bool      // the venue knew nothing of it
	wanted  bool      // in the newest list

	followed bool      // there
	due      time.Time // since when it waits to be asked about; zero while it does not
}

// line is one in which accounts wait to be asked about.
type line struct {
	unfollowed bool   // nobody waits for them
	by         string // who wants them
	again      bool   // they were asked about before
}

// compare says which of two lines goes first whose turn comes at once.
func (l line) compare(other line) int {
	return cmp.Or(compareBool(l.unfollowed, other.unfollowed), compareBool(l.again, other.again), cmp.Compare(l.by, other.by))
}

// apart is the distance between turns of a line: accounts that nobody waits for have a fourth
// of the turns of others.
func (l line) apart() int {
	if l.unfollowed {
		return 4
	}
	return 1
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// due are the accounts to ask about now, which count as being asked about. Accounts wait
// in lines: each of those who want accounts has one for those that were never asked about,
// in the order in which they were wanted, or are listed where nobody waits for them, and one for those that were, the longest
// ago first. The lines have turns, so that nobody's accounts keep another's waiting, nor first
// questions the other ones.
func (f *anchorFollower) due(wanted []WantedAnchor, now time.Time) (due []WantedAnchor) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turns.Serve(f.lines(wanted, now), line.compare, func(one WantedAnchor, of line) (cost int, ok bool) {
		k := f.known[one.Address]
		switch {
		case f.busy == anchorsAtOnce:
			return 0, false
		case k.busy:
			return 0, true // it was in another line too
		}
		weight := f.weight(k, one, now)
		if f.Budget != nil && !f.Budget.TrySpend(weight) {
			return 0, false
		}
		k.busy, k.asked, k.due = true, now, time.Time{}
		f.busy++
		due = append(due, one)
		return of.apart() * weight, true
	})
	f.noteWait(now)
	return due
}

// lines are the accounts that wait.
func (f *anchorFollower) lines(wanted []WantedAnchor, now time.Time) map[line][]WantedAnchor {
	for _, k := range f.known {
		k.wanted = false
	}
	lines := map[line][]WantedAnchor{}
	for _, one := range wanted {
		k := f.known[one.Address]
		if k == nil {
			k = &anchored{}
			f.known[one.Address] = k
		}
		k.wanted, k.followed = true, one.Followed
		every, old := one.Every, now.Sub(k.asked)
		if k.empty {
			every = max(every, anchorsAll)
		}
		if k.busy || old < every && (!k.asked.Before(one.After) || old < anchorAgain) {
			k.due = time.Time{}
			continue
		}
		if k.due.IsZero() {
			k.due = now
		}
		of := line{unfollowed: !one.Followed, again: !k.asked.IsZero()}
		if len(one.By) == 0 {
			lines[of] = append(lines[of], one)
		}
		for _, of.by = range one.By {
			lines[of] = append(lines[of], one)
		}
	}
	for address, k := range f.known {
		if !k.wanted && !k.busy && (now.Sub(k.asked) >= anchorsAll || len(f.known) > knownMost) {
			delete(f.known, address)
		}
	}
	for of, list := range lines {
		if of.unfollowed && !of.again {
			continue // as they are listed: who holds most first
		}
		slices.SortStableFunc(list, func(a, b WantedAnchor) int {
			x, y := f.known[a.Address], f.known[b.Address]
			if of.again {
				return x.asked.Compare(y.asked)
			}
			return x.due.Compare(y.due)
		})
	}
	return lines
}

// noteWait reports how long the account has waited that somebody waits for and that has
// waited longest.
func (f *anchorFollower) noteWait(now time.Time) {
	if f.OldestWait == nil {
		return
	}
	oldest := time.Duration(0)
	for _, k := range f.known {
		if k.wanted && k.followed && !k.due.IsZero() {
			oldest = max(oldest, now.Sub(k.due))
		}
	}
	f.OldestWait.Store(oldest.Milliseconds())
}

// weight is about what it costs to ask about an account.
func (f *anchorFollower) weight(k *anchored, one WantedAnchor, now time.Time) int {
	dexs := len(k.used)
	if one.wantsAgain(k.all, now) {
		dexs = max(1, len(f.dexs))
	}
	weight := weightState*(dexs+2) + weightOrders*max(1, len(k.used)) + weightLeverage*len(one.Coins)
	if one.wantsAgain(k.moded, now) {
		weight += weightMode
	}
	if one.Past {
		weight += weightPortfolio
	}
	return weight
}

// wantsAgain reports whether what seldom changes, and was asked for at a time, is to be asked
// for again: after an hour, and when something was lost.
func (w *WantedAnchor) wantsAgain(asked, now time.Time) bool {
	return now.Sub(asked) >= anchorsAll || asked.Before(w.After)
}
