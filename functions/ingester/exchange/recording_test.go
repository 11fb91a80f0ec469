package exchange

import (
	"encoding/csv"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// recordedLiquidations are 5,879 orders that closed positions by force.
func recordedLiquidations(t *testing.T) (list []market.PairLiquidation) {
	t.Helper()
	lines := testenv.Recording(t, "exchanges/binance_forceorder.csv")
	lines.Scan() // the names
	for lines.Scan() {
		row, err := csv.NewReader(strings.NewReader(lines.Text())).Read()
		if err != nil {
			t.Fatal(err)
		}
		ms, symbol, side, px, paid, filled := row[0], row[1], row[2], row[6], row[7], row[10]
		if paid != "" {
			px = paid
		}
		l := market.PairLiquidation{Pair: market.PairKey(strings.TrimSuffix(symbol, "USDT"), "USDT", "binance", true), Long: side == "SELL", Px: parsed(t, px), Sz: parsed(t, filled)}
		if l.Time, err = strconv.ParseInt(ms, 10, 64); err != nil {
			t.Fatal(err)
		}
		l.Value = market.Notional(l.Px, l.Sz)
		list = append(list, l)
	}
	return list
}

func parsed(t *testing.T, text string) market.Decimal {
	t.Helper()
	return must.Get(market.ParseDecimal(text))(t)
}

// However the orders of a recording come, twice and in any order, the hours and half hours
// that are read of each pair are the sums of its orders.
func TestForcedOrdersOfARecordingAddUpToHoursAndHalfHours(t *testing.T) {
	t.Parallel()
	list := recordedLiquidations(t)
	if len(list) != 5879 {
		t.Fatalf("%d orders", len(list))
	}
	m := newMemory()
	p := m.restored(t, newLiquidations(new(atomic.Int64)))
	twice := append(append([]market.PairLiquidation(nil), list...), list...)
	rand.New(rand.NewPCG(13, 0)).Shuffle(len(twice), func(i, j int) { twice[i], twice[j] = twice[j], twice[i] })
	for now := time.UnixMilli(list[0].Time); len(twice) > 0; now = now.Add(time.Minute) {
		n := min(len(twice), 100)
		m.apply(t, p, &Batch{PairEvents: market.PairEvents{Liquidations: twice[:n]}}, now)
		twice = twice[n:]
	}
	series := storetest.Open(t).Series
	var rows []store.SeriesRow
	for at, point := range m.rows {
		rows = append(rows, store.SeriesRow{SeriesKey: at.SeriesKey, Point: point})
	}
	must.Do(t, series.Put(t.Context(), rows))
	for _, width := range []time.Duration{30 * time.Minute, time.Hour} {
		want := map[string]map[int64]market.Liquidated{}
		for i := range list {
			l := &list[i]
			if want[l.Pair] == nil {
				want[l.Pair] = map[int64]market.Liquidated{}
			}
			start := l.Time / width.Milliseconds() * width.Milliseconds()
			sum := want[l.Pair][start]
			sum.Time = start
			sum.Add(l)
			want[l.Pair][start] = sum
		}
		if len(want) != 480 {
			t.Errorf("%d pairs", len(want))
		}
		for pair, sums := range want {
			buckets := must.Get(pairseries.Liquidations.Read(t.Context(), series, pair, width, pairseries.Window{Limit: 1000}))(t)
			got := map[int64]market.Liquidated{}
			for _, b := range buckets {
				got[b.Time] = b
			}
			if diff := cmp.Diff(sums, got, equalDecimals); diff != "" {
				t.Errorf("%s of %s (-want +got):\n%s", pair, width, diff)
			}
		}
	}
}
