package traderfields_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/accountstats"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/table"
	"quotary/shared/testing/must"
	"quotary/shared/traderfields"
	"quotary/shared/traderfields/fieldstest"
)

// Fields as clients ask for them, by groups with the periods that they have.
var asked = []struct{ group, periods, names string }{
	{"completed positions", "1d 7d 30d all", `positionCount, winCount, lossCount, winRate, totalPnl, longCount, longRatio, longWinCount, longPnl, longWinPnl,
		longWinRate, shortCount, shortPnl, shortWinCount, shortWinPnl, shortWinRate, winPnl, lossPnl, maxLoss, maxPnl, minPnl, maxProfit, avgOpenOrdersCount,
		avgCloseOrdersCount, avgOrdersCount, avgDurationMin, avgDurationHour, maxDurationMin, maxDurationHour, minDurationMin, minDurationSec, avgFunding,
		avgLeverage, avgPnl, avgLoss, avgProfit, avgMargin, avgPv, maxGrossProfitRate, maxGrossLossRate, profitFactor, riskRewardRatio, sharpe, totalRoi`},
	{"fills", "1d 7d 30d", `trOrders, trFills, trFilledVal, trFee, trFeeRate, trMakerCount, trTakerCount, trMakerRatio, trMakerValRatio, trTakerVal,
		trMakerVal, trTakerFee, trMakerFee, trTakerFeeRate, trMakerFeeRate`},
	{"perp fills", "1d 7d 30d", `tpOrders, tpFills, tpFilledVal, tpFee, tpFeeRate, tpMakerCount, tpTakerCount, tpMakerRatio, tpMakerValRatio, tpTakerVal,
		tpMakerVal, tpTakerFee, tpMakerFee, tpTakerFeeRate, tpMakerFeeRate`},
	{"all orders", "", `oaFirstOrderAt, oaLastOrderAt, oaOrderCount`},
	{"filled orders", "1d 7d 30d all", `foFirstOrderAt, foLastOrderAt, foOrderCount`},
	{"builders", "1d 7d 30d all", `fbTraders, fbOrdersCount, fbTradeAmount, fbFee, fbBuilderFee`},
	{"liquidation", "1d 7d 30d all", `liqOrders, liqTotalFilled, liqTotalPnl, liqLongFilled, liqLongOrders, liqLongPnl, liqShortFilled, liqShortOrders, liqShortPnl`},
	{"account snapshot", "", `snapTotalValue, snapPerpValue, snapPositionCount, snapEffLeverage, snapSpotValue, snapEntryNtl, snapUsdc, snapPositionValue,
		snapLongPositionValue, snapShortPositionValue, snapLongShortPvDiff, snapMarginUsageRate, snapTotalMarginUsed, snapLongPositionCount,
		snapShortPositionCount, snapUnrealizedPnl`},
	{"account value change", "7d 30d", `acPerpValueF, acPerpValueL, acPerpCh, acPerpPnl, acPerpVlm, acSpotValueF, acSpotValueL, acTotalCh, acTotalPnl,
		acTotalValueF, acTotalValueL, acTotalVlm`},
	{"max drawdown", "1d 7d 30d all", `ddDrawdown, ddHighTime, ddHighValue, ddLowTime, ddLowValue, ddNetIn`},
	{"vault", "", `vtCreateTime, vtName, vtLeader`},
	{"vault leader", "", `vlVaultCount`},
	{"other venues", "", `dexNames, dexCount`},
	{"net flows", "1d 7d 30d all", `nfRecordCount, nfNetSpotIn, nfNetPerpIn`},
}

func TestEveryFieldThatIsAskedForIsThereInItsPeriods(t *testing.T) {
	t.Parallel()
	want, got := map[string]bool{}, map[string]bool{}
	for _, a := range asked {
		for name := range strings.SplitSeq(a.names, ",") {
			want[a.group+": "+strings.TrimSpace(name)+" "+a.periods] = true
		}
	}
	for _, f := range traderfields.Fields {
		var periods []string
		for _, p := range f.Periods {
			if p == traderfields.AllTime {
				periods = append(periods, "all")
				continue
			}
			periods = append(periods, p.Suffix())
		}
		name := f.Group + ": " + f.Name + " " + strings.Join(periods, " ")
		if got[name] {
			t.Errorf("%s is there twice", name)
		}
		got[name] = true
		if !want[name] {
			t.Errorf("nobody asks for %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !got[name] {
			t.Errorf("%s is missing", name)
		}
	}
	columns := map[string]bool{}
	for _, c := range traderfields.Columns() {
		if columns[c.Name()] {
			t.Errorf("two columns are named %s", c.Name())
		}
		columns[c.Name()] = true
	}
	for name, want := range map[string]bool{"totalPnl": true, "totalPnl7d": true, "trFee30d": true, "trFee": false, "oaOrderCount": true, "oaOrderCount1d": false} {
		if columns[name] != want {
			t.Errorf("column %s is there: %t, want %t", name, columns[name], want)
		}
	}
}

func TestEveryFieldSaysWhatItIs(t *testing.T) {
	t.Parallel()
	for _, f := range traderfields.Fields {
		if !strings.HasSuffix(f.Formula, ".") || f.Kind == "" || f.Adds == "" {
			t.Errorf("%s: %q, %q, %q", f.Name, f.Formula, f.Kind, f.Adds)
		}
		if f.Kind == traderfields.Money && !strings.Contains(f.Formula, "in US dollars") {
			t.Errorf("%s does not say its unit: %s", f.Name, f.Formula)
		}
	}
}

// A table holds every figure.
func TestFiguresAreWithinATable(t *testing.T) {
	t.Parallel()
	if traderfields.Most > table.MostValue {
		t.Error("a figure may be greater than what a table holds")
	}
}

const (
	hour = int64(3_600_000)
	day  = 24 * hour
	now  = int64(1_790_000_000_000) / day * day // ms
)

// times are within 40 days, often at the edge of a period.
var times = rapid.OneOf(
	rapid.Int64Range(now-40*day, now-1),
	rapid.Map(rapid.SampledFrom([]int64{1, 1, 7, 30}), func(days int64) int64 { return now - days*day }),
	rapid.Map(rapid.SampledFrom([]int64{1, 7, 30}), func(days int64) int64 { return now - days*day - 1 }),
)

// traderOf is the trader who did something.
func traderOf(h market.FactsByHour) *traderfields.Trader {
	did := map[traderfields.Period]*market.Window{}
	for _, p := range []traderfields.Period{traderfields.AllTime, traderfields.Day, traderfields.Week, traderfields.Month} {
		w := h.Within(from(p), now)
		did[p] = &w
	}
	return &traderfields.Trader{Did: did}
}

// withCurve adds what a trader was worth.
func withCurve(t *traderfields.Trader, c market.Curve, v *market.VenueCurve) {
	of := accountstats.WithCurve{TraderStats: &market.TraderStats{Curve: c}}
	t.Worth, t.Fell = map[traderfields.Period]traderfields.Worth{}, map[traderfields.Period]*market.Drawdown{}
	for p := range t.Did {
		t.Worth[p] = traderfields.WorthOf(c, v, from(p), now)
		if d, ok := market.MaxDrawdown(of.Worth(nil, market.ScopePerp, from(p), now).Values); ok {
			t.Fell[p] = &d
		}
	}
}

// curves are drawn as if they ended now or later.
func curves() *rapid.Generator[market.Curve] {
	return rapid.Custom(func(t *rapid.T) market.Curve {
		c := markettest.Curve().Draw(t, "curve")
		ends := now + rapid.Int64Range(-3, 50).Draw(t, "ends")*hour
		for i, shift := len(c)-1, int64(0); i >= 0; i-- {
			if i == len(c)-1 {
				shift = ends - c[i].Time
			}
			c[i].Time += shift
		}
		return c
	})
}

// values are what the venue says of a time about that when a curve begins, or of none.
func values(c market.Curve) *rapid.Generator[[]market.AccountValue] {
	return rapid.Custom(func(t *rapid.T) (list []market.AccountValue) {
		at := now - 35*day
		if len(c) > 0 {
			at = max(at, c[0].Time-35*day)
		}
		for range rapid.IntRange(0, 6).Draw(t, "values") {
			at += rapid.Int64Range(1, 10*day).Draw(t, "later")
			amount := rapid.Int64Range(-1e12, 1e12)
			list = append(list, market.AccountValue{Time: at, Value: market.Micros(amount.Draw(t, "value")), NetIn: market.Micros(amount.Draw(t, "net in"))})
		}
		return list
	})
}

func from(p traderfields.Period) int64 {
	if p == traderfields.AllTime {
		return 0
	}
	return now - int64(p)*day
}

// Every field of every period is what its own formula makes of the events themselves, in fractions
// of whole numbers. A field without a formula here fails, and a formula without a field.
func TestEveryColumnIsWhatTheEventsThemselvesComeTo(t *testing.T) {
	t.Parallel()
	if names := fieldstest.Unchecked(); len(names) > 0 {
		t.Fatalf("fields without a check, or checks without a field: %v", names)
	}
	rapid.Check(t, func(t *rapid.T) {
		d := markettest.DidAtMost(rapid.SampledFrom([]int{1, 5, 15}).Draw(t, "most"), times).Draw(t, "deeds")
		curve := curves().Draw(t, "curve")
		trader := traderOf(d.Facts())
		told := market.VenueCurve{All: values(curve).Draw(t, "the venue's values of all"), Perp: values(curve).Draw(t, "and of perpetuals")}
		withCurve(trader, curve, &told)
		account := account().Draw(t, "account")
		marks := maps.Clone(allMarks)
		if rapid.IntRange(0, 3).Draw(t, "a mark is missing") == 0 {
			delete(marks, "@230")
		}
		trader.Holds = new(account.Summary(markets, marks, now))
		held := fieldstest.HeldBy(&account, markets, marks, now)
		listed := lists().Draw(t, "lists")
		listed.set(trader)
		for _, c := range traderfields.Columns() {
			part := d.Within(from(c.Period), now)
			want, known := fieldstest.Figure(c, &fieldstest.Events{Deeds: part, Curve: curve, Venue: told, From: from(c.Period), Hour: now, Holds: held, Address: listed.address, Vaults: listed.vaults, Other: listed.other()})
			got, ok := c.Field.Figure(trader, c.Period)
			if ok != known || ok && got != want {
				t.Fatalf("%s is %d (known %t), want %d (known %t): %s", c.Name(), got, ok, want, known, c.Field.Formula)
			}
		}
		for _, f := range traderfields.TextFields() {
			if got, want := f.Texts(trader), fieldstest.Texts(f.Name, &fieldstest.Events{Address: listed.address, Vaults: listed.vaults, Other: listed.other()}); !slices.Equal(got, want) {
				t.Fatalf("%s is %q, want %q: %s", f.Name, got, want, f.Formula)
			}
		}
	})
}

// What is drawn has every figure, so that none is compared with 0 alone.
func TestEveryColumnIsAFigureOfSomeEvents(t *testing.T) {
	t.Parallel()
	left := traderfields.Columns()
	for seed := 0; seed < 500 && len(left) > 0; seed++ {
		d := markettest.DidAtMost(15, rapid.Int64Range(now-day, now-1)).Example(seed)
		trader := traderOf(d.Facts())
		withCurve(trader, curves().Example(seed), new(market.VenueCurve))
		account := account().Example(seed)
		trader.Holds = new(account.Summary(markets, allMarks, now))
		listed := lists().Example(seed)
		listed.set(trader)
		left = slices.DeleteFunc(left, func(c traderfields.Column) bool {
			units, known := c.Field.Figure(trader, c.Period)
			return known && units != 0
		})
	}
	for _, c := range left {
		t.Errorf("%s was never anything but 0", c.Name())
	}
}

func TestAFigureOfMoreThan18DigitsIsNotKnown(t *testing.T) {
	t.Parallel()
	dec := func(text string) market.Decimal { return must.Get(market.ParseDecimal(text))(t) }
	for text, want := range map[string]int64{
		"999999999999.999999": 1e18 - 1, "-999999999999.999999": -(1e18 - 1), "0.0000005": 1, "-0.0000005": -1, "0.0000004999": 0,
		"999999999999.9999995": 0, "1000000000000": 0, "-1000000000000": 0, "18446744073709.551617": 0, "99999999999999999999999999999999999999": 0,
	} {
		h := market.FactsByHour{}
		h.Flow(now-hour, dec(text), dec("1"))
		flows := slices.IndexFunc(traderfields.Fields, func(f traderfields.Field) bool { return f.Name == "nfNetPerpIn" })
		got, known := traderfields.Fields[flows].Figure(traderOf(h), traderfields.Day)
		if got != want || known != (want != 0 || text == "0.0000004999") {
			t.Errorf("%s is %d (known %t), want %d", text, got, known, want)
		}
	}
}

func TestOfATraderOfWhomNothingIsKnownNoFigureIs(t *testing.T) {
	t.Parallel()
	for _, c := range traderfields.Columns() {
		if units, known := c.Field.Figure(&traderfields.Trader{}, c.Period); known {
			t.Errorf("%s is %d", c.Name(), units)
		}
	}
}
