package market_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/testing/check"
)

// someMarkets has BTC with prices of one decimal place and two tiers, and a spot market
// of HYPE.
func someMarkets() *market.Markets {
	return &market.Markets{
		Perps: map[string]market.PerpMarket{
			"BTC": {Index: 0, SzDecimals: 5, MaxLeverage: 40, Tiers: market.NewMarginTiers(
				market.MarginTier{MaxLeverage: 40}, market.MarginTier{LowerBound: num("150000000"), MaxLeverage: 20})},
			"AAA":   {Index: 1, SzDecimals: 0, MaxLeverage: 10, Tiers: market.NewMarginTiers(market.MarginTier{MaxLeverage: 10})},
			"OLD":   {Index: 2, SzDecimals: 2, MaxLeverage: 3, OnlyIsolated: true, Tiers: market.NewMarginTiers(market.MarginTier{MaxLeverage: 3})},
			"xyz:X": {Index: 0, SzDecimals: 2, MaxLeverage: 5, Tiers: market.NewMarginTiers(market.MarginTier{MaxLeverage: 5})},
		},
		Spot:      map[string]market.SpotMarket{"@107": {Base: "HYPE", Quote: "USDC"}, "@200": {Base: "HYPE", Quote: "USDE"}},
		Tokens:    map[string]int64{"USDC": 0, "HYPE": 150},
		SpotCoins: map[string]string{"HYPE": "@107"},
	}
}

// stateText is a state in lines.
func stateText(s market.AccountState) string {
	t := market.Text
	sum := func(s market.MarginSummary) string {
		return fmt.Sprint(t(s.AccountValue), " ntl ", t(s.TotalNtlPos), " raw ", t(s.TotalRawUsd), " used ", t(s.TotalMarginUsed))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "all %s\ncross %s\nmaintenance %s withdrawable %s\n", sum(s.Margin), sum(s.CrossMargin), t(s.CrossMaintenance), t(s.Withdrawable))
	for _, p := range s.Positions {
		mode := "cross"
		if p.Leverage.Isolated {
			mode = "isolated raw " + t(p.RawUsd)
		}
		fmt.Fprintf(&b, "%s %s %s %d/%d entry %s value %s pnl %s roe %s liquidation %s used %s funding %s %s %s\n", p.Coin, t(p.Szi), mode, p.Leverage.Value, p.MaxLeverage,
			t(p.EntryPx), t(p.PositionValue), t(p.UnrealizedPnl), t(p.ReturnOnEquity), t(p.LiquidationPx), t(p.MarginUsed),
			t(p.FundingAllTime), t(p.FundingSinceOpen), t(p.FundingSinceChange))
	}
	return b.String()
}

func TestTheStateOfAnAccount(t *testing.T) {
	t.Parallel()
	// The figures are worked out by hand from the venue's formulas.
	for name, c := range map[string]struct {
		cash      string
		leverages map[string]market.Leverage
		fills     []string
		marks     market.Marks
		want      string
	}{
		"nothing": {cash: "0", want: "all 0.0 ntl 0.0 raw 0.0 used 0.0\ncross 0.0 ntl 0.0 raw 0.0 used 0.0\nmaintenance 0.0 withdrawable 0.0\n"},
		"a cross long": {
			cash: "50", fills: []string{"BTC B 2@100"}, marks: market.Marks{"BTC": num("110")},
			want: `all 70.0 ntl 220.0 raw -150.0 used 11.0
cross 70.0 ntl 220.0 raw -150.0 used 11.0
maintenance 2.75 withdrawable 48.0
BTC 2.0 cross 20/40 entry 100.0 value 220.0 pnl 20.0 roe 2.0 liquidation 75.94937 used 11.0 funding 0.0 0.0 0.0
`,
		},
		"a liquidation price is rounded half away from the mark": {
			cash: "50", fills: []string{"BTC B 9@100"}, marks: market.Marks{"BTC": num("110")},
			want: `all 140.0 ntl 990.0 raw -850.0 used 49.5
cross 140.0 ntl 990.0 raw -850.0 used 49.5
maintenance 12.375 withdrawable 41.0
BTC 9.0 cross 20/40 entry 100.0 value 990.0 pnl 90.0 roe 2.0 liquidation 95.63994 used 49.5 funding 0.0 0.0 0.0
`,
		},
		"a cross short": {
			cash: "50", leverages: map[string]market.Leverage{"BTC": {Value: 40}}, fills: []string{"BTC A 2@100"}, marks: market.Marks{"BTC": num("90")},
			want: `all 70.0 ntl 180.0 raw 250.0 used 4.5
cross 70.0 ntl 180.0 raw 250.0 used 4.5
maintenance 2.25 withdrawable 52.0
BTC -2.0 cross 40/40 entry 100.0 value 180.0 pnl 20.0 roe 4.0 liquidation 123.45679 used 4.5 funding 0.0 0.0 0.0
`,
		},
		"a long that nothing liquidates": {
			cash: "1000", fills: []string{"BTC B 2@100"}, marks: market.Marks{"BTC": num("110")},
			want: `all 1020.0 ntl 220.0 raw 800.0 used 11.0
cross 1020.0 ntl 220.0 raw 800.0 used 11.0
maintenance 2.75 withdrawable 998.0
BTC 2.0 cross 20/40 entry 100.0 value 220.0 pnl 20.0 roe 2.0 liquidation 0.0 used 11.0 funding 0.0 0.0 0.0
`,
		},
		"an isolated position beside a cross one, in the venue's order": {
			cash: "200", leverages: map[string]market.Leverage{"BTC": {Isolated: true, Value: 3}}, fills: []string{"AAA A 7@3", "BTC B 3@100"},
			marks: market.Marks{"BTC": num("110"), "AAA": num("3.3")},
			want: `all 227.9 ntl 353.1 raw -79.0 used 132.31
cross 97.9 ntl 23.1 raw 121.0 used 2.31
maintenance 1.155 withdrawable 95.59
BTC 3.0 isolated raw -200.0 3/40 entry 100.0 value 330.0 pnl 30.0 roe 0.3 liquidation 67.51055 used 130.0 funding 0.0 0.0 0.0
AAA -7.0 cross 10/10 entry 3.0 value 23.1 pnl -2.1 roe -1.0 liquidation 16.462585034 used 2.31 funding 0.0 0.0 0.0
`,
		},
		"margins are rounded up": {
			cash: "1", leverages: map[string]market.Leverage{"AAA": {Value: 7}}, fills: []string{"AAA B 1@1"}, marks: market.Marks{"AAA": num("1.000001")},
			want: `all 1.000001 ntl 1.000001 raw 0.0 used 0.142858
cross 1.000001 ntl 1.000001 raw 0.0 used 0.142858
maintenance 0.050001 withdrawable 0.857143
AAA 1.0 cross 7/10 entry 1.0 value 1.000001 pnl 0.000001 roe 0.000007 liquidation 0.000001 used 0.142858 funding 0.0 0.0 0.0
`,
		},
		"without a mark a position is worth what it cost": {
			cash: "50", fills: []string{"BTC B 2@100"},
			want: `all 50.0 ntl 200.0 raw -150.0 used 10.0
cross 50.0 ntl 200.0 raw -150.0 used 10.0
maintenance 2.5 withdrawable 30.0
BTC 2.0 cross 20/40 entry 100.0 value 200.0 pnl 0.0 roe 0.0 liquidation 75.94937 used 10.0 funding 0.0 0.0 0.0
`,
		},
		"a market that the venue does not describe": {
			cash: "50", fills: []string{"NEW B 2@100"}, marks: market.Marks{"NEW": num("110")},
			want: `all 70.0 ntl 220.0 raw -150.0 used 11.0
cross 70.0 ntl 220.0 raw -150.0 used 11.0
maintenance 0.0 withdrawable 48.0
NEW 2.0 cross 20/0 entry 100.0 value 220.0 pnl 20.0 roe 2.0 liquidation 0.0 used 11.0 funding 0.0 0.0 0.0
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := anchored(c.cash, c.leverages)
			for i, text := range c.fills {
				if got, _ := a.Fill(accountFill(t, int64(i), text), nil, nil); got != market.Applied {
					t.Fatalf("%q: %s", text, got)
				}
			}
			s := a.State("", someMarkets(), c.marks, at(9))
			check.Equal(t, c.want, stateText(s))
			if got, known := a.PerpValue(someMarkets(), c.marks); !known || !got.Equal(s.Margin.AccountValue) {
				t.Errorf("the value over all dexes is %s, known %t", got, known)
			}
			if other := a.State("xyz", someMarkets(), c.marks, at(9)); len(other.Positions) > 0 || other.Time != at(9) {
				t.Errorf("in another dex it is %+v", other)
			}
		})
	}
}

func TestMaintenanceMarginGrowsSteadilyFromTierToTier(t *testing.T) {
	t.Parallel()
	tiers := someMarkets().Perps["BTC"].Tiers
	for notional, want := range map[string]string{
		"0": "0.0", "1000": "12.5", "149999999.999999": "1875000.0", "150000000": "1875000.0", "150000040": "1875001.0", "0.000001": "0.000001",
	} {
		if got := market.Text(tiers.Maintenance(num(notional))); got != want {
			t.Errorf("of %s: %s, want %s", notional, got, want)
		}
	}
	if got := market.MarginTiers(nil).Maintenance(num("5")); !got.IsZero() {
		t.Errorf("without tiers it is %s", got)
	}
}

// At its liquidation price, what stands behind an isolated position is what it must keep,
// but for the rounding of the price.
func TestTheLiquidationPriceIsWhereEquityMeetsMaintenance(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		a := anchored("1000000", map[string]market.Leverage{"BTC": {Isolated: true, Value: rapid.Int64Range(2, 40).Draw(rt, "leverage")}})
		side := rapid.SampledFrom([]string{"A", "B"}).Draw(rt, "side")
		a.Fill(accountFill(t, 0, fmt.Sprintf("BTC %s %d@%d", side, rapid.IntRange(1, 9).Draw(rt, "size"), rapid.IntRange(1000, 2000).Draw(rt, "price"))), nil, nil)
		marks := market.Marks{"BTC": num(fmt.Sprint(rapid.IntRange(1000, 2000).Draw(rt, "mark")))}
		p := a.State("", someMarkets(), marks, 0).Positions[0]
		if p.LiquidationPx.IsZero() {
			return
		}
		there := a.State("", someMarkets(), market.Marks{"BTC": p.LiquidationPx}, 0).Positions[0]
		must := someMarkets().Perps["BTC"].Tiers.Maintenance(there.PositionValue)
		if off := there.MarginUsed.Sub(must).Abs(); off.Cmp(num("0.0002")) > 0 {
			rt.Fatalf("at %s it has %s and must keep %s", p.LiquidationPx, there.MarginUsed, must)
		}
	})
}

func TestAnAnchorCorrectsWhatWasFolded(t *testing.T) {
	t.Parallel()
	base := func() market.Anchor {
		return market.Anchor{Address: alice, Dexes: []market.AccountState{{
			Time: at(10), CrossMargin: market.MarginSummary{AccountValue: num("1010")},
			Positions: []market.PositionState{{Coin: "BTC", Szi: num("1"), Leverage: market.Leverage{Value: 20}, PositionValue: num("110"), UnrealizedPnl: num("10")}},
		}}}
	}
	for name, c := range map[string]struct {
		change      func(*market.Anchor)
		differences []string
		want        string // position in BTC
		cash        string
	}{
		"it agrees": {want: "1.0 for 100.0", cash: "1000.0"},
		"another size": {
			change: func(a *market.Anchor) {
				p := &a.Dexes[0].Positions[0]
				p.Szi, p.PositionValue, p.UnrealizedPnl = num("-2"), num("220"), num("-20")
				a.Dexes[0].CrossMargin.AccountValue = num("980")
			},
			differences: []string{"BTC size 1.0 -2.0"}, want: "-2.0 for -200.0 partial", cash: "1000.0",
		},
		"flat": {
			change: func(a *market.Anchor) {
				a.Dexes[0].Positions, a.Dexes[0].CrossMargin.AccountValue = nil, num("1000")
			},
			differences: []string{"BTC size 1.0 0.0"}, want: "flat", cash: "1000.0",
		},
		"another entry price": {
			change: func(a *market.Anchor) { a.Dexes[0].Positions[0].UnrealizedPnl = num("9") },
			// The account is worth the same, so it has more cash.
			differences: []string{"BTC cost 100.0 101.0", " cash 1000.0 1001.0"}, want: "1.0 for 101.0", cash: "1001.0",
		},
		"isolated, with another leverage": {
			change: func(a *market.Anchor) {
				p := &a.Dexes[0].Positions[0]
				p.Leverage, p.RawUsd = market.Leverage{Isolated: true, Value: 5}, num("-80")
				a.Dexes[0].CrossMargin.AccountValue = num("980")
			},
			differences: []string{"BTC leverage 20.0 5.0", "BTC margin 0.0 20.0", " cash 1000.0 980.0"}, want: "1.0 for 100.0 margin 20.0", cash: "980.0",
		},
		"a position that was not known": {
			change: func(a *market.Anchor) {
				a.Dexes[0].Positions = append(a.Dexes[0].Positions, market.PositionState{Coin: "AAA", Szi: num("5"), Leverage: market.Leverage{Value: 3}, PositionValue: num("15"), UnrealizedPnl: num("0")})
			},
			differences: []string{"AAA size 0.0 5.0"}, want: "1.0 for 100.0", cash: "1000.0",
		},
		"funding that was missed": {
			change: func(a *market.Anchor) {
				p := &a.Dexes[0].Positions[0]
				p.FundingAllTime, p.FundingSinceOpen, p.FundingSinceChange = num("3"), num("2"), num("1")
				a.Dexes[0].CrossMargin.AccountValue = num("1008")
			},
			differences: []string{"BTC funding 0.0 3.0", " cash 1000.0 998.0"}, want: "1.0 for 100.0", cash: "998.0",
		},
		"older than the one before": {
			change: func(a *market.Anchor) { a.Dexes[0].Time, a.Dexes[0].Positions = at(-1), nil }, want: "1.0 for 100.0", cash: "1000.0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := anchored("1000", map[string]market.Leverage{"BTC": {Value: 20}})
			a.Fill(accountFill(t, 1, "BTC B 1@100"), nil, nil)
			said := base()
			if c.change != nil {
				c.change(&said)
			}
			var differences []string
			contradicted, _ := a.Anchor(&said, nil, nil)
			for _, d := range contradicted {
				differences = append(differences, fmt.Sprint(d.Coin, " ", d.Field, " ", market.Text(d.Folded), " ", market.Text(d.Actual)))
			}
			check.Equalf(t, c.differences, differences, "differences")
			if got := position(a, "BTC"); got != c.want || market.Text(a.Dexes[0].Cash) != c.cash {
				t.Errorf("the position is %s and the cash %s, want %s and %s", got, a.Dexes[0].Cash, c.want, c.cash)
			}
		})
	}
}

func TestTheFirstAnchorContradictsNothingThatWasKnown(t *testing.T) {
	t.Parallel()
	var a market.Account
	a.Fill(accountFill(t, 1, "BTC B 1@100 start=1.0"), nil, nil)
	differences, _ := a.Anchor(&market.Anchor{
		Address: alice, SpotTime: at(5), Spot: []market.SpotBalance{{Coin: "USDC", Total: num("5")}}, Leverages: map[string]market.Leverage{"AAA": {Isolated: true, Value: 4}},
		Dexes: []market.AccountState{{Time: at(5), CrossMargin: market.MarginSummary{AccountValue: num("1010")}, Positions: []market.PositionState{
			{Coin: "BTC", Szi: num("2"), Leverage: market.Leverage{Value: 7}, PositionValue: num("220"), UnrealizedPnl: num("30")},
			{Coin: "ETH", Szi: num("1"), Leverage: market.Leverage{Value: 7}, PositionValue: num("20"), UnrealizedPnl: num("0")},
		}}},
	}, nil, nil)
	if len(differences) > 0 {
		t.Errorf("it contradicts %v", differences)
	}
	if btc, eth := position(&a, "BTC"), position(&a, "ETH"); btc != "2.0 for 190.0 partial" || eth != "1.0 for 20.0 partial" {
		t.Errorf("BTC %s, ETH %s", btc, eth)
	}
	if h, _ := a.Holding("AAA"); h.Leverage != (market.Leverage{Isolated: true, Value: 4}) || h.Open != nil {
		t.Errorf("AAA is %+v", h)
	}
	// What is known from here on is told by the fills.
	if got, _ := a.Fill(accountFill(t, 6, "AAA B 8@1"), nil, nil); got != market.Applied || position(&a, "AAA") != "8.0 for 8.0 margin 2.0" {
		t.Errorf("an opening is %s: %s", got, position(&a, "AAA"))
	}
	if got, _ := a.Fill(accountFill(t, 6, "ETH B 8@1"), nil, nil); got != market.Gap {
		t.Errorf("a fill that does not fit is %s", got)
	}
}

func TestAnAnchorMendsABrokenCoin(t *testing.T) {
	t.Parallel()
	a := anchored("1000", nil)
	a.Fill(accountFill(t, 1, "BTC B 1@100"), nil, nil)
	a.Fill(accountFill(t, 3, "BTC B 1@100 start=2.0"), nil, nil)
	a.Anchor(&market.Anchor{Dexes: []market.AccountState{{Time: at(3), CrossMargin: market.MarginSummary{AccountValue: num("1000")},
		Positions: []market.PositionState{{Coin: "BTC", Szi: num("3"), PositionValue: num("300")}}}}}, nil, nil)
	if h, _ := a.Holding("BTC"); isBroken(h) || position(a, "BTC") != "3.0 for 300.0 partial" {
		t.Errorf("%s, broken %v", position(a, "BTC"), isBroken(h))
	}
	if got, _ := a.Fill(accountFill(t, 4, "BTC A 3@100 start=3.0"), nil, nil); got != market.Applied {
		t.Errorf("the next fill is %s", got)
	}
}

func TestSpotFillsMoveTokens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		unknown bool // the venue was not asked; else it has 100 USDC and 10 HYPE that cost 200
		fills   []string
		want    string
		outcome market.Outcome // of the last one
	}{
		"a buyer's fee is in the token": {
			fills: []string{"@107 B 2@20 start=10.0 fee=0.002 token=HYPE"}, want: "HYPE 11.998 240.0 USDC 60.0 0.0",
		},
		"a seller's fee is in USDC": {
			fills: []string{"@107 A 4@30 start=10.0 pnl=40.0 fee=0.12 token=USDC"}, want: "HYPE 6.0 120.0 USDC 219.88 0.0",
		},
		"a recorder that names no fee token": {
			fills: []string{"@107 B 2@20 start=10.0 fee=0.002 token=", "@107 A 2@20 start=11.998 fee=0.04 token= pnl=0.0"}, want: "HYPE 9.998 199.99333222 USDC 99.96 0.0",
		},
		"all is sold": {
			fills: []string{"@107 A 10@30 start=10.0 pnl=100.0"}, want: "USDC 400.0 0.0",
		},
		"dust is converted": {
			fills: []string{"@107 A 9.995@20 start=10.0", "@107 A 0.005@20 start=0.005 tid=0 dir=Spot_Dust_Conversion"}, want: "USDC 300.0 0.0",
		},
		"dust pays no fraction of the smallest amount": {
			fills: []string{"@107 A 9.993366@20 start=10.0", "@107 A 0.006634@32.588 start=0.006634 tid=0 dir=Spot_Dust_Conversion"}, want: "USDC 300.08350879 0.0",
		},
		"a market in another token": {
			fills: []string{"@200 A 1@20 start=10.0 token=USDE fee=0.01"}, want: "HYPE 9.0 180.0 USDC 100.0 0.0 USDE 19.99 0.0",
		},
		"a market that says its tokens itself": {
			fills: []string{"PURR/USDC B 100@0.2 start=0.0 fee=0.1 token=PURR"}, want: "HYPE 10.0 200.0 PURR 99.9 20.0 USDC 80.0 0.0",
		},
		"an outcome is bought": {
			fills: []string{"#441 B 100@0.4 start=0.0 fee=0.01 token=USDC dir=Buy"}, want: "+441 100.0 40.0 HYPE 10.0 200.0 USDC 59.99 0.0",
		},
		"an outcome is sold": {
			fills: []string{"#441 B 100@0.4 start=0.0 dir=Buy", "#441 A 100@0.5 start=100.0 pnl=10.0 fee=0.01 dir=Sell"}, want: "HYPE 10.0 200.0 USDC 109.99 0.0",
		},
		"an outcome is paid in another token": {
			fills: []string{"#441 B 100@0.4 start=0.0 fee=0.0 token=USDH dir=Buy"}, want: "+441 100.0 40.0 HYPE 10.0 200.0 USDC 100.0 0.0 USDH -40.0 0.0",
		},
		"what is paid is split into both sides, and one of them wins": {
			fills: []string{"#440 B 10@0.5 start=0.0 dir=Split", "#441 B 10@0.5 start=0.0 dir=Split", "#440 A 10@0.0 start=10.0 pnl=-5.0 dir=Settlement", "#441 A 10@1.0 start=10.0 pnl=5.0 dir=Settlement"},
			want:  "HYPE 10.0 200.0 USDC 100.0 0.0",
		},
		"a market that is not known": {
			fills: []string{"@999 B 100@0.2 start=0.0"}, want: "HYPE 10.0 200.0 USDC 100.0 0.0", outcome: market.Unknown,
		},
		"one that comes again": {
			fills: []string{"@107 A 4@30 start=10.0", "again"}, want: "HYPE 6.0 120.0 USDC 220.0 0.0", outcome: market.Duplicate,
		},
		"what an account has that is not known": {
			unknown: true, fills: []string{"@107 A 4@30 start=10.0 pnl=40.0"}, want: "HYPE 6.0 120.0 USDC 120.0 0.0",
		},
		"a balance that differs for a minute is what fills say": {
			fills: []string{"@107 A 1@30 start=30.0", "@107 A 1@30 start=29.0", "later @107 A 1@30 start=28.0"}, want: "HYPE 27.0 540.0 USDC 190.0 0.0",
		},
		"a balance that differs for less may be explained by a transfer to come": {
			fills: []string{"@107 A 1@30 start=30.0", "@107 A 1@30 start=29.0"}, want: "HYPE 8.0 160.0 USDC 160.0 0.0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := new(market.Account)
			if !c.unknown {
				a.Anchor(&market.Anchor{SpotTime: at(-1), Spot: []market.SpotBalance{{Coin: "USDC", Total: num("100")}, {Coin: "HYPE", Token: 150, Total: num("10"), EntryNtl: num("200")}}}, nil, nil)
			}
			var got market.Outcome
			var f *market.Fill
			for i, text := range c.fills {
				n := int64(i)
				if later, ok := strings.CutPrefix(text, "later "); ok {
					text, n = later, 60_000
				}
				if text != "again" {
					f = accountFill(t, n, text)
				}
				got, _ = a.Fill(f, someMarkets(), nil)
			}
			if got != c.outcome {
				t.Errorf("it is %s, want %s", got, c.outcome)
			}
			if s := a.State("", someMarkets(), nil, 1); len(s.Positions) > 0 || !s.Margin.AccountValue.IsZero() || !s.Margin.TotalMarginUsed.IsZero() {
				t.Errorf("the perpetuals are %s", stateText(s))
			}
			var words []string
			for _, s := range a.Spot {
				if !s.Total.IsZero() {
					words = append(words, s.Token, market.Text(s.Total), market.Text(s.Cost))
				}
			}
			if got := strings.Join(words, " "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// known is the text of a figure that must be known.
func known(t *testing.T) func(market.Decimal, bool) string {
	t.Helper()
	return func(d market.Decimal, ok bool) string {
		t.Helper()
		if !ok {
			t.Errorf("%s is not known", d)
		}
		return market.Text(d)
	}
}

func TestTokensAreValuedInUSDC(t *testing.T) {
	t.Parallel()
	var a market.Account
	a.Anchor(&market.Anchor{Mode: market.ModeStandard, SpotTime: at(0), Spot: []market.SpotBalance{
		{Coin: "NEW", Token: 900, Total: num("7")}, {Coin: "HYPE", Token: 150, Total: num("1.12345678"), EntryNtl: num("20")}, {Coin: "USDC", Total: num("2.12345678")}, {Coin: "ZERO", Token: 3},
	}}, nil, nil)
	// 2.123456 and 1.12345678 x 30.5 = 34.26543179, both cut to a millionth.
	if got := known(t)(a.SpotValue(someMarkets(), market.Marks{"@107": num("30.5")})); got != "36.388887" {
		t.Errorf("they are worth %s", got)
	}
	var outcomes market.Account
	outcomes.Anchor(&market.Anchor{Mode: market.ModeStandard, SpotTime: at(0), Spot: []market.SpotBalance{{Coin: "+440", Total: num("10"), EntryNtl: num("4")}, {Coin: "+441", Total: num("10"), EntryNtl: num("7")}}}, nil, nil)
	if got := known(t)(outcomes.SpotValue(someMarkets(), market.Marks{"#440": num("0.25")})); got != "9.5" {
		t.Errorf("an outcome at its mark and one at its cost are worth %s", got)
	}
	if got := known(t)(a.SpotValue(nil, nil)); got != "2.123456" {
		t.Errorf("without marks they are worth %s", got)
	}
	var names []string
	balances, ok := a.Balances(someMarkets(), nil, map[string]market.SpotReserve{
		"@107": {Quote: num("1.5"), Base: num("0.25")}, "@200": {Quote: num("7"), Base: num("0.5")}, "NEW/USDC": {Quote: num("0.5"), Base: num("8")}, "@999": {Base: num("1")},
	})
	if !ok {
		t.Error("the balances are not known")
	}
	for _, b := range balances {
		names = append(names, fmt.Sprint(b.Coin, b.Token, " ", market.Text(b.EntryNtl), " ", market.Text(b.Hold)))
	}
	if got := fmt.Sprint(names); got != "[USDC0 0.0 2.0 HYPE150 20.0 0.75 NEW-1 0.0 7.0]" {
		t.Errorf("the balances are %s", got)
	}
}
