package traderfacts

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

const first = markettest.Base / dayMs * dayMs

// did draws what an account did in three days, but for the orders that it placed.
func did() *rapid.Generator[market.FactsByHour] {
	return rapid.Map(markettest.DidAtMost(12, rapid.Int64Range(first, first+3*dayMs-1)), func(d markettest.Deeds) market.FactsByHour {
		d.Placed, d.Routed = nil, nil
		return d.Facts()
	})
}

// of are the hours of a day.
func of(hours market.FactsByHour, day int64) market.FactsByHour {
	part := market.FactsByHour{}
	for hour, f := range hours {
		if hour >= day && hour < day+dayMs {
			part[hour] = f
		}
	}
	return part
}

var equal = cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(market.Decimal.Equal)}

func point(body []byte) store.Point {
	return store.Point{Time: time.UnixMilli(first + dayMs).UTC(), Extra: body}
}

func TestStoredDays(t *testing.T) {
	datasettest.Codec[market.FactsByHour]{
		Values: rapid.Map(did(), func(hours market.FactsByHour) market.FactsByHour { return of(hours, first+dayMs) }), // some things were seen the day before
		Encode: func(hours market.FactsByHour) []byte { return Append(nil, first+dayMs, hours) },
		Decode: func(b []byte) (market.FactsByHour, error) { return Decode(point(b)) },
		Use:    func(hours market.FactsByHour) { hours.Within(first, first+2*dayMs) },
	}.Test(t)
}

func TestTheRowsOfTheDaysAreWhatWasDone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hours, again := did().Draw(t, "did"), market.FactsByHour{}
		for day := int64(first); day < first+3*dayMs; day += dayMs {
			row := Row("0xaa", day+rapid.Int64Range(0, dayMs-1).Draw(t, "within the day"), of(hours, day))
			if row.SeriesKey != At("0xaa", day).SeriesKey || row.Time.UnixMilli() != day {
				t.Fatalf("the row of %d is %v at %s", day, row.SeriesKey, row.Time)
			}
			again.Merge(must.Get(Decode(row.Point))(t))
		}
		from := first + rapid.Int64Range(0, 71).Draw(t, "from")*hourMs
		if diff := cmp.Diff(hours.Within(from, first+3*dayMs), again.Within(from, first+3*dayMs), equal); diff != "" {
			t.Fatalf("(-done +stored):\n%s", diff)
		}
	})
}

// BenchmarkRow writes and reads a row of twelve hours with fills and completed positions.
func BenchmarkRow(b *testing.B) {
	hours := market.FactsByHour{}
	for n := range int64(12) {
		ms := first + dayMs + n*2*hourMs
		for i := range int64(20) {
			hours.Fill(&market.Fill{Coin: "BTC", Side: market.Buy, Time: ms + i, Px: "61234.5", Sz: "0.015", ClosedPnl: "12.5", Fee: "0.413", FeeToken: "USDC", Tid: i + 1, Oid: 100*n + i/3, Crossed: i%2 == 0}, new(market.OrderSeen), nil)
		}
		hours.Complete(&market.CompletedTrade{Coin: "BTC", Long: true, Start: ms - 60_000, End: ms + 3, Tid: 7, Leverage: 20, Pnl: market.DecimalFromInt(12), MaxValue: market.DecimalFromInt(1500), OpenOrders: 1, CloseOrders: 1})
	}
	body := Append(nil, first+dayMs, hours)
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Append(nil, first+dayMs, hours)
		}
		b.ReportMetric(float64(len(body)), "bytes")
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			must.Get(Decode(point(body)))(b)
		}
	})
}

func TestRowsOfAnotherVersionAreRefused(t *testing.T) {
	t.Parallel()
	rows := map[string]struct {
		body []byte
		read func([]byte) error
	}{
		"day":    {Append(nil, first+dayMs, market.FactsByHour{}), func(b []byte) error { _, err := Decode(point(b)); return err }},
		"open":   {AppendOpen(nil, new(Open)), func(b []byte) error { _, err := DecodeOpen(b); return err }},
		"placed": {AppendPlaced(nil, new(Placed)), func(b []byte) error { _, err := DecodePlaced(b); return err }},
	}
	for name, row := range rows {
		must.Do(t, row.read(row.body))
		for _, other := range []byte{version - 1, version + 1} {
			row.body[0] = other
			if row.read(row.body) == nil {
				t.Errorf("the row %s of version %d is read", name, other)
			}
		}
	}
}
