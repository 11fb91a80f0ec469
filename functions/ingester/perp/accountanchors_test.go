package perp

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/data/accounts"
	"quotary/shared/data/followrequests"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

// TestAnchors: an answer is compared with what was folded up to its time, wins, and what
// came later is folded behind it; one that is late, wrong or refused does no harm.
func TestAnchors(t *testing.T) {
	t.Parallel()
	open, add, flat := step(1, market.Buy, "2.0", "0.0", "0.0"), step(2, market.Buy, "1.0", "2.0", "0.0"), step(3, market.Sell, "3.0", "3.0", "5.0")
	fills := func(list ...market.Fill) *Batch { return &Batch{Events: market.Events{Fills: list}} }
	anchor := func(list ...market.Anchor) *Batch { return &Batch{Events: market.Events{Anchors: list}} }
	asked := &Batch{Events: market.Events{AnchorRequests: []string{faultyAccount}}}
	refused := anchor(market.Anchor{Address: faultyAccount})
	many := said(2, "5", "500")
	for n := range market.MostNamed {
		many.Dexes[0].Positions = append(many.Dexes[0].Positions, market.PositionState{Coin: fmt.Sprint("COIN", n), Szi: mustParse("1")})
	}
	for name, c := range map[string]struct {
		batches     []*Batch
		size        string
		trades      int
		leverage    int64
		anchored    int64
		differences int64
		refused     int64
		missed      int64
	}{
		"agrees":                    {batches: []*Batch{fills(open), asked, anchor(said(1, "2", "200"))}, size: "2", leverage: 7, anchored: 1},
		"before and behind":         {batches: []*Batch{fills(open), asked, fills(add, flat), anchor(said(2, "3", "300"))}, leverage: 7, trades: 1, anchored: 1},
		"in one batch":              {batches: []*Batch{{Events: market.Events{Fills: []market.Fill{open, add}, AnchorRequests: []string{faultyAccount}, Anchors: []market.Anchor{said(1, "2", "200")}}}}, size: "3", leverage: 7, anchored: 1},
		"differs":                   {batches: []*Batch{fills(open), asked, anchor(said(1, "5", "500"))}, size: "5", leverage: 7, anchored: 1, differences: 1},
		"of nobody known":           {batches: []*Batch{asked, anchor(said(1, "", ""))}, anchored: 1},
		"is the first that is seen": {batches: []*Batch{asked, anchor(said(1, "2", "200")), fills(add, flat)}, leverage: 7, trades: 1, anchored: 1},
		"refused":                   {batches: []*Batch{fills(open), asked, fills(add), refused, fills(flat)}, trades: 1, refused: 1},
		"is followed by another":    {batches: []*Batch{fills(open), asked, anchor(said(1, "2", "200")), asked, anchor(said(1, "5", "500")), asked, refused}, size: "2", leverage: 7, anchored: 1, missed: 2},
		"names too many coins":      {batches: []*Batch{fills(open), asked, fills(add), anchor(many), fills(flat)}, trades: 1, refused: 1},
		"never comes":               {batches: []*Batch{fills(open), asked, fills(add)}, size: "3", missed: 0},
		"was not announced":         {batches: []*Batch{fills(open), anchor(said(1, "5", "500"))}, size: "2", missed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newAccountWorld(t)
			for _, b := range c.batches {
				w.disk.put(b)
				must.Get(w.set.apply(b, w.now, w.disk.load))(t)
				w.now = w.now.Add(soon)
			}
			for range 40 {
				must.Get(w.set.apply(NewBatch(), w.now, w.disk.load))(t)
				w.now = w.now.Add(time.Second)
			}
			changes := w.apply(NewBatch(), time.Minute)
			state := w.p.cache[faultyAccount].state
			h, _ := state.Holding("BTC")
			size := ""
			if h.Open != nil {
				size = h.Open.Size.String()
			}
			f := &w.p.figures
			if size != c.size || len(w.trade) != c.trades || h.Leverage.Value != c.leverage || changes.Held {
				t.Errorf("it holds %q at leverage %d, and has completed %+v; held: %t", size, h.Leverage.Value, w.trade, changes.Held)
			}
			if f.anchored.Load() != c.anchored || f.differences.Load() != c.differences || f.refused.Load() != c.refused || f.missed.Load() < c.missed {
				t.Errorf("%d anchored, %d differences, %d refused, %d missed", f.anchored.Load(), f.differences.Load(), f.refused.Load(), f.missed.Load())
			}
		})
	}
	w := newAccountWorld(t)
	w.apply(asked, soon)
	if c := w.apply(anchor(said(1, "", "")), time.Minute); len(c.Fine) > 0 || len(w.disk.rows) > 0 {
		t.Errorf("a row of an account that the venue does not know: %+v", c.Fine)
	}
}

// TestFillsBehindTheAnchorThatKnowsThem are counted, and the anchor stays: to make the
// account again for them would lose it each time.
func TestFillsBehindTheAnchorThatKnowsThem(t *testing.T) {
	t.Parallel()
	open, add, flat := step(1, market.Buy, "2.0", "0.0", "0.0"), step(2, market.Buy, "1.0", "2.0", "0.0"), step(3, market.Sell, "3.0", "3.0", "5.0")
	fills := func(list ...market.Fill) *Batch { return &Batch{Events: market.Events{Fills: list}} }
	w := newAccountWorld(t)
	apply := func(b *Batch, pass time.Duration) {
		w.disk.put(b)
		for ; pass >= 0; pass -= time.Second {
			must.Get(w.set.apply(b, w.now, w.disk.load))(t)
			b, w.now = NewBatch(), w.now.Add(time.Second)
		}
	}
	apply(fills(open), 0)
	apply(&Batch{Events: market.Events{AnchorRequests: []string{faultyAccount}}}, 0)
	apply(&Batch{Events: market.Events{Anchors: []market.Anchor{said(2, "3", "300")}}}, 10*time.Second)
	apply(fills(add), time.Second)
	apply(fills(add), time.Second) // again, as after a crash
	spot := add
	spot.Coin, spot.Tid = "@107", 20
	apply(fills(spot), time.Second)
	apply(fills(spot), time.Second)
	apply(fills(flat), time.Second)
	w.apply(NewBatch(), time.Minute)
	f, a := &w.p.figures, w.p.cache[faultyAccount]
	if f.anchored.Load() != 1 || f.rebuilt.Load() != 0 || f.late.Load() != 2 || a.state.Anchored == 0 || len(w.p.broken) > 0 {
		t.Errorf("%d anchored, %d rebuilt, %d late, broken are %v", f.anchored.Load(), f.rebuilt.Load(), f.late.Load(), w.p.broken)
	}
	all := a.stats.All()
	if trade, ok := w.trade["BTC 3.0"]; len(w.trade) != 1 || !ok || !trade.Partial || all.Days[0].Fills != 3 || market.Text(all.SpotVolume) != "100.0" {
		t.Errorf("completed are %+v, of %d fills, with a volume of %s on spot", w.trade, all.Days[0].Fills, all.SpotVolume)
	}
}

// TestARebuiltTradeKeepsItsLeverage, which an anchor has said and no log has.
func TestARebuiltTradeKeepsItsLeverage(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	open, flat := step(1, market.Buy, "2.0", "0.0", "0.0"), step(3, market.Sell, "2.0", "2.0", "5.0")
	w.apply(&Batch{Events: market.Events{Fills: []market.Fill{open}}}, soon)
	w.apply(&Batch{Events: market.Events{AnchorRequests: []string{faultyAccount}, Anchors: []market.Anchor{said(2, "2", "200")}}}, 10*time.Second)
	w.apply(&Batch{Events: market.Events{Fills: []market.Fill{flat}}}, soon)
	before := w.trade["BTC 2.0"]
	w.apply(&Batch{Events: market.Events{Fills: []market.Fill{step(-5, market.Buy, "1.0", "0.0", "0.0"), step(-4, market.Sell, "1.0", "1.0", "1.0")}}, Past: true}, 10*time.Second)
	if w.p.figures.rebuilt.Load() == 0 || len(w.trade) != 2 || before.Leverage != 7 || w.trade["BTC 2.0"].Leverage != 7 {
		t.Errorf("rebuilt %d times: %+v, before %+v", w.p.figures.rebuilt.Load(), w.trade, before)
	}
}

// TestAnAnswerWaitsForTheFills where they are read late.
func TestAnAnswerWaitsForTheFills(t *testing.T) {
	t.Parallel()
	for _, behind := range []time.Duration{20 * time.Second, time.Hour} {
		w := newAccountWorld(t)
		apply := func(b *Batch) {
			must.Get(w.set.apply(b, w.now, w.disk.load))(t)
			w.now = w.now.Add(time.Second)
		}
		w.now = noon.Add(time.Second + behind)
		apply(&Batch{Events: market.Events{Fills: []market.Fill{step(1, market.Buy, "2.0", "0.0", "0.0")}}})
		apply(&Batch{Events: market.Events{AnchorRequests: []string{faultyAccount}}})
		apply(&Batch{Events: market.Events{Anchors: []market.Anchor{said(int64(behind/time.Second), "3", "300")}}})
		for range 10 {
			apply(NewBatch())
		}
		if n := w.p.figures.anchored.Load(); n != 0 {
			t.Errorf("%s behind: it is taken over before the fills are there", behind)
		}
		apply(&Batch{Events: market.Events{Fills: []market.Fill{step(2, market.Buy, "1.0", "2.0", "0.0"), step(int64(behind/time.Second)+1, market.Buy, "1.0", "3.0", "0.0")}}})
		apply(NewBatch())
		if n := w.p.figures.anchored.Load(); n != 1 {
			t.Errorf("%s behind: %d anchored", behind, n)
		}
		if n := w.p.figures.late.Load() + w.p.figures.gaps.Load() + w.p.figures.differences.Load(); n > 0 {
			t.Errorf("%s behind: %d faults", behind, n)
		}
	}
}

// TestAnAnchoredAccountIsWrittenAtOnce: a client may wait for it, however many accounts
// have changed.
func TestAnAnchoredAccountIsWrittenAtOnce(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	b := NewBatch()
	for i := range 1000 {
		other := step(1, market.Buy, "1.0", "0.0", "0.0")
		other.Address = fmt.Sprintf("0x%040d", i)
		b.Fills = append(b.Fills, other)
	}
	b.AnchorRequests, b.Anchors = []string{faultyAccount}, []market.Anchor{said(0, "2", "200")}
	w.p.wanted.list(followrequests.List[string]{{Distributor: "one", Things: []string{faultyAccount}}}, w.now)
	if w.p.Urgent() {
		t.Error("changes are urgent that nobody waits for")
	}
	must.Get(w.set.apply(b, w.now, w.disk.load))(t)
	if !w.p.Urgent() {
		t.Error("an account that a client waits for is not urgent")
	}
	var broken []string
	if !w.publish(false, &broken) || len(w.p.dirty) != 1000 || w.p.Urgent() {
		t.Errorf("it is not written; %d wait to be", len(w.p.dirty))
	}
}

// TestThatTheVenueKnowsNothingOfAnAccountIsStored: who reads the row need not ask again.
func TestThatTheVenueKnowsNothingOfAnAccountIsStored(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	var rows []store.SeriesRow
	note := func(b *Batch) { rows = append(rows, w.apply(b, time.Second).Fine...) }
	note(&Batch{Events: market.Events{AnchorRequests: []string{faultyAccount}}})
	note(&Batch{Events: market.Events{Anchors: []market.Anchor{{Address: faultyAccount, Dexes: []market.AccountState{{Time: noon.UnixMilli()}}}}}})
	note(NewBatch())
	if len(rows) != 2 {
		t.Fatalf("%d rows are written, want two", len(rows))
	}
	if a, err := accounts.Decode(faultyAccount, rows[0].Point); err != nil || a.Anchored != noon.UnixMilli() || !a.IsEmpty() {
		t.Errorf("%+v is stored, %v", a, err)
	}
}

// TestWhoLostItsAnchorIsAskedForBesideThoseThatHoldMuch: these do not take all places.
func TestWhoLostItsAnchorIsAskedForBesideThoseThatHoldMuch(t *testing.T) {
	t.Parallel()
	wanted := newWantedAccounts(0) // everybody holds as much
	for i := range mostOwn {
		wanted.wantIfLarge(&market.Account{Address: fmt.Sprintf("0x%040d", i)}, new(market.Markets), market.Marks{}, noon)
	}
	wanted.list(nil, noon)
	wanted.again(faultyAccount, noon)
	list := wanted.list(nil, noon)
	if len(list) != mostValued+1 || !slices.ContainsFunc(list, func(one hyperliquid.WantedAnchor) bool { return one.Address == faultyAccount && one.After.Equal(noon) }) {
		t.Errorf("%d are wanted", len(list))
	}
}

// TestWhoFollowsManyTakesNobodysPlaces: the fold wants to know of the accounts of one who follows
// many, of those of another, and of one that nobody follows.
func TestWhoFollowsManyTakesNobodysPlaces(t *testing.T) {
	t.Parallel()
	loud := followrequests.OfDistributor[string]{Distributor: "loud"}
	for i := range mostOwn + 1 {
		loud.Things = append(loud.Things, fmt.Sprint("0xloud", i))
	}
	wanted, followed := newWantedAccounts(0), followrequests.List[string]{loud, {Distributor: "quiet", Things: []string{"0xquiet"}}}
	for range 2 {
		wanted.list(followed, noon)
		for _, address := range append(loud.Things, "0xquiet") {
			wanted.leverage(address, "BTC", noon)
		}
	}
	wanted.again("0xnobody", noon)
	wanted.wantIfLarge(&market.Account{Address: "0xlarge"}, new(market.Markets), market.Marks{}, noon)
	is := map[string]hyperliquid.WantedAnchor{}
	for _, one := range wanted.list(followed, noon) {
		is[one.Address] = one
	}
	if len(is["0xquiet"].Coins) != 1 || is["0xnobody"].After.IsZero() || is["0xlarge"].Address == "" || wanted.refused.Load() > 0 {
		t.Errorf("wanted are %+v, %+v and %+v; %d are refused", is["0xquiet"], is["0xnobody"], is["0xlarge"], wanted.refused.Load())
	}
	// Who is let go counts again: no more are wanted that nobody follows.
	n := len(wanted.list(followed[1:], noon))
	if wanted.again("0xanother", noon); n != mostOwn+1 || wanted.refused.Load() != 1 {
		t.Errorf("%d are wanted, %d are refused", n, wanted.refused.Load())
	}
}

// TestWhoFollowsOnAFeedHasTurnsOfItsOwn as who asks for accounts by requests: both are the same
// distributor's.
func TestWhoFollowsOnAFeedHasTurnsOfItsOwn(t *testing.T) {
	t.Parallel()
	feeds := followrequests.List[string]{{Distributor: "loud", Things: []string{"0xboth"}}, {Distributor: "quiet", Things: []string{"0xquiet", "0xboth", "0xboth"}}}
	for i := range 30_000 {
		feeds[0].Things = append(feeds[0].Things, fmt.Sprint("0xloud", i))
	}
	requests := followrequests.List[string]{{Distributor: "loud", Things: []string{"0xboth"}}, {Distributor: "third", Things: []string{"0xthird", "0xquiet"}}}
	got := map[string]int{}
	for _, one := range newWantedAccounts(1).list(slices.Concat(feeds, requests), noon) {
		got[strings.Join(slices.Sorted(slices.Values(one.By)), " ")]++
	}
	want := map[string]int{"loud": 30_000, "loud quiet": 1, "quiet third": 1, "third": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
