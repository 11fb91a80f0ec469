package perp

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"quotary/shared/market"
	"quotary/shared/market/markettest"
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

// A position that is closed with a loss in a dex that the answer says nothing of: the balances
// may have its PnL in them, and are not taken; what was folded goes on.
func TestALossInADexThatIsSilentIsNotLost(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.p.markets = &market.Markets{Collaterals: map[string]string{"": market.USDC, "xyz": market.USDC}}
	first := unified(1, 1)
	gold := market.PositionState{Coin: "xyz:GOLD", Szi: mustParse("2"), Leverage: market.Leverage{Value: 7}, PositionValue: mustParse("200")}
	first.Dexes = append([]market.AccountState{{Dex: "xyz", Time: first.Dexes[0].Time, Positions: []market.PositionState{gold}}}, first.Dexes...)
	w.told(first)
	w.asksAgain()
	loss := step(6, market.Sell, "2.0", "2.0", "-20.0")
	loss.Coin, loss.Px = "xyz:GOLD", "90.0"
	second := unified(4, 4)
	second.Silent = []string{"xyz"}
	w.told(second, loss)
	if worth, known := w.p.cache[faultyAccount].state.PerpValue(w.p.markets, nil); !known || market.Text(worth) != "979.9" {
		t.Errorf("it is worth %s, known %t; want 1,000 less a loss of 20 and a fee of 0.1", worth, known)
	}
}

// A position that is opened after its dex has answered and before the balances are asked for.
func TestBalancesWithThePnlOfWhatTheAnswerLacksAreNotTaken(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.told(unified(1, 1))
	w.asksAgain()
	opened := step(3, market.Buy, "1.0", "0.0", "0.0")
	answer := unified(5, 5)
	answer.Dexes[0].Time -= 3000
	w.told(answer, opened)
	if state := w.p.cache[faultyAccount].state; state.SpotTime != unified(1, 1).SpotTime || state.Lost > 0 {
		t.Errorf("balances of %d are taken, funds are lost at %d", state.SpotTime, state.Lost)
	}
}

func TestAChangeToStandardWhoseBalancesMovedIsAskedForAgain(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.told(unified(1, 1))
	w.asksAgain()
	answer := said(6, "", "")
	answer.Mode, answer.SpotTime = market.ModeStandard, answer.SpotTime-2000
	answer.Spot = []market.SpotBalance{{Coin: market.USDC, Total: mustParse("1000")}}
	spot := step(5, market.Buy, "1.0", "0.0", "0.0")
	spot.Coin, spot.FeeToken = "PURR/USDC", "PURR"
	w.told(answer, spot)
	if _, known := w.p.cache[faultyAccount].state.SpotValue(nil, nil); known || !w.asksAgain() {
		t.Errorf("the balances are known: %t; else they are asked for again", known)
	}
}

// What an account was worth in a mode that was not known is nothing to go on from.
func TestWhatAnAccountIsWorthBeginsAnewWithAModeThatChangesItsMeaning(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.told(said(1, "", ""))
	c := w.p.cache[faultyAccount]
	c.state.Mode = market.ModeUnknown // as of a row that was written before modes were known
	markettest.Valued(&c.stats.TraderStats, noon.UnixMilli(), mustParse("2200"))
	w.told(unified(2, 2))
	if all := c.stats.All(); len(all.Curve) > 0 || all.CurveSince == 0 {
		t.Errorf("%d points go on, the curve begins at %d", len(all.Curve), all.CurveSince)
	}
}

// A net flow is what ledger updates move, each once, and nothing else: neither a trade nor a
// token that begins to stand behind positions, nor a change of the mode.
func TestNetFlowsAreWhatLedgerUpdatesMove(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.p.markets = &market.Markets{Collaterals: map[string]string{"": market.USDC, "flx": "USDH"}, SpotCoins: map[string]string{"HYPE": "@107", "USDH": "@230"}}
	w.p.marks = market.Marks{"@107": mustParse("20"), "@230": mustParse("1")}
	standard := unified(1, 1)
	standard.Mode = market.ModeStandard
	w.told(standard)
	second := int64(10)
	want := func(what string, count int64, perp, spot string) {
		t.Helper()
		all := w.p.cache[faultyAccount].stats.All()
		if got := all.Flows; got.Count != count || market.Text(got.Perp) != perp || market.Text(got.Spot) != spot {
			t.Errorf("%s: %d flows of %s and %s; want %d of %s and %s", what, got.Count, market.Text(got.Perp), market.Text(got.Spot), count, perp, spot)
		}
		if got := all.NetFlow(0, market.MaxTime); got.Count != count || market.Text(got.Perp) != perp || market.Text(got.Spot) != spot {
			t.Errorf("%s: the days have %+v", what, got)
		}
	}
	update := func(delta string) {
		second++
		l := market.Ledger{Address: faultyAccount, Time: noon.UnixMilli() + 1000*second, Hash: fmt.Sprint("0x", second), Delta: json.RawMessage(delta)}
		var kind struct{ Type string }
		must.Do(t, json.Unmarshal(l.Delta, &kind))
		l.Type = kind.Type
		for range 2 {
			w.apply(&Batch{Events: market.Events{Ledgers: []market.Ledger{l}}}, time.Second)
		}
	}
	send := func(token, amount, value, fromDex, toDex string) string {
		return fmt.Sprintf(`{"type":"send","user":"0x1","destination":%q,"sourceDex":%q,"destinationDex":%q,"token":%q,"amount":%q,"usdcValue":%q}`, faultyAccount, fromDex, toDex, token, amount, value)
	}
	update(`{"type":"deposit","usdc":"1000.5"}`)
	want("a deposit", 1, "1000.5", "0.0")
	update(`{"type":"withdraw","usdc":"100.0","fee":"1.0"}`)
	want("a withdrawal with its fee", 2, "899.5", "0.0")
	update(`{"type":"accountClassTransfer","usdc":"200.0","toPerp":false}`)
	want("a move between the two parts", 3, "699.5", "200.0")
	update(send("HYPE", "2.0", "39.5", "spot", "spot"))
	want("a token at the value of the update", 4, "699.5", "239.5")
	update(send("HYPE", "2.0", "", "spot", "spot"))
	want("a token at its price", 5, "699.5", "279.5")
	spot := step(second+1, market.Buy, "1.0", "4.0", "0.0")
	spot.Coin, spot.FeeToken = "@107", market.USDC
	w.apply(&Batch{Events: market.Events{Fills: []market.Fill{spot}}}, time.Second)
	want("a spot trade", 5, "699.5", "279.5")

	joint := unified(second+2, second+2)
	joint.Spot = append(joint.Spot, market.SpotBalance{Coin: "HYPE", Total: mustParse("5")}, market.SpotBalance{Coin: "USDH", Total: mustParse("50")})
	w.told(joint)
	second += 3
	if mode := w.p.cache[faultyAccount].state.Mode; mode != market.ModeUnified {
		t.Fatalf("it is in mode %d", mode)
	}
	want("a change of mode", 5, "699.5", "279.5")
	update(`{"type":"accountClassTransfer","usdc":"200.0","toPerp":true}`)
	want("a move inside one balance", 5, "699.5", "279.5")
	update(send("USDC", "10.0", "", "spot", "spot"))
	want("USDC, which backs positions", 6, "709.5", "279.5")
	update(send("USDH", "10.0", "", "spot", "spot"))
	want("a token that backs none", 7, "709.5", "289.5")
	opened := step(second+1, market.Buy, "1.0", "0.0", "0.0")
	opened.Coin = "flx:GOLD"
	spot = step(second+2, market.Buy, "1.0", "5.0", "0.0")
	spot.Coin, spot.FeeToken = "@107", market.USDC
	w.apply(&Batch{Events: market.Events{Fills: []market.Fill{opened, spot}}}, time.Second)
	second += 2
	want("a token that begins to back positions, and a spot trade", 7, "709.5", "289.5")
	update(send("USDH", "10.0", "", "spot", "flx"))
	want("a token that backs positions", 8, "719.5", "289.5")
}
