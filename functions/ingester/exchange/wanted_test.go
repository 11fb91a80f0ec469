package exchange

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/shared/backoff"
	"quotary/shared/data/datatest"
	"quotary/shared/data/followrequests"
	"quotary/shared/data/pairpast"
	"quotary/shared/data/pairseries"
	"quotary/shared/data/pairtrades"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testclock"
)

// A pair that a client asks for is filled back like a followed one. When nobody has asked
// for it for a day it is forgotten; what is stored of it stays.
func TestAPairThatAClientWantsIsFilledBackForAsLongAsItIsWanted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config.Coins = []string{"BTC"}
	w.config.Wanted = openWanted(t)
	wanting := func() *history {
		h := w.history(t)
		h.wanted = w.config.wanted()
		h.wanted.now = w.clock.Now
		return h
	}
	const key, followed = "ethswapusdt:binance", "btcswapusdt:binance"
	for _, id := range []string{key, followed, "nobodyusdt:binance"} {
		want(t, w.config.Wanted, id)
	}
	truth := w.truth(t, w.Market("ETHUSDT", true), noon)
	h := wanting()
	sources := w.source(h)
	var first *Batch // of the pair
	follow := sources[0].Follow
	sources[0].Follow = func(ctx context.Context, from engine.Position, sink engine.Sink[*Batch]) error {
		return follow(ctx, from, func(ctx context.Context, d engine.Delivery[*Batch]) error {
			if first == nil && len(d.Batch.Runs) > 0 && d.Batch.Runs[0].Pair == key {
				first = &Batch{Runs: d.Batch.Runs, Past: d.Batch.Past}
			}
			return sink(ctx, d)
		})
	}
	whole := func(key string) bool {
		p, err := pairpast.Read(t.Context(), w.config.Stores.Series, key, pairpast.Klines)
		return err == nil && p.Complete
	}
	w.run(t, sources, func() bool {
		if whole(followed) && !whole(key) {
			t.Error("a pair that is followed was filled before the one that a client waits for")
		}
		return whole(key) && whole(followed)
	})
	if diff := unlike(t, w.stored(t, key), truth); diff != "" {
		t.Errorf("what is said to be whole is not: %s", diff)
	}
	if first == nil || len(first.Past) != 1 || first.Past[0].Interval != market.Day1 || first.Past[0].To != first.Runs[0].From || len(first.Past[0].Candles) != 4 {
		t.Errorf("today comes without the days before: %+v", first)
	}
	past := func(what string, want pairpast.Past) {
		t.Helper()
		if got, err := pairpast.Read(t.Context(), w.config.Stores.Series, key, pairpast.Klines); err != nil || got != want {
			t.Errorf("%s there is stored %+v, want %+v: %v", what, got, want, err)
		}
	}
	past("once it is filled back", pairpast.AllStored)
	if p := h.filled[key]; !p.Wanted || h.filled[followed].Wanted || len(h.filled) != 2 {
		t.Errorf("known are %+v", h.filled)
	}
	w.clock.Move(25 * time.Hour)
	h = wanting()
	btc := w.truth(t, w.Market("BTCUSDT", true), w.clock.Now())
	w.run(t, w.source(h), func() bool { return unlike(t, w.stored(t, followed), btc) == "" })
	if len(h.filled) != 1 {
		t.Errorf("a day later known are %+v", h.filled)
	}
	past("when nobody wants it", pairpast.Nothing)
	if diff := unlike(t, w.stored(t, key), truth); diff != "" {
		t.Errorf("what was stored has changed: %s", diff)
	}
}

// want asks for a pair at noon, or as soon as the store takes it.
func want(t *testing.T, wanted *followrequests.Store, pair string) {
	t.Helper()
	at := noon
	datatest.Want(t, wanted, "one", []string{pair}, func() time.Time { return at }, func(d time.Duration) { at = at.Add(d) })
}

func openWanted(t *testing.T) *followrequests.Store {
	t.Helper()
	db := storetest.DynamoDB(t)
	table := storetest.Tables(t, db) + schema.DocumentsTable
	return followrequests.Pairs.Open(func(kind string, limits store.DocumentLimits) *store.Documents {
		return store.NewDocuments(db, table, kind, limits)
	})
}

// What an exchange tells of the past of a perpetual that a client wants is read at once, as far
// back as of a followed one, and goes into no sum. Once nobody wants it that is said.
func TestThePastOfAPerpetualThatAClientWantsIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config.Coins, w.config.Depth.Contracts, w.config.Wanted = []string{"BTC"}, 2, openWanted(t)
	const key = "ethswapusdt:binance"
	for _, id := range []string{key, "ethusdt:binance"} {
		want(t, w.config.Wanted, id)
	}
	series := w.config.Stores.Series
	run := func(want pairpast.Past) {
		t.Helper()
		p := w.past(t).venues[0]
		p.wanted = w.config.wanted()
		p.wanted.now = w.clock.Now
		p.sleep = func(ctx context.Context, _ time.Duration) error { return backoff.Sleep(ctx, time.Millisecond) }
		w.run(t, []engine.Source[*Batch]{{Name: "perpetuals history", Stats: p.stats, Background: true, Follow: p.follow}}, func() bool {
			got, err := pairpast.Read(t.Context(), series, key, pairpast.Contracts)
			return err == nil && got == want
		})
	}
	run(pairpast.AllStored)
	for s, most := range map[*pairseries.Series[market.Bar]]int{&pairseries.Interest: 2 * 288, &pairseries.Ratios: 2 * 288, &pairseries.Funding: 6} {
		width := 5 * time.Minute
		if s == &pairseries.Funding {
			width = 8 * time.Hour
		}
		bars, err := s.Read(t.Context(), series, key, width, pairseries.Window{Limit: 1000})
		if err != nil || len(bars) < most-1 {
			t.Errorf("%s has %d rows, want %d: %v", s.Name(), len(bars), most, err)
		}
	}
	for _, s := range []pairseries.Series[market.Bar]{pairseries.CoinInterest, pairseries.CoinFunding} {
		for _, of := range []string{"eth", pairseries.Stable("eth")} {
			if bars, err := s.Read(t.Context(), series, of, time.Hour, pairseries.Window{Limit: 10}); err != nil || len(bars) > 0 {
				t.Errorf("%s of %s has %d rows, %v", s.Name(), of, len(bars), err)
			}
		}
	}
	w.clock.Move(25 * time.Hour)
	run(pairpast.Nothing)
}

// An exchange that refuses at first is asked again, and the answers of clients do not wait for
// a start.
func TestThePastOfAPerpetualIsWholeOnceAnExchangeThatRefusedTellsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config.Coins, w.config.Depth.Contracts, w.config.Wanted = []string{"BTC"}, 1, openWanted(t)
	const key = "ethswapusdt:binance"
	want(t, w.config.Wanted, key)
	p := w.past(t).venues[0]
	p.wanted = w.config.wanted()
	p.wanted.now = w.clock.Now
	p.venue.Contracts = &refusing{p.venue.Contracts, 4}
	begun := w.clock.Now()
	p.sleep = func(ctx context.Context, d time.Duration) error {
		if w.clock.Now().Sub(begun) < time.Hour { // a client wants it for a day, and a busy machine stores nothing for long
			w.clock.Move(d)
		}
		return backoff.Sleep(ctx, time.Millisecond)
	}
	w.run(t, []engine.Source[*Batch]{{Name: "perpetuals history", Stats: p.stats, Background: true, Follow: p.follow}}, func() bool {
		got, err := pairpast.Read(t.Context(), w.config.Stores.Series, key, pairpast.Contracts)
		return err == nil && got == pairpast.AllStored
	})
}

// What an exchange pushes of a pair that a client wants is followed.
func TestTheTradesOfAPairThatAClientWantsAreFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config.Coins, w.config.Wanted = []string{"BTC"}, openWanted(t)
	const key = "ethswapusdt:binance"
	want(t, w.config.Wanted, key)
	venues := must.Get(w.config.venues())(t)
	wanted := w.config.wanted()
	wanted.now = w.clock.Now
	stats := new(source.Stats)
	feed := wantedFeed{onClock(venues[1], w.clock.Now), w.config.lister(venues[1]), wanted, stats}
	trades := pairtrades.Published.Open(w.config.Stores.Views, testclock.Running(time.Now(), 1000)) // which asks again at once
	w.run(t, []engine.Source[*Batch]{{Name: "wanted", Stats: stats, NoCheckpoint: true, Follow: feed.follow}}, func() bool {
		w.clock.Move(time.Second)
		v, err := trades.Get(t.Context())
		return err == nil && len(v.Trades(key)) > 0
	})
	if of := venues[1].Stats.Lines.Load(); of > 0 || stats.Lines.Load() == 0 {
		t.Errorf("%d frames are counted as those of the pairs that are always followed, and %d of the wanted ones", of, stats.Lines.Load())
	}
}

func TestAPairCountsAsFollowedAfterAWhile(t *testing.T) {
	t.Parallel()
	since, said := map[string]time.Time{}, map[string]bool{}
	a, b := market.Pair{Key: "a:x"}, market.Pair{Key: "b:x"}
	ms := noon.Add(feedOverlap).UnixMilli()
	followed := pairpast.Past{Minutes: ms, Hours: ms, FourHours: ms, Days: ms}
	for _, tt := range []struct {
		after time.Duration
		heard time.Duration
		pairs []market.Pair
		want  map[string]pairpast.Past
		lost  bool
	}{
		{0, -time.Second, []market.Pair{a}, map[string]pairpast.Past{"a:x": pairpast.Nothing}, false}, // what came before this term is not known
		{feedOverlap - 1, -time.Second, []market.Pair{a, b}, map[string]pairpast.Past{"b:x": pairpast.Nothing}, false},
		{feedOverlap, -time.Second, []market.Pair{a, b}, nil, false}, // the venue has said nothing
		{feedOverlap, time.Second, []market.Pair{a, b}, map[string]pairpast.Past{"a:x": followed}, false},
		{feedOverlap + 500*time.Millisecond, time.Second, []market.Pair{a, b}, map[string]pairpast.Past{"a:x": pairpast.Nothing, "b:x": pairpast.Nothing}, true}, // nobody knows what came meanwhile
		{feedOverlap + 700*time.Millisecond, feedOverlap + 600*time.Millisecond, []market.Pair{a, b}, nil, false},
		{feedOverlap + time.Second, 2 * time.Second, []market.Pair{a, b}, nil, false},
		{feedOverlap + 2*time.Second, 2 * time.Second, nil, map[string]pairpast.Past{"a:x": pairpast.Nothing, "b:x": pairpast.Nothing}, false},
		{feedOverlap + 3*time.Second, 2 * time.Second, nil, nil, false},
	} {
		if tt.lost {
			unfollow(since, said)
		}
		got := map[string]pairpast.Past{}
		for _, one := range sayFollowed(tt.pairs, since, said, noon.Add(tt.heard).UnixMilli(), noon.Add(tt.after)).Stored {
			got[one.Pair] = one.Past
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("after %s: %s", tt.after, diff)
		}
	}
}

// TestNobodysPairsTakeThePlacesOfAnother: more are wanted of a venue than it is asked for, and
// the figure of its source says how many have no place.
func TestNobodysPairsTakeThePlacesOfAnother(t *testing.T) {
	t.Parallel()
	const many = 15 // distributors
	var list followrequests.List[string]
	others := map[string]market.Pair{}
	want := func(distributor string, n int) {
		of := followrequests.OfDistributor[string]{Distributor: distributor}
		for i := range n {
			key := fmt.Sprintf("%s%02dusdt:binance", distributor, i)
			of.Things = append(of.Things, key)
			others[key] = market.Pair{Key: key}
		}
		list = append(list, of)
	}
	for i := range many {
		want(fmt.Sprint("loud", i), followrequests.Pairs.Most)
	}
	want("quiet", 1)
	h := &history{stats: new(source.Stats), others: others,
		wanted: &wantedPairs{pairs: list, read: noon, now: func() time.Time { return noon }, turn: make(chan struct{}, 1)}}
	must.Do(t, h.want(t.Context()))
	followed := map[string]int{}
	n := 0
	for _, of := range h.wants {
		for _, p := range of.Things {
			followed[p.Key[:5]]++
			n++
		}
	}
	if n != mostWanted || followed["quiet"] != 1 {
		t.Errorf("followed are %d, of who wants one %d", n, followed["quiet"])
	}
	if n := h.stats.Dropped.Load(); n != int64(len(others)-mostWanted) {
		t.Errorf("%d are said to have no place", n)
	}
}
