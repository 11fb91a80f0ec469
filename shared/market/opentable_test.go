package market_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/testing/check"
)

// heldAccounts draws accounts as the venue's rules let them be in markets of all precisions.
func heldAccounts(m *market.Markets) *rapid.Generator[[]*market.Account] {
	coins := []string{"AAA", "BTC", "OLD", "xyz:X"}
	return rapid.Custom(func(t *rapid.T) (list []*market.Account) {
		micros := func(name string, most int64) market.Decimal {
			return market.Micros(rapid.Int64Range(-most, most).Draw(t, name)).Decimal()
		}
		for n := range rapid.IntRange(1, 4).Draw(t, "accounts") {
			a := &market.Account{Address: fmt.Sprintf("0x%040x", n+1), Anchored: 5, SpotTime: 5, Mode: rapid.SampledFrom([]market.Mode{market.ModeStandard, market.ModeUnified}).Draw(t, "mode")}
			for _, dex := range []string{"", "xyz"} {
				a.Dexes = append(a.Dexes, market.DexFunds{Dex: dex, Anchored: 5, Cash: micros("cash", 1e13)})
			}
			a.Spot = []market.SpotHolding{{Token: "HYPE", Total: micros("hype", 1e12)}, {Token: "USDC", Total: micros("usdc", 1e13)}}
			for _, coin := range coins {
				places := m.Perps[coin].SzDecimals
				size := market.DecimalFromInt(rapid.Int64Range(-1e9, 1e9).Draw(t, "size"))
				for range places {
					size = size.MustDiv(market.DecimalFromInt(10))
				}
				if size.IsZero() || rapid.Bool().Draw(t, "flat") {
					continue
				}
				h := market.Holding{Coin: coin, Last: market.Order{Time: 4}, Leverage: market.Leverage{Isolated: rapid.Bool().Draw(t, "isolated"), Value: rapid.Int64Range(0, 40).Draw(t, "leverage")},
					Open: &market.OpenPosition{Size: size, Cost: micros("cost", 1e15), FundingSinceOpen: micros("funding", 1e9), Opened: 3}}
				if h.Leverage.Isolated && h.Leverage.Value > 0 {
					h.Open.Margin = micros("margin", 1e13)
				}
				a.Holdings = append(a.Holdings, h)
			}
			list = append(list, a)
		}
		return list
	})
}

// tableMarkets are those of the tests, whose dex xyz is paid in HYPE.
func tableMarkets() *market.Markets {
	m := someMarkets()
	m.Collaterals = map[string]string{"": "USDC", "xyz": "HYPE"}
	return m
}

func drawMarks(t *rapid.T, m *market.Markets) market.Marks {
	marks := market.Marks{"@107": market.Micros(rapid.Int64Range(1, 1e7).Draw(t, "hype")).Decimal()}
	for _, coin := range []string{"AAA", "BTC", "OLD", "xyz:X"} {
		px := market.DecimalFromInt(rapid.Int64Range(1, 1e7).Draw(t, coin))
		for range 6 - m.Perps[coin].SzDecimals {
			px = px.MustDiv(market.DecimalFromInt(10))
		}
		marks[coin] = px
	}
	return marks
}

// farthest is how far from its mark the table knows a liquidation price in a coin: half of what 63
// bits hold, in four places more than a price has.
func farthest(m *market.Markets, coin string) market.Decimal {
	far := market.DecimalFromInt(math.MaxInt64 / 2)
	for range 10 - m.Perps[coin].SzDecimals {
		far = far.MustDiv(market.DecimalFromInt(10))
	}
	return far
}

// The table's whole numbers say what the states of the accounts say in decimals.
func TestTheTableValuesPositionsAsTheStatesOfAccountsDo(t *testing.T) {
	t.Parallel()
	m := tableMarkets()
	rapid.Check(t, func(t *rapid.T) {
		accounts, marks := heldAccounts(m).Draw(t, "accounts"), drawMarks(t, m)
		var p market.Positions
		want := map[string]string{}
		for _, a := range accounts {
			p.SetAccount(a, m)
			for _, dex := range []string{"", "xyz"} {
				s := a.State(dex, m, marks, 1e6)
				for _, one := range s.Positions {
					usd, _ := m.Usd(one.Coin, one.PositionValue, marks)
					if away := one.LiquidationPx.Sub(marks[one.Coin]); away.Cmp(farthest(m, one.Coin)) > 0 {
						one.LiquidationPx = market.Decimal{} // the table has no room for it, and no price comes there
					}
					want[a.Address+one.Coin] = fmt.Sprint(one.Szi, one.Leverage, one.EntryPx, one.PositionValue, usd, one.UnrealizedPnl, one.MarginUsed, one.LiquidationPx)
				}
			}
		}
		got := map[string]string{}
		table := p.Table(7).Mark(m, marks)
		for i, row := range table.Rows {
			v, coin := table.Values[i], &table.Coins[row.Coin]
			leverage, _ := table.Leverage(i)
			entry, _ := table.EntryPx(i)
			margin, known := table.Margin(i)
			if !v.Known || !known {
				t.Errorf("row %d is not known: %+v", i, v)
			}
			got[fmt.Sprintf("0x%x%s", table.Accounts[table.Pools[row.Pool].Account], coin.Coin)] = fmt.Sprint(table.Size(i), market.Leverage{Isolated: table.Isolated(i), Value: leverage},
				entry, v.Value.Decimal(), v.Usd.Decimal(), v.Unrealized.Decimal(), margin.Decimal(), coin.Price(v.LiquidationPx))
		}
		check.Equal(t, want, got)
	})
}

// What a fill has told before the state of its account has it is known by its size alone.
func TestAPositionIsWhatItsNewestFillAndTheStateOfItsAccountSay(t *testing.T) {
	t.Parallel()
	m := tableMarkets()
	held := func(size string, last int64) *market.Account {
		return &market.Account{Address: fmt.Sprintf("0x%040x", 1), Mode: market.ModeStandard, Anchored: 5, Dexes: []market.DexFunds{{Anchored: 5, Cash: num("100")}},
			Holdings: []market.Holding{{Coin: "BTC", Last: market.Order{Time: last, Seq: 1, Tid: 2}, Leverage: market.Leverage{Value: 3}, Open: &market.OpenPosition{Size: num(size), Cost: num("50")}}}}
	}
	flat := &market.Account{Address: held("1", 0).Address, Mode: market.ModeStandard, Anchored: 5, Dexes: held("1", 0).Dexes,
		Holdings: []market.Holding{{Coin: "BTC", Last: market.Order{Time: 30, Seq: 1, Tid: 2}}}}
	var p market.Positions
	row := func() string {
		table := p.Table(1)
		if len(table.Rows) == 0 {
			return "none"
		}
		return fmt.Sprint(table.Rows[0].Size, table.Rows[0].Flags&market.OpenStateKnown != 0, table.Pools[0].Known, table.Pools[0].Base)
	}
	for _, step := range []struct {
		does string
		do   func()
		want string
	}{
		{"an anchor tells a position that no fill has", func() { p.SetAccount(held("2", 0), m) }, "2 true true 100000000"},
		{"a fill comes before the state has it", func() {
			f := positionFill(1, "BTC", 20, 1, "2", "1", market.Buy)
			p.Add(&f)
		}, "3 false false 0"},
		{"the state lacks the fill still", func() { p.SetAccount(held("2", 10), m) }, "3 false false 0"},
		{"the state has it", func() { p.SetAccount(held("3", 20), m) }, "3 true true 100000000"},
		{"a state is flat", func() { p.SetAccount(flat, m) }, "none"},
		{"what is not known any more is what fills said", func() {
			p.SetAccount(held("3", 40), m)
			unsure := held("3", 40)
			unsure.Holdings[0].Open, unsure.Holdings[0].Unsure = nil, true
			p.SetAccount(unsure, m)
		}, "3 false false 0"},
	} {
		if step.do(); row() != step.want {
			t.Fatalf("%s: got %s, want %s", step.does, row(), step.want)
		}
	}
}

func TestATableIsRestored(t *testing.T) {
	t.Parallel()
	m := tableMarkets()
	rapid.Check(t, func(t *rapid.T) {
		var p, again market.Positions
		for _, a := range heldAccounts(m).Draw(t, "accounts") {
			p.SetAccount(a, m)
		}
		for one := range p.All() {
			again.Restore(one)
		}
		table := p.Table(7)
		again.RestoreTable(table)
		restored, marks := again.Table(7), drawMarks(t, m)
		if len(restored.Pools) != len(table.Pools) {
			t.Fatalf("%d pools, not %d", len(restored.Pools), len(table.Pools))
		}
		rows := func(t *market.OpenTable) (lines []string) {
			v := t.Mark(m, marks)
			for i, row := range t.Rows {
				pool := row.Pool
				row.Pool = 0
				lines = append(lines, fmt.Sprint(t.Accounts[t.Pools[pool].Account], t.Pools[pool], row, v.Values[i]))
			}
			slices.Sort(lines)
			return lines
		}
		check.Equal(t, rows(table), rows(restored))
	})
}

// manyPositions are open positions of the size of the venue: 300,000 of 100,000 accounts.
func manyPositions(b *testing.B) (*market.Positions, *market.Markets, market.Marks) {
	b.Helper()
	m, marks, rng := &market.Markets{Perps: map[string]market.PerpMarket{}, Collaterals: map[string]string{"": "USDC"}}, market.Marks{}, rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		coin := fmt.Sprintf("C%d", i)
		m.Perps[coin] = market.PerpMarket{Index: i, SzDecimals: uint8(i % 6), MaxLeverage: 20, Tiers: market.NewMarginTiers(market.MarginTier{MaxLeverage: 20}, market.MarginTier{LowerBound: num("1000000"), MaxLeverage: 10})}
		marks[coin] = num("12.5")
	}
	p := new(market.Positions)
	for n := range 100_000 {
		a := &market.Account{Address: fmt.Sprintf("0x%040x", rng.Uint64()), Mode: market.ModeStandard, Anchored: 5, Dexes: []market.DexFunds{{Anchored: 5, Cash: market.Micros(rng.Int64N(1e11)).Decimal()}}}
		for c := range 3 {
			size := market.DecimalFromInt(rng.Int64N(1000) - 500)
			if size.IsZero() {
				size = num("1")
			}
			coin := fmt.Sprintf("C%d", c*66+int(rng.ExpFloat64()*10)%66)
			a.Holdings = append(a.Holdings, market.Holding{Coin: coin, Last: market.Order{Time: int64(n)}, Leverage: market.Leverage{Value: 10}, Open: &market.OpenPosition{Size: size, Cost: size.Mul(num("12.25")), Opened: int64(n)}})
		}
		slices.SortFunc(a.Holdings, func(x, y market.Holding) int {
			if x.Coin < y.Coin {
				return -1
			}
			return 1
		})
		p.SetAccount(a, m)
	}
	return p, m, marks
}

func BenchmarkOpenTable(b *testing.B) {
	p, m, marks := manyPositions(b)
	table := p.Table(1)
	b.Run("make", func(b *testing.B) {
		for b.Loop() {
			p.Table(1)
		}
	})
	b.Run("mark", func(b *testing.B) {
		for b.Loop() {
			table.Mark(m, marks)
		}
	})
	marked, width := table.Mark(m, marks), num("0.01")
	b.Run("heatmap", func(b *testing.B) {
		for b.Loop() {
			marked.Heatmap("C0", width, market.Decimal{}, market.Decimal{})
		}
	})
	b.Run("whales", func(b *testing.B) {
		for b.Loop() {
			marked.Whales("")
		}
	})
}

func TestAHeatmapIsTheSumOfItsPositions(t *testing.T) {
	t.Parallel()
	m := tableMarkets()
	rapid.Check(t, func(t *rapid.T) {
		var p market.Positions
		for _, a := range heldAccounts(m).Draw(t, "accounts") {
			p.SetAccount(a, m)
		}
		table := p.Table(7).Mark(m, drawMarks(t, m))
		coin := rapid.SampledFrom([]string{"AAA", "BTC", "OLD", "xyz:X"}).Draw(t, "coin")
		width := market.DecimalFromInt(rapid.Int64Range(1, 1e5).Draw(t, "width"))
		for range rapid.IntRange(0, 5).Draw(t, "places") {
			width = width.MustDiv(market.DecimalFromInt(10))
		}
		var lower, upper market.Decimal
		if rapid.Bool().Draw(t, "bounded") {
			lower = market.Micros(rapid.Int64Range(0, 1e9).Draw(t, "lower")).Decimal()
			upper = lower.Add(market.Micros(rapid.Int64Range(1, 1e12).Draw(t, "wide")).Decimal())
		}
		type sums struct {
			N        int64
			Size     string
			Notional market.Micros
		}
		want, sizes := map[string]sums{}, map[string]market.Decimal{}
		for i, row := range table.Rows {
			v, c := &table.Values[i], &table.Coins[row.Coin]
			px := c.Price(v.LiquidationPx)
			if c.Coin != coin || v.LiquidationPx == 0 || px.LessThan(lower) || upper.IsPos() && !px.LessThan(upper) {
				continue
			}
			bucket := fmt.Sprint(row.Size > 0, px.MustDiv(width).Floor())
			sizes[bucket] = sizes[bucket].Add(table.Size(i).Abs())
			want[bucket] = sums{want[bucket].N + 1, market.Text(sizes[bucket]), want[bucket].Notional + v.Value}
		}
		got, h := map[string]sums{}, table.Heatmap(coin, width, lower, upper)
		for long, list := range map[bool][]market.HeatBucket{true: h.Longs, false: h.Shorts} {
			for i, b := range list {
				if i > 0 && list[i-1].Number >= b.Number || b.Addresses != b.Positions {
					t.Errorf("bucket %d is %+v", i, b)
				}
				got[fmt.Sprint(long, b.Number)] = sums{b.Positions, market.Text(b.Size), b.Notional}
			}
		}
		check.Equal(t, want, got)
	})
}
