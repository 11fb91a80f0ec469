package perp

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/quagmt/udecimal"

	"quotary/localstack/sim/venue"
	"quotary/shared/data/liquidations"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// What is shown of the liquidations of the simulated venue is what it did, to the last digit: who
// was liquidated when, how, and for how much.
func TestLiquidationsAreThoseOfTheVenue(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 15, 18, 0, 0, 0, time.UTC)
	s := openSimVenue(t, began, venue.Config{Seed: 21, Traders: 200, FillsPerSecond: 60, LiquidateEvery: 10 * time.Second, Modes: true, Log: quiet})
	var batches []*Batch
	for range 40 { // so that there are positions
		batches = append(batches, s.step(5*time.Minute))
	}
	for range testenv.Amount(30, 90) {
		batches = append(batches, s.step(20*time.Second))
	}
	truth := s.venue.Liquidations()
	if len(truth) < 50 {
		t.Fatalf("%d liquidations", len(truth))
	}
	var counts liquidationCounts
	series := storedRows(t, newLiquidationEvents(&counts), batches...)
	if counts.unknown.Load()+counts.leftOut.Load() != 0 {
		t.Errorf("%d of nobody, %d left out", counts.unknown.Load(), counts.leftOut.Load())
	}
	usd := func(millionths int64) market.Decimal { return udecimal.MustFromInt64(millionths, 6) }

	got, want := map[int64]string{}, map[int64]string{}
	for e, err := range liquidations.Newest(t.Context(), series, began) {
		must.Do(t, err)
		got[e.Oid] = fmt.Sprint(e.Time, e.Address, e.Coin, e.Direction(), e.Method, market.Text(e.Value), market.Text(e.Pnl), market.Text(e.Sz), market.Text(e.Start), market.Text(e.End), len(e.Parts))
	}
	methods, sides := map[string]int{}, map[string]int{}
	for i := range truth {
		l := &truth[i]
		side := "short"
		if l.Long {
			side = "long"
		}
		methods[l.Method]++
		sides[side]++
		want[l.Oid] = fmt.Sprint(l.Time, l.Address, l.Coin, side, l.Method, market.Text(usd(l.Value)), market.Text(usd(l.Pnl)), plain(t, l.Sz), plain(t, l.Start), plain(t, l.End), l.Fills)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-the venue +shown):\n%s", diff)
	}
	if len(methods) != 3 || len(sides) != 2 {
		t.Errorf("%v, %v", methods, sides)
	}

	now := s.venue.Now()
	for _, window := range []time.Duration{20 * time.Second, 97 * time.Second, time.Hour, 3*time.Hour + time.Second, 60 * 24 * time.Hour} {
		from := now.Add(-window)
		shown := map[string]string{}
		for _, one := range must.Get(liquidations.ByCoin(t.Context(), series, from))(t) {
			shown[one.Coin] = statsText(&one.LiquidationStats)
		}
		all := must.Get(liquidations.Window(t.Context(), series, liquidations.All, from))(t)
		if len(all.Addresses) > 0 || len(shown) > 0 {
			shown[liquidations.All] = statsText(&all)
		}
		if diff := cmp.Diff(truthByCoin(truth, from.UnixMilli(), usd), shown); diff != "" {
			t.Errorf("in %s (-the venue +shown):\n%s", window, diff)
		}
	}
}

func plain(t *testing.T, text string) string {
	t.Helper()
	return market.Text(must.Get(market.ParseDecimal(text))(t))
}

func statsText(s *market.LiquidationStats) string {
	return fmt.Sprint(s.Longs, s.Shorts, len(s.Addresses), s.LongValue, s.ShortValue, s.LongPnl, s.ShortPnl)
}

// truthByCoin sums up the venue's own liquidations from a time on by coin, and all.
func truthByCoin(truth []venue.TruthLiquidation, from int64, usd func(int64) market.Decimal) map[string]string {
	sums, addresses := map[string]*market.LiquidationStats{}, map[string][]string{}
	for i := range truth {
		l := &truth[i]
		if l.Time < from {
			continue
		}
		for _, key := range []string{l.Coin, liquidations.All} {
			if sums[key] == nil {
				sums[key] = &market.LiquidationStats{}
			}
			sum := sums[key]
			if l.Long {
				sum.Longs, sum.LongValue, sum.LongPnl = sum.Longs+1, sum.LongValue.Add(usd(l.Value)), sum.LongPnl.Add(usd(l.Pnl))
			} else {
				sum.Shorts, sum.ShortValue, sum.ShortPnl = sum.Shorts+1, sum.ShortValue.Add(usd(l.Value)), sum.ShortPnl.Add(usd(l.Pnl))
			}
			if !slices.Contains(addresses[key], l.Address) {
				addresses[key] = append(addresses[key], l.Address)
			}
		}
	}
	texts := map[string]string{}
	for key, s := range sums {
		texts[key] = fmt.Sprint(s.Longs, s.Shorts, len(addresses[key]), s.LongValue, s.ShortValue, s.LongPnl, s.ShortPnl)
	}
	return texts
}
