package market_test

import (
	"testing"

	"quotary/shared/market"
	"quotary/shared/testing/check"
)

// modeMarkets has a dex with another collateral beside those of [someMarkets].
func modeMarkets() *market.Markets {
	m := someMarkets()
	m.Tokens["USDH"], m.SpotCoins["USDH"] = 360, "@230"
	m.Spot["@230"] = market.SpotMarket{Base: "USDH", Quote: market.USDC}
	m.Collaterals = map[string]string{"": market.USDC, "xyz": market.USDC, "flx": "USDH"}
	m.Perps["flx:OIL"] = m.Perps["ETH"]
	return m
}

// inMode is an account of which the venue says, a millisecond before the histories begin, its
// mode, its balances and its positions.
func inMode(mode market.Mode, balances []market.SpotBalance, positions ...market.PositionState) *market.Account {
	a, said := new(market.Account), market.Anchor{Address: alice, Mode: mode, SpotTime: at(-1), Spot: balances}
	for _, dex := range []string{"xyz", "flx", ""} {
		state := market.AccountState{Dex: dex, Time: at(-1)}
		for _, p := range positions {
			if market.DexOf(p.Coin) == dex {
				state.Positions = append(state.Positions, p)
			}
		}
		said.Dexes = append(said.Dexes, state)
	}
	a.Anchor(&said, modeMarkets(), nil)
	return a
}

func usdc(total string) []market.SpotBalance {
	return []market.SpotBalance{{Coin: market.USDC, Total: num(total)}}
}

// A study found it shown with a value of 102,200, a leverage of 10 and a liquidation 9 % away.
func TestABalanceThatStandsBehindAPositionCountsOnce(t *testing.T) {
	t.Parallel()
	a := inMode(market.ModeUnified, usdc("100000"), market.PositionState{
		Coin: "BTC", Szi: num("220"), Leverage: market.Leverage{Value: 10}, PositionValue: num("22000"),
	})
	marks := market.Marks{"BTC": num("100")}
	perp, known := a.PerpValue(modeMarkets(), marks)
	spot, spotKnown := a.SpotValue(modeMarkets(), marks)
	if !known || !spotKnown || market.Text(perp) != "100000.0" || !spot.IsZero() {
		t.Errorf("it is worth %s in perpetuals, known %t, and %s in spot, known %t", perp, known, spot, spotKnown)
	}
	p := a.State("", modeMarkets(), marks, at(0)).Positions[0]
	if leverage := p.PositionValue.MustDiv(perp); market.Text(leverage) != "0.22" || !p.LiquidationPx.IsZero() {
		t.Errorf("its leverage is %s, its liquidation price %s", leverage, p.LiquidationPx)
	}
}

// What a position makes and pays between two anchors moves the balance behind it.
func TestTheMoneyOfPositionsIsInTheBalanceBehindThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		leverages map[string]market.Leverage
		events    []any // texts of fills, payments
		marks     market.Marks
		want      string // balances with the unrealized PnL, what they hold, and the value of the perpetuals
	}{
		"a position that is closed with a loss": {
			events: []any{"BTC B 2@100 fee=0.25", "BTC A 2@90 start=2.0 pnl=-20.0 fee=0.25"},
			want:   "USDC 979.5 hold 0.0 USDH 500.0 hold 0.0, worth 979.5",
		},
		"one that is open": {
			events: []any{"BTC B 2@100 fee=0.5"}, leverages: map[string]market.Leverage{"BTC": {Value: 10}}, marks: market.Marks{"BTC": num("110")},
			want: "USDC 1019.5 hold 22.0 USDH 500.0 hold 0.0, worth 1019.5",
		},
		"an isolated one, of which the margin stays in the balance": {
			events: []any{"BTC B 2@100 fee=0.5", "BTC A 1@110 start=2.0 pnl=10.0"}, leverages: map[string]market.Leverage{"BTC": {Isolated: true, Value: 10}}, marks: market.Marks{"BTC": num("110")},
			want: "USDC 1019.5 hold 20.0 USDH 500.0 hold 0.0, worth 1019.5",
		},
		"funding": {
			events: []any{"BTC B 2@100", &market.FundingPayment{Address: alice, Coin: "BTC", Time: at(1), USDC: "-0.75", Szi: "2.0", Rate: "0.001"}}, marks: market.Marks{"BTC": num("100")},
			want: "USDC 999.25 hold 10.0 USDH 500.0 hold 0.0, worth 999.25",
		},
		"a position of another dex with the same collateral": {
			events: []any{"xyz:GOLD B 2@100 fee=0.5", "xyz:GOLD A 2@90 start=2.0 pnl=-20.0"},
			want:   "USDC 979.5 hold 0.0 USDH 500.0 hold 0.0, worth 979.5",
		},
		"a position in another collateral, which belongs to the perpetuals then": {
			events: []any{"flx:OIL B 2@100 fee=0.5 token=USDH", "flx:OIL A 2@90 start=2.0 pnl=-20.0 token=USDH"}, marks: market.Marks{"@230": num("0.5")},
			want: "USDC 1000.0 hold 0.0 USDH 479.5 hold 0.0, worth 1239.75",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := inMode(market.ModeUnified, []market.SpotBalance{{Coin: market.USDC, Total: num("1000")}, {Coin: "USDH", Token: 360, Total: num("500"), EntryNtl: num("500")}})
			a.Anchor(&market.Anchor{Leverages: c.leverages}, nil, nil)
			for i, event := range c.events {
				var got market.Outcome
				switch e := event.(type) {
				case string:
					got, _ = a.Fill(accountFill(t, int64(i), e), modeMarkets(), c.marks)
				case *market.FundingPayment:
					got = a.Payment(e, modeMarkets())
				}
				if got != market.Applied {
					t.Fatalf("%v is %s", event, got)
				}
			}
			balances, ok := a.Balances(modeMarkets(), c.marks, nil)
			text := ""
			for _, b := range balances {
				text += b.Coin + " " + market.Text(b.Total) + " hold " + market.Text(b.Hold) + " "
			}
			worth, known := a.PerpValue(modeMarkets(), c.marks)
			if !ok || !known {
				t.Errorf("balances are known %t, the value %t", ok, known)
			}
			check.Equal(t, c.want, text[:len(text)-1]+", worth "+market.Text(worth))
		})
	}
}

// One balance is behind the cross positions of all dexes with its collateral, without what is in
// isolated ones: at the liquidation price of one, what is left of it are the margins of all.
func TestAUnifiedAccountIsLiquidatedWhereItsBalanceMeetsTheMarginsOfAllDexes(t *testing.T) {
	t.Parallel()
	a := inMode(market.ModeUnified, usdc("100"))
	a.Anchor(&market.Anchor{Leverages: map[string]market.Leverage{"ETH": {Isolated: true, Value: 10}}}, nil, nil)
	for i, fill := range []string{"BTC B 2@100", "xyz:GOLD B 2@100", "ETH B 2@100"} {
		if got, _ := a.Fill(accountFill(t, int64(i), fill), modeMarkets(), nil); got != market.Applied {
			t.Fatalf("%s is %s", fill, got)
		}
	}
	marks := market.Marks{"BTC": num("100"), "xyz:GOLD": num("100"), "ETH": num("100")}
	m := modeMarkets()
	px := a.State("", m, marks, at(5)).Positions[0].LiquidationPx
	there := market.Marks{"BTC": px, "xyz:GOLD": num("100"), "ETH": num("100")}
	balances, _ := a.Balances(m, there, nil)
	if left := balances[0].AfterMaintenance; px.IsZero() || left.Abs().GreaterThan(num("0.001")) {
		t.Errorf("at %s there are %s left beyond what must be kept", px, left)
	}
}

func TestUnderPortfolioMarginTheLiquidationPriceIsTheVenuesOwnForAMinute(t *testing.T) {
	t.Parallel()
	a := inMode(market.ModePortfolio, usdc("300"), market.PositionState{
		Coin: "BTC", Szi: num("2"), Leverage: market.Leverage{Value: 10}, PositionValue: num("200"), LiquidationPx: num("12.5"),
	})
	for ms, want := range map[int64]string{at(-1) + 59_999: "12.5", at(-1) + 60_000: "0.0"} {
		if got := market.Text(a.State("", modeMarkets(), market.Marks{"BTC": num("100")}, ms).Positions[0].LiquidationPx); got != want {
			t.Errorf("it is %s, want %s", got, want)
		}
	}
}

func TestWhatAModeLetsNobodyKnowIsNotKnown(t *testing.T) {
	t.Parallel()
	position := market.PositionState{Coin: "BTC", Szi: num("2"), Leverage: market.Leverage{Value: 10}, PositionValue: num("200"), UnrealizedPnl: num("5")}
	for _, c := range []struct {
		mode                               market.Mode
		perp, spot, balances, room, valued bool
	}{
		{mode: market.ModeUnknown},
		{mode: market.ModeStandard, perp: true, spot: true, balances: true, room: true, valued: true},
		{mode: market.ModeUnified, perp: true, spot: true, balances: true, room: true, valued: true},
		{mode: market.ModePortfolio, perp: true, spot: true, balances: true, valued: true},
		{mode: market.ModeOther, spot: true, balances: true},
	} {
		a, m := inMode(c.mode, usdc("150"), position), modeMarkets()
		marks := market.Marks{"BTC": num("100")}
		_, perp := a.PerpValue(m, marks)
		_, spot := a.SpotValue(m, marks)
		_, balances := a.Balances(m, marks, nil)
		s := a.State("", m, marks, at(0))
		if perp != c.perp || spot != c.spot || balances != c.balances || s.Positions[0].LiquidationPx.IsZero() == c.room || s.Unvalued == c.valued {
			t.Errorf("in mode %d the value of perpetuals is known %t, that of spot %t, balances %t, liquidation price %s, unvalued %t", c.mode, perp, spot, balances, s.Positions[0].LiquidationPx, s.Unvalued)
		}
		if p := s.Positions[0]; market.Text(p.UnrealizedPnl) != "5.0" || market.Text(p.EntryPx) != "97.5" {
			t.Errorf("in mode %d the position is %+v", c.mode, p)
		}
	}
}

// What the venue shows of a dex of a unified account follows no public rule: its own figures
// stand for a minute, and then none.
func TestTheSubLedgerOfADexIsTheVenuesOwnForAMinute(t *testing.T) {
	t.Parallel()
	a := inMode(market.ModeUnified, usdc("977.58"))
	said := market.AccountState{Time: at(1), Withdrawable: num("0.0096"), Margin: market.MarginSummary{AccountValue: num("25.9264"), TotalRawUsd: num("12.5")}}
	said.CrossMargin = said.Margin
	a.Anchor(&market.Anchor{Dexes: []market.AccountState{said}}, modeMarkets(), nil)
	for ms, known := range map[int64]bool{at(1) + 59_999: true, at(1) + 60_000: false} {
		s := a.State("", modeMarkets(), nil, ms)
		if s.Unvalued == known || known && (!s.Margin.AccountValue.Equal(num("25.9264")) || !s.CrossMargin.TotalRawUsd.Equal(num("12.5")) || !s.Withdrawable.Equal(num("0.0096"))) {
			t.Errorf("at %d: %+v", ms, s)
		}
	}
}

func TestAChangeOfModeIsMoneyOfOnePartForTheOther(t *testing.T) {
	t.Parallel()
	a := anchored("1000", nil)
	m, marks := modeMarkets(), market.Marks{"@107": num("20")}
	a.Anchor(&market.Anchor{SpotTime: at(0), Spot: []market.SpotBalance{{Coin: market.USDC, Total: num("50")}, {Coin: "HYPE", Token: 150, Total: num("2")}}}, m, marks)
	before := a.NetPerp
	a.Anchor(&market.Anchor{
		Mode: market.ModeUnified, SpotTime: at(1), Spot: []market.SpotBalance{{Coin: market.USDC, Total: num("1050")}, {Coin: "HYPE", Token: 150, Total: num("2")}},
		Dexes: []market.AccountState{{Time: at(1)}, {Dex: "xyz", Time: at(1)}},
	}, m, marks)
	if in := a.NetPerp.Sub(before); market.Text(in) != "50.0" || market.Text(a.NetSpot) != "-50.0" {
		t.Errorf("%s came into the perpetuals, %s into the spot part", in, a.NetSpot)
	}
	// So is a spot trade then, at its value; what two tokens of one part do is none.
	a.Fill(accountFill(t, 2, "@107 B 1@20 start=2.0 fee=0.001 token=HYPE"), m, marks)
	if in := a.NetPerp.Sub(before); market.Text(in) != "30.0" || market.Text(a.NetSpot) != "-30.0" {
		t.Errorf("after a purchase %s have come into the perpetuals, %s into the spot part", in, a.NetSpot)
	}
	// Back again, each dex has what the venue says.
	a.Anchor(&market.Anchor{
		Mode: market.ModeStandard, SpotTime: at(3), Spot: []market.SpotBalance{{Coin: market.USDC, Total: num("30")}, {Coin: "HYPE", Token: 150, Total: num("2.999")}},
		Dexes: []market.AccountState{{Time: at(3), CrossMargin: market.MarginSummary{AccountValue: num("1000")}}, {Dex: "xyz", Time: at(3)}},
	}, m, marks)
	if perp, known := a.PerpValue(m, marks); !known || market.Text(perp) != "1000.0" || market.Text(a.NetPerp.Sub(before)) != "0.0" {
		t.Errorf("they are worth %s, known %t, with %s come in", perp, known, a.NetPerp.Sub(before))
	}
}

// The collateral of a dex that nobody has described yet is not known, nor what an event has
// done to the balances then.
func TestABalanceThatAnUnknownCollateralMayHaveMovedIsNotKnownAnyMore(t *testing.T) {
	t.Parallel()
	a := inMode(market.ModeUnified, usdc("100"))
	a.Fill(accountFill(t, 0, "new:COIN B 2@100"), modeMarkets(), nil)
	if _, known := a.PerpValue(modeMarkets(), nil); known || a.Anchored != 0 {
		t.Errorf("its value is known %t, and it was anchored at %d", known, a.Anchored)
	}
}

// What an event of which nobody knows what it moved has left in a dex is known when the venue has
// said it, not when it has said the others.
func TestADexIsNotKnownBeforeTheVenueHasSaidItAgain(t *testing.T) {
	t.Parallel()
	a, m := anchored("1000", nil), modeMarkets()
	a.Ledger(&market.Ledger{Address: alice, Time: at(5), Hash: "0x1", Type: "activateDexAbstraction", Delta: []byte(`{"type":"activateDexAbstraction","dex":"xyz","token":"USDC","amount":"300"}`)}, m, nil)
	say := func(dexes ...string) {
		said := market.Anchor{Address: alice, SpotTime: at(6)}
		for _, dex := range dexes {
			said.Dexes = append(said.Dexes, market.AccountState{Dex: dex, Time: at(6)})
		}
		a.Anchor(&said, m, nil)
	}
	say("")
	if _, known := a.PerpValue(m, nil); known || !a.State("xyz", m, nil, at(7)).Unvalued || a.State("", m, nil, at(7)).Unvalued {
		t.Errorf("its value is known %t", known)
	}
	say("xyz")
	if _, known := a.PerpValue(m, nil); !known || a.State("xyz", m, nil, at(7)).Unvalued {
		t.Errorf("its value is known %t", known)
	}
}

func TestAFeeInAnotherTokenIsNotPaidOutOfADex(t *testing.T) {
	t.Parallel()
	a, m := anchored("1000", nil), modeMarkets()
	a.Ledger(&market.Ledger{Address: alice, Time: at(5), Hash: "0x1", Type: "send", Delta: []byte(
		`{"type":"send","user":"` + alice + `","destination":"0xb0b0000000000000000000000000000000000002","sourceDex":"","destinationDex":"","token":"USDC","amount":"10","usdcValue":"10","fee":"0.5","feeToken":"HYPE"}`)}, m, nil)
	if cash := market.Text(a.Dexes[0].Cash); cash != "990.0" || len(a.Spot) != 1 || market.Text(a.Spot[0].Total) != "-0.5" {
		t.Errorf("there are %s in the dex, and %+v", cash, a.Spot)
	}
	if got := a.Ledger(&market.Ledger{Address: alice, Time: at(6), Hash: "0x2", Type: "deposit", Delta: []byte(`{"type":"deposit","usdc":"-10"}`)}, m, nil); got != market.Unknown {
		t.Errorf("a negative deposit is %s", got)
	}
}
