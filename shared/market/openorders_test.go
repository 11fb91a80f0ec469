package market_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

const (
	ordersFrom = int64(1_790_000_000_000) // ms
	trader     = "0xa11ce00000000000000000000000000000000001"
)

// status is order oid at a status that it came to ms after the beginning.
func status(oid, ms int64, what string) market.OrderStatus {
	return market.OrderStatus{Address: trader, Time: ordersFrom + ms, Status: what, Coin: "BTC", Side: "B", LimitPx: "30135.0",
		Sz: "0.5", OrigSz: "0.5", Oid: oid, Timestamp: ordersFrom, TriggerCondition: "N/A", TriggerPx: "0.0", OrderType: "Limit", Tif: "Gtc"}
}

func fillOf(oid, ms, tid int64, sz string) market.Fill {
	return market.Fill{Address: trader, Coin: "BTC", Px: "30135.0", Sz: sz, Side: market.Buy, Time: ordersFrom + ms, StartPosition: "0.0", Oid: oid, Tid: tid}
}

// event is what happens to the table.
type event struct {
	status *market.OrderStatus
	fill   *market.Fill
}

func (e event) add(t *market.OpenOrders) bool {
	if e.fill != nil {
		return t.AddFill(e.fill, false)
	}
	return t.Add(e.status, false)
}

// open is what rests, as "<oid> <rest>".
func open(t *market.OpenOrders) (list []string) {
	for o := range t.All() {
		list = append(list, fmt.Sprint(o.Oid, " ", market.Text(o.Sz.Decimal())))
	}
	return list
}

func TestWhatRestsIsWhatWasPlacedLessItsFills(t *testing.T) {
	t.Parallel()
	trigger, fired, partly := status(1, 1, "open"), status(1, 9, "triggered"), status(1, 5, "open")
	trigger.IsTrigger, trigger.TriggerCondition = true, "Price below 1"
	fired.IsTrigger, fired.TriggerCondition = true, "Triggered"
	partly.Sz = "0.3"
	for name, one := range map[string]struct {
		events []any
		want   []string
	}{
		"placed":                             {[]any{status(1, 0, "open")}, []string{"1 0.5"}},
		"filled in part":                     {[]any{status(1, 0, "open"), fillOf(1, 1, 7, "0.2"), fillOf(1, 2, 8, "0.1")}, []string{"1 0.2"}},
		"filled before its status came":      {[]any{fillOf(1, 1, 7, "0.2"), status(1, 0, "open")}, []string{"1 0.3"}},
		"filled, its end is not there yet":   {[]any{status(1, 0, "open"), fillOf(1, 1, 7, "0.5")}, []string{"1 0.0"}},
		"filled to its end":                  {[]any{status(1, 0, "open"), fillOf(1, 1, 7, "0.5"), status(1, 1, "filled")}, nil},
		"canceled":                           {[]any{status(1, 0, "open"), status(1, 1, "canceled")}, nil},
		"rejected":                           {[]any{status(1, 0, "badAloPxRejected")}, nil},
		"canceled before its status came":    {[]any{status(1, 1, "selfTradeCanceled"), status(1, 0, "open")}, nil},
		"a trigger that waits":               {[]any{trigger}, nil},
		"a trigger that fired":               {[]any{trigger, fired}, []string{"1 0.5"}},
		"an order that waits for another":    {[]any{status(1, 0, "waitingForFill")}, nil},
		"it says itself what rests":          {[]any{partly, fillOf(1, 4, 6, "0.1"), fillOf(1, 6, 7, "0.1")}, []string{"1 0.2"}},
		"of two statuses the newer says it":  {[]any{status(1, 0, "open"), partly, fillOf(1, 6, 7, "0.1")}, []string{"1 0.2"}},
		"a dust conversion is no execution":  {[]any{status(1, 0, "open"), fillOf(1, 1, 0, "0.2")}, []string{"1 0.5"}},
		"an order that is hours late":        {[]any{status(2, 3*3_600_000, "open"), status(1, 0, "open")}, []string{"2 0.5"}},
		"an end of an order that is unknown": {[]any{status(1, 0, "canceled")}, nil},
	} {
		table := new(market.OpenOrders)
		for _, e := range one.events {
			switch e := e.(type) {
			case market.OrderStatus:
				table.Add(&e, false)
			case market.Fill:
				table.AddFill(&e, false)
			}
		}
		check.Equalf(t, one.want, open(table), "%s", name)
	}
}

func TestAListBringsWhatIsNotKnownAndEndsWhatItLacks(t *testing.T) {
	t.Parallel()
	table := new(market.OpenOrders)
	for _, s := range []market.OrderStatus{status(1, 0, "open"), status(2, 0, "open"), status(3, 0, "open"), status(4, 0, "open")} {
		switch s.Oid {
		case 3:
			s.Coin = "xyz:GOLD" // of a dex that is not asked for its orders
		case 4:
			s.Address = "0xb0b0000000000000000000000000000000000002"
		}
		table.Add(&s, false)
	}
	young := status(6, 99_000, "open")
	young.Timestamp = ordersFrom + 99_000
	table.Add(&young, false)
	known := fillOf(1, 50, 7, "0.2")
	table.AddFill(&known, false)
	one, old, waits := status(1, 100_000, "open"), status(5, 100_000, "open"), status(7, 100_000, "open")
	one.Sz = "0.4" // as it was before the fill: its own status and fills count
	old.Sz = "0.25"
	waits.IsTrigger, waits.TriggerCondition = true, "Price below 1"
	list := market.Anchor{Address: trader, Dexes: []market.AccountState{{Time: ordersFrom + 100_000}, {Dex: "xyz", Time: ordersFrom + 100_000}},
		Orders: []market.OrderStatus{one, old, waits}, Listed: map[string]int64{"": ordersFrom + 100_000}}
	if table.AddAnchors([]market.Anchor{{Address: trader, Dexes: list.Dexes}}) {
		t.Error("an anchor without a list of orders changes something")
	}
	if !table.AddAnchors([]market.Anchor{list}) {
		t.Error("nothing changed")
	}
	for _, f := range []market.Fill{fillOf(5, 90_000, 8, "0.05"), fillOf(5, 110_000, 9, "0.1")} {
		table.AddFill(&f, false)
	}
	check.Equal(t, []string{"1 0.3", "3 0.5", "4 0.5", "5 0.15", "6 0.5"}, open(table))
	if table.AddAnchors([]market.Anchor{list}) {
		t.Error("the same list changes something")
	}
}

func TestEndsAreForgottenAfterTwoHours(t *testing.T) {
	t.Parallel()
	table := new(market.OpenOrders)
	for _, s := range []market.OrderStatus{status(1, 0, "canceled"), status(2, 4*3_600_000, "canceled")} {
		table.Add(&s, false)
	}
	old, newest := fillOf(9, 0, 1, "0.1"), fillOf(10, 2*3_600_000, 2, "0.1")
	if table.AddFill(&old, false) || !table.AddFill(&old, true) || !table.AddFill(&newest, false) {
		t.Error("a fill from hours ago is taken in unless it is read from the past")
	}
	table.Prune()
	ends, unknown := 0, 0
	for range table.Ends() {
		ends++
	}
	for range table.Executions() {
		unknown++
	}
	if ends != 1 || unknown != 1 {
		t.Errorf("%d ends and %d executions are left, want one of each", ends, unknown)
	}
}

// life draws what happens to some orders within an hour, in order.
func life(t *rapid.T) (events []event) {
	tid := int64(0)
	for oid := range rapid.Int64Range(1, 12).Draw(t, "orders") {
		at := rapid.Int64Range(0, 1_000_000).Draw(t, "placed")
		one := status(oid*rapid.SampledFrom([]int64{1, 1, 700}).Draw(t, "spread"), at, "open")
		one.Coin, one.Side = rapid.SampledFrom([]string{"BTC", "ETH"}).Draw(t, "coin"), rapid.SampledFrom([]string{"A", "B"}).Draw(t, "side")
		one.OrigSz = fmt.Sprint(rapid.IntRange(1, 50).Draw(t, "size"), ".0")
		one.Sz, one.LimitPx, one.ReduceOnly = one.OrigSz, fmt.Sprintf("%d.5", rapid.IntRange(1, 9).Draw(t, "px")), rapid.Bool().Draw(t, "reduce")
		if trigger := rapid.IntRange(0, 3).Draw(t, "trigger") == 0; trigger {
			waits := one
			waits.IsTrigger, waits.TriggerCondition, waits.Tif = true, "Price above 3", ""
			events = append(events, event{status: &waits})
			at += 1000
			one.Status, one.IsTrigger, one.TriggerCondition, one.Tif, one.Time = "triggered", true, "Triggered", "", ordersFrom+at
		}
		if rapid.IntRange(0, 9).Draw(t, "known") > 0 {
			events = append(events, event{status: &one})
		}
		for range rapid.IntRange(0, 3).Draw(t, "fills") {
			at += rapid.Int64Range(0, 2000).Draw(t, "until the fill")
			tid++
			f := fillOf(one.Oid, at, tid, "0.5")
			f.Coin = one.Coin
			events = append(events, event{fill: &f})
		}
		if rapid.Bool().Draw(t, "ends") {
			end := one
			end.Status, end.Time = rapid.SampledFrom([]string{"filled", "canceled", "marginCanceled"}).Draw(t, "end"), ordersFrom+at+rapid.Int64Range(0, 2000).Draw(t, "until the end")
			events = append(events, event{status: &end})
		}
	}
	return events
}

func state(t *market.OpenOrders) (all []any) {
	for o := range t.All() {
		all = append(all, o)
	}
	for oid, e := range t.Executions() {
		all = append(all, oid, *e)
	}
	for e := range t.Ends() {
		all = append(all, e)
	}
	return append(all, t.Newest())
}

func TestOpenOrdersEndTheSameInAnyOrderAndTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events := life(t)
		clean, torn := new(market.OpenOrders), new(market.OpenOrders)
		for _, e := range events {
			e.add(clean)
		}
		muddled := append(slices.Clone(events), events[:rapid.IntRange(0, len(events)).Draw(t, "twice")]...)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		r.Shuffle(len(muddled), func(i, j int) { muddled[i], muddled[j] = muddled[j], muddled[i] })
		for _, e := range muddled {
			before := len(state(torn))
			if changed := e.add(torn); !changed && len(state(torn)) != before {
				t.Fatalf("%+v changes what it says it does not", e)
			}
		}
		if diff := gocmp.Diff(state(clean), state(torn), unexported); diff != "" {
			t.Fatalf("(-in order +muddled):\n%s", diff)
		}
		for _, e := range events {
			if e.add(torn) {
				t.Fatalf("%+v changes something once more", e)
			}
		}
	})
}

var unexported = gocmp.Comparer(func(a, b market.Decimal) bool { return a.Equal(b) })

// TestValuesAndTopAreThoseOfEveryOrder ranks tables that change, and compares what it
// says with a sum over all orders.
func TestValuesAndTopAreThoseOfEveryOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		table, ranked := new(market.OpenOrders), map[string]market.CoinOrders{}
		amount := rapid.SampledFrom([]string{"1.0", "0.00000001", "30135.5", "12345678901.5", "0.123456789", "18446744073709551615.0", "3.0", "3.00"})
		for oid := range rapid.Int64Range(1, 260).Draw(t, "orders") {
			s := status(oid, oid, "open")
			s.Coin, s.Side = rapid.SampledFrom([]string{"BTC", "ETH"}).Draw(t, "coin"), rapid.SampledFrom([]string{"A", "B"}).Draw(t, "side")
			s.LimitPx, s.OrigSz = amount.Draw(t, "px"), amount.Draw(t, "size")
			s.Sz = s.OrigSz
			table.Add(&s, false)
			if rapid.IntRange(0, 99).Draw(t, "ends") == 0 {
				s.Status = "canceled"
				table.Add(&s, false)
			}
			if rapid.IntRange(0, 99).Draw(t, "rank") == 0 {
				for _, c := range table.Rank(false) {
					ranked[c.Coin] = c
				}
			}
		}
		for _, c := range table.Rank(false) {
			ranked[c.Coin] = c
		}
		if len(table.Rank(false)) > 0 {
			t.Fatal("it has changed without an event")
		}
		for _, c := range table.Rank(true) {
			if diff := gocmp.Diff(ranked[c.Coin], c, unexported); diff != "" {
				t.Fatalf("%s (-as it changed +ranked at once):\n%s", c.Coin, diff)
			}
		}
		for coin, c := range ranked {
			var all []market.OpenOrder
			for o := range table.All() {
				if o.Coin == coin {
					all = append(all, o)
				}
			}
			slices.SortFunc(all, func(a, b market.OpenOrder) int {
				return cmp.Or(b.Value().Cmp(a.Value()), cmp.Compare(a.Oid, b.Oid))
			})
			if diff := gocmp.Diff(all[:min(len(all), market.TopOrders)], c.Top, unexported); diff != "" && len(all)+len(c.Top) > 0 {
				t.Fatalf("the top of %s (-want +got):\n%s", coin, diff)
			}
			for _, threshold := range []string{"-1", "0", "0.00000001", "0.000000015", "3.0", "30135.5", "30135.50000000001", "90406.5", "1844674407370.9551615", "184467440737.09551616", "99999999999999999999999999"} {
				least := must.Get(market.ParseDecimal(threshold))(t)
				for side, values := range map[market.Side]market.OrderValues{market.Buy: c.Bids, market.Sell: c.Asks} {
					n, sum := int64(0), market.Decimal{}
					for _, o := range all {
						if o.Side == side && !o.Value().LessThan(least) {
							n, sum = n+1, sum.Add(o.Value())
						}
					}
					if count, total := values.AtLeast(least); count != n || !total.Equal(sum) {
						t.Fatalf("%s %c from %s: %d of %s, want %d of %s", coin, side, threshold, count, total, n, sum)
					}
				}
			}
		}
	})
}

func TestAmountsAreTheDecimalsTheyAreReadFrom(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"30135.0": "30135.0", "0.50": "0.5", "0": "0.0", "18446744073709551615": "18446744073709551615.0",
		"184467440737.09551615": "184467440737.09551615", "0.0000000000000000001": "0.0000000000000000001"} {
		a, ok := market.ParseAmount(text)
		if got := market.Text(a.Decimal()); !ok || got != want {
			t.Errorf("%s is %s (%t), want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "-1.0", "1e3", "18446744073709551616", "1.", ".5", "0.00000000000000000001", "x"} {
		if a, ok := market.ParseAmount(text); ok {
			t.Errorf("%q is %+v", text, a)
		}
	}
}

// manyOrders is a table of n orders of a few thousand accounts in 200 coins, of which
// a few have most, and one order in twenty was filled in part.
func manyOrders(n int) *market.OpenOrders {
	table := new(market.OpenOrders)
	for i := range n {
		s := someOrder(i)
		table.Add(&s, false)
		if i%20 == 0 {
			f := fillOf(s.Oid, 1, int64(i+1), "0.001")
			table.AddFill(&f, false)
		}
	}
	return table
}

func someOrder(i int) market.OrderStatus {
	s := status(450_000_000_000+int64(i)*7, int64(i/100), "open")
	k := (i * 2_654_435_761) >> 7 & 0xffffff
	s.Address = fmt.Sprintf("0xa11ce%035x", k%30_000)
	s.Coin = fmt.Sprintf("C%d", k%200*(k>>9%2))
	s.Side = []string{"A", "B"}[k>>3&1]
	s.LimitPx, s.OrigSz = fmt.Sprintf("%d.%d", 100+k%9999, k%10), fmt.Sprintf("%d.%03d", 1+k%777, k%1000)
	s.Sz = s.OrigSz
	return s
}

// TestAListOfAnAccountEndsItsOrdersAlone: whatever was opened, ended and restored before.
func TestAListOfAnAccountEndsItsOrdersAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		table, open := new(market.OpenOrders), map[int64]string{}
		address := func(n int) string { return fmt.Sprintf("0x%040d", n) }
		for oid := range rapid.Int64Range(1, 60).Draw(t, "orders") {
			s := someOrder(int(oid))
			s.Oid, s.Address, s.Coin, s.Status = oid+1, address(rapid.IntRange(0, 3).Draw(t, "account")), "BTC", "open"
			table.Add(&s, true)
			open[s.Oid] = s.Address
			if ended := rapid.Int64Range(0, 2*oid+1).Draw(t, "ended"); open[ended] != "" {
				s.Oid, s.Status = ended, "canceled"
				table.Add(&s, true)
				delete(open, ended)
			}
		}
		if rapid.Bool().Draw(t, "restored") {
			again := new(market.OpenOrders)
			for o := range table.All() {
				again.Restore(&o)
			}
			table = again
		}
		listed := address(rapid.IntRange(0, 3).Draw(t, "listed"))
		table.AddAnchors([]market.Anchor{{Address: listed, Listed: map[string]int64{"": market.MaxTime}}})
		maps.DeleteFunc(open, func(_ int64, address string) bool { return address == listed })
		left := map[int64]string{}
		for o := range table.All() {
			left[o.Oid] = o.Address()
		}
		if !maps.Equal(left, open) {
			t.Errorf("left are %v, want %v", left, open)
		}
	})
}

// BenchmarkOpenOrdersMemory prints what 2,000,000 open orders take: run it with
// -benchtime=1x.
func BenchmarkOpenOrdersMemory(b *testing.B) {
	const n = 2_000_000
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for b.Loop() {
		before := heap()
		table := manyOrders(n)
		after := heap()
		b.ReportMetric(float64(after-before)/n, "B/order")
		b.ReportMetric(float64(after-before)/(1<<20), "MB")
		if table.Len() != n {
			b.Fatal(table.Len())
		}
	}
}

// BenchmarkOpenOrdersRank measures what a table of 2,000,000 orders costs to rank when
// every coin has changed.
func BenchmarkOpenOrdersRank(b *testing.B) {
	table := manyOrders(2_000_000)
	for b.Loop() {
		table.Rank(true)
	}
}

// BenchmarkOpenOrdersAdd measures a status: orders are placed and canceled in a table of
// 2,000,000.
func BenchmarkOpenOrdersAdd(b *testing.B) {
	const n = 2_000_000
	table := manyOrders(n)
	next := make([]market.OrderStatus, 100_000)
	for i := range next {
		next[i] = someOrder(n + i)
	}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		s := &next[i/2%len(next)]
		s.Status = "open"
		if i%2 == 1 {
			s.Status = "canceled"
		} else {
			s.Oid += 1_000_000_000
		}
		table.Add(s, false)
		i++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "statuses/s")
}

// BenchmarkOpenOrdersAnchor measures what the venue lists of one account, of 2,000,000
// orders.
func BenchmarkOpenOrdersAnchor(b *testing.B) {
	table := manyOrders(2_000_000)
	anchors := []market.Anchor{{Address: someOrder(0).Address, Listed: map[string]int64{"": 1}}}
	for b.Loop() {
		table.AddAnchors(anchors)
	}
}
