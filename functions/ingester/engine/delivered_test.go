package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/catalog"
	"quotary/shared/data/delivered"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// readDelivered reads what the small domain publishes of what its sources have spoken of.
func readDelivered(t *testing.T, s Stores) delivered.View {
	t.Helper()
	body, _, _, err := s.Views.Fetch(t.Context(), delivered.Name("small"), "")
	if err != nil {
		return nil
	}
	return must.Get(delivered.Published("small").Decode(body))(t)
}

// Fruits and greens are datasets of the small domain: words that begin with f and g.
var (
	fruits = &catalog.Dataset{Name: "fruits", Holds: "fruits"}
	greens = &catalog.Dataset{Name: "greens", Holds: "greens"}
)

func holdsWords(w *words, say func(catalog.Need)) {
	for _, word := range w.list {
		say(map[string]catalog.Need{"f": fruits.On("tree"), "g": greens.On("")}[word[:1]])
	}
}

// TestReadersLearnWhatSourcesHaveSpokenOf: which are configured at once, that one has spoken
// when all of that is written, also where that is held back, and for ever.
func TestReadersLearnWhatSourcesHaveSpokenOf(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	tell := make(chan Delivery[*words])
	teller := Source[*words]{Name: "teller", Stats: new(source.Stats), NoCheckpoint: true, Brings: []catalog.Need{fruits.On("tree"), greens.On("")},
		Follow: func(ctx context.Context, _ Position, sink Sink[*words]) error {
			for {
				select {
				case d := <-tell:
					if err := sink(ctx, d); err != nil {
						return err
					}
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
		}}
	held := &holder{name: "held"}
	begin := func(sources ...Source[*words]) (stop func() error) {
		p := newPipeline(stores, sources...)
		p.Holds = holdsWords
		p.Projections = append(p.Projections, held)
		return run(t, p)
	}
	stop := begin(teller)
	testenv.Until(t, "the source is listed, and has said nothing", func() bool {
		v := readDelivered(t, stores)
		return len(v) == 3 && slices.Equal(v["greens"].Sources, []string{"teller"}) && v["fruits/tree"].Since+v["fruits"].Since+v["greens"].Since == 0
	})
	tell <- Delivery[*words]{Batch: &words{[]string{"fig"}}}
	testenv.Until(t, "fruits were spoken of", func() bool { return readDelivered(t, stores)["fruits/tree"].Since > 0 })
	if v := readDelivered(t, stores); v["fruits"].Since == 0 || v["greens"].Since != 0 {
		t.Errorf("%+v", v)
	}
	if got := stored(t, stores, "vocabulary", "f"); got != "fig" {
		t.Errorf("readers were told before it was written: %q", got)
	}
	first := readDelivered(t, stores)["fruits"].Since
	tell <- Delivery[*words]{Batch: &words{[]string{"feijoa"}}, Spoken: true}
	testenv.Until(t, "there are no greens", func() bool { return readDelivered(t, stores)["greens"].Since > 0 })
	must.Do(t, stop())

	stop = begin(say("other")) // that brings nothing
	testenv.Until(t, "no source is configured", func() bool { return len(readDelivered(t, stores)["greens"].Sources) == 0 })
	if v := readDelivered(t, stores); v["fruits"].Since != first || v["greens"].Since == 0 {
		t.Errorf("what was spoken of is forgotten: %+v", v)
	}
	must.Do(t, stop())
}

// TestReadersLearnUpToWhenPeriodicSourcesHaveDelivered: when all before that is written, of what none but such
// sources bring, and from then on.
func TestReadersLearnUpToWhenPeriodicSourcesHaveDelivered(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	tell := map[string]chan Delivery[*words]{"hours": make(chan Delivery[*words]), "days": make(chan Delivery[*words]), "live": make(chan Delivery[*words])}
	begin := func(brings map[string][]catalog.Need) (stop func() error) {
		var sources []Source[*words]
		for name, needs := range brings {
			sources = append(sources, Source[*words]{Name: name, Stats: new(source.Stats), NoCheckpoint: true, Brings: needs, Periodic: name != "live",
				Follow: func(ctx context.Context, _ Position, sink Sink[*words]) error {
					for {
						select {
						case d := <-tell[name]:
							if err := sink(ctx, d); err != nil {
								return err
							}
						case <-ctx.Done():
							return context.Cause(ctx)
						}
					}
				}})
		}
		p := newPipeline(stores, sources...)
		p.Holds, p.Projections = holdsWords, append(p.Projections, &holder{name: "held"})
		return run(t, p)
	}
	until := func(what string, fruit, green int64) {
		t.Helper()
		testenv.Until(t, what, func() bool {
			v := readDelivered(t, stores)
			return v["fruits/tree"].Until == fruit && v["fruits"].Until == fruit && v["greens"].Until == green
		})
	}
	tree, green := fruits.On("tree"), greens.On("")
	stop := begin(map[string][]catalog.Need{"hours": {tree, green}, "days": {tree}})
	tell["hours"] <- Delivery[*words]{Batch: &words{[]string{"fig"}}, Until: 100}
	until("greens are known, of fruits some are not", 0, 100)
	if got := stored(t, stores, "vocabulary", "f"); got != "fig" {
		t.Errorf("readers were told before it was written: %q", got)
	}
	tell["days"] <- Delivery[*words]{Until: 70}
	until("fruits are known as far as both have come", 70, 100)
	tell["hours"] <- Delivery[*words]{Until: 200}
	tell["days"] <- Delivery[*words]{Until: 150}
	until("both go on", 150, 200)
	missing := func(what string, fruit, green []int64) {
		t.Helper()
		testenv.Until(t, what, func() bool {
			v := readDelivered(t, stores)
			return slices.Equal(v["fruits/tree"].Missing, fruit) && slices.Equal(v["greens"].Missing, green)
		})
	}
	tell["hours"] <- Delivery[*words]{Until: 200, Missing: []int64{40, 120}}
	missing("hours are passed over", []int64{40, 120}, []int64{40, 120})
	tell["days"] <- Delivery[*words]{Until: 150, Missing: []int64{10, 40}}
	missing("and days", []int64{10, 40, 120}, []int64{40, 120})
	tell["hours"] <- Delivery[*words]{} // which says nothing of it
	tell["hours"] <- Delivery[*words]{Until: 200, Missing: []int64{120}}
	missing("one has come", []int64{10, 40, 120}, []int64{120})
	must.Do(t, stop())

	stop = begin(map[string][]catalog.Need{"hours": {tree, green}, "days": {tree}})
	tell["hours"] <- Delivery[*words]{Until: 50}
	tell["days"] <- Delivery[*words]{Until: 160}
	tell["hours"] <- Delivery[*words]{Until: 210}
	until("another life goes on", 160, 210)
	missing("and says it anew", nil, nil)
	must.Do(t, stop())

	stop = begin(map[string][]catalog.Need{"hours": {tree, green}, "live": {green}})
	until("greens come as they grow", 160, 0)
	must.Do(t, stop())
}

// TestASourceIsAwaitedUntilItOrOneOfItsGroupSaysSomething with its last error.
func TestASourceIsAwaitedUntilItOrOneOfItsGroupSaysSomething(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000)
	one, two, quietOne := new(source.Stats), new(source.Stats), new(source.Stats)
	s := Status{Began: now.Add(-2 * silentFor).UnixMilli(), Sources: []SourceStatus{
		{Name: "a", Group: "node", Awaited: true, Stats: one}, {Name: "b", Group: "node", Awaited: true, Stats: two}, {Name: "c", Stats: quietOne},
	}}
	log := source.Watched(quiet, two).With("source", "b")
	log.Warn("cannot ask", "error", errors.New("connection refused"))
	log.Info("connected", "error", "none")
	if got := s.awaited(); len(got) != 1 || got[0] != "source node has not said anything yet: connection refused" {
		t.Errorf("%q", got)
	}
	// The alarm rings for it, and /readyz says it once.
	if got := s.silent(now); len(got) != 1 || !s.awaits(got[0]) {
		t.Errorf("silent are %q", got)
	}
	log.Warn("cannot ask", "error", strings.Repeat("x", 10_000))
	if got := s.awaited(); len(got[0]) > 400 {
		t.Errorf("an error of %d bytes is said", len(got[0]))
	}
	one.LastSeen.Store(now.Add(-silentFor).UnixMilli())
	if got := s.awaited(); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if got := s.silent(now); !slices.Equal(got, []string{"node"}) {
		t.Errorf("%q", got)
	}
}
