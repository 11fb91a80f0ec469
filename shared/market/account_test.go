package market_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"quotary/shared/market"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

const alice, bob = "0xa11ce00000000000000000000000000000000001", "0xb0b0000000000000000000000000000000000002"

// at is a ms of the histories below.
func at(n int64) int64 { return 1_773_532_800_000 + n }

// accountFill reads "coin B sz@px start=.. pnl=.. fee=.. oid=.. dir=.." at n ms.
func accountFill(t testing.TB, n int64, text string) *market.Fill {
	t.Helper()
	words := strings.Fields(text)
	f := &market.Fill{Address: alice, Coin: words[0], Side: market.Side(words[1][0]), Time: at(n), Seq: n + 1, Tid: 1000 + n, Oid: 1,
		StartPosition: "0.0", ClosedPnl: "0.0", Fee: "0.0", FeeToken: "USDC"}
	f.Sz, f.Px, _ = strings.Cut(words[2], "@")
	for _, word := range words[3:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "start":
			f.StartPosition = value
		case "pnl":
			f.ClosedPnl = value
		case "fee":
			f.Fee = value
		case "token":
			f.FeeToken = value
		case "dir":
			f.Dir = strings.ReplaceAll(value, "_", " ")
		case "tid":
			f.Tid = 0
		case "oid":
			_, _ = fmt.Sscan(value, &f.Oid)
		case "liquidated":
			f.Liquidation = &market.Liquidation{LiquidatedUser: value, MarkPx: f.Px, Method: "market"}
		default:
			t.Fatalf("%q is no part of a fill", word)
		}
	}
	must.Do(t, f.Check())
	return f
}

func num(text string) market.Decimal {
	d, err := market.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

// anchored is an account with cash on the main dex that the venue told before the
// histories begin, with leverages of its coins.
func anchored(cash string, leverages map[string]market.Leverage) *market.Account {
	a := new(market.Account)
	a.Anchor(&market.Anchor{
		Address: alice, Mode: market.ModeStandard, SpotTime: at(-1), Leverages: leverages,
		Dexes: []market.AccountState{{Time: at(-1), CrossMargin: market.MarginSummary{AccountValue: num(cash)}}, {Dex: "xyz", Time: at(-1)}},
	}, nil, nil)
	return a
}

// isBroken reports whether something is missing in the figures of a coin.
func isBroken(h market.Holding) bool { return h.Late || h.Gap != market.Order{} }

// position is what a holding is, in one line.
func position(a *market.Account, coin string) string {
	h, ok := a.Holding(coin)
	if !ok || h.Open == nil {
		return "flat"
	}
	p, cost := h.Open, "?"
	if !p.NoCost {
		cost = market.Text(p.Cost)
	}
	text := market.Text(p.Size) + " for " + cost
	if !p.Margin.IsZero() {
		text += " margin " + market.Text(p.Margin)
	}
	if p.Partial {
		text += " partial"
	}
	return text
}

func tradeText(c *market.CompletedTrade) string {
	if c == nil {
		return ""
	}
	side := "short"
	if c.Long {
		side = "long"
	}
	text := fmt.Sprintf("%s %s %s>%s %d-%d pnl %s fee %s funding %s max %s %s fills %d orders %d+%d", side, market.Text(c.Size), market.Text(c.EntryPx), market.Text(c.ClosePx),
		c.Start-at(0), c.End-at(0), market.Text(c.Pnl), market.Text(c.Fee), market.Text(c.Funding), market.Text(c.MaxSize), market.Text(c.MaxValue), c.Fills, c.OpenOrders, c.CloseOrders)
	for what, is := range map[string]bool{" partial": c.Partial, " liquidated": c.Liquidated, " isolated": c.Isolated} {
		if is {
			text += what
		}
	}
	return text
}

func TestFillsMakePositions(t *testing.T) {
	t.Parallel()
	isolated := map[string]market.Leverage{"BTC": {Isolated: true, Value: 3}}
	for name, c := range map[string]struct {
		leverages map[string]market.Leverage
		unknown   bool // the venue was not asked
		fills     []string
		want      string // position
		cash      string
		trades    []string
	}{
		"an opening": {fills: []string{"BTC B 2@100 fee=0.5"}, want: "2.0 for 200.0", cash: "999.5"},
		"a short":    {fills: []string{"BTC A 2@100 fee=-0.5"}, want: "-2.0 for -200.0", cash: "1000.5"},
		"adding": {
			fills: []string{"BTC B 2@100", "BTC B 1@130.5 start=2.0"},
			want:  "3.0 for 330.5", cash: "1000.0",
		},
		"a partial close keeps the entry price": {
			fills: []string{"BTC B 2@100", "BTC B 1@130 start=2.0", "BTC A 1@120 start=3.0 pnl=10.0"},
			want:  "2.0 for 220.0", cash: "1010.0",
		},
		"the cost of a part is rounded to a millionth": {
			fills: []string{"BTC B 3@100.000001", "BTC A 1@100 start=3.0 pnl=-0.000001", "BTC B 1@100 start=2.0", "BTC A 1@100 start=3.0 pnl=-0.000001"},
			want:  "2.0 for 200.000001", cash: "999.999998",
		},
		"a close": {
			fills: []string{"BTC A 2@100 oid=1 fee=1", "BTC A 1@90 oid=2 fee=1 start=-2.0", "BTC B 1@80 oid=3 fee=1 start=-3.0 pnl=16.666667", "BTC B 2@110 oid=3 fee=1 start=-2.0 pnl=-26.666666"},
			want:  "flat", cash: "986.0", // 1000 - 4 fees - 80 - 220 + 290
			trades: []string{"short 3.0 96.666667>100.0 0-3 pnl -9.999999 fee 4.0 funding 0.0 max 3.0 270.0 fills 4 orders 2+1"},
		},
		"a flip through zero completes one and opens another": {
			fills: []string{"BTC B 1@100 oid=7 fee=0.1", "BTC A 3@110 oid=8 start=1.0 pnl=10.0 fee=0.3"},
			want:  "-2.0 for -220.0", cash: "1009.6",
			trades: []string{"long 1.0 100.0>110.0 0-1 pnl 10.0 fee 0.2 funding 0.0 max 1.0 100.0 fills 2 orders 1+1"},
		},
		"a first fill that closes all tells what it was opened at": {
			unknown: true,
			fills:   []string{"BTC A 2@110 start=2.0 pnl=20.0 fee=1"},
			want:    "flat", cash: "19.0",
			trades: []string{"long 2.0 100.0>110.0 0-0 pnl 20.0 fee 1.0 funding 0.0 max 2.0 220.0 fills 1 orders 0+1 partial"},
		},
		"a first fill that adds tells no cost": {
			unknown: true,
			fills:   []string{"BTC B 1@120 start=2.0"},
			want:    "3.0 for ? partial", cash: "0.0",
		},
		"a later part that is closed tells the cost of all": {
			unknown: true,
			fills:   []string{"BTC B 1@120 start=2.0", "BTC A 1@130 start=3.0 pnl=20.0"},
			want:    "2.0 for 220.0 partial", cash: "20.0",
		},
		"a first fill that flips": {
			unknown: true,
			fills:   []string{"BTC A 3@110 start=1.0 pnl=10.0"},
			want:    "-2.0 for -220.0", cash: "10.0",
			trades: []string{"long 1.0 100.0>110.0 0-0 pnl 10.0 fee 0.0 funding 0.0 max 1.0 110.0 fills 1 orders 0+1 partial"},
		},
		"a liquidation by the market": {
			fills:  []string{"BTC B 1@100", "BTC A 1@60 start=1.0 pnl=-40.0 liquidated=" + alice + " dir=Close_Long"},
			want:   "flat",
			cash:   "960.0",
			trades: []string{"long 1.0 100.0>60.0 0-1 pnl -40.0 fee 0.0 funding 0.0 max 1.0 100.0 fills 2 orders 1+1 liquidated"},
		},
		"the other side of a liquidation is not liquidated": {
			fills:  []string{"BTC B 1@60 liquidated=" + bob, "BTC A 1@70 start=1.0 pnl=10.0"},
			want:   "flat",
			cash:   "1010.0",
			trades: []string{"long 1.0 60.0>70.0 0-1 pnl 10.0 fee 0.0 funding 0.0 max 1.0 60.0 fills 2 orders 1+1"},
		},
		"a take-over names the position of the other side": {
			fills: []string{"BTC B 2@60 liquidated=" + bob + " dir=Liquidated_Cross_Long"},
			want:  "2.0 for 120.0", cash: "1000.0",
		},
		"auto-deleveraging closes as any fill": {
			fills:  []string{"BTC A 1@100", "BTC B 1@50 start=-1.0 pnl=50.0 dir=Auto-Deleveraging"},
			want:   "flat",
			cash:   "1050.0",
			trades: []string{"short 1.0 100.0>50.0 0-1 pnl 50.0 fee 0.0 funding 0.0 max 1.0 100.0 fills 2 orders 1+1"},
		},
		"an isolated position sets margin aside, rounded up": {
			leverages: isolated,
			fills:     []string{"BTC B 1@100", "BTC B 1@100 start=1.0"},
			want:      "2.0 for 200.0 margin 66.666668", cash: "933.333332",
		},
		"an isolated position gives back in proportion, rounded down": {
			leverages: isolated,
			fills:     []string{"BTC B 3@100", "BTC A 1@110 start=3.0 pnl=10.0"},
			want:      "2.0 for 200.0 margin 66.666667", cash: "943.333333", // 130 / 3 given back
		},
		"an isolated position under water gives nothing back": {
			leverages: isolated,
			fills:     []string{"BTC B 3@100", "BTC A 1@50 start=3.0 pnl=-50.0"},
			want:      "2.0 for 200.0 margin 50.0", cash: "900.0",
		},
		"an isolated position that is closed gives all back": {
			leverages: isolated,
			fills:     []string{"BTC B 3@100", "BTC A 3@50 start=3.0 pnl=-150.0"},
			want:      "flat", cash: "850.0",
			trades: []string{"long 3.0 100.0>50.0 0-1 pnl -150.0 fee 0.0 funding 0.0 max 3.0 300.0 fills 2 orders 1+1 isolated"},
		},
		"orders that alternate are counted once": {
			fills: []string{"BTC B 1@100 oid=1", "BTC B 1@100 oid=2 start=1.0", "BTC B 1@100 oid=1 start=2.0", "BTC A 3@100 oid=3 start=3.0"},
			want:  "flat", cash: "1000.0",
			trades: []string{"long 3.0 100.0>100.0 0-3 pnl 0.0 fee 0.0 funding 0.0 max 3.0 300.0 fills 4 orders 2+1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := anchored("1000", c.leverages)
			if c.unknown {
				a = new(market.Account)
			}
			var trades []string
			for i, text := range c.fills {
				f := accountFill(t, int64(i), text)
				outcome, completed := a.Fill(f, nil, nil)
				if outcome != market.Applied {
					t.Fatalf("%q: %s", text, outcome)
				}
				if completed != nil {
					trades = append(trades, tradeText(completed))
				}
			}
			if got := position(a, "BTC"); got != c.want {
				t.Errorf("the position is %s, want %s", got, c.want)
			}
			if got := market.Text(a.Dexes[0].Cash); got != c.cash {
				t.Errorf("the cash is %s, want %s", got, c.cash)
			}
			check.Equalf(t, c.trades, trades, "trades")
		})
	}
}

func TestADexHasItsOwnCash(t *testing.T) {
	t.Parallel()
	a := anchored("1000", nil)
	a.Fill(accountFill(t, 0, "xyz:GOLD B 1@100 fee=0.5"), nil, nil)
	a.Payment(&market.FundingPayment{Address: alice, Coin: "xyz:GOLD", Time: at(1), USDC: "-0.25", Szi: "1.0", Rate: "0.0025"}, nil)
	if main, builder := market.Text(a.Dexes[0].Cash), market.Text(a.Dexes[1].Cash); main != "1000.0" || builder != "-0.75" || a.Dexes[1].Dex != "xyz" {
		t.Errorf("the main dex has %s, %s has %s", main, a.Dexes[1].Dex, builder)
	}
}

func TestEventsOutOfOrder(t *testing.T) {
	t.Parallel()
	open, add, end := "BTC B 1@100", "BTC B 1@100 start=1.0", "BTC A 2@100 start=2.0"
	type step struct {
		n    int64
		fill string
		want market.Outcome
	}
	for name, c := range map[string]struct {
		unknown bool
		steps   []step
		want    string
		broken  bool
	}{
		"a fill that comes again": {
			steps: []step{{1, open, market.Applied}, {2, add, market.Applied}, {1, open, market.Duplicate}, {2, add, market.Duplicate}}, want: "2.0 for 200.0",
		},
		"a missing fill that comes later": {
			steps: []step{{1, open, market.Applied}, {3, end, market.Gap}, {2, add, market.Applied}, {3, end, market.Applied}}, want: "flat",
		},
		"what would fit behind a gap waits, too": {
			steps: []step{{1, open, market.Applied}, {3, end, market.Gap}, {4, add, market.Gap}, {2, add, market.Applied}, {3, end, market.Applied}, {4, open, market.Applied}},
			want:  "1.0 for 100.0",
		},
		"a missing first fill of a known account": {
			steps: []step{{2, add, market.Gap}}, want: "flat", broken: true,
		},
		"a fill from before the anchor": {
			steps: []step{{-1, open, market.Late}}, want: "flat", broken: true,
		},
		"a fill from before the first one": {
			unknown: true,
			steps:   []step{{2, add, market.Applied}, {1, open, market.Late}}, want: "2.0 for ? partial", broken: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := anchored("1000", nil)
			if c.unknown {
				a = new(market.Account)
			}
			for _, s := range c.steps {
				if got, _ := a.Fill(accountFill(t, s.n, s.fill), nil, nil); got != s.want {
					t.Errorf("%d %q: %s, want %s", s.n, s.fill, got, s.want)
				}
			}
			if h, _ := a.Holding("BTC"); position(a, "BTC") != c.want || isBroken(h) != c.broken {
				t.Errorf("the position is %s, broken %v; want %s, %v", position(a, "BTC"), isBroken(h), c.want, c.broken)
			}
		})
	}
}

func TestTheSameFillOfAnotherSourceIsADuplicate(t *testing.T) {
	t.Parallel()
	var a market.Account
	f := accountFill(t, 1, "BTC B 1@100")
	a.Fill(f, nil, nil)
	f.Seq += 5
	if got, _ := a.Fill(f, nil, nil); got != market.Duplicate {
		t.Errorf("it is %s", got)
	}
}

func TestAForgottenCoinBeginsAgainWithItsNextFill(t *testing.T) {
	t.Parallel()
	a := anchored("1000", nil)
	a.Fill(accountFill(t, 1, "BTC B 1@100"), nil, nil)
	missed := accountFill(t, 3, "BTC A 1@110 start=3.0 pnl=15.0")
	if got, _ := a.Fill(missed, nil, nil); got != market.Gap {
		t.Fatalf("it is %s", got)
	}
	a.Forget("BTC")
	if got, _ := a.Fill(missed, nil, nil); got != market.Applied {
		t.Fatalf("then it is %s", got)
	}
	if h, _ := a.Holding("BTC"); position(a, "BTC") != "2.0 for 190.0 partial" || isBroken(h) || h.Unsure {
		t.Errorf("%s: %+v", position(a, "BTC"), h)
	}
}

func TestFundingIsPaidFromWhereThePositionsMarginIs(t *testing.T) {
	t.Parallel()
	pay := func(n int64, coin, usdc, szi string) *market.FundingPayment {
		return &market.FundingPayment{Address: alice, Coin: coin, Time: at(n), USDC: usdc, Szi: szi, Rate: "0.0000125"}
	}
	leverages := map[string]market.Leverage{"ETH": {Isolated: true, Value: 10}}
	state := func(a *market.Account) string {
		var b strings.Builder
		fmt.Fprint(&b, "cash ", market.Text(a.Dexes[0].Cash))
		for _, h := range a.Holdings {
			fmt.Fprint(&b, "; ", h.Coin, " ", position(a, h.Coin), " paid ", market.Text(h.FundingAllTime))
			if h.Open != nil {
				fmt.Fprint(&b, " ", market.Text(h.Open.FundingSinceOpen), " ", market.Text(h.Open.FundingSinceChange))
			}
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		unknown bool
		events  []any
		want    []market.Outcome
		state   string
	}{
		"by the cash of a cross position": {
			events: []any{"BTC B 1@100", pay(1, "BTC", "-0.5", "1.0"), pay(2, "BTC", "0.2", "1.0"), pay(2, "BTC", "0.2", "1.0")},
			want:   []market.Outcome{market.Applied, market.Applied, market.Applied, market.Duplicate},
			state:  "cash 999.7; BTC 1.0 for 100.0 paid 0.3 0.3 0.3",
		},
		"by the margin of an isolated one": {
			events: []any{"ETH A 1@100", pay(1, "ETH", "-0.5", "-1.0")},
			want:   []market.Outcome{market.Applied, market.Applied},
			state:  "cash 990.0; ETH -1.0 for -100.0 margin 9.5 paid 0.5 0.5 0.5",
		},
		"a fill begins again what was paid since the last one": {
			events: []any{"BTC B 1@100", pay(1, "BTC", "-0.5", "1.0"), "BTC B 1@100 start=1.0", pay(3, "BTC", "-1", "2.0")},
			want:   []market.Outcome{market.Applied, market.Applied, market.Applied, market.Applied},
			state:  "cash 998.5; BTC 2.0 for 200.0 paid 1.5 1.5 1.0",
		},
		"a new position begins again, and what was paid for the coin stays": {
			events: []any{"BTC B 1@100", pay(1, "BTC", "-0.5", "1.0"), "BTC A 2@100 start=1.0", pay(3, "BTC", "0.25", "-1.0")},
			want:   []market.Outcome{market.Applied, market.Applied, market.Applied, market.Applied},
			state:  "cash 999.75; BTC -1.0 for -100.0 paid 0.25 -0.25 -0.25",
		},
		"a payment behind a fill of the same position": {
			events: []any{"BTC B 1@100", "", "BTC B 1@100 start=1.0", pay(1, "BTC", "-0.5", "1.0")},
			want:   []market.Outcome{market.Applied, 0, market.Applied, market.Applied},
			state:  "cash 999.5; BTC 2.0 for 200.0 paid 0.5 0.5 0.0",
		},
		"a payment behind the end of its position is late": {
			events: []any{"BTC B 1@100", "", "BTC A 1@100 start=1.0", pay(1, "BTC", "-0.5", "1.0")},
			want:   []market.Outcome{market.Applied, 0, market.Applied, market.Late},
			state:  "cash 1000.0; BTC flat paid 0.0",
		},
		"a payment behind what an isolated position gave back is late": {
			events: []any{"ETH B 2@100", "", "ETH A 1@100 start=2.0", pay(1, "ETH", "-0.5", "2.0")},
			want:   []market.Outcome{market.Applied, 0, market.Applied, market.Late},
			state:  "cash 990.0; ETH 1.0 for 100.0 margin 10.0 paid 0.0 0.0 0.0",
		},
		"a payment for another size shows a gap": {
			events: []any{"BTC B 1@100", pay(1, "BTC", "-0.5", "3.0")},
			want:   []market.Outcome{market.Applied, market.Gap},
			state:  "cash 1000.0; BTC 1.0 for 100.0 paid 0.0 0.0 0.0",
		},
		"a payment of an account that is not known tells its position": {
			unknown: true,
			events:  []any{"", pay(1, "BTC", "-0.5", "3.0"), "BTC A 3@100 start=3.0 pnl=30.0"},
			want:    []market.Outcome{0, market.Applied, market.Applied},
			state:   "cash 29.5; BTC flat paid 0.5",
		},
		"a payment from before the anchor is in it": {
			events: []any{"BTC B 1@100", pay(-1, "BTC", "-0.5", "1.0")},
			want:   []market.Outcome{market.Applied, market.Duplicate},
			state:  "cash 1000.0; BTC 1.0 for 100.0 paid 0.0 0.0 0.0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := anchored("1000", leverages)
			if c.unknown {
				a = new(market.Account)
			}
			for i, event := range c.events {
				var got market.Outcome
				switch event := event.(type) {
				case string:
					if event != "" {
						got, _ = a.Fill(accountFill(t, int64(i), event), nil, nil)
					}
				case *market.FundingPayment:
					got = a.Payment(event, nil)
				}
				if got != c.want[i] {
					t.Errorf("event %d is %s, want %s", i, got, c.want[i])
				}
			}
			a.Holdings = deleteUntouched(a.Holdings)
			if got := state(a); got != c.state {
				t.Errorf("got  %s\nwant %s", got, c.state)
			}
		})
	}
}

// deleteUntouched leaves out the holdings that only have a leverage.
func deleteUntouched(holdings []market.Holding) (left []market.Holding) {
	for _, h := range holdings {
		if h.Began > 0 || h.Paid > 0 {
			left = append(left, h)
		}
	}
	return left
}

func TestLedgerUpdatesMoveFunds(t *testing.T) {
	t.Parallel()
	user, destination := `"user":"`+alice+`"`, `"destination":"`+bob+`"`
	received := `"user":"` + bob + `","destination":"` + alice + `"`
	m, marks := &market.Markets{SpotCoins: map[string]string{"HYPE": "@107"}}, market.Marks{"@107": num("20")}
	for name, c := range map[string]struct {
		kind, delta string
		outcome     market.Outcome
		want        string // cash of the main dex and of xyz, tokens, net transfers
	}{
		"deposit":                        {kind: "deposit", delta: `"usdc":"100.5"`, want: "1100.5 0.0 [HYPE 10.0 USDC 50.0] net 100.5 0.0"},
		"withdrawal with its fee":        {kind: "withdraw", delta: `"usdc":"100.0","nonce":17,"fee":"1.0"`, want: "899.0 0.0 [HYPE 10.0 USDC 50.0] net -101.0 0.0"},
		"to spot":                        {kind: "accountClassTransfer", delta: `"usdc":"25.0","toPerp":false`, want: "975.0 0.0 [HYPE 10.0 USDC 75.0] net -25.0 25.0"},
		"to perps":                       {kind: "accountClassTransfer", delta: `"usdc":"25.0","toPerp":true`, want: "1025.0 0.0 [HYPE 10.0 USDC 25.0] net 25.0 -25.0"},
		"given to someone":               {kind: "internalTransfer", delta: `"usdc":"10.0",` + user + "," + destination + `,"fee":"1.0"`, want: "989.0 0.0 [HYPE 10.0 USDC 50.0] net -11.0 0.0"},
		"got from someone":               {kind: "internalTransfer", delta: `"usdc":"10.0",` + received + `,"fee":"1.0"`, want: "1010.0 0.0 [HYPE 10.0 USDC 50.0] net 10.0 0.0"},
		"to a sub-account":               {kind: "subAccountTransfer", delta: `"usdc":"10.0",` + user + "," + destination, want: "990.0 0.0 [HYPE 10.0 USDC 50.0] net -10.0 0.0"},
		"a token given":                  {kind: "spotTransfer", delta: `"token":"HYPE","amount":"2.0","usdcValue":"40.0",` + user + "," + destination + `,"fee":"1.0","nativeTokenFee":"0.5","nonce":null,"feeToken":""`, want: "1000.0 0.0 [HYPE 7.5 USDC 49.0] net 0.0 -41.0"},
		"a token got":                    {kind: "spotTransfer", delta: `"token":"PURR","amount":"2.0","usdcValue":"0.4",` + received + `,"fee":"1.0","nativeTokenFee":"0.0"`, want: "1000.0 0.0 [HYPE 10.0 PURR 2.0 USDC 50.0] net 0.0 0.4"},
		"between one's dexes":            {kind: "send", delta: user + `,"destination":"` + alice + `","sourceDex":"","destinationDex":"xyz","token":"USDC","amount":"30.0","usdcValue":"30.0","fee":"0.0","nativeTokenFee":"0.0","nonce":1,"feeToken":""`, want: "970.0 30.0 [HYPE 10.0 USDC 50.0] net 0.0 0.0"},
		"from spot to a dex":             {kind: "send", delta: user + `,"destination":"` + alice + `","sourceDex":"spot","destinationDex":"","token":"USDC","amount":"30.0","usdcValue":"30.0","fee":"0.0"`, want: "1030.0 0.0 [HYPE 10.0 USDC 20.0] net 30.0 -30.0"},
		"between spot and another dex":   {kind: "perpDexClassTransfer", delta: `"amount":"20.0","token":"USDC","dex":"xyz","toPerp":true`, want: "1000.0 20.0 [HYPE 10.0 USDC 30.0] net 20.0 -20.0"},
		"into a vault":                   {kind: "vaultDeposit", delta: `"vault":"` + bob + `","usdc":"100.0"`, want: "900.0 0.0 [HYPE 10.0 USDC 50.0] net -100.0 0.0"},
		"into the vault that it is":      {kind: "vaultDeposit", delta: `"vault":"` + alice + `","usdc":"100.0"`, want: "1100.0 0.0 [HYPE 10.0 USDC 50.0] net 100.0 0.0"},
		"out of a vault":                 {kind: "vaultWithdraw", delta: `"vault":"` + bob + `",` + user + `,"requestedUsd":"110.0","commission":"10.0","closingCost":"0.0","basis":"0.0","netWithdrawnUsd":"100.0"`, want: "1100.0 0.0 [HYPE 10.0 USDC 50.0] net 100.0 0.0"},
		"out of the vault that it is":    {kind: "vaultWithdraw", delta: `"vault":"` + alice + `","user":"` + bob + `","commission":"10.0","netWithdrawnUsd":"100.0"`, want: "890.0 0.0 [HYPE 10.0 USDC 50.0] net -110.0 0.0"},
		"a vault made":                   {kind: "vaultCreate", delta: `"vault":"` + bob + `","usdc":"100.0","fee":"100.0"`, want: "800.0 0.0 [HYPE 10.0 USDC 50.0] net -200.0 0.0"},
		"a vault shared out":             {kind: "vaultDistribution", delta: `"vault":"` + bob + `","usdc":"5.0"`, want: "1005.0 0.0 [HYPE 10.0 USDC 50.0] net 5.0 0.0"},
		"a leader's commission":          {kind: "vaultLeaderCommission", delta: user + `,"usdc":"5.0"`, want: "1005.0 0.0 [HYPE 10.0 USDC 50.0] net 5.0 0.0"},
		"rewards":                        {kind: "rewardsClaim", delta: `"amount":"3.0"`, want: "1003.0 0.0 [HYPE 10.0 USDC 50.0] net 3.0 0.0"},
		"rewards in a token":             {kind: "rewardsClaim", delta: `"amount":"3.0","token":"HYPE"`, want: "1000.0 0.0 [HYPE 13.0 USDC 50.0] net 0.0 60.0"},
		"genesis of a token":             {kind: "spotGenesis", delta: `"token":"PURR","amount":"7.0"`, want: "1000.0 0.0 [HYPE 10.0 PURR 7.0 USDC 50.0] net 0.0 0.0"},
		"staked":                         {kind: "cStakingTransfer", delta: `"token":"HYPE","amount":"4.0","isDeposit":true`, want: "1000.0 0.0 [HYPE 6.0 USDC 50.0] net 0.0 -80.0"},
		"staked no more":                 {kind: "cStakingTransfer", delta: `"token":"HYPE","amount":"4.0","isDeposit":false`, want: "1000.0 0.0 [HYPE 14.0 USDC 50.0] net 0.0 80.0"},
		"a token got, worth unsaid":      {kind: "send", delta: `"token":"HYPE","amount":"2.0","sourceDex":"spot","destinationDex":"spot",` + received, want: "1000.0 0.0 [HYPE 12.0 USDC 50.0] net 0.0 40.0"},
		"a token given, worth unsaid":    {kind: "spotTransfer", delta: `"token":"HYPE","amount":"2.0",` + user + "," + destination, want: "1000.0 0.0 [HYPE 8.0 USDC 50.0] net 0.0 -40.0"},
		"a worth that is no decimal":     {kind: "spotTransfer", delta: `"token":"HYPE","amount":"2.0","usdcValue":"much",` + received, want: "1000.0 0.0 [HYPE 12.0 USDC 50.0] net 0.0 40.0"},
		"a token without a price":        {kind: "spotTransfer", delta: `"token":"PURR","amount":"2.0",` + received, want: "1000.0 0.0 [HYPE 10.0 PURR 2.0 USDC 50.0] net 0.0 0.0"},
		"supplied to others":             {kind: "borrowLend", delta: `"token":"USDC","operation":"supply","amount":"30.0","interestAmount":"0.5"`, want: "1000.0 0.0 [HYPE 10.0 USDC 20.0 lent 30.5] net 0.0 0.0"},
		"borrowed":                       {kind: "borrowLend", delta: `"token":"HYPE","operation":"borrow","amount":"3.0"`, want: "1000.0 0.0 [HYPE 13.0 lent -3.0 USDC 50.0] net 0.0 0.0"},
		"a liquidation moves nothing":    {kind: "liquidation", delta: `"liquidatedNtlPos":"1.0","accountValue":"2.0","leverageType":"Cross","liquidatedPositions":[]`, want: "1000.0 0.0 [HYPE 10.0 USDC 50.0] net 0.0 0.0"},
		"an unknown operation":           {kind: "borrowLend", delta: `"token":"HYPE","operation":"gift","amount":"3.0"`, outcome: market.Unknown, want: "1000.0 0.0 [HYPE 10.0 USDC 50.0] net 0.0 0.0"},
		"a dex that takes what it needs": {kind: "activateDexAbstraction", delta: `"dex":"xyz","token":"USDC","amount":"3.0"`, outcome: market.Unknown, want: "1000.0 0.0 [HYPE 10.0 USDC 50.0] net 0.0 0.0"},
		"an unknown kind":                {kind: "moonTransfer", delta: `"usdc":"1.0"`, outcome: market.Unknown, want: "1000.0 0.0 [HYPE 10.0 USDC 50.0] net 0.0 0.0"},
		"an amount in another shape":     {kind: "deposit", delta: `"usdc":{"amount":"1.0"}`, outcome: market.Unknown, want: "1000.0 0.0 [HYPE 10.0 USDC 50.0] net 0.0 0.0"},
		"an amount that is a number":     {kind: "withdraw", delta: `"usdc":100.0,"nonce":17,"fee":1`, want: "899.0 0.0 [HYPE 10.0 USDC 50.0] net -101.0 0.0"},
		"members that are null":          {kind: "deposit", delta: `"usdc":"100.5","fee":null,"token":null,"toPerp":null,"user":null`, want: "1100.5 0.0 [HYPE 10.0 USDC 50.0] net 100.5 0.0"},
		"a member of another type":       {kind: "deposit", delta: `"usdc":"100.5","token":0,"user":["a"]`, want: "1100.5 0.0 [HYPE 10.0 USDC 50.0] net 100.5 0.0"},
		"a direction that is no flag":    {kind: "accountClassTransfer", delta: `"usdc":"25.0","toPerp":"yes"`, outcome: market.Unknown, want: "1000.0 0.0 [HYPE 10.0 USDC 50.0] net 0.0 0.0"},
		"an amount that is no decimal":   {kind: "deposit", delta: `"usdc":"1e9"`, outcome: market.Unknown, want: "1000.0 0.0 [HYPE 10.0 USDC 50.0] net 0.0 0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := anchored("1000", nil)
			a.Anchor(&market.Anchor{SpotTime: at(0), Spot: []market.SpotBalance{{Coin: "USDC", Total: num("50.0")}, {Coin: "HYPE", Token: 150, Total: num("10.0")}}}, nil, nil)
			l := &market.Ledger{Address: alice, Time: at(1), Hash: "0x1", Type: c.kind, Delta: json.RawMessage(`{"type":"` + c.kind + `",` + c.delta + `}`)}
			for i := range 2 { // the second time it changes nothing
				want := market.Duplicate
				if i == 0 {
					want = c.outcome
				}
				if got := a.Ledger(l, m, marks); got != want {
					t.Errorf("it is %s, want %s", got, want)
				}
			}
			var tokens []string
			for _, s := range a.Spot {
				tokens = append(tokens, s.Token, market.Text(s.Total))
				if !s.Lent.IsZero() {
					tokens = append(tokens, "lent", market.Text(s.Lent))
				}
			}
			if got := fmt.Sprint(market.Text(a.Dexes[0].Cash), " ", market.Text(a.Dexes[1].Cash), " ", tokens, " net ", market.Text(a.NetPerp), " ", market.Text(a.NetSpot)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestALedgerUpdateWithoutWhatItMovesIsUnknown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, delta string }{
		{"deposit", `"user":"x"`},
		{"withdraw", `"fee":"1.0"`},
		{"accountClassTransfer", `"usdc":"25.0"`},
		{"accountClassTransfer", `"toPerp":true`},
		{"accountClassTransfer", `"usdc":"25.0","toPerp":null`},
		{"perpDexClassTransfer", `"amount":"20.0","dex":"xyz","toPerp":true`},
		{"internalTransfer", `"usdc":"10.0"`},
		{"subAccountTransfer", `"user":"` + alice + `"`},
		{"send", `"amount":"2.0","user":"` + alice + `"`},
		{"spotTransfer", `"token":"HYPE","user":"` + alice + `"`},
		{"send", `"token":"HYPE","amount":"2.0","user":"` + bob + `"`},
		{"vaultDeposit", `"vault":"` + bob + `"`},
		{"vaultWithdraw", `"vault":"` + bob + `","requestedUsd":"110.0"`},
		{"vaultLeaderCommission", `"user":"` + alice + `"`},
		{"rewardsClaim", `"token":"HYPE"`},
		{"spotGenesis", `"amount":"7.0"`},
		{"cStakingTransfer", `"token":"HYPE","amount":"4.0"`},
		{"accountActivationGas", `"token":"HYPE"`},
		{"borrowLend", `"token":"HYPE","operation":"borrow"`},
	} {
		a := anchored("1000", nil)
		l := &market.Ledger{Address: alice, Time: at(1), Hash: "0x1", Type: c.kind, Delta: json.RawMessage(`{"type":"` + c.kind + `",` + c.delta + `}`)}
		if got := a.Ledger(l, nil, nil); got != market.Unknown || a.Anchored != 0 {
			t.Errorf("%s with %s is %s, and funds are known since %d", c.kind, c.delta, got, a.Anchored)
		}
	}
}

func TestLedgerUpdatesInAnyOrderAreTakenInOnce(t *testing.T) {
	t.Parallel()
	deposit := func(n int64) *market.Ledger {
		return &market.Ledger{Address: alice, Time: at(n), Hash: fmt.Sprint("0x", n), Type: "deposit", Delta: json.RawMessage(`{"type":"deposit","usdc":"1.0"}`)}
	}
	var a market.Account
	for _, n := range []int64{5, 1, 3, 5, 3, 1} {
		a.Ledger(deposit(n), nil, nil)
	}
	if got := market.Text(a.Dexes[0].Cash); got != "3.0" {
		t.Errorf("three deposits make %s", got)
	}
	for n := int64(10); n < 30; n++ {
		a.Ledger(deposit(n), nil, nil)
	}
	if got := a.Ledger(deposit(2), nil, nil); got != market.Late || market.Text(a.Dexes[0].Cash) != "23.0" {
		t.Errorf("one from before all that are remembered is %s, and makes %s", got, market.Text(a.Dexes[0].Cash))
	}
	for range 2 { // all of a millisecond are remembered
		for n := range 30 {
			l := deposit(40)
			l.Hash = fmt.Sprint("0xabc", n)
			a.Ledger(l, nil, nil)
		}
	}
	if got := market.Text(a.Dexes[0].Cash); got != "53.0" {
		t.Errorf("with thirty of one millisecond, twice, it is %s", got)
	}
	if got := a.Ledger(deposit(50), nil, nil); got != market.Applied || len(a.Updates) != 1 || a.UpdatesSince != at(41) {
		t.Errorf("a later one is %s: %d are remembered from %d", got, len(a.Updates), a.UpdatesSince)
	}
	// What a newer anchor has is only a transfer of the past.
	b := anchored("1000", nil)
	if got := b.Ledger(deposit(-5), nil, nil); got != market.Applied || market.Text(b.Dexes[0].Cash) != "1000.0" || market.Text(b.NetPerp) != "1.0" {
		t.Errorf("a deposit from before the anchor is %s, makes %s, net %s", got, market.Text(b.Dexes[0].Cash), market.Text(b.NetPerp))
	}
}
