package store_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

func newSeries(t *testing.T) (*store.Series, *faulty, string) {
	t.Helper()
	db := &faulty{Client: storetest.DynamoDB(t)}
	table := storetest.Tables(t, db.Client) + schema.SeriesTable
	return store.NewSeries(db, table), db, table
}

var btc = store.SeriesKey{Name: "klines", Key: "BTC", Interval: "1m"}

func seriesRow(k store.SeriesKey, ms int64) store.SeriesRow {
	return store.SeriesRow{SeriesKey: k, Point: store.Point{Time: at(ms), Body: fmt.Appendf(nil, `{"t":%d}`, ms)}}
}

func TestSeriesKeysOnTheTable(t *testing.T) {
	t.Parallel()
	series, db, table := newSeries(t)
	must.Do(t, series.Put(t.Context(), []store.SeriesRow{{
		SeriesKey: store.SeriesKey{Name: "klines", Key: "a#%/@:", Interval: "1s"},
		Point:     store.Point{Time: at(1700000000000), Body: []byte(`{"o":"1.0"}`), Extra: []byte{0, 255}},
	}}))
	must.Do(t, series.SaveCheckpoint(t.Context(), "node#fills", []byte{1, 0}))
	const pk, sk = "klines#a%23%25/@:#1s", "1700000000000"
	want := map[string]types.AttributeValue{
		"pk":    &types.AttributeValueMemberS{Value: pk},
		"sk":    &types.AttributeValueMemberS{Value: sk},
		"body":  &types.AttributeValueMemberS{Value: `{"o":"1.0"}`},
		"extra": &types.AttributeValueMemberB{Value: []byte{0, 255}},
	}
	if diff := gocmp.Diff(want, rawItem(t, db, table, pk, sk), attributeValues); diff != "" {
		t.Errorf("point (-want +got):\n%s", diff)
	}
	want = map[string]types.AttributeValue{
		"pk":   &types.AttributeValueMemberS{Value: "checkpoint#node%23fills"},
		"sk":   &types.AttributeValueMemberS{Value: "-"},
		"body": &types.AttributeValueMemberB{Value: []byte{1, 0}},
	}
	if diff := gocmp.Diff(want, rawItem(t, db, table, "checkpoint#node%23fills", "-"), attributeValues); diff != "" {
		t.Errorf("checkpoint (-want +got):\n%s", diff)
	}
}

// The model is a slice of times: whatever the window, the limit and the
// direction, Range says the same.
func TestRangeTakesTheWindowAndKeepsTheOrder(t *testing.T) {
	t.Parallel()
	series, _, _ := newSeries(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		k := store.SeriesKey{Name: "klines", Key: fmt.Sprint("coin", n), Interval: "1s"}
		var rows []store.SeriesRow
		var want []store.Point
		from, to := edge(rt, "from"), edge(rt, "to")
		for _, ms := range rapid.SliceOfDistinct(rapid.Int64Range(0, 9), rapid.ID[int64]).Draw(rt, "ms") {
			r := seriesRow(k, ms)
			rows = append(rows, r)
			if (from.IsZero() || !r.Time.Before(from)) && (to.IsZero() || r.Time.Before(to)) {
				want = append(want, r.Point)
			}
		}
		must.Do(rt, series.Put(t.Context(), rows))
		slices.SortFunc(want, func(a, b store.Point) int { return a.Time.Compare(b.Time) })
		limit, newest := rapid.IntRange(0, 6).Draw(rt, "limit"), rapid.Bool().Draw(rt, "newest")
		if limit > 0 && len(want) > limit {
			if newest {
				want = want[len(want)-limit:]
			} else {
				want = want[:limit]
			}
		}
		got := must.Get(series.Range(t.Context(), k, from, to, limit, newest))(rt)
		if diff := gocmp.Diff(want, got); diff != "" {
			rt.Fatalf("range %v to %v, limit %d, newest %t (-want +got):\n%s", from, to, limit, newest, diff)
		}
	})
}

func TestARangeGoesOnAfterAFullPage(t *testing.T) {
	t.Parallel()
	series, db, _ := newSeries(t)
	var rows []store.SeriesRow
	for i := range 12 { // 12 x 200 KB: DynamoDB ends a page after 1 MB
		r := seriesRow(btc, int64(i))
		r.Body = []byte(`"` + strings.Repeat("x", 200_000) + `"`)
		rows = append(rows, r)
	}
	must.Do(t, series.Put(t.Context(), rows))
	for _, limit := range []int{0, 11} {
		for _, newest := range []bool{false, true} {
			db.reads.Store(0)
			points := must.Get(series.Range(t.Context(), btc, time.Time{}, time.Time{}, limit, newest))(t)
			first := 0
			if limit == 11 && newest {
				first = 1
			}
			if want := min(12, limit+12*(1-min(limit, 1))); len(points) != want || !points[0].Time.Equal(at(int64(first))) {
				t.Errorf("limit %d, newest %t: %d points from %v, want %d", limit, newest, len(points), points[0].Time, want)
			}
			if db.reads.Load() < 2 {
				t.Error("the engine needed one page only: the test proves nothing")
			}
		}
	}
}

func TestAPointReplacesAllOfTheOneBefore(t *testing.T) {
	t.Parallel()
	series, _, _ := newSeries(t)
	old, young := seriesRow(btc, 60000), seriesRow(btc, 60000)
	old.Extra = []byte("trade ids")
	young.Body = []byte(`{"new":true}`)
	if err := series.Put(t.Context(), []store.SeriesRow{young, old}); err != nil { // the last of a call stays
		t.Fatal(err)
	}
	key := store.SeriesAt{SeriesKey: btc, Time: at(60000)}
	for _, want := range []store.SeriesRow{old, young} {
		points := must.Get(series.Load(t.Context(), []store.SeriesAt{key}))(t)
		check.Equalf(t, want.Point, points[key], "point")
		must.Do(t, series.Put(t.Context(), []store.SeriesRow{young}))
	}
}

func TestOnlyLoadReadsExtra(t *testing.T) {
	t.Parallel()
	series, _, _ := newSeries(t)
	row := seriesRow(btc, 60000)
	row.Extra = []byte("trade ids")
	must.Do(t, series.Put(t.Context(), []store.SeriesRow{row}))
	want := row.Point
	want.Extra = nil
	points, err := series.Range(t.Context(), btc, time.Time{}, time.Time{}, 0, false)
	if diff := gocmp.Diff([]store.Point{want}, points); err != nil || diff != "" {
		t.Errorf("range: error %v (-want +got):\n%s", err, diff)
	}
	latest, ok, err := series.Latest(t.Context(), btc)
	if diff := gocmp.Diff(want, latest); err != nil || !ok || diff != "" {
		t.Errorf("latest: found %t, error %v (-want +got):\n%s", ok, err, diff)
	}
}

func TestLoadAnswersUnderTheKeysItWasAsked(t *testing.T) {
	t.Parallel()
	series, db, _ := newSeries(t)
	var rows []store.SeriesRow
	for i := range 150 {
		rows = append(rows, seriesRow(btc, int64(i)))
	}
	must.Do(t, series.Put(t.Context(), rows))
	db.partial = true
	db.refuse.Store(1)
	tokyo := time.FixedZone("JST", 9*3600)
	var keys []store.SeriesAt
	for i := range 160 {
		keys = append(keys,
			store.SeriesAt{SeriesKey: btc, Time: at(int64(i))},
			store.SeriesAt{SeriesKey: btc, Time: at(int64(i)).In(tokyo)})
	}
	points := must.Get(series.Load(t.Context(), keys))(t)
	if len(points) != 300 {
		t.Errorf("%d points, want 300", len(points))
	}
	for i, k := range keys {
		p, ok := points[k]
		if ok != (i/2 < 150) || ok && (!p.Time.Equal(k.Time) || string(p.Body) != fmt.Sprintf(`{"t":%d}`, i/2)) {
			t.Errorf("key %d: found %t, %v %s", i, ok, p.Time, p.Body)
		}
	}
}

func TestLatestIsTheNewestOfItsSeries(t *testing.T) {
	t.Parallel()
	series, _, _ := newSeries(t)
	if _, ok, err := series.Latest(t.Context(), btc); ok || err != nil {
		t.Errorf("found %t in an empty series, error %v", ok, err)
	}
	other := store.SeriesKey{Name: "klines", Key: "BTC#1m", Interval: "1m"}
	rows := []store.SeriesRow{seriesRow(btc, 999), seriesRow(btc, 1700000000000), seriesRow(btc, 5), seriesRow(other, 1800000000000)}
	must.Do(t, series.Put(t.Context(), rows))
	p, ok, err := series.Latest(t.Context(), btc)
	if err != nil || !ok || !p.Time.Equal(at(1700000000000)) {
		t.Errorf("latest is %v (found %t, error %v)", p.Time, ok, err)
	}
}

func TestACheckpointIsTheLastOneSaved(t *testing.T) {
	t.Parallel()
	series, _, _ := newSeries(t)
	if body, err := series.Checkpoint(t.Context(), "node"); body != nil || err != nil {
		t.Errorf("checkpoint of a new source is %q, error %v", body, err)
	}
	for _, body := range []string{"one", "", "two"} {
		must.Do(t, series.SaveCheckpoint(t.Context(), "node", []byte(body)))
		must.Do(t, series.SaveCheckpoint(t.Context(), "node/other", []byte("other")))
		if got, err := series.Checkpoint(t.Context(), "node"); !bytes.Equal(got, []byte(body)) || err != nil {
			t.Errorf("checkpoint is %q, error %v; want %q", got, err, body)
		}
	}
}

func TestRangesAreReadAsConsistentAsWasAskedFor(t *testing.T) {
	t.Parallel()
	_, _, table := newSeries(t)
	var strong []bool
	s := store.NewSeries(storetest.Intercept(storetest.DynamoDB(t), func(in any, send func() (any, error)) (any, error) {
		if q, ok := in.(*dynamodb.QueryInput); ok {
			strong = append(strong, aws.ToBool(q.ConsistentRead))
		}
		return send()
	}), table)
	for _, s.Strong = range []bool{false, true} {
		must.Get(s.Range(t.Context(), store.SeriesKey{Name: "klines", Key: "BTC", Interval: "1m"}, time.Time{}, time.Time{}, 1, true))(t)
	}
	if !slices.Equal(strong, []bool{false, true}) {
		t.Errorf("strongly consistent: %v", strong)
	}
}
