package accountstats

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// events draws events of an account, as what they do to its statistics. Some are late.
func events() *rapid.Generator[[]func(*market.TraderStats)] {
	return rapid.Custom(func(t *rapid.T) (list []func(*market.TraderStats)) {
		newest := int64(markettest.Base)
		for range rapid.IntRange(0, 60).Draw(t, "events") {
			newest += rapid.SampledFrom([]int64{0, 1, 60_000, hourMs, dayMs, 20 * dayMs}).Draw(t, "step")
			ms := newest - rapid.SampledFrom([]int64{0, 0, 0, dayMs, 40 * dayMs}).Draw(t, "late")
			var event func(*market.TraderStats)
			switch rapid.IntRange(0, 5).Draw(t, "event") {
			case 0:
				f, addOn := markettest.Fill().Draw(t, "fill"), market.AddOn(rapid.IntRange(0, 2).Draw(t, "add-on"))
				f.Time = ms
				event = func(s *market.TraderStats) { s.Fill(&f, addOn) }
			case 1:
				one, times := markettest.CompletedTrade().Draw(t, "trade"), rapid.SampledFrom([]int{1, 1, 10}).Draw(t, "times")
				one.End, one.Start, one.Tid = ms, ms-rapid.Int64Range(0, dayMs).Draw(t, "held"), int64(len(list)) // of equal ones the order is not kept
				event = func(s *market.TraderStats) {
					for range times {
						s.Complete(&one)
					}
				}
			case 2:
				o := markettest.Order().Draw(t, "order")
				o.Time = ms
				event = func(s *market.TraderStats) { s.Order(&o) }
			case 3:
				in := markettest.Parsed(9, 8).Draw(t, "in")
				event = func(s *market.TraderStats) {
					s.Ledger(&market.Ledger{Time: ms, Type: market.LedgerDeposit, Funds: market.LedgerDeposit, USDC: "5.25"}, nil, nil)
					s.Moved(in, market.Decimal{})
				}
			case 4:
				value := markettest.Parsed(15, 8).Draw(t, "value")
				event = func(s *market.TraderStats) { markettest.Valued(s, ms, value) }
			case 5:
				perp, spot, times := markettest.Amount().Draw(t, "perp"), markettest.Amount().Draw(t, "spot"), rapid.SampledFrom([]int64{1, 1, 20}).Draw(t, "times")
				event = func(s *market.TraderStats) {
					for i := range times {
						s.Flow(ms+i*1_000_000, perp, spot)
					}
				}
			}
			list = append(list, event)
		}
		return list
	})
}

// stats draws what is folded from events.
func stats() *rapid.Generator[market.TraderStats] {
	return rapid.Map(events(), func(list []func(*market.TraderStats)) (s market.TraderStats) {
		for _, event := range list {
			event(&s)
		}
		return s
	})
}

// Whenever rows are written and read again between, the same is folded in the end.
func TestWhatIsKeptFoldsOnFromItsRow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var atOnce market.TraderStats
		k := new(Kept)
		for _, event := range events().Draw(t, "events") {
			event(&atOnce)
			event(&k.TraderStats)
			a := market.Account{Address: "0x1", Since: rapid.Int64Range(1, 3).Draw(t, "since")}
			switch rapid.IntRange(0, 5).Draw(t, "between") {
			case 0:
				k.Row(&a, "v")
				atOnce.Began, atOnce.Curve = a.Since, atOnce.Curve.Thin()
			case 1:
				var err error
				atOnce.Began, atOnce.Curve = a.Since, atOnce.Curve.Thin()
				if k, err = Keep(k.Row(&a, "v").Extra); err != nil {
					t.Fatal(err)
				}
			case 2:
				if rapid.IntRange(0, 9).Draw(t, "forget") == 0 {
					must.Do(t, k.Restart(nil))
					atOnce = market.TraderStats{Curve: atOnce.Curve, CurveSince: atOnce.CurveSince, Apart: atOnce.Apart}
				}
			}
		}
		all := k.All()
		if diff := cmp.Diff(atOnce, all, cmpopts.EquateEmpty(), cmp.Comparer(func(a, b market.Decimal) bool { return a.Equal(b) })); diff != "" {
			t.Fatalf("(-folded at once +kept):\n%s", diff)
		}
	})
}

func TestStoredStatistics(t *testing.T) {
	datasettest.Codec[market.TraderStats]{
		Values: stats(),
		Encode: func(s market.TraderStats) []byte { return Append(nil, &s) },
		Decode: Decode,
		Use: func(s market.TraderStats) {
			s.Within(markettest.Base, markettest.Base+30*dayMs)
			a := s.Active(0, 1<<40)
			a.ProfitLossRatio()
			a.FeeToDeposits(30)
			market.MaxDrawdown(s.Curve.Between(0, 1<<60).Values(nil, market.ScopeAll))
			s.Return(s.NetIn, markettest.Base)
			markettest.Valued(&s, markettest.Base, s.NetIn)
			s.Curve.Thin()
			s.NetFlow(0, 1<<60)
			s.Flow(markettest.Base, s.NetIn, s.NetIn)
		},
	}.Test(t)
}

// known is an account that did a little of everything.
func known(t testing.TB) *market.TraderStats {
	t.Helper()
	const ms = 1_773_532_800_000
	decimal := func(text string) market.Decimal { return must.Get(market.ParseDecimal(text))(t) }
	var s market.TraderStats
	s.Fill(&market.Fill{Coin: "BTC", Side: market.Buy, Time: ms + 1, StartPosition: "1", Sz: "0.5", Px: "61234.5", ClosedPnl: "0.0", Fee: "1.25", Tid: 1}, market.ProfitableAddOn)
	s.Ledger(&market.Ledger{Time: ms + 2, Type: market.LedgerDeposit, Funds: market.LedgerDeposit, USDC: "5.25"}, nil, nil)
	s.Moved(decimal("5.25"), market.Decimal{})
	s.Complete(&market.CompletedTrade{Coin: "BTC", Long: true, Start: ms - 60_000, End: ms + 3, Tid: 7, Pnl: decimal("12.5"), Fee: decimal("0.25"), OpenOrders: 1, CloseOrders: 1})
	markettest.Valued(&s, ms+4, decimal("1000.5"))
	return &s
}

func TestRowsOfAnotherVersionAreRefused(t *testing.T) {
	t.Parallel()
	row := Append(nil, known(t))
	for _, other := range []byte{0, version - 2, version - 1, version + 1} {
		row[0] = other
		if _, err := Decode(row); err == nil {
			t.Errorf("a row of version %d is read", other)
		}
	}
}

func TestStatisticsAreReadInTheOrderOfTheAddresses(t *testing.T) {
	t.Parallel()
	series := storetest.Open(t).Series
	one, two := *usual(1), *usual(2)
	two.Days = two.Days[:3]
	storetest.PutSeries(t, series, Row("0x1", &one), Row("0x2", &two))
	want := []*market.TraderStats{&two, nil, &one, &two}
	n := 0
	for s := range must.All(t, Read(t.Context(), series, []string{"0x2", "0x3", "0x1", "0x2"})) {
		if diff := cmp.Diff(want[n], s, cmpopts.EquateEmpty(), cmp.Comparer(func(a, b market.Decimal) bool { return a.Equal(b) })); diff != "" {
			t.Errorf("at %d (-want +got):\n%s", n, diff)
		}
		n++
	}
	if n != len(want) {
		t.Errorf("%d are read, want %d", n, len(want))
	}
}

// busy is an account that trades all the time in many coins.
func busy() *market.TraderStats {
	var s market.TraderStats
	end := int64(markettest.Base)
	one := market.CompletedTrade{OpenOrders: 3, CloseOrders: 2}
	for i := range int64(100_000) {
		end += 91 * dayMs / 100_000
		one.Coin, one.Start, one.End, one.Tid, one.Long = fmt.Sprintf("xyz:COIN%d", i%500), end-77_777, end, 1<<49+i*7_919, i%2 == 0
		one.Pnl, _ = market.ParseDecimal(fmt.Sprintf("%d.%06d", i%9973-4000, i*7919%1_000_000))
		one.Fee, _ = market.ParseDecimal(fmt.Sprintf("1.%06d", i*31%1_000_000))
		s.Complete(&one)
		s.Fill(&market.Fill{Coin: "BTC", Side: market.Buy, Time: end, StartPosition: "1", Sz: "0.12345", Px: "61234.5", ClosedPnl: market.Text(one.Pnl), Fee: "1.234567", Tid: 1}, market.ProfitableAddOn)
		markettest.Valued(&s, end, one.Pnl)
		s.Flow(end, one.Pnl, one.Fee)
	}
	return &s
}

func TestTheRowOfABusyAccountStaysFarBelowTheLimit(t *testing.T) {
	t.Parallel()
	s := busy()
	s.Curve = s.Curve.Thin()
	row := Row("0xa11ce00000000000000000000000000000000001", s)
	const most = 72 << 10 // DynamoDB takes 400 KB
	if len(row.Extra) > most {
		t.Errorf("the row has %d bytes, want at most %d", len(row.Extra), most)
	}
	t.Logf("100,000 trades in 500 coins and as many flows take %d bytes", len(row.Extra))
}

// Ten flows of an account in its last 91 days.
func TestTheFlowsOfAUsualAccountTakeFewBytes(t *testing.T) {
	t.Parallel()
	s := usual(1)
	without := len(Append(nil, s))
	for n := range int64(10) {
		at := int64(markettest.Base) + n*6*dayMs + 12_345_678
		s.Flow(at, must.Get(market.ParseDecimal(fmt.Sprintf("%d.%06d", 100*n-300, 7919*n)))(t), market.Decimal{})
	}
	if more := len(Append(nil, s)) - without; more > 200 {
		t.Errorf("they take %d bytes", more)
	} else {
		t.Logf("they take %d bytes beside %d", more, without)
	}
}

// usual is an account that completes a trade a day and has a position all the time.
func usual(n int64) *market.TraderStats {
	var s market.TraderStats
	for day := range int64(60) {
		end := int64(markettest.Base) + day*dayMs + n*997
		pnl, _ := market.ParseDecimal(fmt.Sprintf("%d.%06d", (n+day)%2000-900, (n+day)*7919%1_000_000))
		one := market.CompletedTrade{Coin: fmt.Sprintf("COIN%d", (n+day)%8), Start: end - 7_777_777, End: end, Tid: 1<<49 + n, Long: (n+day)%2 == 0, OpenOrders: 2, CloseOrders: 1, Pnl: pnl, Fee: pnl}
		s.Complete(&one)
		for range 4 {
			s.Fill(&market.Fill{Coin: "BTC", Side: market.Buy, Time: end, StartPosition: "1", Sz: "0.12345", Px: "61234.5", ClosedPnl: market.Text(pnl), Fee: "1.234567", Tid: 1}, market.NoAddOn)
		}
		for hour := range int64(24) {
			markettest.Valued(&s, int64(markettest.Base)+day*dayMs+hour*hourMs, pnl)
		}
	}
	return &s
}

// BenchmarkRead reads what one batch answer needs, over the real local engine, and sums
// it up.
func BenchmarkRead(b *testing.B) {
	series := storetest.Open(b).Series
	const accounts = 2000
	all, addresses := map[string]*market.TraderStats{}, make([]string, accounts)
	size := 0
	var rows []store.SeriesRow
	for i := range addresses {
		addresses[i] = fmt.Sprintf("0x%040x", i)
		all[addresses[i]] = usual(int64(i))
		size += len(Append(nil, all[addresses[i]]))
		rows = append(rows, Row(addresses[i], all[addresses[i]]))
	}
	storetest.PutSeries(b, series, rows...)
	now := int64(markettest.Base) + 60*dayMs
	for b.Loop() {
		for s := range must.All(b, ReadCurves(b.Context(), series, addresses)) {
			s.Within(now-30*dayMs, now)
			market.MaxDrawdown(s.Curve.Between(now-30*dayMs, now).Values(nil, market.ScopePerp))
		}
	}
	b.ReportMetric(float64(size)/accounts, "B/account")
	b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms/2000-addresses")
}

// BenchmarkKept folds a fill on and writes the row, and measures what an account that is
// kept takes.
func BenchmarkKept(b *testing.B) {
	const accounts = 100
	list := make([]*Kept, accounts)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range list {
		var err error
		if list[i], err = Keep(Append(nil, usual(int64(i)))); err != nil {
			b.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	f := market.Fill{Coin: "BTC", Side: market.Buy, Time: markettest.Base + 60*dayMs, StartPosition: "1", Sz: "0.12345", Px: "61234.5", ClosedPnl: "1.5", Fee: "1.234567", Tid: 1}
	i := 0
	for b.Loop() {
		k := list[i%accounts]
		k.Fill(&f, market.NoAddOn)
		k.Row(&market.Account{Address: "0x1"}, "v")
		i++
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/accounts, "B/account")
}
