package perp

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// unified is what the venue says of the account, flat and with 1,000 USDC, between two seconds after noon.
func unified(from, to int64) market.Anchor {
	a := said(to, "", "")
	a.Mode, a.SpotTime = market.ModeUnified, noon.UnixMilli()+1000*from
	a.Spot = []market.SpotBalance{{Coin: market.USDC, Total: mustParse("1000")}}
	return a
}

// told gives the account an answer of the venue.
func (w *accountWorld) told(a market.Anchor, meanwhile ...market.Fill) {
	w.t.Helper()
	for _, b := range []*Batch{
		{Events: market.Events{AnchorRequests: []string{faultyAccount}}}, {Events: market.Events{Fills: meanwhile, Anchors: []market.Anchor{a}}}, NewBatch(), NewBatch(), NewBatch(), NewBatch(),
	} {
		w.disk.put(b)
		must.Get(w.set.apply(b, w.now, w.disk.load))(w.t)
		w.now = w.now.Add(2 * time.Second)
	}
}

func (w *accountWorld) asksAgain() bool {
	_, wanted := w.p.wanted.own[faultyAccount]
	clear(w.p.wanted.own)
	return wanted
}

func TestALedgerUpdateOfAnUnknownTypeHasItsAccountAskedAbout(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.told(unified(1, 1))
	if _, known := w.p.cache[faultyAccount].state.PerpValue(nil, nil); !known || w.asksAgain() {
		t.Fatalf("at first its value is known: %t", known)
	}
	for i, second := range []int64{1, 2, 3} { // the first is older than what the venue has said
		w.apply(&Batch{Events: market.Events{Ledgers: []market.Ledger{{
			Address: faultyAccount, Time: noon.UnixMilli() + 1000*second, Hash: fmt.Sprint("0x", i), Type: "novelty", Delta: json.RawMessage(`{"type":"novelty","amount":"5.0"}`),
		}}}}, time.Second)
		_, known := w.p.cache[faultyAccount].state.PerpValue(nil, nil)
		if asked, want := w.asksAgain(), second == 2; known != (second < 2) || asked != want {
			t.Errorf("after second %d its value is known: %t, and it is asked about: %t", second, known, asked)
		}
	}
	if n := w.p.figures.unknown.Load(); n != 3 || len(w.p.types) != 1 {
		t.Errorf("%d are counted, %v are named", n, w.p.types)
	}
	w.told(unified(4, 4))
	if _, known := w.p.cache[faultyAccount].state.PerpValue(nil, nil); !known {
		t.Error("once the venue has said what it has, its value is not known")
	}
}

// A fill in between moves a balance that stands behind positions: the answer may know it or not.
func TestBalancesThatMovedWhileTheyWereAskedForAreAskedForAgainAFewTimes(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	size := "0.0"
	for n := range int64(soonTries + 2) {
		fill := step(10*n+2, market.Buy, "1.0", size, "0.0")
		size = fmt.Sprintf("%d.0", n+1)
		answer := unified(10*n+1, 10*n+3)
		answer.Dexes[0].Positions = []market.PositionState{{Coin: "BTC", Szi: mustParse(size), Leverage: market.Leverage{Value: 7}, PositionValue: mustParse(size).Mul(mustParse("100"))}}
		w.told(answer, fill)
		if asked := w.asksAgain(); asked != (n < soonTries) {
			t.Errorf("after answer %d it is asked about again: %t", n+1, asked)
		}
		if state := w.p.cache[faultyAccount].state; state.Mode != market.ModeUnknown || state.SpotTime != 0 {
			t.Errorf("after answer %d the mode is %d, the balances of %d", n+1, state.Mode, state.SpotTime)
		}
	}
	still := unified(45, 46)
	still.Dexes[0].Positions = []market.PositionState{{Coin: "BTC", Szi: mustParse(size), Leverage: market.Leverage{Value: 7}, PositionValue: mustParse("700"), UnrealizedPnl: mustParse("-40")}}
	w.told(still)
	if _, known := w.p.cache[faultyAccount].state.PerpValue(nil, nil); !known || w.asksAgain() {
		t.Errorf("of an account that stands still the value is known: %t", known)
	}
}
