package perp

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/shared/data/klines"
	"quotary/shared/data/openinterest"
	"quotary/shared/data/positions"
	"quotary/shared/data/tickers"
	"quotary/shared/data/topfills"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// replayed is a source of fills, a few a delivery; its position is how many were
// taken.
func replayed(list []market.Fill) engine.Source[*Batch] {
	return engine.Source[*Batch]{Name: "recording", Stats: new(source.Stats), Follow: func(ctx context.Context, from engine.Position, sink engine.Sink[*Batch]) error {
		at := 0
		if from != nil {
			if err := json.Unmarshal(from, &at); err != nil {
				return err
			}
		}
		for at < len(list) {
			n := min(16, len(list)-at)
			if err := sink(ctx, engine.Delivery[*Batch]{Batch: &Batch{Events: market.Events{Fills: slices.Clone(list[at : at+n])}}, Position: mustJSON(at + n)}); err != nil {
				return err
			}
			at += n
		}
		<-ctx.Done()
		return context.Cause(ctx)
	}}
}

// TestProjectionsThatAreAddedLaterEndAsIfTheyHadAlwaysBeenThere: the domain stores
// fills without any projection that is folded from them; then all are listed, are
// killed while they catch up, and go on.
func TestProjectionsThatAreAddedLaterEndAsIfTheyHadAlwaysBeenThere(t *testing.T) {
	t.Parallel()
	list := readFills(t, recording)
	late, clean := newStores(t), newStores(t)
	until := func(p *engine.Pipeline[*Batch], what string, holds func() bool) {
		t.Helper()
		stop := run(t, p)
		testenv.Until(t, what, holds)
		must.Do(t, stop())
	}
	half := newPipeline(late, replayed(list[:len(list)/2]))
	half.Projections = slices.DeleteFunc(half.Projections, func(p Projection) bool { return len(p.Folds()) > 0 })
	until(half, "half of the fills are stored", func() bool { return half.Stats.Events.Load() == int64(len(list)/2) })

	killed := newPipeline(late, replayed(list))
	killed.StopWithin = time.Nanosecond
	ctx, kill := context.WithCancel(t.Context())
	killed.Applied = func(*Batch) { kill() }
	if err := killed.Run(ctx); err == nil {
		t.Error("it was not killed")
	}
	all := newPipeline(late, replayed(list))
	until(all, "all have caught up", func() bool {
		body, err := late.Series.Checkpoint(t.Context(), engine.Checkpoint(Name, "recording", ""))
		return err == nil && string(body) == string(mustJSON(len(list))) && all.Stats.CatchingUp.Load() == 0
	})
	steady := newPipeline(clean, replayed(list))
	until(steady, "all fills are stored", func() bool { return steady.Stats.Events.Load() == int64(len(list)) })

	if diff := cmp.Diff(contents(t, clean, list), contents(t, late, list)); diff != "" {
		t.Errorf("rows (-always +late):\n%s", diff)
	}
	for _, name := range []string{tickers.Name, openinterest.Name, positions.Name} {
		if diff := cmp.Diff(viewOf(t, clean, name), viewOf(t, late, name)); diff != "" {
			t.Errorf("view %s (-always +late):\n%s", name, diff)
		}
	}
}

// TestWhatCannotBeReadIsMadeAgainFromTheFills: rows of klines, of rankings, and views
// are spoilt between two lives, and end as if nothing had happened.
func TestWhatCannotBeReadIsMadeAgainFromTheFills(t *testing.T) {
	t.Parallel()
	list := readFills(t, recording)
	spoilt, clean := newStores(t), newStores(t)
	life := func(s engine.Stores, list []market.Fill) *engine.Pipeline[*Batch] {
		t.Helper()
		p := newPipeline(s, replayed(list))
		stop := run(t, p)
		testenv.Until(t, "all fills are taken", func() bool {
			body, err := s.Series.Checkpoint(t.Context(), engine.Checkpoint(Name, "recording", ""))
			return err == nil && string(body) == string(mustJSON(len(list))) && p.Stats.Flushed.Load() > 0 && p.Stats.CatchingUp.Load() == 0
		})
		must.Do(t, stop())
		return p
	}
	half := list[:len(list)/2]
	life(spoilt, half)
	last := half[len(half)-1]
	bad := []byte("{")
	second := market.Second1.StartMs(last.Time)
	rows := []store.SeriesRow{}
	for _, at := range []store.SeriesAt{
		klines.At(last.Coin, market.Second1, second), klines.At(last.Coin, market.Minute1, market.Minute1.StartMs(second)),
		klines.At(last.Coin, market.Week1, market.Week1.StartMs(second)), topfills.At(last.Coin, market.Hour1, market.Hour1.StartMs(second)),
	} {
		rows = append(rows, store.SeriesRow{SeriesKey: at.SeriesKey, Point: store.Point{Time: at.Time, Body: bad}})
	}
	must.Do(t, spoilt.Series.Put(t.Context(), rows))
	must.Do(t, spoilt.Views.Publish(t.Context(), tickers.Name, bad))
	damaged := "views/" + positions.Name + ".json.zst"
	must.Get(spoilt.Quarantine.Objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &spoilt.Quarantine.Bucket, Key: &damaged, Body: bytes.NewReader(bad)}))(t)
	p := life(spoilt, list)
	if n := p.Stats.Quarantined.Load(); n < 5 {
		t.Errorf("%d rows and views are quarantined", n)
	}
	life(clean, list)
	if diff := cmp.Diff(contents(t, clean, list), contents(t, spoilt, list)); diff != "" {
		t.Errorf("rows (-clean +spoilt):\n%s", diff)
	}
	for _, name := range []string{tickers.Name, openinterest.Name, positions.Name} {
		if diff := cmp.Diff(viewOf(t, clean, name), viewOf(t, spoilt, name)); diff != "" {
			t.Errorf("view %s (-clean +spoilt):\n%s", name, diff)
		}
	}
}

// viewOf is a view without the time at which it was made.
func viewOf(t *testing.T, s engine.Stores, name string) map[string]json.RawMessage {
	t.Helper()
	body, _, _, err := s.Views.Fetch(t.Context(), name, "")
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	must.Do(t, json.Unmarshal(body, &members))
	delete(members, "time")
	return members
}

// TestStoredFillsCountHoweverOldTheyAre: a late fill of an account that nobody
// knows is left out, as its later ones may be forgotten; one of the log is not.
func TestStoredFillsCountHoweverOldTheyAre(t *testing.T) {
	t.Parallel()
	old, fresh := held(1, "BTC", noon.Add(-30*24*time.Hour), "99.0", "2.0", market.Buy), held(2, "BTC", noon, "99.0", "2.0", market.Sell)
	fold := func(batches ...*Batch) string {
		t.Helper()
		p := newOpenInterest()
		for _, b := range batches {
			must.Do(t, p.Apply(b, nil, noon))
		}
		return string(positions.Published.Encode(p.positions))
	}
	of := func(stored bool, list ...market.Fill) *Batch {
		return &Batch{Events: market.Events{Fills: list}, Stored: stored}
	}
	always := fold(of(false, old, fresh))
	if late := fold(of(false, fresh), of(true, old, fresh)); late != always {
		t.Errorf("caught up it is %s, want %s", late, always)
	}
	if late := fold(of(false, fresh), of(false, old)); late == always {
		t.Error("a late fill of a source counts as one of the log")
	}
}
