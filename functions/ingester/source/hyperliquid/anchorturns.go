package hyperliquid

import "cmp"

// line is one in which accounts wait to be asked about.
type line struct {
	unfollowed bool   // nobody waits for them
	by         string // who wants them
	again      bool   // they were asked about before
}

// turns gives lines their turns: the line is served whose next turn comes first. Turns of
// a line are one apart, those of accounts that nobody waits for unfollowedApart. A line
// that was empty has its turn at once, and none is owed to it for the time before.
type turns struct {
	at   map[line]int64 // next turns
	last int64          // of the line that was served last
}

// unfollowedApart leaves what nobody waits for a fourth of the turns of others.
const unfollowedApart = 4

// first is the line of those with accounts whose turn it is; ok is false without any.
func (t *turns) first(lines map[line][]WantedAnchor) (first line, ok bool) {
	for of, list := range lines {
		if len(list) > 0 && (!ok || t.compare(of, first) < 0) {
			first, ok = of, true
		}
	}
	return first, ok
}

func (t *turns) compare(a, b line) int {
	return cmp.Or(cmp.Compare(t.turn(a), t.turn(b)), compareBool(a.unfollowed, b.unfollowed), compareBool(a.again, b.again), cmp.Compare(a.by, b.by))
}

func (t *turns) turn(of line) int64 { return max(t.at[of], t.last) }

// served notes that a line has had its turn.
func (t *turns) served(of line) {
	apart := int64(1)
	if of.unfollowed {
		apart = unfollowedApart
	}
	if t.at == nil {
		t.at = map[line]int64{}
	}
	t.last = t.turn(of)
	t.at[of] = t.last + apart
	for other, at := range t.at {
		if at <= t.last { // as good as none
			delete(t.at, other)
		}
	}
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
