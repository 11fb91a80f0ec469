package rates

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/testing/must"
)

func TestTheStoredView(t *testing.T) {
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) View {
			var v View
			for _, day := range days(t) {
				v.Add(day)
			}
			return v
		}),
		Encode: Published.Encode,
		Decode: Published.Decode,
		Use: func(v View) {
			v.At(time.UnixMilli(markettest.Base))
			v.Add(market.DayRates{Date: "2026-03-14"})
		},
	}.Test(t)
}

func days(t *rapid.T) []market.DayRates {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) market.DayRates {
		return market.DayRates{Date: date(rapid.IntRange(0, 200).Draw(t, "day")), USD: markettest.Parsed(1, 4).Draw(t, "usd"), CNY: markettest.Parsed(2, 4).Draw(t, "cny"),
			Others: rapid.MapOfN(rapid.SampledFrom([]string{"hkd", "jpy", "gbp"}), markettest.Parsed(2, 4), 0, 2).Draw(t, "others")}
	}), 0, 150, func(d market.DayRates) string { return d.Date }).Draw(t, "days")
}

func date(n int) string { return time.Date(2026, 1, 1+n, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) }

// Days come in any order and twice, and the view holds the last of them.
func TestTheOrderOfDaysMakesNoDifference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		drawn := days(t)
		var one, two View
		for _, d := range drawn {
			one.Add(d)
		}
		again := append(drawn, drawn...)
		rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)).Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
		for _, d := range again {
			two.Add(d)
		}
		if diff := cmp.Diff(one, two); diff != "" {
			t.Fatal(diff)
		}
		if len(one.Days) > Keep {
			t.Fatalf("%d days", len(one.Days))
		}
	})
}

func TestWhichRateIsInForce(t *testing.T) {
	t.Parallel()
	var v View
	for i, d := range []string{"2026-11-19", "2026-11-20", "2026-11-23"} { // Thursday, Friday, Monday
		usd, _ := market.ParseDecimal("1.1")
		cny, _ := market.ParseDecimal(fmt.Sprint(7 + i))
		v.Add(market.DayRates{Date: d, USD: usd, CNY: cny})
	}
	for at, want := range map[string]string{
		"2026-11-19T14:59:59Z": "none", "2026-11-19T15:00:00Z": "7", "2026-11-20T14:59:59Z": "7", "2026-11-20T15:00:00Z": "8",
		"2026-11-21T12:00:00Z": "8", "2026-11-23T14:00:00Z": "8", "2026-11-23T15:00:00Z": "9", "2027-01-01T00:00:00Z": "9",
	} {
		when := must.Get(time.Parse(time.RFC3339, at))(t)
		got := "none"
		if rate, ok := v.At(when); ok {
			got = rate.CNY.String()
		}
		if got != want {
			t.Errorf("at %s: %s, want %s", at, got, want)
		}
	}
}

func TestAmountsInOtherCurrencies(t *testing.T) {
	t.Parallel()
	dec := func(text string) market.Decimal { return must.Get(market.ParseDecimal(text))(t) }
	var v View
	old := market.DayRates{Date: "2026-11-19", USD: dec("1.1"), CNY: dec("7.7")}
	v.Add(old)
	newer := market.DayRates{Date: "2026-11-19", USD: dec("1.1"), CNY: dec("7.7"), Others: map[string]market.Decimal{"hkd": dec("8.8"), "jpy": dec("165")}}
	if !v.Add(newer) || v.Add(newer) || len(v.Days) != 1 {
		t.Errorf("a day that has more currencies than before: %+v", v)
	}
	at := must.Get(time.Parse(time.RFC3339, "2026-11-20T12:00:00Z"))(t)
	for _, tt := range []struct{ amount, from, to, want string }{
		{"80", "HKD", "USD", "10"}, {"1500.5", "JPY", "usd", "10"}, {"2", "usd", "hkd", "16"}, {"1.25", "HKD", "hkd", "1.25"}, {"1.25", "USD", "GBP", "none"}, {"1", "", "USD", "none"},
	} {
		got := "none"
		if convert, ok := v.Convert(at, tt.from, tt.to); ok {
			got = convert(tt.amount)
		}
		if got != tt.want {
			t.Errorf("%s %s in %s: %s, want %s", tt.amount, tt.from, tt.to, got, tt.want)
		}
	}
	if quotes, ok := v.Quotes("t:usdjpy:any"); !ok || len(quotes) != 1 || quotes[0].Close != "150" || quotes[0].Unit != "JPY" {
		t.Errorf("%+v", quotes)
	}
}
