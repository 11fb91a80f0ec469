package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/batch"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

func TestARowIsReplacedByItsOwnEpochAndHigherOnesOnly(t *testing.T) {
	t.Parallel()
	series, db, table := newSeries(t)
	row := seriesRow(btc, 60000)
	for _, step := range []struct {
		epoch int64
		want  error
	}{{0, nil}, {3, nil}, {3, nil}, {2, store.ErrFenced}, {0, store.ErrFenced}, {4, nil}, {3, store.ErrFenced}} {
		row.Body = fmt.Appendf(nil, `"by %d"`, step.epoch)
		other := seriesRow(btc, 1000+step.epoch)
		if err := series.Under(step.epoch).Put(t.Context(), []store.SeriesRow{other, row}); !errors.Is(err, step.want) {
			t.Errorf("epoch %d writes with error %v, want %v", step.epoch, err, step.want)
		}
	}
	points, err := series.Load(t.Context(), []store.SeriesAt{{SeriesKey: btc, Time: row.Time}})
	if err != nil || len(points) != 1 {
		t.Fatal(points, err)
	}
	for _, p := range points {
		if string(p.Body) != `"by 4"` {
			t.Errorf("the row is %s", p.Body)
		}
	}
	if ep := rawItem(t, db, table, "klines#BTC#1m", "0000000060000")["ep"].(*types.AttributeValueMemberN).Value; ep != "4" {
		t.Errorf("the row carries epoch %s", ep)
	}
}

func TestAClaimedCheckpointIsItsClaimersAlone(t *testing.T) {
	t.Parallel()
	series, _, _ := newSeries(t)
	first, second := series.Under(1), series.Under(2)
	claim := func(s *store.Series, want string) {
		t.Helper()
		if body, err := s.ClaimCheckpoint(t.Context(), "node"); err != nil || string(body) != want {
			t.Errorf("claimed %q with error %v, want %q", body, err, want)
		}
	}
	claim(first, "") // there is none
	must.Do(t, first.SaveCheckpoint(t.Context(), "node", []byte("one")))
	claim(second, "one")
	claim(second, "one")
	if err := first.SaveCheckpoint(t.Context(), "node", []byte("late")); !errors.Is(err, store.ErrFenced) {
		t.Errorf("the first saves with error %v", err)
	}
	if _, err := first.ClaimCheckpoint(t.Context(), "node"); !errors.Is(err, store.ErrFenced) {
		t.Errorf("the first claims with error %v", err)
	}
	claim(series, "one") // epoch 0 only reads
	must.Do(t, second.SaveCheckpoint(t.Context(), "node", []byte("two")))
	if body, err := series.Checkpoint(t.Context(), "node"); err != nil || string(body) != "two" {
		t.Errorf("the checkpoint is %q, error %v", body, err)
	}
}

func TestWhatThrottlesIsWrittenInTheEnd(t *testing.T) {
	t.Parallel()
	series, db, _ := newSeries(t)
	db.refuse.Store(20)
	var rows []store.SeriesRow
	for i := range 40 {
		rows = append(rows, seriesRow(btc, int64(i)))
	}
	must.Do(t, series.Under(1).Put(t.Context(), rows))
	if db.refuse.Load() >= 0 {
		t.Error("nothing was throttled: the test proves nothing")
	}
	points, err := series.Load(t.Context(), []store.SeriesAt{{SeriesKey: btc, Time: at(0)}, {SeriesKey: btc, Time: at(39)}})
	if err != nil || len(points) != 2 {
		t.Errorf("%d points, error %v", len(points), err)
	}
}

func TestAReadForWhichSomebodyWaitsIsGivenUp(t *testing.T) {
	t.Parallel()
	series, db, _ := newSeries(t)
	series.Awaited = true
	keys := []store.SeriesAt{{SeriesKey: btc, Time: at(0)}}
	for name, fail := range map[string]func(){"starved": func() { db.starve = true }, "throttled": func() { db.refuse.Store(1000) }} {
		fail()
		if _, err := series.Load(t.Context(), keys); !batch.Throttled(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Two publishers, of which the second takes over without the first knowing: the
// first still publishes only until the second has.
func TestAViewIsReplacedByWhoKnowsItsVersion(t *testing.T) {
	t.Parallel()
	views, _, _ := newViews(t)
	lost := errors.New("lost")
	var asked [2]int
	holder := 0
	publisher := func(i int) *store.Views {
		return views.Owned(func(context.Context) error {
			if asked[i]++; holder != i {
				return lost
			}
			return nil
		})
	}
	first, second := publisher(0), publisher(1)
	want := func(body string) {
		t.Helper()
		if got, _, _, err := views.Fetch(t.Context(), "tickers", ""); err != nil || string(got) != body {
			t.Errorf("the view is %s, error %v; want %s", got, err, body)
		}
	}
	publish(t, first, `"a"`) // no version yet
	publish(t, first, `"b"`)
	holder = 1
	publish(t, second, `"c"`)
	if err := first.Publish(t.Context(), "tickers", []byte(`"late"`)); err == nil {
		t.Error("the first replaces a version that it does not know")
	}
	want(`"c"`)
	if err := first.Publish(t.Context(), "tickers", []byte(`"late"`)); !errors.Is(err, lost) {
		t.Errorf("its repetition ends with %v", err)
	}
	publish(t, second, `"d"`)
	want(`"d"`)
	// One version more by the first, before the second's first: the second finds
	// out and goes on.
	holder = 0
	publish(t, first, `"e"`)
	holder = 1
	if err := second.Publish(t.Context(), "tickers", []byte(`"f"`)); err == nil {
		t.Error("the second replaces a version that it does not know")
	}
	publish(t, second, `"f"`)
	want(`"f"`)
	if asked != [2]int{3, 2} {
		t.Errorf("it was asked %v times whether the lease is held", asked)
	}
}
