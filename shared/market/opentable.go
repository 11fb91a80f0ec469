package market

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/quagmt/udecimal"
)

// OpenTable is the open perpetual positions of all accounts that are known, in columns of whole
// numbers, so that some 300,000 of them are valued and looked through in milliseconds: see
// [OpenTable.Mark]. Its rows follow their pools, and these their accounts. It is read only.
type OpenTable struct {
	Time     int64 // when it was made, ms
	Accounts [][20]byte
	Pools    []OpenPool
	Coins    []OpenCoin
	Rows     []OpenRow

	// LeftOut are the positions whose figures are not what any market of the venue has: with
	// more than eight decimal places, or larger than its rows hold; and those in more coins than
	// it numbers.
	LeftOut int
}

// User is the address of who holds a row.
func (t *OpenTable) User(row int) string {
	return AddressOf(t.Accounts[t.Pools[t.Rows[row].Pool].Account])
}

// OpenPool is what stands behind the cross positions of an account together: the cash of a
// dex, or a balance behind all dexes with its token as their collateral.
type OpenPool struct {
	Account uint32 // which of the accounts
	Known   bool   // Base is what it says
	Base    Micros // without what is set aside for isolated positions and without the positions' unrealized PnL, units of the collateral
}

// OpenCoin is a coin of which there are positions.
type OpenCoin struct {
	Coin   string
	Places uint8 // decimal places of the sizes of its rows
}

// OpenRow is an open position.
type OpenRow struct {
	Pool     uint32
	Coin     uint16
	Leverage uint8 // notional over initial margin; 0 is not known
	Flags    OpenFlags
	Size     int64  // base units x 10^Places of the coin, negative is short; not 0
	Cost     Micros // of Size at entry, with its sign
	Margin   Micros // set aside for an isolated position, without its unrealized PnL
	Funding  Micros // paid less received since it was opened
	Opened   int64  // ms; 0 is not known
	Changed  int64  // ms of its last fill; 0 is not known
}

// OpenFlags say what is known of a position.
type OpenFlags uint8

// The flags.
const (
	OpenIsolated     OpenFlags = 1 << iota // its margin is its own; of meaning where Leverage is not 0
	OpenStateKnown                         // the state of the account is known, and that of this size
	OpenCostKnown                          // Cost is what it says
	OpenMarginKnown                        // so is Margin
	OpenFundingKnown                       // so is Funding
)

// mostPlaces is the most decimal places of a size of a perpetual.
const mostPlaces = 8

// holder is an account with open positions, and what its state adds to them.
type holder struct {
	id    accountID
	open  []*held
	pools []pool // of those whose states are known
}

// pool is an [OpenPool] with its name: a dex, or a token that is behind several.
type pool struct {
	name  string
	base  Micros
	known bool
}

// held is an open position of a holder.
type held struct {
	in   *coinPositions
	size Decimal
	pool string
	row  OpenRow // without its pool, coin and size; zero where the state of the account is not known, or that of another size
}

// holder is the one of an account, made where there is none.
func (p *Positions) holder(id accountID) *holder {
	h := p.holders[id]
	if h == nil {
		if p.holders == nil {
			p.holders = map[accountID]*holder{}
		}
		h = &holder{id: id}
		p.holders[id] = h
	}
	return h
}

func (h *holder) hold(in *coinPositions, size Decimal) *held {
	one := &held{in: in, size: size}
	h.open = append(h.open, one)
	return one
}

// release takes a position away from its holder, nil for none.
func (p *Positions) release(id accountID, one *held) {
	h := p.holders[id]
	if one == nil || h == nil {
		return
	}
	if h.open = slices.DeleteFunc(h.open, func(other *held) bool { return other == one }); len(h.open) == 0 {
		delete(p.holders, id)
	}
}

// SetAccount takes over what the state of an account says of its positions, those included
// that no fill has told. Of a position whose newest fill the state lacks only the size is
// known until it has it. It reports whether anything changed.
func (p *Positions) SetAccount(a *Account, m *Markets) (changed bool) {
	id, ok := ParseAccount(a.Address)
	if !ok {
		return false
	}
	if h := p.holders[id]; h != nil {
		for _, one := range slices.Clone(h.open) {
			order := one.in.held[id].order
			switch now, _ := a.Holding(one.in.coin); {
			case now.Open != nil:
			case !now.Unsure && a.has(order, &now, one.in.coin):
				p.set(one.in, id, Decimal{}, order)
				changed = true
			case one.row != (OpenRow{}):
				*one = held{in: one.in, size: one.size}
				changed = true
			}
		}
	}
	open := false
	for i := range a.Holdings {
		if h := &a.Holdings[i]; h.Open != nil && !IsSpot(h.Coin) {
			changed = p.hold(id, a, h, m) || changed
			open = true
		}
	}
	if pools := a.pools(m); open && !slices.Equal(p.holder(id).pools, pools) {
		p.holder(id).pools, changed = pools, true
	}
	return changed
}

// has reports whether the state of an account has a fill of an order in a coin: by itself, or by
// a newer anchor.
func (a *Account) has(fill Order, h *Holding, coin string) bool {
	return fill.Compare(h.Last) <= 0 || fill.Time <= a.anchoredIn(DexOf(coin))
}

// hold takes over what the state of an account says of an open position.
func (p *Positions) hold(id accountID, a *Account, h *Holding, m *Markets) (changed bool) {
	c := p.coin(h.Coin)
	had := c.held[id]
	if !a.has(had.order, h, h.Coin) {
		return false
	}
	if changed = !had.size.Equal(h.Open.Size); changed || h.Last.Compare(had.order) > 0 {
		if h.Last.Compare(had.order) > 0 {
			had.order = h.Last
		}
		p.set(c, id, h.Open.Size, had.order)
	}
	now := held{in: c, size: h.Open.Size, pool: a.poolOf(h.Coin, m), row: a.openRow(h)}
	one := c.held[id].held
	changed = changed || one.pool != now.pool || one.row != now.row
	*one = now
	return changed
}

// anchoredIn is the ms of the newest anchor of a dex; 0 without any.
func (a *Account) anchoredIn(dex string) int64 {
	if i := slices.IndexFunc(a.Dexes, func(d DexFunds) bool { return d.Dex == dex }); i >= 0 {
		return a.Dexes[i].Anchored
	}
	return 0
}

// openRow is what a state says of an open position.
func (a *Account) openRow(h *Holding) OpenRow {
	o := h.Open
	row := OpenRow{Flags: OpenStateKnown, Cost: MicrosOf(o.Cost), Margin: MicrosOf(o.Margin), Funding: MicrosOf(o.FundingSinceOpen), Changed: h.Last.Time}
	if h.Leverage.Value > 0 && h.Leverage.Value <= math.MaxUint8 {
		row.Leverage = uint8(h.Leverage.Value)
	}
	if h.Leverage.Isolated {
		row.Flags |= OpenIsolated
	}
	if !o.NoCost {
		row.Flags |= OpenCostKnown
	}
	if !o.Partial {
		row.Opened = o.Opened
	}
	if !o.Partial || a.isFunded(DexOf(h.Coin)) {
		row.Flags |= OpenMarginKnown | OpenFundingKnown
	}
	return row
}

// poolOf is the name of the pool that is behind the cross positions in a coin.
func (a *Account) poolOf(coin string, m *Markets) string {
	dex := DexOf(coin)
	if token, ok := m.collateral(dex); ok && a.Mode == ModeUnified {
		return token
	}
	return dex
}

// pools are what is behind the positions of an account, by name.
func (a *Account) pools(m *Markets) (list []pool) {
	all := true // the collaterals of all positions are known
	for i := range a.Holdings {
		h := &a.Holdings[i]
		if h.Open == nil || IsSpot(h.Coin) {
			continue
		}
		name := a.poolOf(h.Coin, m)
		_, ok := m.collateral(DexOf(h.Coin))
		all = all && ok
		at, known := slices.BinarySearchFunc(list, name, func(p pool, name string) int { return cmp.Compare(p.name, name) })
		if !known {
			list = slices.Insert(list, at, a.pool(name))
		}
		if a.Mode == ModeUnified && h.Leverage.Isolated {
			list[at].base -= MicrosOf(h.Open.Margin)
		}
	}
	for i := range list {
		list[i].known = list[i].known && (all || a.Mode == ModeStandard)
	}
	return list
}

// pool is one of them, of the dex or token of a name, without what is in isolated positions.
// It is known where [Account.State] knows liquidation prices by a public rule.
func (a *Account) pool(name string) pool {
	switch a.Mode {
	case ModeStandard:
		known := a.Anchored > 0 && a.isFunded(name)
		for i := range a.Dexes {
			if d := &a.Dexes[i]; d.Dex == name {
				return pool{name, MicrosOf(d.Cash), known && d.Anchored >= a.Lost}
			}
		}
		return pool{name, 0, known && a.Lost == 0}
	case ModeUnified:
		return pool{name, MicrosOf(a.total(name)), a.SpotTime > 0 && a.isFundedInAll()}
	case ModeUnknown, ModePortfolio, ModeOther:
	}
	return pool{name: name}
}

// Table is the open positions as a table of a time, ms.
func (p *Positions) Table(ms int64) *OpenTable {
	t := &OpenTable{Time: ms}
	holders := p.sortedHolders()
	n := t.numberAll(p, holders)
	t.Accounts, t.Pools, t.Rows = make([][20]byte, 0, len(holders)), make([]OpenPool, 0, len(holders)), make([]OpenRow, 0, n)
	for _, h := range holders {
		t.add(h)
	}
	return t
}

// sortedHolders are the holders by address. What they are sorted by lies beside the pointers: to
// follow these at each comparison takes twice as long.
func (p *Positions) sortedHolders() []*holder {
	type keyed struct {
		first uint64 // bytes of the address
		*holder
	}
	keys := make([]keyed, 0, len(p.holders))
	for id, h := range p.holders {
		keys = append(keys, keyed{binary.BigEndian.Uint64(id[:]), h})
	}
	slices.SortFunc(keys, func(x, y keyed) int {
		if c := cmp.Compare(x.first, y.first); c != 0 {
			return c
		}
		return bytes.Compare(x.id[:], y.id[:])
	})
	holders := make([]*holder, len(keys))
	for i := range keys {
		holders[i] = keys[i].holder
	}
	return holders
}

// Held is what is known of the open position of an account in a coin, without its pool, coin and
// size; ok is false where the state of the account is not known.
func (p *Positions) Held(address, coin string) (row OpenRow, ok bool) {
	id, _ := ParseAccount(address)
	if c := p.coins[coin]; c != nil && c.held[id].held != nil {
		row = c.held[id].held.row
	}
	return row, row.Flags&OpenStateKnown != 0
}

// TableOf is the table of one account.
func (p *Positions) TableOf(address string, ms int64) *OpenTable {
	t := &OpenTable{Time: ms}
	id, _ := ParseAccount(address)
	h := p.holders[id]
	if h == nil {
		return t
	}
	for _, one := range h.open {
		one.in.number = t.number(one.in.coin)
	}
	t.places([]*holder{h})
	t.add(h)
	return t
}

// unnumbered is the number of a coin for which the table has no room.
const unnumbered = math.MaxUint16

// number is that of another coin.
func (t *OpenTable) number(coin string) uint16 {
	if len(t.Coins) == unnumbered {
		return unnumbered
	}
	t.Coins = append(t.Coins, OpenCoin{Coin: coin})
	return uint16(len(t.Coins) - 1) //nolint:gosec // it is less
}

// numberAll numbers the coins of what is open, and counts its positions.
func (t *OpenTable) numberAll(p *Positions, holders []*holder) int {
	for _, coin := range p.Coins() {
		p.coins[coin].number = t.number(coin)
	}
	return t.places(holders)
}

// places finds how fine the sizes in each coin are, and counts the positions.
func (t *OpenTable) places(holders []*holder) (n int) {
	for _, h := range holders {
		n += len(h.open)
		for _, one := range h.open {
			if one.in.number == unnumbered {
				continue
			}
			c := &t.Coins[one.in.number]
			if places := one.size.PrecUint(); places > c.Places {
				c.Places = max(c.Places, min(placesOf(one.size), mostPlaces))
			}
		}
	}
	return n
}

// add adds the positions of a holder.
func (t *OpenTable) add(h *holder) {
	slices.SortFunc(h.open, func(x, y *held) int {
		return cmp.Or(cmp.Compare(x.pool, y.pool), cmp.Compare(x.row.Flags&OpenStateKnown, y.row.Flags&OpenStateKnown), cmp.Compare(x.in.number, y.in.number))
	})
	account := uint32(len(t.Accounts)) //nolint:gosec // memory has no room for more
	t.Accounts = append(t.Accounts, h.id)
	var last *held
	for _, one := range h.open {
		var size int64
		ok := one.in.number != unnumbered
		if ok {
			size, ok = wholeOf(one.size, t.Coins[one.in.number].Places)
		}
		if !ok {
			t.LeftOut++
			continue
		}
		if last == nil || last.pool != one.pool || last.row.Flags&OpenStateKnown != one.row.Flags&OpenStateKnown {
			t.Pools = append(t.Pools, h.openPool(one, account))
			last = one
		}
		row := one.row
		row.Pool, row.Coin, row.Size = uint32(len(t.Pools)-1), one.in.number, size //nolint:gosec // memory has no room for more
		t.Rows = append(t.Rows, row)
	}
}

// openPool is the pool of a position.
func (h *holder) openPool(one *held, account uint32) OpenPool {
	p := OpenPool{Account: account}
	if at := slices.IndexFunc(h.pools, func(p pool) bool { return p.name == one.pool }); at >= 0 && one.row.Flags&OpenStateKnown != 0 {
		p.Base, p.Known = h.pools[at].base, h.pools[at].known
	}
	return p
}

// placesOf is the decimal places of d without zeros at their end.
func placesOf(d Decimal) uint8 {
	places := d.PrecUint()
	for places > 0 && d.Trunc(places-1).Equal(d) {
		places--
	}
	return places
}

// mostWhole bounds whole numbers, so that the sum of two has room.
const mostWhole = 1 << 61

// wholeOf is d x 10^places; ok is false where that is no whole number, or one beyond [mostWhole].
func wholeOf(d Decimal, places uint8) (n int64, ok bool) {
	if d.PrecUint() > places {
		if d = d.Trunc(placesOf(d)); d.PrecUint() > places {
			return 0, false
		}
	}
	neg, hi, lo, own, ok := d.ToHiLo()
	over, whole := bits.Mul64(lo, tens[places-own])
	if !ok || hi|over != 0 || whole > mostWhole {
		return 0, false
	}
	if n = int64(whole); neg {
		n = -n
	}
	return n, true
}

// RestoreTable takes over what a table says of the positions whose sizes are those that it has.
// A pool is named by its number until the state of its account is known again.
func (p *Positions) RestoreTable(t *OpenTable) {
	for i := range t.Rows {
		row := t.Rows[i]
		number := row.Pool
		account, coin := t.Accounts[t.Pools[number].Account], t.Coins[row.Coin]
		c := p.coins[coin.Coin]
		if c == nil || row.Flags&OpenStateKnown == 0 {
			continue
		}
		one := c.held[account].held
		if one == nil || !one.size.Equal(udecimal.MustFromInt64(row.Size, coin.Places)) {
			continue
		}
		row.Pool, row.Coin, row.Size = 0, 0, 0
		one.row, one.pool = row, strconv.FormatUint(uint64(number), 10)
		if h := p.holders[account]; !slices.ContainsFunc(h.pools, func(p pool) bool { return p.name == one.pool }) {
			h.pools = append(h.pools, pool{one.pool, t.Pools[number].Base, t.Pools[number].Known})
		}
	}
}
