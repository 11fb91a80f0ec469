package perp

import (
	"cmp"
	"maps"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quotary/shared/data/followrequests"
	"quotary/shared/data/openorders"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// following wants accounts for a distributor.
func following(addresses ...string) *wantedAccounts {
	w := newWantedAccounts(0)
	w.list(followrequests.ListOf(map[string][]string{"acme": addresses}), time.UnixMilli(base))
	return w
}

// listsOf are the open orders of followed accounts as views have them.
func listsOf(t *testing.T, views map[string][]byte) map[string]market.AccountOrders {
	t.Helper()
	all := map[string]market.AccountOrders{}
	for part := range openorders.Parts {
		name := openorders.PublishedAccounts(part).Name
		if views[name] == nil {
			continue
		}
		accounts := must.Get(openorders.PublishedAccounts(part).Decode(views[name]))(t)
		for address := range accounts.Lists {
			of, _, err := accounts.Orders(address)
			must.Do(t, err)
			all[address] = of
		}
	}
	return all
}

// TestOpenOrdersOfFollowedAccountsAreThoseOfTheVenue begins to follow all accounts of a venue
// that has gone on for a while, takes what the node writes in several orders, with the venue's
// lists in between and a restart, and compares every member of every order with what the venue
// lists.
func TestOpenOrdersOfFollowedAccountsAreThoseOfTheVenue(t *testing.T) {
	t.Parallel()
	s := newOrderVenue(t)
	s.advance(time.Minute)
	s.batches() // is not followed yet
	addresses := s.venue.Truth().Addresses
	ask := &Batch{Events: market.Events{AnchorRequests: addresses}}
	say := &Batch{Events: market.Events{Anchors: s.open()}}
	s.advance(time.Minute)
	orders, fills := s.batches()
	half := func(list []*Batch) []*Batch { return list[: len(list)/2 : len(list)/2] }
	rest := func(list []*Batch) []*Batch { return list[len(list)/2:] }
	for name, batches := range map[string][]*Batch{
		"the list first":           slices.Concat([]*Batch{ask, say}, orders, fills),
		"the list last":            slices.Concat([]*Batch{ask}, fills, orders, []*Batch{say}),
		"the list in between":      slices.Concat([]*Batch{ask}, half(orders), half(fills), []*Batch{say}, rest(fills), rest(orders)),
		"statuses again and late":  slices.Concat([]*Batch{ask, say}, orders, fills, rest(orders), half(orders)),
		"twice the list, once old": slices.Concat([]*Batch{ask, say}, orders, []*Batch{say}, fills),
	} {
		t.Run(name, func(t *testing.T) {
			p := newOpenOrders(following(addresses...))
			p.Joined()
			views := published(t, p, batches...)
			s.sameLists(t, listsOf(t, views))
			again := newOpenOrders(following(addresses...))
			must.Do(t, again.Restore(views))
			if again.accounts.pending() {
				t.Error("what was restored is to be published again")
			}
			s.sameLists(t, again.lists())
		})
	}

	again := newOpenOrders(following(addresses...))
	again.Joined()
	views := published(t, again, slices.Concat([]*Batch{ask, say}, orders, fills)...)
	restored := newOpenOrders(following(addresses...))
	must.Do(t, restored.Restore(views))
	restored.Joined()
	s.advance(time.Minute)
	orders, fills = s.batches()
	maps.Copy(views, published(t, restored, append(fills, orders...)...))
	s.sameLists(t, listsOf(t, views))
}

// lists are the open orders of all followed accounts.
func (p *openOrders) lists() map[string]market.AccountOrders {
	all := map[string]market.AccountOrders{}
	for address := range p.table.Followed() {
		all[address], _ = p.table.Orders(address)
	}
	return all
}

// sameLists wants the open orders of all accounts to be those that the venue lists.
func (s *simVenue) sameLists(t *testing.T, got map[string]market.AccountOrders) {
	t.Helper()
	n, triggers := 0, 0
	sorted := func(list []market.OrderStatus) []market.OrderStatus {
		return slices.SortedFunc(slices.Values(list), func(a, b market.OrderStatus) int { return cmp.Compare(a.Oid, b.Oid) })
	}
	for _, a := range s.open() {
		of, ok := got[a.Address]
		if !ok || of.Listed[""] == 0 {
			t.Errorf("the orders of account %s are not known", a.Address)
			continue
		}
		if diff := gocmp.Diff(sorted(a.Orders), sorted(of.Orders), cmpopts.IgnoreFields(market.OrderStatus{}, "Time", "Hash", "Builder", "BuilderFee", "Status", "Seq"), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("account %s (-venue +product):\n%.1500s", a.Address, diff)
		}
		if !slices.IsSortedFunc(of.Orders, func(a, b market.OrderStatus) int { return cmp.Compare(b.Timestamp, a.Timestamp) }) {
			t.Errorf("those of account %s are not the newest first", a.Address)
		}
		n += len(of.Orders)
		for i := range of.Orders {
			if of.Orders[i].IsTrigger {
				triggers++
			}
		}
	}
	if n < 300 || triggers == 0 {
		t.Errorf("%d orders and %d triggers were compared: too few to mean anything", n, triggers)
	}
}

// TestAccountsAreFollowedWhileSomebodyWantsThem: one that begins to be followed is asked about
// though its last anchor is young, and is forgotten with who follows it.
func TestAccountsAreFollowedWhileSomebodyWantsThem(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(base)
	one, other := faultyAccount, "0x00000000000000000000000000000000000000ef"
	w := newWantedAccounts(0)
	p := newOpenOrders(w)
	p.Joined()
	look := func() map[string]market.AccountOrders {
		now = now.Add(followedEvery)
		views := map[string][]byte{}
		for _, v := range p.Changes(now, true).Views {
			views[v.Name] = v.Body
		}
		return listsOf(t, views)
	}
	asked := func(of ...string) (after time.Time) {
		for _, want := range w.list(followrequests.ListOf(map[string][]string{"acme": of}), now) {
			after = want.After
		}
		return after
	}
	anchors := func(address string) {
		b := &Batch{Events: market.Events{AnchorRequests: []string{address}, Anchors: []market.Anchor{{Address: address, Listed: map[string]int64{"": now.UnixMilli()}}}}}
		must.Do(t, p.Apply(b, nil, now))
	}
	if asked(one); !asked(one).IsZero() {
		t.Error("it is asked about again before it was looked")
	}
	look()
	since := now
	if after := asked(one); !after.Equal(since) {
		t.Errorf("asked about as of %v, want %v", after, since)
	}
	if look(); !asked(one).Equal(since) {
		t.Error("an answer that is on its way does not do")
	}
	anchors(other)
	anchors(one)
	if lists := look(); len(lists) != 1 || lists[one].Listed[""] == 0 {
		t.Errorf("listed are %v", lists)
	}
	if after := asked(one); !after.IsZero() {
		t.Errorf("it is asked about again as of %v", after)
	}
	asked()
	if look(); len(p.table.Followed()) != 0 || len(p.accounts.parts[openorders.Part(one)].Lists) != 0 {
		t.Error("it is followed for nobody")
	}
	if p.accounts.pending() || len(look()) != 0 {
		t.Error("it is published again and again")
	}
}
