package market_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/testing/must"
)

const (
	day  = int64(86_400_000)
	hour = int64(3_600_000)
	noon = int64(1_790_000_000_000) / 86_400_000 * 86_400_000 // ms, the beginning of a UTC day
)

var equalDecimals = cmp.Comparer(func(a, b market.Decimal) bool { return a.Equal(b) })

func dec(t must.T, text string) market.Decimal {
	t.Helper()
	return must.Get(market.ParseDecimal(text))(t)
}

// trade is one that ended at a time and was held for a minute.
func trade(t testing.TB, end int64, pnl string) *market.CompletedTrade {
	t.Helper()
	return &market.CompletedTrade{Coin: "BTC", Long: true, Size: dec(t, "1"), Start: end - 60_000, End: end, Tid: end, Pnl: dec(t, pnl), OpenOrders: 1, CloseOrders: 1}
}

func TestAWindowOfCompletedTradesIsExactAtItsEdges(t *testing.T) {
	t.Parallel()
	now := noon + 10*hour
	for _, period := range []int64{1, 7, 30} {
		from := now - period*day
		var s market.TraderStats
		for _, end := range []int64{from - 1, from, from + 1, now, now + 1} {
			s.Complete(trade(t, end, "1"))
		}
		sum, unknown := s.Within(from, now)
		if len(unknown) > 0 || sum.Count() != 2 || sum.First != from+1 || sum.Last != now {
			t.Errorf("%d days: %d trades from %d to %d, unknown are %v; want 2 from %d to %d", period, sum.Count(), sum.First, sum.Last, unknown, from+1, now)
		}
	}
}

// What is left out is named by the spans that are returned: with the trades that lie in
// them, every window is what a plain loop over all trades sums up.
func TestEveryWindowIsWhatALoopOverAllTradesSumsUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var all []*market.CompletedTrade
		var s market.TraderStats
		at := noon
		busy := rapid.IntRange(1, 60).Draw(rt, "trades a day at most")
		for range rapid.IntRange(1, 120).Draw(rt, "days") {
			at += rapid.SampledFrom([]int64{1, 1, 1, 2, 40}).Draw(rt, "step") * day
			for range rapid.IntRange(0, busy).Draw(rt, "trades") {
				one := markettest.CompletedTrade().Draw(rt, "trade")
				one.End = at + rapid.Int64Range(0, day-1).Draw(rt, "end")
				one.Start = one.End - 1000
				all = append(all, &one)
			}
		}
		slices.SortStableFunc(all, func(a, b *market.CompletedTrade) int { return int(a.End - b.End) })
		for _, one := range all {
			s.Complete(one)
		}
		edge := rapid.Int64Range(noon-day, at+2*day)
		if len(all) > 0 && rapid.Bool().Draw(rt, "at a trade") {
			edge = rapid.Map(rapid.SampledFrom(all), func(one *market.CompletedTrade) int64 { return one.End })
		}
		from, to := edge.Draw(rt, "from"), edge.Draw(rt, "to")
		got, unknown := s.Within(from, to)
		var want market.TradeSum
		for _, one := range all {
			if one.End > from && one.End <= to {
				want.Add(one)
			}
			for _, span := range unknown {
				if one.End >= span.From && one.End <= span.To {
					got.Add(one)
				}
			}
		}
		if diff := cmp.Diff(want, got, equalDecimals); diff != "" {
			rt.Fatalf("(-want +got, unknown %v):\n%s", unknown, diff)
		}
		first := rapid.Int64Range(0, int64(len(all))+1).Draw(rt, "first")
		start, skipped := s.Skip(from, to, first)
		before := int64(0)
		for _, one := range all {
			if one.End >= from && one.End < start {
				before++
			}
		}
		if start < from || skipped > first || before != skipped {
			rt.Fatalf("the first %d are read from %d on, with %d skipped of %d before", first, start, skipped, before)
		}
	})
}

// Where a window has whole days, no more than a day's trades are read in vain.
func TestAPageIsReadFromTheDayItBeginsIn(t *testing.T) {
	t.Parallel()
	var s market.TraderStats
	const days, each = 100, 50 // the first nine days are older than those that are kept
	for i := range int64(days * each) {
		s.Complete(trade(t, noon+i*day/each, "1"))
	}
	for first := int64(0); first < days*each; first += 37 {
		_, skipped := s.Skip(0, market.MaxTime, first)
		if old := int64(days-market.StatDays) * each; first >= old && first-skipped >= each {
			t.Errorf("%d of the first %d are skipped", skipped, first)
		}
	}
}

func TestABusyAccountStaysSmall(t *testing.T) {
	t.Parallel()
	var s market.TraderStats
	for i := range int64(100_000) {
		one := trade(t, noon+i*30*day/100_000, "-1.5")
		one.Coin = []string{"BTC", "ETH", "SOL"}[i%3]
		s.Complete(one)
	}
	kept := 0
	for _, d := range s.Days {
		kept += len(d.Each)
	}
	if s.All.Sum.Count() != 100_000 || len(s.Days) != 30 || kept != 0 || len(s.All.Best) != market.BestTrades {
		t.Errorf("%d trades in %d days, %d of them one by one, the best %d", s.All.Sum.Count(), len(s.Days), kept, len(s.All.Best))
	}
	now := noon + 30*day - 1
	sum, unknown := s.Within(now-7*day, now)
	if len(unknown) > 1 {
		t.Errorf("%d spans are unknown: %v", len(unknown), unknown)
	}
	if n := sum.Count(); n < 6*3333 || n > 7*3334 {
		t.Errorf("%d trades of 7 days are known", n)
	}
}

func TestOnlyDaysThatCountAreKept(t *testing.T) {
	t.Parallel()
	var s market.TraderStats
	s.Complete(trade(t, noon, "1"))
	s.Complete(trade(t, noon+(market.StatDays-1)*day, "1"))
	if len(s.Days) != 2 {
		t.Fatalf("%d days are kept, want both", len(s.Days))
	}
	s.Complete(trade(t, noon+market.StatDays*day, "1"))
	if len(s.Days) != 2 || s.All.Sum.Count() != 3 {
		t.Errorf("%d days are kept, want the newest 2; all trades are %d, want 3", len(s.Days), s.All.Sum.Count())
	}
	s.Complete(trade(t, noon, "1")) // late
	if sum, unknown := s.Within(0, noon+200*day); sum.Count() != 2 || len(unknown) != 1 || unknown[0] != (market.Span{From: noon, To: noon + day - 1}) {
		t.Errorf("%d trades are known, unknown are %v", sum.Count(), unknown)
	}
}

func fill(ms int64, side market.Side, start, sz, px, pnl string) *market.Fill {
	return &market.Fill{Address: "0xa11ce00000000000000000000000000000000001", Coin: "BTC", Side: side, Time: ms, StartPosition: start, Sz: sz, Px: px, ClosedPnl: pnl, Fee: "0.25", Tid: 1}
}

func TestWhatAnAccountDoesIsCountedByUTCDay(t *testing.T) {
	t.Parallel()
	var s market.TraderStats
	s.Fill(fill(noon, market.Buy, "0.0", "2", "100", "0.0"), market.NoAddOn)
	s.Fill(fill(noon+day-1, market.Buy, "2", "1", "110", "0.0"), market.ProfitableAddOn)
	s.Fill(fill(noon+day, market.Buy, "3", "1", "90", "0.0"), market.AddOnAtLoss)
	s.Fill(fill(noon+day, market.Sell, "4", "1", "120", "20.5"), market.NoAddOn)
	s.Fill(fill(noon+day+1, market.Sell, "3", "1", "80", "-10"), market.NoAddOn)
	spot, dust := fill(noon, market.Buy, "0", "1", "1", "5"), fill(noon, market.Buy, "0", "1", "1", "5")
	spot.Coin, dust.Tid = "@107", 0
	var tokens market.TraderStats
	if tokens.Fill(spot, market.NoAddOn); tokens.LastOperation != noon || tokens.Days[0].Fills > 0 || tokens.Days[0].SpotTaken.IsPos() {
		t.Errorf("of a fill of spot: last operation %d, %d days", tokens.LastOperation, len(tokens.Days))
	}
	s.Fill(spot, market.NoAddOn)
	s.Fill(dust, market.NoAddOn)
	spot.Coin = "#441"
	s.Fill(spot, market.NoAddOn)
	s.Ledger(&market.Ledger{Time: noon + day, Type: market.LedgerDeposit, Funds: market.LedgerDeposit, USDC: "100"}, nil, nil)
	s.Moved(dec(t, "100"), market.Decimal{})
	for _, delta := range []string{ // a token counts with what the venue says that it is worth, else at its mark, if it has one
		`{"token":"HYPE","amount":"2","usdcValue":"39.5"}`, `{"token":"HYPE","amount":"0.5"}`, `{"token":"PURR","amount":"7"}`,
	} {
		l := market.Ledger{Address: alice, Time: noon + day, Type: "send", Funds: market.LedgerDeposit, Delta: json.RawMessage(delta)}
		s.Ledger(&l, &market.Markets{SpotCoins: map[string]string{"HYPE": "@107"}}, market.Marks{"@107": dec(t, "21")})
	}
	s.Ledger(&market.Ledger{Time: noon + day, Type: "accountClassTransfer"}, nil, nil)
	s.Moved(dec(t, "-30"), market.Decimal{})
	order := market.OrderStatus{Time: noon + day, Coin: "BTC", Status: market.StatusFilled, ReduceOnly: true, OrderType: "Stop Market"}
	for i, o := range []struct {
		status, kind string
		reduce, tpsl bool
	}{{"filled", "Stop Market", true, false}, {"filled", "Limit", true, true}, {"filled", "Limit", true, false}, {"filled", "Take Profit Limit", false, false}, {"canceled", "Stop Market", true, false}} {
		order.Seq, order.Status, order.OrderType, order.ReduceOnly, order.IsPositionTpsl = int64(i+1), o.status, o.kind, o.reduce, o.tpsl
		s.Order(&order)
		s.Order(&order)
	}
	first := noon / day
	got := s.Active(first+1, first+1)
	want := market.Activity{
		Fills: 3, Volume: dec(t, "290"), Fee: dec(t, "0.75"), Wins: 1, Losses: 1, Profit: dec(t, "20.5"), Loss: dec(t, "10"),
		AddOns: 1, ReduceOnly: 3, TakeProfitStop: 2, Deposits: dec(t, "150"), Active: 1,
	}
	if diff := cmp.Diff(want, got, equalDecimals); diff != "" {
		t.Errorf("the second day (-want +got):\n%s", diff)
	}
	both := s.Active(first, first+1)
	if both.Fills != 5 || both.Active != 2 || both.AddOns != 2 || both.ProfitableAddOns != 1 || !s.NetIn.Equal(dec(t, "70")) || s.LastOperation != noon+day+1 {
		t.Errorf("both days: %+v, net in %s, last operation %d", both, s.NetIn, s.LastOperation)
	}
	for name, c := range map[string]struct {
		got  *float64
		want float64
	}{
		"profit over loss":         {both.ProfitLossRatio(), 2.05},
		"orders with a mark":       {both.TakeProfitStopShare(), 66.666667},
		"fees over deposits":       {both.FeeToDeposits(2), 1.666667},
		"add-ons while in profit":  {both.ProfitableAddOnShare(), 50},
		"fees are at most 100 %":   {both.FeeToDeposits(1_000_000), 100},
		"no deposit":               {new(market.Activity).FeeToDeposits(1), -1},
		"no loss":                  {(&market.Activity{Wins: 1}).ProfitLossRatio(), -1},
		"no profit":                {(&market.Activity{Losses: 1, Loss: dec(t, "1")}).ProfitLossRatio(), 0},
		"no order":                 {new(market.Activity).TakeProfitStopShare(), -1},
		"no add-on":                {new(market.Activity).ProfitableAddOnShare(), -1},
		"days with a fill of four": {ptr(both.ActiveShare(4)), 50},
	} {
		if (c.got == nil) != (c.want < 0) || c.got != nil && *c.got != c.want {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}

func ptr(f float64) *float64 { return &f }

func TestAnAddOnIsInProfitWhereThePositionIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fill *market.Fill
		cost string
		want market.AddOn
	}{
		"a long above its entry":  {fill(0, market.Buy, "2", "1", "101", "0"), "200", market.ProfitableAddOn},
		"a long at its entry":     {fill(0, market.Buy, "2", "1", "100", "0"), "200", market.AddOnAtLoss},
		"a short below its entry": {fill(0, market.Sell, "-2", "1", "99", "0"), "-200", market.ProfitableAddOn},
		"a short above its entry": {fill(0, market.Sell, "-2", "1", "101", "0"), "-200", market.AddOnAtLoss},
		"an opening":              {fill(0, market.Buy, "0.0", "1", "101", "0"), "0", market.NoAddOn},
		"a reduction":             {fill(0, market.Sell, "2", "1", "101", "0"), "200", market.NoAddOn},
		"a turn":                  {fill(0, market.Sell, "2", "3", "101", "0"), "200", market.NoAddOn},
	} {
		if got := market.AddOnOf(c.fill, dec(t, c.cost)); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestReturnIsRelativeToTheCapital(t *testing.T) {
	t.Parallel()
	known := market.TraderStats{Curve: market.Curve{
		{Time: noon, Perp: market.CurvePart{Value: 100_000_000}}, {Time: noon + hour/2, Perp: market.CurvePart{Unknown: true}},
		{Time: noon + hour, Perp: market.CurvePart{Value: 200_000_000, NetIn: 50_000_000}},
	}, NetIn: dec(t, "150")}
	began := known
	began.All.Sum.Add(trade(t, noon+1, "1"))
	before := known
	before.All.Sum.Add(trade(t, noon-1, "1"))
	for name, c := range map[string]struct {
		stats market.TraderStats
		from  int64
		want  float64
	}{
		"since a known hour":                {known, noon, 0.08}, // 20 / (100 + 150)
		"since between two hours":           {known, noon + hour - 1, 0.08},
		"since the next hour":               {known, noon + hour, 0.066667},
		"since before, nothing traded":      {began, 0, 0.08},
		"since before, traded unknown":      {before, 0, -1},
		"no value known":                    {market.TraderStats{}, 0, -1},
		"nothing there":                     {market.TraderStats{Curve: market.Curve{{Time: noon}}}, noon, -1},
		"what left does not reduce capital": {market.TraderStats{Curve: known.Curve, NetIn: dec(t, "-70")}, noon, 0.2},
	} {
		got := c.stats.Return(dec(t, "20"), c.from)
		if (got == nil) != (c.want < 0) || got != nil && *got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestAReportSumsUpByCoinAndKeepsTheBest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOfN(markettest.CompletedTrade(), 0, 130).Draw(rt, "trades")
		var r, merged market.TradeReport
		parts := make([]market.TradeReport, rapid.IntRange(1, 5).Draw(rt, "parts"))
		for i := range list {
			list[i].Tid = int64(i)
			r.Add(&list[i])
			parts[rapid.IntRange(0, len(parts)-1).Draw(rt, "part")].Add(&list[i])
		}
		for i := range parts {
			merged.Merge(&parts[i])
		}
		if diff := cmp.Diff(r, merged, equalDecimals); diff != "" {
			rt.Fatalf("merged from parts it differs (-whole +merged):\n%s", diff)
		}
		var pnl, fee market.Decimal
		trades := int64(0)
		for _, c := range r.CoinsByPnl() {
			pnl, fee, trades = pnl.Add(c.Pnl), fee.Add(c.Fee), trades+c.Trades
		}
		if sum := r.Sum.Pnl(); !pnl.Equal(sum) || !fee.Equal(r.Fee()) || trades != r.Sum.Count() {
			rt.Fatalf("coins add up to %s, %s, %d; all are %s, %s, %d", pnl, fee, trades, r.Sum.Pnl(), r.Fee(), r.Sum.Count())
		}
		slices.SortStableFunc(list, func(a, b market.CompletedTrade) int {
			if c := b.Pnl.Cmp(a.Pnl); c != 0 {
				return c
			}
			return int(a.End - b.End)
		})
		if len(r.Best) != min(len(list), market.BestTrades) {
			rt.Fatalf("%d are kept as the best", len(r.Best))
		}
		for i, best := range r.Best {
			if !best.Pnl.Equal(list[i].Pnl) || best.End != list[i].End {
				rt.Fatalf("the %d. best is %v, want %v", i+1, best, list[i])
			}
		}
	})
}
