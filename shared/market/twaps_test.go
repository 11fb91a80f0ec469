package market_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

const twapStart = int64(markettest.Base)

// twapStatus is a status that TWAP id of one account came to, ms after the start.
func twapStatus(id, ms int64, status, executed string) market.TwapStatus {
	return market.TwapStatus{
		Address: fmt.Sprintf("0x%040x", 1), TwapID: &id, Time: twapStart + ms, Status: status, Seq: ms,
		Twap: market.Twap{Coin: "BTC", Side: market.Buy, Sz: "10.0", ExecutedSz: executed, ExecutedNtl: "0.0", Minutes: 30, Timestamp: twapStart + 1},
	}
}

// twapFill is a fill of TWAP id.
func twapFill(id, tid, ms int64, sz, px string) market.Fill {
	return market.Fill{TwapID: &id, Tid: tid, Time: twapStart + ms, Sz: sz, Px: px, Side: market.Buy, Coin: "BTC"}
}

// twapEvent is a status or a fill.
type twapEvent struct {
	status *market.TwapStatus
	fill   *market.Fill
}

func foldTwaps(t *market.Twaps, events []twapEvent) {
	for _, e := range events {
		if e.status != nil {
			t.Add(e.status)
		} else {
			t.AddFill(e.fill)
		}
	}
}

// drawTwaps draws the lives of some TWAPs within an hour, and what runs at their end as counted
// one by one: their executed sizes in tenths.
func drawTwaps(t *rapid.T) (events []twapEvent, running map[int64]int64) {
	running = map[int64]int64{}
	tid := int64(0)
	first := market.Fill{Tid: -1, Time: twapStart, Sz: "1.0", Px: "1.0"}
	events = append(events, twapEvent{fill: &first})
	for id := range rapid.Int64Range(1, 8).Draw(t, "twaps") {
		began := twapStatus(id, 1+rapid.Int64Range(0, 60_000).Draw(t, "began"), market.TwapActivated, "0.0")
		known := rapid.IntRange(0, 9).Draw(t, "known") > 0
		if known {
			events = append(events, twapEvent{status: &began})
		}
		sum := int64(0)
		for range rapid.IntRange(0, 12).Draw(t, "fills") {
			tid++
			n := rapid.Int64Range(1, 9).Draw(t, "tenths")
			sum += n
			fill := twapFill(id, tid, rapid.Int64Range(1, 1_700_000).Draw(t, "filled"), fmt.Sprintf("0.%d", n), "2.5")
			events = append(events, twapEvent{fill: &fill})
		}
		if rapid.Bool().Draw(t, "ends") {
			end := twapStatus(id, 1_700_000, rapid.SampledFrom([]string{market.TwapFinished, market.TwapTerminated, market.TwapError, "new one"}).Draw(t, "end"), "0.0")
			events = append(events, twapEvent{status: &end})
		} else if known {
			running[id] = sum
		}
	}
	return events, running
}

func TestTwapsEndTheSameInAnyOrderAndHoweverOften(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events, want := drawTwaps(t)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var table market.Twaps
		events = append(events, events[:r.IntN(len(events))]...)
		r.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		half := r.IntN(len(events))
		foldTwaps(&table, events[:half])
		if r.IntN(2) == 0 {
			table.Prune(r.IntN(2) == 0)
		}
		foldTwaps(&table, events[half:])
		got := table.Running()
		if len(got) != len(want) {
			t.Fatalf("%d run, want %v", len(got), want)
		}
		for _, s := range got {
			sum := want[*s.TwapID]
			sz := must.Get(market.ParseDecimal(s.ExecutedSz))(t)
			if !sz.Equal(must.Get(market.ParseDecimal(fmt.Sprintf("%d.%d", sum/10, sum%10)))(t)) {
				t.Fatalf("%s was executed of %d, want %d tenths", s.ExecutedSz, *s.TwapID, sum)
			}
			ntl := must.Get(market.ParseDecimal(s.ExecutedNtl))(t)
			if !ntl.Equal(sz.Mul(must.Get(market.ParseDecimal("2.5"))(t))) {
				t.Fatalf("%s is the value of %s", s.ExecutedNtl, s.ExecutedSz)
			}
		}
	})
}

// executed is what runs: the executed size by id.
func executed(table *market.Twaps) map[int64]string {
	all := map[int64]string{}
	for _, s := range table.Running() {
		all[*s.TwapID] = s.ExecutedSz
	}
	return all
}

func TestATwapIsListedFromItsActivationUntilItsEnd(t *testing.T) {
	t.Parallel()
	const minute = 60_000
	first := twapFill(99, 1, 0, "1.0", "1.0")
	began := twapStatus(1, 1, market.TwapActivated, "0.0")
	fill := twapFill(1, 2, minute, "0.5", "3.0")
	ended := twapStatus(1, 2*minute, market.TwapFinished, "0.5")
	long := twapStatus(2, 45*minute, market.TwapActivated, "0.0")
	long.Timestamp = long.Time
	early := twapStatus(3, 1, market.TwapActivated, "0.0")
	early.Timestamp = twapStart - 1
	said := twapStatus(1, 3*minute, market.TwapActivated, "2.5")
	nameless := began
	nameless.TwapID = nil
	for name, c := range map[string]struct {
		events []twapEvent
		want   map[int64]string
	}{
		"one that runs":                       {[]twapEvent{{fill: &first}, {status: &began}, {fill: &fill}}, map[int64]string{1: "0.5"}},
		"one that has ended":                  {[]twapEvent{{fill: &first}, {status: &began}, {fill: &fill}, {status: &ended}}, map[int64]string{}},
		"an end before its beginning":         {[]twapEvent{{fill: &first}, {status: &ended}, {fill: &fill}, {status: &began}}, map[int64]string{}},
		"one whose end never came":            {[]twapEvent{{fill: &first}, {status: &began}, {status: &long}}, map[int64]string{2: "0.0"}},
		"one that comes when its time is out": {[]twapEvent{{fill: &first}, {status: &long}, {status: &began}}, map[int64]string{2: "0.0"}},
		"one that began before any fill":      {[]twapEvent{{fill: &first}, {status: &early}}, map[int64]string{}},
		"one of which a status says more":     {[]twapEvent{{fill: &first}, {status: &began}, {fill: &fill}, {status: &said}}, map[int64]string{1: "2.5"}},
		"one without an id":                   {[]twapEvent{{fill: &first}, {status: &nameless}}, map[int64]string{}},
		"fills alone":                         {[]twapEvent{{fill: &first}, {fill: &fill}}, map[int64]string{}},
	} {
		var table market.Twaps
		foldTwaps(&table, c.events)
		check.Equalf(t, c.want, executed(&table), "%s", name)
		table.Prune(true)
		check.Equalf(t, c.want, executed(&table), "%s, pruned", name)
	}
}

// What a long TWAP made hours ago is kept as a sum, and not counted again.
func TestOldFillsAreKeptAsASum(t *testing.T) {
	t.Parallel()
	const hour = 3_600_000
	began := twapStatus(1, 1, market.TwapActivated, "0.0")
	began.Minutes = 24 * 60
	var table market.Twaps
	events := []twapEvent{{status: &began}}
	for n := range int64(6) {
		fill := twapFill(1, n, n*hour, "0.5", "2.0")
		events = append(events, twapEvent{fill: &fill})
	}
	began.Timestamp = twapStart + 1
	foldTwaps(&table, events)
	unknown := twapFill(2, 9, 10, "1.0", "1.0")
	table.AddFill(&unknown)
	table.Prune(true)
	run := table.Runs[1]
	if len(run.Fills) != 2 || !run.Sum.Sz.Equal(market.DecimalFromInt(2)) || table.Runs[2] != nil {
		t.Errorf("%d fills are kept, and %s of others; of one that is not known %v", len(run.Fills), run.Sum.Sz, table.Runs[2])
	}
	foldTwaps(&table, events)
	check.Equal(t, map[int64]string{1: "3.0"}, executed(&table))
}

// The past is read for hours, and most of it is of TWAPs that have ended long ago: they take no
// room of those that run.
func TestAMonthOfThePastTakesNoRoom(t *testing.T) {
	t.Parallel()
	const hour = 3_600_000
	for name, live := range map[string]int64{"beside what happens now": 30 * 24, "alone": 0} {
		var table market.Twaps
		if live > 0 {
			now := twapStatus(9999, live*hour, market.TwapActivated, "0.0")
			now.Timestamp = now.Time
			table.Add(&now)
		}
		most := 0
		for n := range int64(30 * 24) {
			fill := twapFill(n, n, n*hour, "0.5", "2.0")
			table.AddFill(&fill)
			table.Prune(false)
			most = max(most, len(table.Runs))
		}
		if most > 26 {
			t.Errorf("%s: %d are kept at one time", name, most)
		}
	}
}

func TestWhatIsExpectedOfATwap(t *testing.T) {
	t.Parallel()
	d := func(text string) market.Decimal { return must.Get(market.ParseDecimal(text))(t) }
	for _, c := range []struct {
		remain           string
		minutes, horizon int64
		val, rate        string
	}{
		{"1200.0", 120, 60, "600.0", "10.0"},
		{"1200.0", 60, 60, "1200.0", "20.0"},
		{"1200.0", 10, 60, "1200.0", "120.0"}, // it ends within
		{"100.0", 3, 1, "33.333333", "33.333333"},
		{"0.0", 1, 1440, "0.0", "0.0"},
		{"99999999999.999999", 1440, 10, "694444444.444444", "69444444.444444"},
	} {
		e := market.Expect(d(c.remain), c.minutes, c.horizon)
		check.Equalf(t, [2]string{c.val, c.rate}, [2]string{market.Text(e.Val), market.Text(e.RateVal)}, "%+v", c)
	}
	began := twapStatus(1, 1, market.TwapActivated, "4.25")
	for ms, want := range map[int64]int64{1: 30, 2: 30, 60_000: 30, 60_001: 29, 29*60_000 + 1: 1, 30 * 60_000: 1, 30*60_000 + 1: 0, 40 * 60_000: 0} {
		check.Equalf(t, want, began.RemainMinutes(twapStart+ms), "minutes at %d", ms)
	}
	check.Equal(t, "5.75", market.Text(began.Remaining()))
	began.ExecutedSz = "10.5"
	check.Equal(t, "0.0", market.Text(began.Remaining()))
}

func TestAmountsAreUSDWhateverTheMarketIsPaidIn(t *testing.T) {
	t.Parallel()
	d := func(text string) market.Decimal { return must.Get(market.ParseDecimal(text))(t) }
	m := &market.Markets{
		Spot:        map[string]market.SpotMarket{"@107": {Base: "HYPE", Quote: "USDC"}, "@5": {Base: "UBTC", Quote: "USDH"}},
		SpotCoins:   map[string]string{"USDH": "@230"},
		Collaterals: map[string]string{"": "USDC", "flx": "USDH"},
	}
	marks := market.Marks{"BTC": d("100.5"), "HYPE": d("20.0"), "@107": d("20.5"), "@5": d("100.0"), "@230": d("0.5"), "flx:OIL": d("10.0"), "lost:OIL": d("10.0"), "@9": d("1.0")}
	for coin, want := range map[string]string{
		"BTC": "201.0", "HYPE": "40.0", "@107": "41.0", "@5": "100.0", "flx:OIL": "10.0", "lost:OIL": "", "@9": "", "ETH": "", "#441": "",
	} {
		got := ""
		if worth, ok := m.Value(coin, d("2.0"), marks); ok {
			got = market.Text(worth)
		}
		check.Equalf(t, want, got, "%s", coin)
	}
}
