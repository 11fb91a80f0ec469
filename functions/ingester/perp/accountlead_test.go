package perp

import (
	"fmt"
	"testing"
	"time"

	"quotary/shared/data/accounts"
	"quotary/shared/data/datatest"
	"quotary/shared/data/followrequests"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// leading is an account of which the venue is asked while its events come an hour late.
type leading struct {
	*accountWorld
}

func (w leading) asked(a market.Anchor) {
	w.t.Helper()
	w.apply(&Batch{Events: market.Events{AnchorRequests: []string{faultyAccount}}}, time.Second)
	w.apply(&Batch{Events: market.Events{Anchors: []market.Anchor{a}}}, 5*time.Second)
}

func (w leading) fills(list ...market.Fill) {
	w.t.Helper()
	w.apply(&Batch{Events: market.Events{Fills: list}}, 5*time.Second)
}

// holds requires what is stored of it: the sizes that its events come to and that the venue has said, "-" for nothing.
func (w leading) holds(when, confirmed, ahead string) {
	w.t.Helper()
	size := func(a *market.Account) string {
		if a == nil {
			return "-"
		}
		if h, _ := a.Holding("BTC"); h.Open != nil {
			return market.Text(h.Open.Size)
		}
		return "0"
	}
	row := w.rows[accounts.At(faultyAccount)]
	said := must.Get(accounts.AheadOf(faultyAccount, row))(w.t)
	if got := size(must.Get(accounts.Decode(faultyAccount, row))(w.t)); got != confirmed || size(said) != ahead {
		w.t.Errorf("%s: %s is confirmed, %s ahead; want %s and %s", when, got, size(said), confirmed, ahead)
	}
}

const laterHour = 3600 // seconds after noon

// TestWhatTheVenueSaysAheadOfTheEvents is shown as what the account holds, and compared with its events when they have come.
func TestWhatTheVenueSaysAheadOfTheEvents(t *testing.T) {
	t.Parallel()
	w := leading{newAccountWorld(t)}
	w.fills(step(1, market.Buy, "2.0", "0.0", "0.0"))
	w.asked(said(laterHour, "5", "500"))
	w.holds("the venue has said it", "2.0", "5.0")
	w.asked(said(laterHour+300, "6", "600"))
	w.holds("it has said more", "2.0", "6.0")

	w.fills(step(2, market.Buy, "1.0", "2.0", "0.0"))
	w.holds("an event comes", "3.0", "6.0")
	w.fills(step(3, market.Buy, "2.0", "3.0", "0.0"), step(laterHour+1, market.Sell, "1.0", "5.0", "0.0"))
	w.holds("events come to the first answer", "4.0", "6.0")
	state, f := w.p.cache[faultyAccount].state, &w.p.figures
	if h, _ := state.Holding("BTC"); h.Leverage.Value != 7 || state.Anchored != noon.UnixMilli()+1000*laterHour {
		t.Errorf("it is not anchored by the answer: %+v", state)
	}
	if f.anchored.Load() != 1 || f.differences.Load() != 0 || f.ahead.Load() != 2 || f.missed.Load() != 0 {
		t.Errorf("%d anchored, %d differences, %d ahead, %d missed", f.anchored.Load(), f.differences.Load(), f.ahead.Load(), f.missed.Load())
	}
	w.fills(step(laterHour+400, market.Buy, "2.0", "4.0", "0.0"))
	w.holds("events pass the second", "6.0", "-")
	if len(w.p.leading) > 0 || w.p.cache[faultyAccount].later != nil {
		t.Error("something is waited for")
	}
}

// TestAnAccountThatOnlyTheVenueTellsOf has no events before their hour comes, and begins with that as if nobody had asked.
func TestAnAccountThatOnlyTheVenueTellsOf(t *testing.T) {
	t.Parallel()
	w := leading{newAccountWorld(t)}
	other := step(1, market.Buy, "1.0", "0.0", "0.0")
	other.Address = "0xb0b0000000000000000000000000000000000002"
	w.fills(other) // so it is known how far the events have come
	w.asked(said(laterHour, "5", "500"))
	w.holds("the venue has said it", "0", "5.0")

	again := newAccountWorld(t) // a restart: the answer is forgotten, what it says is not
	w.disk.rows = w.rows
	again.disk, again.now = w.disk, w.now
	again.set.logs = w.disk.part
	w = leading{again}
	w.fills(step(2, market.Buy, "1.0", "4.0", "0.0"))
	w.holds("an event comes", "5.0", "5.0")
	w.fills(step(laterHour+1, market.Sell, "5.0", "5.0", "1.0"))
	w.holds("events pass what it has said", "0", "-")
}

// TestWhereNoEventsOfAccountsCome the venue's word is all that there is, and no difference from anything.
func TestWhereNoEventsOfAccountsCome(t *testing.T) {
	t.Parallel()
	w := leading{newAccountWorld(t)}
	w.p.told = true
	w.asked(said(1, "5", "500"))
	w.asked(said(60, "2", "200"))
	w.holds("it is asked twice", "0", "2.0")
	if f := &w.p.figures; f.differences.Load() != 0 || w.p.cache[faultyAccount].later != nil {
		t.Errorf("%d differences; %+v is kept", f.differences.Load(), w.p.cache[faultyAccount].later)
	}
}

// TestWhoIsFollowedIsAskedAboutAsItTrades where only that it did is known.
func TestWhoIsFollowedIsAskedAboutAsItTrades(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	followed := followrequests.List[string]{{Distributor: "acme", Things: []string{faultyAccount}}}
	after := func() time.Time { return w.p.wanted.list(followed, w.now)[0].After }
	if !after().IsZero() {
		t.Error("it is asked about at once")
	}
	other := step(1, market.Buy, "1.0", "0.0", "0.0")
	other.Address = "0xb0b0000000000000000000000000000000000002"
	w.apply(&Batch{Events: market.Events{Provisional: []market.Fill{step(1, market.Buy, "1.0", "", ""), other}}}, 0)
	if got := after(); got.Before(noon) {
		t.Errorf("it is asked about after %s", got)
	}
	if w.p.wanted.list(nil, w.now); len(w.p.wanted.traded) > 0 {
		t.Error("who is not followed is remembered")
	}
}

// TestThoseThatHoldMostAreAskedAboutFirst and where there is no room for all alone; those of whom the venue said what was
// folded once a day.
func TestThoseThatHoldMostAreAskedAboutFirst(t *testing.T) {
	t.Parallel()
	wanted := newWantedAccounts(1000)
	holds := func(n, size int) {
		a := &market.Account{Address: fmt.Sprintf("0x%040d", n), Holdings: []market.Holding{{Coin: "BTC", Open: &market.OpenPosition{Size: market.DecimalFromInt(int64(size))}}}}
		wanted.wantIfLarge(a, new(market.Markets), market.Marks{"BTC": market.DecimalFromInt(1)}, noon)
	}
	for n := range mostValued {
		holds(n, 2000+n)
	}
	holds(mostValued, 999)
	wanted.list(nil, noon)
	holds(mostValued+1, 2000) // as much as the least
	holds(mostValued+2, 1_000_000)
	address := func(n int) string { return fmt.Sprintf("0x%040d", n) }
	list := wanted.list(nil, noon)
	if len(list) != mostValued || list[0].Address != address(mostValued+2) || list[1].Address != address(mostValued-1) || list[mostValued-1].Address != address(1) {
		t.Errorf("%d are wanted: %s, %s, .. %s", len(list), list[0].Address, list[1].Address, list[len(list)-1].Address)
	}
	if n := wanted.refused.Load(); n != 1 {
		t.Errorf("%d are refused", n)
	}
	for n := range mostOwn - mostValued { // nor do those of whom something is not known keep the largest out
		wanted.again(fmt.Sprint("0xlost", n), noon)
	}
	holds(mostValued+3, 2_000_000)
	if list = wanted.list(nil, noon); len(list) != mostOwn || list[0].Address != address(mostValued+3) {
		t.Errorf("%d are wanted, %s first", len(list), list[0].Address)
	}
	for _, c := range []struct {
		differs bool
		want    time.Duration
	}{{true, anchorValued}, {false, anchorAgreed}, {true, anchorValued}} {
		wanted.compared(list[0].Address, c.differs)
		if got := wanted.list(nil, noon)[0].Every; got != c.want {
			t.Errorf("where the venue differs is %t, it is asked every %s", c.differs, got)
		}
	}
}

// TestWhoHoldsMuchIsAskedAboutThoughItsHourIsOld: without a node no account is newer.
func TestWhoHoldsMuchIsAskedAboutThoughItsHourIsOld(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		late bool
		age  time.Duration
		want int
	}{
		"as it happens":            {age: time.Minute, want: 1},
		"of before, beside a node": {age: 2 * time.Hour},
		"with the hour":            {late: true, age: 2 * time.Hour, want: 1},
		"of an hour of long ago":   {late: true, age: 9 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newAccountWorld(t)
			w.p.held = newOpenInterest()
			w.p.held.late = c.late
			w.now = noon.Add(c.age)
			described := datatest.TwoPerps(w.now.UnixMilli(), 40, 25)
			w.apply(&Batch{Events: market.Events{
				Meta:     &market.Meta{Time: described.Time, Perps: described.Perps, Spot: described.Spot},
				Contexts: []market.Contexts{{Time: w.now.UnixMilli(), Coins: []market.Context{{Coin: "BTC", Mark: market.DecimalFromInt(1_000_000)}}}},
				Fills:    []market.Fill{step(0, market.Buy, "2.0", "0.0", "0.0")},
			}}, time.Second)
			if list := w.p.wanted.list(nil, w.now); len(list) != c.want {
				t.Errorf("%d are asked about, want %d", len(list), c.want)
			}
		})
	}
}

// TestAfterARestartTheVenueIsAhead of what is folded though no hour has come since: how far that is is not known then.
func TestAfterARestartTheVenueIsAhead(t *testing.T) {
	t.Parallel()
	w := leading{newAccountWorld(t)}
	w.p.held = newOpenInterest()
	w.p.held.late = true
	w.asked(said(laterHour, "5", "500"))
	w.holds("the venue has said it", "0", "5.0")
	w.fills(step(2, market.Buy, "1.0", "4.0", "0.0"), step(laterHour+1, market.Buy, "1.0", "5.0", "0.0"))
	w.holds("its events come", "6.0", "-")
	if f := &w.p.figures; f.anchored.Load() != 1 || f.differences.Load() != 0 {
		t.Errorf("%d anchored, %d differences", f.anchored.Load(), f.differences.Load())
	}
}

// TestTradesOfWhichNoFillsAreEmittedAreNotVouchedFor though the venue told them: what stands lacks them.
func TestTradesOfWhichNoFillsAreEmittedAreNotVouchedFor(t *testing.T) {
	t.Parallel()
	trades := []market.Trade{{Coin: "BTC", Tid: 1, Time: 10}, {Coin: "ETH", Tid: 2, Time: 20}, {Coin: "BTC", Tid: 3, Time: 30}}
	for name, c := range map[string]struct {
		emitted []market.Fill
		want    int64
	}{
		"all":        {[]market.Fill{{Tid: 1}, {Tid: 2}, {Tid: 3}}, 5},
		"none":       {nil, 31},
		"the oldest": {[]market.Fill{{Tid: 2}, {Tid: 3}}, 11},
		"of another": {[]market.Fill{{Tid: 1}, {Tid: 3}}, 5},
	} {
		whole := []market.TradesWhole{{Coin: "BTC", Since: 5}}
		if vouch(whole, trades, c.emitted); whole[0].Since != c.want {
			t.Errorf("%s: since %d, want %d", name, whole[0].Since, c.want)
		}
	}
}
