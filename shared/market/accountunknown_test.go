package market_test

import (
	"testing"

	"quotary/shared/market"
)

func stateOf(dex string, ms int64, positions ...market.PositionState) market.AccountState {
	return market.AccountState{Dex: dex, Time: ms, Positions: positions}
}

func longBTC(szi, value string) market.PositionState {
	return market.PositionState{Coin: "BTC", Szi: num(szi), Leverage: market.Leverage{Value: 10}, PositionValue: num(value)}
}

func ledgerOf(n int64, kind, members string) *market.Ledger {
	return &market.Ledger{Address: alice, Time: at(n), Hash: kind + members, Type: kind, Delta: []byte(`{"type":"` + kind + `",` + members + `}`)}
}

// worth is what the perpetuals of an account are worth, "unknown" where that is not known.
func worth(a *market.Account, marks market.Marks) string {
	perp, known := a.PerpValue(modeMarkets(), marks)
	if !known {
		return "unknown"
	}
	return market.Text(perp)
}

func TestADexThatHasNeverAnsweredIsNotZero(t *testing.T) {
	t.Parallel()
	for _, mode := range []market.Mode{market.ModeStandard, market.ModeUnified} {
		a, m, marks := new(market.Account), modeMarkets(), market.Marks{"BTC": num("100")}
		a.Anchor(&market.Anchor{Address: alice, Mode: mode, SpotTime: at(0), Spot: usdc("100"), Dexes: []market.AccountState{stateOf("", at(0), longBTC("2", "200"))}, Silent: []string{"xyz"}}, m, nil)
		if got := worth(a, marks); got != "unknown" {
			t.Errorf("mode %d: it is worth %s", mode, got)
		}
		if s := a.State("xyz", m, marks, at(1)); !s.Unfunded || !s.Unvalued {
			t.Errorf("mode %d: what is in xyz is known: %+v", mode, s)
		}
		if px := a.State("", m, marks, at(1)).Positions[0].LiquidationPx; mode == market.ModeUnified && !px.IsZero() {
			t.Errorf("a position that xyz may share its balance with is liquidated at %s", px)
		}
		a.Anchor(&market.Anchor{Address: alice, SpotTime: at(5), Spot: usdc("100"), Dexes: []market.AccountState{stateOf("xyz", at(5)), stateOf("", at(5), longBTC("2", "200"))}}, m, nil)
		if got := worth(a, marks); got == "unknown" {
			t.Errorf("mode %d: it is not known once xyz has answered", mode)
		}
	}
}

func TestADexThatIsSilentAndEmptyCostsAUnifiedAccountNothing(t *testing.T) {
	t.Parallel()
	m, a := modeMarkets(), inMode(market.ModeUnified, usdc("1000"))
	a.Ledger(ledgerOf(5, "novelty", `"a":1`), m, nil)
	if got := worth(a, nil); got != "unknown" {
		t.Errorf("behind something that moved nobody knows what it is worth %s", got)
	}
	a.Anchor(&market.Anchor{SpotTime: at(9), Spot: usdc("990"), Dexes: []market.AccountState{stateOf("", at(9)), stateOf("xyz", at(9))}, Silent: []string{"flx"}}, m, nil)
	if got := worth(a, nil); got != "990.0" {
		t.Errorf("it is worth %s", got)
	}
}

// What comes with the stream behind an answer of which a part is older and another newer.
func TestWhatAnAnswerKnowsInPartIsNotKnown(t *testing.T) {
	t.Parallel()
	m := modeMarkets()
	paid := longBTC("2", "200")
	paid.FundingAllTime = num("5")
	for name, c := range map[string]struct {
		said  market.Anchor
		event func(*market.Account)
		marks market.Marks
	}{
		"a payment that the dex has and the balances may lack": {
			market.Anchor{SpotTime: at(10), Spot: usdc("1000"), Dexes: []market.AccountState{stateOf("", at(12), paid)}},
			func(a *market.Account) {
				p := &market.FundingPayment{Address: alice, Coin: "BTC", Time: at(11), USDC: "-5", Szi: "2.0", Rate: "0.001"}
				a.Payment(p, m)
				a.Payment(p, m)
			}, market.Marks{"BTC": num("100")},
		},
		"a fill that the dex has and the balances may lack": {
			market.Anchor{SpotTime: at(10), Spot: usdc("1000"), Dexes: []market.AccountState{stateOf("", at(12), paid)}},
			func(a *market.Account) { a.Skip(accountFill(t, 11, "BTC A 1@90 start=3.0 pnl=-10")) }, market.Marks{"BTC": num("100")},
		},
		"a fill whose PnL the balances have and the dex lacks": {
			market.Anchor{SpotTime: at(15), Spot: usdc("1002"), Dexes: []market.AccountState{stateOf("xyz", at(11)), stateOf("", at(15), paid)}},
			func(a *market.Account) { a.Fill(accountFill(t, 13, "xyz:GOLD B 1@10"), m, nil) }, market.Marks{"BTC": num("100"), "xyz:GOLD": num("12")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := inMode(market.ModeUnified, usdc("1000"), longBTC("2", "200"))
			a.Anchor(&c.said, m, nil)
			if got := worth(a, c.marks); got == "unknown" {
				t.Fatal("before, it is not known")
			}
			if c.event(a); worth(a, c.marks) != "unknown" || a.Lost == 0 {
				t.Errorf("it is worth %s", worth(a, c.marks))
			}
		})
	}
}

func TestAnOldTransferOfAnUndescribedDexLosesNothing(t *testing.T) {
	t.Parallel()
	a := inMode(market.ModeUnified, usdc("1000"))
	a.Ledger(ledgerOf(-100, "perpDexClassTransfer", `"dex":"new","token":"USDC","amount":"5","toPerp":true`), modeMarkets(), nil)
	if got := worth(a, nil); got != "1000.0" || market.Text(a.NetPerp) != "0.0" {
		t.Errorf("it is worth %s, with %s moved in", got, market.Text(a.NetPerp))
	}
	a.Ledger(ledgerOf(5, "perpDexClassTransfer", `"dex":"new","token":"USDC","amount":"5","toPerp":true`), modeMarkets(), nil)
	if got := worth(a, nil); got != "unknown" {
		t.Errorf("behind a new one it is worth %s", got)
	}
}

// A change that nobody can value ends what was known of the account's worth.
func TestAChangeOfModeIsMovedMoneyOrANewBeginning(t *testing.T) {
	t.Parallel()
	m := modeMarkets()
	all := func(dexes ...string) (list []market.AccountState) {
		for _, dex := range dexes {
			list = append(list, stateOf(dex, at(5)))
		}
		return list
	}
	for name, c := range map[string]struct {
		said  market.Anchor
		anew  bool
		moved string // out of the perpetuals into the spot part
	}{
		"all is known":          {market.Anchor{Mode: market.ModeStandard, SpotTime: at(5), Spot: usdc("1000"), Dexes: all("flx", "xyz", "")}, false, "-1000.0 1000.0"},
		"a dex is silent":       {market.Anchor{Mode: market.ModeStandard, SpotTime: at(5), Spot: usdc("1000"), Dexes: all("xyz", ""), Silent: []string{"flx"}}, true, "0.0 0.0"},
		"the balances are not":  {market.Anchor{Mode: market.ModeStandard, Dexes: all("flx", "xyz", "")}, true, "0.0 0.0"},
		"nobody explains it":    {market.Anchor{Mode: market.ModeOther, SpotTime: at(5), Spot: usdc("1000"), Dexes: all("flx", "xyz", "")}, true, "0.0 0.0"},
		"it has not changed":    {market.Anchor{Mode: market.ModeUnified, SpotTime: at(5), Spot: usdc("1000"), Dexes: all("")}, false, "0.0 0.0"},
		"it is not asked about": {market.Anchor{SpotTime: at(5), Spot: usdc("900"), Dexes: all("")}, false, "0.0 0.0"},
	} {
		a := inMode(market.ModeUnified, usdc("1000"))
		_, anew := a.Anchor(&c.said, m, nil)
		if moved := market.Text(a.NetPerp) + " " + market.Text(a.NetSpot); anew != c.anew || moved != c.moved {
			t.Errorf("%s: anew %t, moved %s", name, anew, moved)
		}
	}
	valued := anchored("2200", nil)
	valued.Mode = market.ModeUnknown // as of a row that was written before modes were known
	if _, anew := valued.Anchor(&market.Anchor{Mode: market.ModeUnified, SpotTime: at(5), Spot: usdc("100000"), Dexes: all("xyz", "")}, m, nil); !anew {
		t.Error("what was valued without a mode goes on in one")
	}
}

func TestWhatTheVenueSaysOfADexHoldsUntilAFillChangesIt(t *testing.T) {
	t.Parallel()
	m, marks := modeMarkets(), market.Marks{"BTC": num("100")}
	position := longBTC("2", "200")
	position.LiquidationPx = num("12.5")
	a := new(market.Account)
	said := stateOf("", at(0), position)
	said.Margin.AccountValue, said.Withdrawable = num("20"), num("1")
	a.Anchor(&market.Anchor{Address: alice, Mode: market.ModePortfolio, SpotTime: at(0), Spot: usdc("300"), Dexes: []market.AccountState{said}}, m, nil)
	if s := a.State("", m, marks, at(1)); s.Unvalued || market.Text(s.Margin.AccountValue) != "20.0" || market.Text(s.Positions[0].LiquidationPx) != "12.5" {
		t.Errorf("before: %+v", s)
	}
	a.Fill(accountFill(t, 1, "BTC B 20@100 start=2.0"), m, nil)
	if s := a.State("", m, marks, at(2)); !s.Unvalued || !s.Positions[0].LiquidationPx.IsZero() {
		t.Errorf("of size %s: %+v", s.Positions[0].Szi, s)
	}
}

func TestWhatComesBackFromLendingHasNoKnownCost(t *testing.T) {
	t.Parallel()
	a := inMode(market.ModePortfolio, []market.SpotBalance{{Coin: market.USDC, Total: num("10")}, {Coin: "HYPE", Token: 150, Total: num("2"), EntryNtl: num("50")}})
	for i, operation := range []string{"supply", "withdraw"} {
		a.Ledger(ledgerOf(int64(i), "borrowLend", `"token":"HYPE","operation":"`+operation+`","amount":"2","interestAmount":"0"`), modeMarkets(), nil)
	}
	if b, _ := a.Balances(modeMarkets(), nil, nil); !b[1].NoCost || market.Text(b[1].Total) != "2.0" {
		t.Errorf("%+v", b[1])
	}
}

// A mode is a new beginning for which tokens stand behind positions.
func TestATokenStandsBehindPositionsForAsLongAsTheModeLasts(t *testing.T) {
	t.Parallel()
	m, marks := modeMarkets(), market.Marks{"@230": num("1")}
	balances := []market.SpotBalance{{Coin: market.USDC, Total: num("10")}, {Coin: "USDH", Token: 360, Total: num("100")}}
	a := inMode(market.ModeUnified, balances)
	a.Fill(accountFill(t, 1, "flx:OIL B 1@10"), m, marks)
	a.Fill(accountFill(t, 2, "flx:OIL A 1@10 start=1.0"), m, marks)
	if got := worth(a, marks); got != "110.0" {
		t.Errorf("behind a position it is worth %s", got)
	}
	dexes := []market.AccountState{stateOf("flx", at(5)), stateOf("xyz", at(5)), stateOf("", at(5))}
	a.Anchor(&market.Anchor{Mode: market.ModePortfolio, SpotTime: at(5), Spot: balances, Dexes: dexes}, m, marks)
	if got := worth(a, marks); got != "10.0" {
		t.Errorf("in another mode it is worth %s", got)
	}
}
