package perp

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"quotary/functions/ingester/archive"
	"quotary/shared/data/fills"
	"quotary/shared/data/twaps"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

// varied are n made-up fills, as unlike each other as those of a venue.
func varied(n int) []market.Fill {
	random := rand.New(rand.NewPCG(1, 2))
	list := make([]market.Fill, n)
	for i := range list {
		px, sz := random.IntN(1_000_000), random.IntN(100_000)
		list[i] = market.Fill{
			Address: fmt.Sprintf("0x%040x", random.IntN(20_000)), Coin: fmt.Sprint("COIN", random.IntN(150)), Px: fmt.Sprintf("%d.%d", px/10, px%10), Sz: fmt.Sprintf("%d.%03d", sz/1000, sz%1000),
			Side: []market.Side{market.Buy, market.Sell}[i%2], Time: 1_790_000_000_000 + int64(i)*8, StartPosition: fmt.Sprintf("%d.%03d", random.IntN(1000), sz%1000),
			Dir: []string{"Open Long", "Close Long", "Open Short", "Close Short"}[random.IntN(4)], ClosedPnl: fmt.Sprintf("%d.%06d", random.IntN(1000), random.IntN(1_000_000)),
			Hash: fmt.Sprintf("0x%016x%016x%016x%016x", random.Uint64(), random.Uint64(), random.Uint64(), random.Uint64()),
			Oid:  90_000_000_000 + random.Int64N(1_000_000_000), Crossed: i%2 == 0, Fee: fmt.Sprintf("0.%06d", random.IntN(1_000_000)), Tid: random.Int64N(1 << 50), FeeToken: "USDC", Seq: int64(i),
		}
	}
	return list
}

// Fifty thousand fills are what waits for a file at most.
func BenchmarkArchiveFills(b *testing.B) {
	rows := fills.AppendRows(nil, varied(50_000))
	stored := 0
	for i := range rows {
		stored += len(rows[i].Subject) + len(rows[i].ID) + len(rows[i].Body)
	}
	b.ReportAllocs()
	var file []byte
	for b.Loop() {
		var err error
		if file, _, err = fillLog.Archive.Encode(rows, func(_ int, err error) { b.Error(err) }); err != nil {
			b.Fatal(err)
		}
	}
	n := float64(len(rows))
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(len(file))/n, "archived-B/row")
	b.ReportMetric(float64(stored)/n, "text-B/row")
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapSys)/1e6, "heap-MB")
}

func TestTwapStatusesGoThroughTheArchiveAsTheyAre(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := twaps.AppendRows(nil, rapid.SliceOfN(markettest.Twap(), 1, 5).Draw(t, "statuses"))
		file, _ := must.Get2(twapLog.Archive.Encode(rows, func(_ int, err error) { t.Error(err) }))(t)
		var got []store.Row
		got = slices.AppendSeq(got, must.All(t, archive.Decode(file)))
		byKey := cmpopts.SortSlices(func(a, b store.Row) int {
			return cmp.Compare(a.Subject+a.Time.String()+a.ID, b.Subject+b.Time.String()+b.ID)
		})
		if diff := gocmp.Diff(rows, got, byKey); diff != "" {
			t.Fatalf("(-stored +archived):\n%s", diff)
		}
	})
}

// Every log that a source fills can have a retention, and its rows go through a file
// as they are.
func TestEveryLogCanBeArchived(t *testing.T) {
	t.Parallel()
	for _, log := range Logs {
		if log.Archive == nil {
			t.Errorf("%s cannot be archived", log.Dataset)
		}
	}
	rows := fills.AppendRows(nil, varied(300))
	file, kept, err := fillLog.Archive.Encode(rows, func(_ int, err error) { t.Error(err) })
	if err != nil || len(kept) != len(rows) {
		t.Fatalf("%d rows, error %v", len(kept), err)
	}
	i := 0
	for r := range must.All(t, archive.Decode(file)) {
		if r.ID != rows[i].ID || r.Index != rows[i].Index || string(r.Body) != string(rows[i].Body) || !r.Time.Equal(rows[i].Time) {
			t.Fatalf("row %d is %+v, was %+v", i, r, rows[i])
		}
		i++
	}
}
