package perp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/localstack/sim/venue"
	"quotary/shared/data/openorders"
	"quotary/shared/market"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

// newOrderVenue opens a venue that begins two minutes before a full hour.
func newOrderVenue(t *testing.T) *simVenue {
	t.Helper()
	return openSimVenue(t, time.Date(2026, 3, 15, 10, 58, 0, 0, time.UTC), venue.Config{Seed: 14, Traders: 120, FillsPerSecond: 60, Log: quiet})
}

// advance makes the venue go on for a time, in small blocks.
func (s *simVenue) advance(d time.Duration) {
	s.t.Helper()
	must.Do(s.t, s.venue.Advance(s.venue.Now().Add(d)))
}

// open is what the venue lists of every account, as anchors.
func (s *simVenue) open() (anchors []market.Anchor) {
	s.t.Helper()
	ms := s.venue.Now().UnixMilli()
	for _, address := range s.venue.Truth().Addresses {
		a := market.Anchor{Address: address, Listed: map[string]int64{}, Orders: s.orders(address)}
		for _, dex := range s.dexes {
			a.Listed[dex] = ms
		}
		anchors = append(anchors, a)
	}
	return anchors
}

// batches are what the node has written of orders and of fills since it was asked before, a
// block each.
func (s *simVenue) batches() (orders, fills []*Batch) {
	s.t.Helper()
	for _, of := range []struct {
		stream nodeStream
		to     *[]*Batch
	}{{orderStream, &orders}, {fillStream, &fills}} {
		s.readOn(of.stream, func() *market.Events {
			b := NewBatch()
			*of.to = append(*of.to, b)
			return &b.Events
		})
	}
	return orders, fills
}

// published are the views of the projection after batches.
func published(t *testing.T, p *openOrders, batches ...*Batch) map[string][]byte {
	t.Helper()
	for _, b := range batches {
		must.Do(t, p.Apply(b, nil, time.Time{}))
	}
	views := map[string][]byte{}
	for _, v := range p.Changes(time.UnixMilli(base), true).Views {
		views[v.Name] = v.Body
	}
	return views
}

// wanted are the orders that rest by what the venue lists, by order id.
func wanted(anchors []market.Anchor) map[int64]string {
	all := map[int64]string{}
	for _, a := range anchors {
		for _, s := range a.Orders {
			if s.IsTrigger && s.TriggerCondition != "Triggered" {
				continue
			}
			all[s.Oid] = fmt.Sprint(s.Address, s.Coin, s.Side, s.LimitPx, s.Sz, s.OrigSz, s.Timestamp, s.ReduceOnly, s.Tif)
		}
	}
	return all
}

// same wants the views to say what the venue says, to the last digit.
func (s *simVenue) same(t *testing.T, views map[string][]byte) {
	t.Helper()
	table := must.Get(openorders.PublishedTable.Decode(views[openorders.TableName]))(t)
	want, got := wanted(s.open()), map[int64]string{}
	type level struct {
		coin, side, px string
	}
	type rest struct {
		n  int64
		sz market.Decimal
	}
	levels, values := map[level]rest{}, map[string]rest{}
	for o := range table.All() {
		if o.Sz.Coef == 0 {
			t.Errorf("nothing rests of order %d, which is open", o.Oid)
		}
		px, sz, side := market.Text(o.Px.Decimal()), market.Text(o.Sz.Decimal()), o.Side.String()
		got[o.Oid] = fmt.Sprint(o.Address(), o.Coin, side, px, sz, market.Text(o.OrigSz.Decimal()), o.Placed, o.ReduceOnly, o.Tif)
		l := levels[level{o.Coin, side, px}]
		levels[level{o.Coin, side, px}] = rest{l.n + 1, l.sz.Add(o.Sz.Decimal())}
		v := values[o.Coin+side]
		values[o.Coin+side] = rest{v.n + 1, v.sz.Add(o.Value())}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%d orders, want %d (-venue +product):\n%.2000s", len(got), len(want), diff)
	}
	top := must.Get(openorders.PublishedTop.Decode(views[openorders.TopName]))(t)
	sums := must.Get(openorders.DecodeValues(views[openorders.ValuesName]))(t)
	compared, triggers := 0, 0
	for coin, of := range sums.Coins {
		for side, one := range map[string]openorders.SideValues{"B": of.Bids, "A": of.Asks} {
			if v := values[coin+side]; v.n != one.Count() || !v.sz.Equal(one.Sum) {
				t.Errorf("%s %s: %d of %s, want %d of %s", coin, side, one.Count(), one.Sum, v.n, v.sz)
			}
		}
		var book struct {
			Levels [2][]struct {
				Px, Sz string
				N      int64
			}
		}
		must.Do(t, json.Unmarshal(s.ask(fmt.Sprintf(`"type":"l2Book","coin":%q`, coin)), &book))
		for i, side := range []string{"B", "A"} {
			for _, l := range book.Levels[i] {
				if have := levels[level{coin, side, l.Px}]; have.n != l.N || market.Text(have.sz) != l.Sz {
					t.Errorf("%s %s at %s: %d orders of %s, the book has %d of %s", coin, side, l.Px, have.n, have.sz, l.N, l.Sz)
				}
				compared++
			}
		}
		list, err := top.Orders(coin)
		if err != nil || len(list) != min(market.TopOrders, int(of.Bids.Count()+of.Asks.Count())) {
			t.Errorf("%d of %s are listed: %v", len(list), coin, err)
		}
		if !slices.IsSortedFunc(list, func(a, b market.OpenOrder) int { return b.Value().Cmp(a.Value()) }) {
			t.Errorf("those of %s are not sorted by value", coin)
		}
	}
	for _, a := range s.open() {
		for _, o := range a.Orders {
			if o.IsTrigger {
				triggers++
			}
		}
	}
	if len(got) < 300 || compared < 100 || triggers == 0 {
		t.Errorf("%d orders, %d levels and %d triggers that wait were compared: too few to mean anything", len(got), compared, triggers)
	}
	t.Logf("%d orders, %d levels, %d triggers that wait", len(got), compared, triggers)
}

// TestOpenOrdersAreThoseOfTheVenue reads all that a node wrote, fills and statuses in
// either order, and compares every order, level and sum with what the venue itself
// says; and again after a restart and more blocks.
func TestOpenOrdersAreThoseOfTheVenue(t *testing.T) {
	t.Parallel()
	s := newOrderVenue(t)
	s.advance(3 * time.Minute) // beyond an hour's end
	orders, fills := s.batches()
	ahead, behind := newOpenOrders(nil), newOpenOrders(nil)
	ahead.Joined()
	behind.Joined()
	views := published(t, ahead, append(slices.Clone(fills), orders...)...)
	s.same(t, views)
	if diff := cmp.Diff(timeless(t, views), timeless(t, published(t, behind, append(orders, fills...)...))); diff != "" {
		t.Errorf("statuses before fills end otherwise:\n%.2000s", diff)
	}
	again := newOpenOrders(nil)
	must.Do(t, again.Restore(views))
	again.Joined()
	s.advance(time.Minute)
	orders, fills = s.batches()
	s.same(t, published(t, again, append(orders, fills...)...))
}

// TestOrdersFromBeforeTheNodeWasFollowedComeFromTheirAccounts follows the node from some
// block on, with what the venue listed of every account at that time.
func TestOrdersFromBeforeTheNodeWasFollowedComeFromTheirAccounts(t *testing.T) {
	t.Parallel()
	s := newOrderVenue(t)
	s.advance(time.Minute)
	s.batches() // is not followed yet
	p := newOpenOrders(nil)
	p.Joined()
	before := &Batch{}
	before.Anchors = s.open()
	s.advance(time.Minute)
	orders, fills := s.batches()
	views := published(t, p, append(append(fills[:len(fills)/2:len(fills)/2], before), append(fills[len(fills)/2:], orders...)...)...)
	s.same(t, views)
}

// TestThatNoOrderRestsIsPublishedOnceAfterAStart ends a life before it has published
// anything, when every order that it knew has ended: nothing changes after the start.
func TestThatNoOrderRestsIsPublishedOnceAfterAStart(t *testing.T) {
	t.Parallel()
	placed := market.OrderStatus{Address: fmt.Sprintf("0x%040x", 1), Coin: "BTC", Side: "A", LimitPx: "2.5", Sz: "3.0", OrigSz: "3.0", Oid: 450_000_000_000,
		Time: base, Timestamp: base, Status: "open", TriggerCondition: "N/A", TriggerPx: "0.0", OrderType: "Limit", Tif: "Gtc"}
	ended := placed
	ended.Time, ended.Status = base+1, "canceled"

	first := newOpenOrders(nil)
	saved := published(t, first, &Batch{Events: market.Events{Orders: []market.OrderStatus{placed, ended}}})
	if names := slices.Sorted(maps.Keys(saved)); !slices.Equal(names, []string{openorders.TableName}) {
		t.Fatalf("%v were written before the past was read", names)
	}
	again := newOpenOrders(nil)
	must.Do(t, again.Restore(saved))
	again.Joined()
	want := map[string]string{openorders.TopName: `{"all":[],"coins":{}}`, openorders.ValuesName: `{"coins":{}}`, openorders.ReservesName: `{"coins":{}}`}
	check.Equalf(t, want, timeless(t, published(t, again)), "after the start")
	if views := published(t, again); len(views) > 0 {
		t.Errorf("published again without a change: %v", slices.Sorted(maps.Keys(views)))
	}

	empty := newOpenOrders(nil)
	empty.Joined()
	if views := published(t, empty); len(views) > 0 {
		t.Errorf("published before anything came: %v", slices.Sorted(maps.Keys(views)))
	}
}
