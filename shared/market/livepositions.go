package market

import (
	"cmp"
	"slices"

	"github.com/quagmt/udecimal"
)

// LivePositions are positions whose fills come some time later, moved on by the public trades since: what the fills
// come to is confirmed, the trades behind are its tail, and both together are what stands now. When the fills have come to
// a time ([LivePositions.Until]) the trades before it are dropped, and what stands of whoever is concerned is made anew
// ([LivePositions.Settle]) of what is left, so a trade that was wrong or missing is mended then.
//
// A trade moves only what is known at a time since which all trades of its coin have come: see [LivePositions.Whole].
// Who has no other position and was never seen in the coin is not known. Where the venue has said what an account holds
// ([LivePositions.Say]), that is its position of then, and the trades behind it count.
//
// Of a position that trades have moved its size, its leverage and, as long as each fits, its cost are known; what stands
// behind it is not, as trades do not say their fees. It is not safe for concurrent use.
type LivePositions struct {
	Confirmed *Positions // the caller adds fills and states of accounts
	Now       *Positions // what stands; the caller only reads it
	LeftOut   int64      // trades that had no room

	until    int64 // ms up to which the fills have come
	whole    map[string]int64
	tails    map[accountID][]*tail
	said     map[accountID]*Account
	stale    map[accountID]struct{} // what stands is to be made anew
	trades   int
	describe *Markets
}

// tail is the trades of an account in a coin behind its fills, in order.
type tail struct {
	coin string
	list []tailTrade
	lost int64 // ms of the newest that had no room: what stands is not known before the fills have come to it
	live bool  // they are in what stands
}

// tailTrade is a trade of which only size and price are known, as whole numbers: there are a million of them an hour.
type tailTrade struct {
	ms, tid              int64
	size, px             int64 // of the account, negative where it sold
	sizePlaces, pxPlaces uint8
}

const (
	// tailMost bounds the trades of one account and coin, and tailsMost those of all.
	tailMost  = 20_000
	tailsMost = 3_000_000
)

// NewLivePositions begins with confirmed positions, whose fills are known up to no time yet.
func NewLivePositions(confirmed *Positions) *LivePositions {
	l := &LivePositions{Confirmed: confirmed, Now: new(Positions), whole: map[string]int64{}, tails: map[accountID][]*tail{}, said: map[accountID]*Account{}, stale: map[accountID]struct{}{}}
	for id := range confirmed.holders {
		l.refresh(id)
	}
	return l
}

// Whole says since when, ms, all trades of a coin have come, and come from now on: of before some may be missing.
func (l *LivePositions) Whole(coin string, since int64) {
	l.whole[coin] = since
	for id, list := range l.tails {
		for _, t := range list {
			if t.coin == coin {
				t.dropBefore(l, since)
				l.refresh(id)
				break
			}
		}
	}
}

// Trade takes in a fill of which only the public trade is known. It reports the size before it where that is known, base
// units, negative is short.
func (l *LivePositions) Trade(f *Fill) (before Decimal, known bool) {
	id, ok := ParseAccount(f.Address)
	if !ok || IsSpot(f.Coin) || f.Time < max(l.whole[f.Coin], l.until) {
		return before, false
	}
	t := l.tailOf(id, f.Coin)
	one, ok := tradeOf(f)
	if !ok || len(t.list) >= tailMost || l.trades >= tailsMost {
		t.lost = max(t.lost, f.Time)
		l.LeftOut++
		l.refresh(id)
		return before, false
	}
	at, twice := t.place(one)
	if twice {
		return before, false
	}
	t.list = slices.Insert(t.list, at, one)
	l.trades++
	switch _, from, _ := l.base(id, f.Coin); {
	case !t.live, one.ms < from:
		return before, false
	case at < len(t.list)-1:
		l.refresh(id)
		return before, false
	}
	c := l.Now.coin(t.coin)
	had := c.held[id]
	l.put(c, id, one.move(stateOf(had)))
	l.forgetFunds(id)
	return had.size, true
}

// Until says up to when, ms, the fills of all accounts have come.
func (l *LivePositions) Until(ms int64) {
	if ms <= l.until {
		return
	}
	l.until = ms
	for id, list := range l.tails {
		for _, t := range list {
			t.dropBefore(l, ms)
		}
		l.stale[id] = struct{}{}
	}
}

// Settle makes what stands of those anew of whom something has been confirmed.
func (l *LivePositions) Settle() {
	for id := range l.stale {
		l.refresh(id)
	}
	clear(l.stale)
}

// Confirm notes that the fills of an account, or its state, have changed what is confirmed.
func (l *LivePositions) Confirm(address string) {
	if id, ok := ParseAccount(address); ok {
		l.stale[id] = struct{}{}
	}
}

// Say takes over what the venue has said of an account behind its fills; nil is nothing any more.
func (l *LivePositions) Say(address string, a *Account, m *Markets) {
	id, ok := ParseAccount(address)
	if !ok || a == nil && l.said[id] == nil {
		return
	}
	if l.describe = m; a == nil {
		delete(l.said, id)
	} else {
		l.said[id] = a
	}
	l.refresh(id)
}

// Forget is for where no fills come at all: it lets go of what the venue has said of accounts before a time, ms, of the trades
// that it knew, and of those of other accounts before another.
func (l *LivePositions) Forget(said, ms int64) {
	for id, a := range l.said {
		if a.Anchored < said {
			delete(l.said, id)
			l.refresh(id)
		}
	}
	for id, list := range l.tails {
		for _, t := range list {
			before := ms
			if a := l.said[id]; a != nil {
				before = a.anchoredIn(DexOf(t.coin))
			}
			t.dropBefore(l, before)
		}
		if l.tails[id] = slices.DeleteFunc(list, func(t *tail) bool { return len(t.list) == 0 && t.lost < ms && l.said[id] == nil }); len(l.tails[id]) == 0 {
			delete(l.tails, id)
		}
	}
}

// standing is a position as it stands at some time.
type standing struct {
	size  Decimal
	order Order
	pool  string
	row   OpenRow
}

func stateOf(p position) standing {
	s := standing{size: p.size, order: p.order}
	if p.held != nil {
		s.pool, s.row = p.held.pool, p.held.row
	}
	return s
}

// refresh makes what stands of an account anew.
func (l *LivePositions) refresh(id accountID) {
	coins := map[string]*tail{}
	for _, of := range [...]*holder{l.Confirmed.holders[id], l.Now.holders[id]} {
		if of != nil {
			for _, one := range of.open {
				coins[one.in.coin] = nil
			}
		}
	}
	if a := l.said[id]; a != nil {
		for i := range a.Holdings {
			if h := &a.Holdings[i]; h.Open != nil && !IsSpot(h.Coin) {
				coins[h.Coin] = nil
			}
		}
	}
	list := l.tails[id][:0]
	for _, t := range l.tails[id] {
		if t.live = false; len(t.list) > 0 || t.lost >= l.until {
			coins[t.coin] = t
			list = append(list, t)
		}
	}
	if l.tails[id] = list; len(list) == 0 {
		delete(l.tails, id)
	}
	moved := false
	for coin, t := range coins {
		moved = l.refreshCoin(id, coin, t) || moved
	}
	l.fund(id)
	if moved {
		l.forgetFunds(id)
	}
}

// refreshCoin makes what stands of an account in a coin, and reports whether trades are in it.
func (l *LivePositions) refreshCoin(id accountID, coin string, t *tail) (moved bool) {
	now, from, known := l.base(id, coin)
	if t != nil && known && t.lost < from && l.isWhole(coin, from) {
		t.live = true
		for i := range t.list {
			if t.list[i].ms >= from {
				now, moved = t.list[i].move(now), true
			}
		}
	}
	if c := l.Now.coins[coin]; c != nil || known {
		l.put(l.Now.coin(coin), id, now)
	}
	return moved
}

// base is what is known of an account in a coin without its tail, and from when on, ms, trades are behind it. Whoever
// has a position has paid funding for it, and so is known in all coins.
func (l *LivePositions) base(id accountID, coin string) (s standing, from int64, known bool) {
	if a := l.said[id]; a != nil {
		if at := a.anchoredIn(DexOf(coin)); at >= l.until {
			if h, _ := a.Holding(coin); h.Open != nil {
				s = standing{size: h.Open.Size, order: Order{Time: at}, pool: a.poolOf(coin, l.describe), row: a.openRow(&h)}
			}
			return s, at + 1, true
		}
	}
	if c := l.Confirmed.coins[coin]; c != nil {
		if p, ok := c.held[id]; ok { // while its hour is read it has some of that
			return stateOf(p), max(l.until, p.order.Time+1), true
		}
	}
	return s, l.until, l.Confirmed.holders[id] != nil
}

// put sets what stands of an account in a coin.
func (l *LivePositions) put(c *coinPositions, id accountID, s standing) {
	if s.size.IsZero() {
		s.order = Order{} // no fill of now opens it again
	}
	l.Now.set(c, id, s.size, s.order)
	if one := c.held[id].held; one != nil {
		*one = held{in: c, size: s.size, pool: s.pool, row: s.row}
	}
	l.Now.newest = max(l.Now.newest, s.order.Time)
}

// fund sets what stands behind the positions of an account.
func (l *LivePositions) fund(id accountID) {
	now := l.Now.holders[id]
	if now == nil {
		return
	}
	now.pools = nil
	if a := l.said[id]; a != nil && a.Anchored >= l.until {
		now.pools = a.pools(l.describe)
	} else if of := l.Confirmed.holders[id]; of != nil {
		now.pools = slices.Clone(of.pools)
	}
}

// forgetFunds forgets what stands behind the positions of an account that has traded: nobody knows its fees.
func (l *LivePositions) forgetFunds(id accountID) {
	if h := l.Now.holders[id]; h != nil {
		for i := range h.pools {
			h.pools[i].known = false
		}
	}
}

func (l *LivePositions) tailOf(id accountID, coin string) *tail {
	for _, t := range l.tails[id] {
		if t.coin == coin {
			return t
		}
	}
	t := &tail{coin: l.Now.coin(coin).coin}
	_, from, known := l.base(id, coin)
	t.live = known && l.isWhole(coin, from)
	l.tails[id] = append(l.tails[id], t)
	return t
}

// dropBefore drops the trades of before a time, ms.
func (t *tail) dropBefore(l *LivePositions, ms int64) {
	n, _ := slices.BinarySearchFunc(t.list, ms, func(one tailTrade, ms int64) int { return cmp.Compare(one.ms, ms) })
	l.trades -= n
	t.list = slices.Clone(t.list[n:])
}

// tradeOf is a fill as a tail has it; ok is false where its figures are not what any market has.
func tradeOf(f *Fill) (t tailTrade, ok bool) {
	size, px := mustDecimal(f.Sz), mustDecimal(f.Px)
	t = tailTrade{ms: f.Time, tid: f.Tid, sizePlaces: placesOf(size), pxPlaces: placesOf(px)}
	if f.Side == Sell {
		size = size.Neg()
	}
	if t.size, ok = wholeOf(size, t.sizePlaces); ok {
		t.px, ok = wholeOf(px, t.pxPlaces)
	}
	return t, ok
}

// place is where a trade goes, behind those of its millisecond, as they come in order; twice says that it is there. An
// account may have both sides of one.
func (t *tail) place(one tailTrade) (at int, twice bool) {
	at = len(t.list)
	for at > 0 && t.list[at-1].ms > one.ms {
		at--
	}
	for i := at - 1; i >= 0 && t.list[i].ms == one.ms; i-- {
		if t.list[i].tid == one.tid && (t.list[i].size < 0) == (one.size < 0) {
			return at, true
		}
	}
	return at, false
}

// isWhole reports whether all trades of a coin have come from a time on, ms.
func (l *LivePositions) isWhole(coin string, from int64) bool {
	since, known := l.whole[coin]
	return known && since <= from
}

// move is what stands behind a trade. What a part of a position has cost is its part of the cost, to a millionth.
func (t tailTrade) move(s standing) standing {
	size, px := udecimal.MustFromInt64(t.size, t.sizePlaces), udecimal.MustFromInt64(t.px, t.pxPlaces)
	before, after := s.size, s.size.Add(size)
	s.size, s.order = after, Order{Time: t.ms, Tid: t.tid}
	row := &s.row
	row.Flags &^= OpenMarginKnown // of a cross position nobody asks for it
	row.Changed = t.ms
	switch {
	case after.IsZero():
		s.row, s.pool = OpenRow{}, ""
	case before.Sign()*after.Sign() <= 0: // it is new
		row.Cost, row.Opened, row.Funding = MicrosOf(after.Mul(px)), t.ms, 0
		row.Flags |= OpenCostKnown | OpenFundingKnown
	case row.Flags&OpenCostKnown == 0:
	case after.Abs().GreaterThan(before.Abs()):
		row.Cost = MicrosOf(row.Cost.Decimal().Add(size.Mul(px)))
	default:
		row.Cost = MicrosOf(row.Cost.Decimal().Mul(after).MustDiv(before))
	}
	return s
}
