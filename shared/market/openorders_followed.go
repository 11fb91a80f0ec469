package market

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// followedMost bounds the open orders of followed accounts, of some 300 bytes each.
const followedMost = 1_000_000

// followed are accounts of whose open orders all is kept that their statuses say, beside what
// the table has of those that rest: their client ids, and the triggers that wait.
type followed struct {
	accounts map[accountID]*followedAccount
	orders   map[int64]*OrderStatus // by order id
	changed  map[accountID]bool     // since [OpenOrders.ChangedAccounts]
}

type followedAccount struct {
	listed map[string]int64
	oids   map[int64]bool
}

// AccountOrders are the open orders of an account.
type AccountOrders struct {
	Address string
	// Listed is when the venue listed all of them, ms, by dex, that of spot orders being "".
	// What came since is known from statuses and fills; in a dex that is missing here some
	// may be missing.
	Listed map[string]int64
	// Orders are those that rest and those that wait for a price, the newest first. Sz is
	// what rests, base units.
	Orders []OrderStatus
}

// InDex are the orders in a dex, those of spot markets being in the main one.
func (a *AccountOrders) InDex(dex string) []OrderStatus {
	list := make([]OrderStatus, 0, len(a.Orders))
	for i := range a.Orders {
		if DexOf(a.Orders[i].Coin) == dex {
			list = append(list, a.Orders[i])
		}
	}
	return list
}

// Follow has all kept of an account's open orders from now on.
func (t *OpenOrders) Follow(address string) {
	id, ok := ParseAccount(address)
	if !ok || t.followed.accounts[id] != nil {
		return
	}
	if t.followed.accounts == nil {
		t.followed = followed{accounts: map[accountID]*followedAccount{}, orders: map[int64]*OrderStatus{}, changed: map[accountID]bool{}}
	}
	t.followed.accounts[id] = &followedAccount{listed: map[string]int64{}, oids: map[int64]bool{}}
	t.followed.changed[id] = true
}

// Unfollow keeps no more of an account's orders than of those of others.
func (t *OpenOrders) Unfollow(address string) {
	id, ok := ParseAccount(address)
	if a := t.followed.accounts[id]; ok && a != nil {
		for oid := range a.oids {
			delete(t.followed.orders, oid)
		}
		delete(t.followed.accounts, id)
		t.followed.changed[id] = true
	}
}

// Followed are the addresses of the accounts that are followed, and whether the venue has listed
// their orders in the main dex.
func (t *OpenOrders) Followed() map[string]bool {
	list := make(map[string]bool, len(t.followed.accounts))
	for id, a := range t.followed.accounts {
		list[AddressOf(id)] = a.listed[""] > 0
	}
	return list
}

// ChangedAccounts are the followed accounts whose open orders have changed since it was called
// last, and those that are followed no more.
func (t *OpenOrders) ChangedAccounts() []string {
	list := make([]string, 0, len(t.followed.changed))
	for id := range t.followed.changed {
		list = append(list, AddressOf(id))
	}
	clear(t.followed.changed)
	return list
}

// Orders are the open orders of an account; ok is false where it is not followed.
func (t *OpenOrders) Orders(address string) (of AccountOrders, ok bool) {
	id, _ := ParseAccount(address)
	a := t.followed.accounts[id]
	if a == nil {
		return of, false
	}
	of = AccountOrders{Address: address, Listed: maps.Clone(a.listed), Orders: make([]OrderStatus, 0, len(a.oids))}
	for oid := range a.oids {
		s := *t.followed.orders[oid]
		if slot, rests := t.slots[oid]; rests {
			o := t.at(slot)
			if o.rest == 0 {
				continue // its end is on its way
			}
			s.Sz = Text(Amount{o.rest, o.restPlaces}.Decimal())
		} else if !s.waits() {
			continue
		}
		of.Orders = append(of.Orders, s)
	}
	slices.SortFunc(of.Orders, func(a, b OrderStatus) int {
		return cmp.Or(cmp.Compare(b.Timestamp, a.Timestamp), cmp.Compare(b.Oid, a.Oid))
	})
	return of, true
}

// RestoreOrders follows an account again, of which [OpenOrders.Orders] said so much.
func (t *OpenOrders) RestoreOrders(of AccountOrders) {
	t.Follow(of.Address)
	id, ok := ParseAccount(of.Address)
	if !ok {
		return
	}
	for i := range of.Orders {
		s := of.Orders[i]
		s.Address, s.Status = of.Address, StatusOpen
		t.follow(&s, true)
	}
	maps.Copy(t.followed.accounts[id].listed, of.Listed)
}

// follow keeps what a status or a list says of an open order, where its account is followed: of
// several the newest status counts, and a list where there is none.
func (t *OpenOrders) follow(s *OrderStatus, listed bool) {
	if len(t.followed.accounts) == 0 || t.ended.has(s.Oid) {
		return
	}
	id, ok := ParseAccount(s.Address)
	a := t.followed.accounts[id]
	if !ok || a == nil || strings.HasPrefix(s.Status, "waiting") { // those are in the orders that they wait for
		return
	}
	one := *s
	if listed {
		one.Time, one.Seq = 0, 0
	}
	switch have := t.followed.orders[s.Oid]; {
	case have == nil && len(t.followed.orders) >= followedMost:
		clear(a.listed) // they are not all
		return
	case have != nil && (have.Time > one.Time || have.Time == one.Time && have.Seq >= one.Seq):
		return
	}
	one.detach()
	t.followed.orders[s.Oid], a.oids[s.Oid], t.followed.changed[id] = &one, true, true
}

// detach lets go of the line that the texts of a status are parts of.
func (s *OrderStatus) detach() {
	for _, text := range [...]*string{&s.Address, &s.Hash, &s.Builder, &s.Status, &s.Coin, &s.Side, &s.LimitPx, &s.Sz, &s.OrigSz, &s.TriggerCondition, &s.TriggerPx, &s.OrderType, &s.Tif, &s.Cloid} {
		*text = strings.Clone(*text)
	}
	s.Children = slices.Clone(s.Children)
}

// touchAccount notes that what rests of an account has changed.
func (t *OpenOrders) touchAccount(id accountID) {
	if t.followed.accounts[id] != nil {
		t.followed.changed[id] = true
	}
}

// leave forgets an order that has ended.
func (t *OpenOrders) leave(oid int64) {
	s := t.followed.orders[oid]
	if s == nil {
		return
	}
	delete(t.followed.orders, oid)
	id, _ := ParseAccount(s.Address)
	delete(t.followed.accounts[id].oids, oid)
	t.followed.changed[id] = true
}

// listed notes which orders the venue has listed of a followed account: one that waits and is
// missing in the list of all in its dex has ended.
func (t *OpenOrders) listed(a *Anchor, id accountID, orders map[int64]bool) (changed bool) {
	of := t.followed.accounts[id]
	if of == nil {
		return false
	}
	for oid := range of.oids {
		s := t.followed.orders[oid]
		if _, rests := t.slots[oid]; rests {
			continue
		}
		if ms, all := a.Listed[DexOf(s.Coin)]; all && !orders[oid] && s.Timestamp < ms-listedAfter {
			changed = t.end(oid, ms) || changed
		}
	}
	for dex, ms := range a.Listed {
		of.listed[strings.Clone(dex)] = ms
	}
	t.followed.changed[id] = true
	return changed
}
